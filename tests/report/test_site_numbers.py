"""The page's script reads from its columns what the document says: every value, and every pair from either side."""

import json
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.report.rankings import six_digits
from fin_tasks.report.site import page
from fin_tasks.report.site.compact import compact
from fin_tasks.stats.multiple import holm

HERE = Path(page.__file__).parent
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

READ = """({scripts, text}) => {
  document.body.replaceChildren(...["data", "samples"].map((id) => {
    const element = document.createElement("script");
    element.type = "application/json";
    element.id = id;
    element.textContent = id === "data" ? text : "null";
    return element;
  }));
  return new Function(`${scripts}
    const data = readData();
    return {
      entries: data.entries.map((one) => [one.task.id, one.model, one.run.id, one.metric.name, one.value, one.low,
        one.high, one.n, one.unscored, one.judge, one.group, one.marks]),
      runs: data.runs.map((run) => [run.id, run.model, run.task, run.source, run.date, run.label, run.path, run.samples,
        Object.fromEntries(facts(data, run.provenance))]),
      pairs: data.comparisons.map((found) => found.ranks.flatMap(({run: a}) => found.ranks.map(({run: b}) => {
        const pair = pairOf(found, a, b);
        const read = pair && [pair.n, pair.difference, pair.low, pair.high, pair.p, pair.holm];
        return [a.id, b.id, read, winner(data, found, pair)];
      }))),
    };`)();
}"""


def compared(names: list[str], *, kind: str) -> dict[str, Any]:
    """Return ranks and pairs; of `kind` depends what of the pairs' numbers follows from others."""
    values = {name: six_digits(0.9 - 0.0612345 * at) for at, name in enumerate(names)}
    ends = [(a, b) for a, b in permutations(names, 2) if (a < b) == (len(a + b) % 2 == 0)]
    ends = [pair for at, pair in enumerate(ends) if at % 7 != 3]  # others are not compared
    p_values = [min(1.0, 1.7**-at) for at in range(len(ends))]
    pairs = []
    for at, ((first, second), p, corrected) in enumerate(zip(ends, p_values, holm(p_values), strict=True)):
        n = 100 if kind == "exact" else 100 + at
        difference = values[first] - values[second] if kind != "free" else (at - 10) / 128
        half = 0.01 * (at + 1) if kind != "alike" else 0.0
        middle = difference * n / (n + 2) if kind == "exact" else difference
        low, high = (middle - half, middle + half) if kind != "free" else (middle - 0.125, middle + 0.25)
        holm_of = corrected if kind != "free" else p / 2
        numbers = {"difference": difference, "low": low, "high": high, "p": p, "p_holm": holm_of}
        if kind == "none" and at % 2:
            numbers |= {"low": None, "high": None}
        pairs.append({"first": first, "second": second, "n": n, **{key: six_digits(of) for key, of in numbers.items()}})
    return {"ranks": [{"run": name, "value": value} for name, value in values.items()], "pairs": pairs}


KINDS = ("exact", "t", "alike", "none", "free")


def document(runs: int, kind: str) -> dict[str, Any]:
    """Return what the page reads of a document, with a number of its own in every place."""
    names = [f"run{at}" for at in range(runs)]
    kinds = {"higher": True, "lower": False}
    return {
        **{"alpha": 0.05, "groups": {"g": {}}, "texts": []},
        "models": [{"name": f"model {name}", "runs": [name]} for name in names],
        "runs": [
            {
                **{
                    "id": name,
                    "label": (name, f"model {name}")[at % 2],
                    "source": ("lm-eval", "published")[at % 2],
                    "model": f"model {name}",
                },
                **{"task": "t", "date": f"2026-01-{at + 1:02d}", "provenance": {"same": "1", "own": name}},
                **{"path": f"{name}/results.json", "samples": f"{('other', name)[at % 2]}/samples.jsonl"},
            }
            for at, name in enumerate(names)
        ],
        "tasks": [{"id": "t", "headline": "higher"}],
        "metrics": {name: {"unit": "fraction", "higher_is_better": better} for name, better in kinds.items()},
        "entries": [
            {
                **{"task": "t", "model": f"model {name}", "run": name, "metric": metric, "value": at / 16, "low": None},
                **{"high": 0.5, "n": at, "unscored": 0, "judge": "", "group": ("", "g")[at % 2], "marks": ["odd"] * at},
            }
            for at, name in enumerate(names)
            for metric in kinds
        ],
        "comparisons": [
            {"task": "t", "metric": metric, "group": "g", "left_out": [], **compared(names, kind=kind)}
            for metric in kinds
        ],
    }


@pytest.fixture(scope="module")
def blank() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.mark.parametrize("runs", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_was_written(blank: Any, runs: int, kind: str) -> None:
    written = document(runs, kind)
    scripts = "".join((HERE / name).read_text(encoding="utf-8") for name in ("data.js", "pairs.js"))
    read = blank.evaluate(READ, {"scripts": scripts, "text": json.dumps(compact(written))})
    assert read["entries"] == [list(one.values()) for one in written["entries"]]
    keys = ("id", "model", "task", "source", "date", "label", "path", "samples", "provenance")
    assert read["runs"] == [[run[key] for key in keys] for run in written["runs"]]
    for comparison, found in zip(written["comparisons"], read["pairs"], strict=True):
        expected = seen(comparison)
        assert len(found) == runs**2
        for a, b, pair, sign in found:
            if a == b:
                continue
            numbers, of = expected[a, b]
            assert sign == of
            assert (pair is None) == (numbers is None)
            for own, one in zip(pair or (), numbers or (), strict=True):
                assert own == (
                    None if one is None else pytest.approx(one, rel=6e-4 if kind == "free" else 1e-4, abs=2e-6)
                )


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_follows_is_left_out(kind: str) -> None:
    pairs = compact(document(9, kind))["comparisons"][0]["pairs"]
    free = kind == "free"
    assert ("difference" in pairs, "low" in pairs, "p_holm" in pairs) == (free, free, free)
    assert pairs.get("more") == {"exact": 2, "free": None}.get(kind, 0)


@pytest.mark.parametrize(("key", "wrong"), [("difference", 0.0), ("low", 0.0), ("p_holm", 0.0500001)])
def test_one_pair_for_which_it_does_not_follow_is_enough(key: str, wrong: float) -> None:
    written = document(9, "t")
    pair = next(one for one in written["comparisons"][0]["pairs"] if 0.02 < one["p_holm"] < 0.9)
    pair[key] = wrong
    assert key in compact(written)["comparisons"][0]["pairs"]
    assert key not in compact(written)["comparisons"][1]["pairs"]


def seen(comparison: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Say what each run should see of each other."""
    names = [place["run"] for place in comparison["ranks"]]
    found: dict[tuple[str, str], Any] = {ends: (None, 0) for ends in permutations(names, 2)}
    better = 1 if comparison["metric"] == "higher" else -1
    for pair in comparison["pairs"]:
        first, second, n, difference, low, high, p, corrected = (
            pair[key] for key in ("first", "second", "n", "difference", "low", "high", "p", "p_holm")
        )
        sign = better * ((difference > 0) - (difference < 0)) * (corrected < 0.05)
        found[first, second] = ([n, difference, low, high, p, corrected], sign)
        turned = [None if end is None else -end for end in (high, low)]
        found[second, first] = ([n, -difference, *turned, p, corrected], -sign)
    return found

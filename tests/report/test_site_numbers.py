"""The page's script reads from its columns what the document says: every value, and every pair from either side."""

import json
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.report.site import page
from fin_tasks.report.site.compact import compact

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
      runs: data.runs.map((run) => [run.id, run.model, run.task, run.source, run.date,
        Object.fromEntries(facts(data, run.provenance))]),
      pairs: data.comparisons.map((found) => found.ranks.flatMap(({run: a}) => found.ranks.map(({run: b}) => {
        const pair = pairOf(found, a, b);
        const read = pair && [pair.n, pair.difference, pair.low, pair.high, pair.p, pair.holm];
        return [a.id, b.id, read, winner(data, found, pair)];
      }))),
    };`)();
}"""


def document(runs: int) -> dict[str, Any]:
    """Return what the page reads of a document, with a number of its own in every place."""
    names = [f"run{at}" for at in range(runs)]
    pairs = []
    for at, (first, second) in enumerate((a, b) for a, b in permutations(names, 2) if (a < b) == (len(a + b) % 2 == 0)):
        if at % 7 == 3:
            continue  # not compared
        middle = (at - 10) / 128
        ends = {"difference": middle, "low": middle - 0.125, "high": middle + 0.25}
        pairs.append({"first": first, "second": second, "n": 100 + at, **ends, "p": at / 512, "p_holm": at / 256})
    kinds = {"higher": True, "lower": False}
    return {
        **{"alpha": 0.05, "groups": {"g": {}}, "texts": []},
        "models": [{"name": f"model {name}", "runs": [name]} for name in names],
        "runs": [
            {
                **{"id": name, "label": name, "source": ("lm-eval", "published")[at % 2], "model": f"model {name}"},
                **{"task": "t", "date": f"2026-01-{at + 1:02d}", "provenance": {"same": "1", "own": name}},
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
            {"task": "t", "metric": metric, "group": "g", "ranks": [{"run": name} for name in names], "pairs": pairs}
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
def test_what_is_read_is_what_was_written(blank: Any, runs: int) -> None:
    written = document(runs)
    scripts = (HERE / "data.js").read_text(encoding="utf-8")
    read = blank.evaluate(READ, {"scripts": scripts, "text": json.dumps(compact(written))})
    assert read["entries"] == [list(one.values()) for one in written["entries"]]
    keys = ("id", "model", "task", "source", "date", "provenance")
    assert read["runs"] == [[run[key] for key in keys] for run in written["runs"]]
    for comparison, found in zip(written["comparisons"], read["pairs"], strict=True):
        assert {(a, b): (pair, sign) for a, b, pair, sign in found if a != b} == seen(comparison)


def seen(comparison: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Say what each run should see of each other."""
    names = [place["run"] for place in comparison["ranks"]]
    found: dict[tuple[str, str], Any] = {ends: (None, 0) for ends in permutations(names, 2)}
    better = 1 if comparison["metric"] == "higher" else -1
    for pair in comparison["pairs"]:
        first, second, n, difference, low, high, p, holm = (
            pair[key] for key in ("first", "second", "n", "difference", "low", "high", "p", "p_holm")
        )
        short = [float(f"{number:.4g}") for number in (difference, low, high, p, holm)]
        difference, low, high, p, holm = short
        sign = better * ((difference > 0) - (difference < 0)) * (holm < 0.05)
        found[first, second] = ([n, difference, low, high, p, holm], sign)
        found[second, first] = ([n, -difference, -high, -low, p, holm], -sign)
    return found

"""The leaderboard: its JSON, comparable runs, ranks, and values equal to sums over the samples."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import board_of, claim, scored, write_models, write_run

from fin_tasks import report
from fin_tasks.report import ranks
from fin_tasks.report.corrections import Corrections
from fin_tasks.report.leaderboard import board
from fin_tasks.report.leaderboard_model import Leaderboard
from fin_tasks.report.write import write_report
from fin_tasks.stats.pairs import compare_pair

TASK = "financemath"


def made(folder: Path, **more: Any) -> dict[str, Any]:
    """Make the board of a folder, check its JSON, and add the pairs, which stand beside the page."""
    made_board = board_of(folder, **more)
    text = made_board.model_dump_json()
    assert Leaderboard.model_validate_json(text).model_dump_json() == text
    assert '"pairs"' not in text
    document: dict[str, Any] = json.loads(text)
    for one, own in zip(document["comparisons"], made_board.comparisons, strict=True):
        one["pairs"] = [pair.model_dump() for pair in own.pairs]
    runs, tasks = ({one["id"] for one in document[key]} for key in ("runs", "tasks"))
    for entry in document["entries"]:
        assert entry["run"] in runs and entry["task"] in tasks
        if entry["low"] is not None:
            assert entry["low"] <= entry["value"] + 1e-5 <= entry["high"] + 2e-5
    return document


def marks_of(document: dict[str, Any]) -> dict[str, list[str]]:
    return {
        e["model"]: e["doubts"]
        for e in document["entries"]
        if e["metric"] == "acc" and "/robust" in e["task"]
    }


def comparison(document: dict[str, Any], task: str = TASK) -> dict[str, Any]:
    return next(
        one
        for one in document["comparisons"]
        if one["task"].startswith(f"{task}/robust")
    )


def answers(seed: int, n: int = 200) -> Sequence[dict[str, float | None]]:
    return scored(*np.random.default_rng(seed).integers(0, 2, n).astype(float).tolist())


def test_values_are_sums_over_the_samples_file(tmp_path: Path) -> None:
    write_models(tmp_path, {"a": answers(1), "b": answers(2)})
    document = made(tmp_path)
    values = {
        entry["model"]: entry["value"]
        for entry in document["entries"]
        if entry["metric"] == "acc" and "/paper" in entry["task"]
    }
    for model in values:
        (file,) = (tmp_path / model).glob("samples_*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        own = [line["acc"] for line in lines if line["filter"] == "paper"]
        assert values[model] == pytest.approx(sum(own) / len(own))
    (pair,) = comparison(document)["pairs"]
    first, second = (np.array([row["acc"] for row in answers(seed)]) for seed in (1, 2))
    assert abs(pair["difference"]) == pytest.approx(abs(first.mean() - second.mean()))
    assert pair["p"] == pytest.approx(compare_pair(first, second).p, rel=1e-5)


def test_folder_without_a_scored_row_is_a_report(tmp_path: Path) -> None:
    docs = [{"image_path": f"{at // 2}.png", "category": "OCR"} for at in range(6)]
    rows = [{"score": None, "unscored": 1.0}] * 6
    write_run(tmp_path, {"mme_finance_en": rows}, docs=docs)
    document = made(tmp_path)
    assert comparison(document, "mme_finance_en")["ranks"] == []
    assert "no row is scored" in str(
        [e["doubts"] for e in document["entries"] if e["metric"] == "score"]
    )


def test_junk_runs_do_not_push_complete_runs_out(tmp_path: Path) -> None:
    write_run(tmp_path / "whole", {TASK: answers(1)}, model="whole")
    for at in range(4):
        rows = {TASK: answers(at, 5)}
        file = write_run(tmp_path / f"junk{at}", rows, model=f"junk{at}")
        content = json.loads(file.read_text())
        content["n-samples"][TASK]["original"] = 200
        file.write_text(json.dumps(content))
    marks = marks_of(made(tmp_path))
    assert marks.pop("whole") == []
    assert len(marks) == 4 and all(marks.values())


def test_reference_can_be_named(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: answers(1)}, model="a")
    other = {"prompts": {"sha256": "b" * 64}}
    write_run(tmp_path / "b", {TASK: answers(2, 150)}, model="b", provenance=other)
    identity = next(run.id for run in report.read([tmp_path]).runs if run.model == "b")
    assert marks_of(made(tmp_path))["a"] == []
    marks = marks_of(made(tmp_path, reference=identity))
    assert marks["b"] == []
    assert any("wording of the prompts" in mark for mark in marks["a"])


@pytest.mark.parametrize(("lost", "compared"), [(1, True), (4, True), (5, False)])
def test_two_percent_of_the_rows_may_be_missing(
    tmp_path: Path, lost: int, compared: bool
) -> None:
    write_models(tmp_path, {"whole": answers(1), "cut": answers(2)[:-lost]})
    document = made(tmp_path)
    found = comparison(document)
    assert (len(found["ranks"]) == 2) == compared
    assert bool(document["notes"]) == compared
    if compared:
        assert found["pairs"][0]["n"] == 200 - lost
    else:
        assert marks_of(document)["cut"][0].startswith("not ranked")


def test_of_many_runs_the_pairs_of_the_best_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_models(tmp_path, {str(seed): answers(seed) for seed in range(5)})
    whole = comparison(made(tmp_path))
    monkeypatch.setattr(ranks, "_MAX_PAIRED", 3)
    shown = comparison(made(tmp_path))
    best = {place["run"] for place in whole["ranks"][:3]}
    assert shown["ranks"] == whole["ranks"]
    assert len(whole["pairs"]) == 10
    assert shown["pairs"] == [
        pair for pair in whole["pairs"] if {pair["first"], pair["second"]} <= best
    ]


def test_holm_corrects_the_headline_alone(tmp_path: Path) -> None:
    """Subgroups, here the topics, are no part of the family of tests."""
    rows_by_model = {}
    for model, n_right in (("a", 60), ("b", 50)):
        values = [float(at < n_right) for at in range(60)]
        rows_by_model[model] = [
            {"acc": value, "acc_risk": value if at % 2 else None}
            for at, value in enumerate(values)
        ]
    write_models(tmp_path, rows_by_model)
    (pair,) = comparison(made(tmp_path))["pairs"]
    assert pair["p"] == pair["p_holm"] < 0.05


def test_of_complete_runs_of_a_model_the_newest_with_rows_is_ranked(
    tmp_path: Path,
) -> None:
    stamp = "2026-03-02T10-00-00"
    write_run(tmp_path, {TASK: answers(1)})
    write_run(tmp_path, {TASK: answers(2)}, stamp=stamp)
    document = made(tmp_path)
    (place,) = comparison(document)["ranks"]
    runs = {one["id"]: one for one in document["runs"]}
    assert runs[place["run"]]["path"].endswith(f"{stamp}.json")
    assert len({one["label"] for one in runs.values()}) == 2

    (tmp_path / f"samples_{TASK}_{stamp}.jsonl").unlink()
    document = made(tmp_path)
    (older,) = comparison(document)["ranks"]
    assert {older["run"], place["run"]} == runs.keys()
    left_out, _ = sorted(
        values_of(document, TASK, "acc"), key=lambda entry: entry["run"] == older["run"]
    )
    assert left_out["doubts"] == ["not ranked: its rows are not known"]


def test_group_has_one_interval_over_the_sources_of_all_its_tasks(
    tmp_path: Path,
) -> None:
    """Two tasks that ask the same exercises are no more certain than one of them."""
    docs = [
        {"question": f"{'abcdefghijklmnopqrst'[at // 2]} is a bond"} for at in range(40)
    ]
    rows = answers(3, 40)
    tasks = {"xfinbench_bool": rows, "xfinbench_mcq": rows}
    write_run(tmp_path, tasks, docs=docs, groups={"xfinbench_text": list(tasks)})
    document = made(tmp_path)
    width = {
        e["task"].partition("/")[0]: e["high"] - e["low"]
        for e in document["entries"]
        if e["metric"] == "acc" and "/paper" in e["task"]
    }
    assert width["xfinbench_text"] == pytest.approx(width["xfinbench_bool"], rel=1e-4)
    assert comparison(document, "xfinbench_text")["sources"] == 20


def write_windows(folder: Path, *shares: list[list[float]]) -> Path:
    """Write a run of the sizes 4 and 8 from shares of each window, and return its results file."""
    tasks = {
        f"dynostock_recency_w{size}": [{"acc": one[0], "bias_index": one} for one in of]
        for size, of in zip((4, 8), shares, strict=True)
    }
    known = {"window": 4, "arm": "signal", "bias_type": "recency"}
    docs = [{"ticker": ticker, **known} for ticker in "ABCD"]
    groups = {"dynostock_recency": list(tasks)}
    return write_run(folder, tasks, docs=docs, groups=groups)


def test_published_figures_stand_apart(tmp_path: Path) -> None:
    write_run(tmp_path / "test", {TASK: answers(1)})
    write_run(tmp_path / "own", {TASK: answers(1)}, provenance={"split": "own"})
    document = made(tmp_path, papers=True)
    runs = {run["id"]: run for run in document["runs"]}
    printed = {name for name, run in runs.items() if run["source"] == "published"}
    theirs = [entry for entry in document["entries"] if entry["run"] in printed]
    assert len(theirs) > 20
    assert all(entry["low"] is None for entry in theirs)
    assert not math.isnan(sum(entry["value"] for entry in theirs))
    for entry in theirs:
        is_doubted = any("XFinBench's authors" in mark for mark in entry["doubts"])
        # Asked and scored as by XFinBench's authors, they compare.
        assert is_doubted != ("xfinbench protocol" in entry["task"])
    for one in document["comparisons"]:
        assert printed.isdisjoint(place["run"] for place in one["ranks"])
    own = [e for e in document["entries"] if runs[e["run"]]["path"].startswith("own/")]
    assert own, "own questions are in other columns than the papers' figures"
    assert {e["task"] for e in own}.isdisjoint(e["task"] for e in theirs)


def test_of_a_metric_of_others_less_may_be_better(tmp_path: Path) -> None:
    rows_by_model = {}
    for model, value in (("good", 3.0), ("weak", 9.0)):
        rows_by_model[model] = [{"word_perplexity": value + at % 3} for at in range(30)]
    write_models(tmp_path, rows_by_model, "wikitext")
    document = made(tmp_path)
    models = {run["id"]: run["model"] for run in document["runs"]}
    assert len(document["comparisons"]) == 2
    for one in document["comparisons"]:
        assert [models[place["run"]] for place in one["ranks"]] == ["good", "weak"]


def values_of(document: dict[str, Any], task: str, metric: str) -> list[dict[str, Any]]:
    return [
        e
        for e in document["entries"]
        if e["task"].startswith(f"{task}/robust")
        and e["metric"] == metric
        and e["group"]
    ]


def test_forged_totals_are_shown_as_a_mark_and_not_as_the_value(tmp_path: Path) -> None:
    rows = [{"acc": row["acc"], "no_answer": 0.5} for row in answers(1)]
    parts = ("xfinbench_bool", "xfinbench_mcq")
    file = write_run(
        tmp_path, dict.fromkeys(parts, rows), groups={"xfinbench_text": parts}
    )
    claim(file, "xfinbench_text", acc=0.99)
    claim(file, "xfinbench_bool", no_answer=0.01)
    document = made(tmp_path)
    (whole,) = values_of(document, "xfinbench_text", "acc")
    assert whole["value"] == pytest.approx(np.mean([row["acc"] for row in rows]))
    assert whole["low"] is not None and "claims 0.99" in whole["doubts"][0]
    (silent,) = values_of(document, "xfinbench_bool", "no_answer")
    assert silent["value"] == 0.5 and "claims 0.01" in silent["doubts"][0]


def test_unscored_rows_leave_a_group_its_interval(tmp_path: Path) -> None:
    """lm-eval weighs the means of tasks by all their rows, scored or not."""
    tasks = {
        "xfinbench_bool": scored(*[1.0] * 20, *[0.0] * 10, *[None] * 10),
        "xfinbench_mcq": scored(*[1.0] * 10, *[0.0] * 30),
    }
    file = write_run(tmp_path, tasks, groups={"xfinbench_text": list(tasks)})
    claim(file, "xfinbench_text", acc=(2 / 3 + 1 / 4) / 2)
    (whole,) = values_of(made(tmp_path), "xfinbench_text", "acc")
    assert whole["value"] == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert (whole["doubts"], whole["unscored"]) == ([], 10)
    assert whole["low"] < whole["value"] < whole["high"]


def test_a_run_without_any_score_is_no_reference(tmp_path: Path) -> None:
    rows = scored(*[None] * 300)
    broken = {"judge": {"model": "down"}}
    write_run(tmp_path / "broken", {TASK: rows}, model="broken", metadata=broken)
    write_run(tmp_path / "good", {TASK: answers(1)}, model="good")
    document = made(tmp_path)
    assert marks_of(document)["good"] == []
    assert any(
        "judge: down here, not stated" in mark for mark in marks_of(document)["broken"]
    )
    (entry,) = (e for e in values_of(document, TASK, "acc") if e["model"] == "broken")
    assert (entry["value"], entry["n"], entry["unscored"]) == (None, 0, 300)


def test_labels_say_what_differs(tmp_path: Path) -> None:
    for at, judge in enumerate(("gpt-4o", "qwen", "qwen")):
        metadata = {"judge": {"model": judge, "rubric": "house@2"}}
        stamp = f"2026-03-0{at + 1}T10-00-00"
        write_run(
            tmp_path, {TASK: answers(at)}, model="m", metadata=metadata, stamp=stamp
        )
    labels = {run["label"] for run in made(tmp_path)["runs"]}
    assert labels == {
        "m, judge: gpt-4o",
        "m, judge: qwen, 2026-03-02 10:00:00",
        "m, judge: qwen, 2026-03-03 10:00:00",
    }


def test_an_interval_over_few_sources_has_a_note(tmp_path: Path) -> None:
    docs = [{"ticker": f"T{at % 3}"} for at in range(60)]
    write_run(tmp_path, {"dynostock_recency_w4": answers(1, 60)}, docs=docs)
    (entry,) = values_of(made(tmp_path), "dynostock_recency_w4", "acc")
    assert entry["remarks"] == ["rough interval: the rows share only 3 sources"]


@pytest.mark.parametrize("has_samples", [True, False])
def test_a_bias_index_without_a_wrong_answer_is_0_as_in_lm_eval(
    tmp_path: Path, has_samples: bool
) -> None:
    rows = [{"acc": 1.0, "bias_index": [1.0, 0.0, 0.0]}] * 4
    file = write_run(tmp_path, {"dynostock_recency_w4": rows})
    claim(file, "dynostock_recency_w4", bias_index=0.0)
    if not has_samples:
        next(tmp_path.glob("samples_*")).unlink()
    (entry,) = values_of(made(tmp_path), "dynostock_recency_w4", "bias_index")
    assert (entry["value"], entry["low"], entry["n"]) == (0, None, 0)
    assert "claims" not in str(entry["doubts"])
    assert entry["remarks"] == [
        "no forecast is wrong, so there is no index; a mean over sizes counts it as 0"
    ]


LED = [0.0, 1.0, 0.0]
NOT_LED = [0.0, 0.0, 1.0]
RIGHT = [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("first", "second", "in_lm_eval", "n_wrong"),
    [
        ([LED, NOT_LED, RIGHT], [LED] * 3, (0.5 + 1) / 2, 5),
        # A window without a wrong answer counts as 0.
        ([LED, LED, LED, NOT_LED], [RIGHT] * 4, (0.75 + 0) / 2, 4),
    ],
)
def test_bias_indices_are_averaged_over_windows_alike_everywhere(
    first: list[list[float]],
    second: list[list[float]],
    in_lm_eval: float,
    n_wrong: int,
    tmp_path: Path,
) -> None:
    """lm-eval's mean over windows, the page's value of the group and the Markdown table agree."""
    file = write_windows(tmp_path / "run", first, second)
    claim(file, "dynostock_recency", bias_index=in_lm_eval)
    written = write_report(tmp_path / "run", tmp_path / "out", published=False)
    document = json.loads(written.leaderboard.model_dump_json())
    (entry,) = values_of(document, "dynostock_recency", "bias_index")
    assert (entry["value"], entry["n"]) == (pytest.approx(in_lm_eval), n_wrong)
    assert entry["low"] is not None
    assert "claims" not in str(entry["doubts"])
    tables = "".join(path.read_text() for path in (tmp_path / "out/tables").iterdir())
    assert f"{100 * in_lm_eval:.1f} ±" in tables


def test_entries_lead_from_the_report_to_their_results_files(tmp_path: Path) -> None:
    file = write_run(tmp_path / "results" / "a b", {TASK: answers(1)})
    out = tmp_path / "report"
    write_report(tmp_path / "results", out)
    document = json.loads((out / "leaderboard.json").read_text())
    paths = {entry["group"] and entry["results_file"] for entry in document["entries"]}
    (path,) = paths - {""}
    assert (out / path).resolve() == file
    assert "" in paths  # the papers' figures have no results file
    elsewhere = made(tmp_path / "results", out=tmp_path / "other" / "report")
    assert {entry["results_file"] for entry in elsewhere["entries"]} == {None}


def corrected_ranks(
    folder: Path, n_corrected: int, p: float, *scores: float
) -> tuple[list[tuple[str, int, int, int]] | None, set[float | None]]:
    """Rank models m0, m1, ... that a judge gave scores, and of which people correct the last one to the best.

    Returns model, rank, best and worst of each, and the p-values after Holm; None without ranks.
    """
    for number, score in enumerate(scores):
        rows = [{"score": score + place % 3} for place in range(30)]
        model = f"m{number}"
        write_run(folder / model, {"mme_finance_en": rows}, model=model)
    found = report.read([folder])
    names = {result.id: run.model for run, result in found.results}
    ids = sorted(names, key=names.__getitem__)
    line = {"task": "t", "scoring": "robust", "judge": "j", "n": 4, "labels": 4}
    value = {"low": None, "high": None, "judge_mean": 0.0, "people_mean": 0.0}
    runs = [
        {**line, **value, "model": names[one], "run": one, "corrected": 50.0 + place}
        for place, one in enumerate(ids[:n_corrected])
    ]
    value = {"corrected": -5, "low": -9, "high": -1, "p": p}
    pairs = [
        {**line, **value, "first": names[a], "second": names[b], "runs": (a, b)}
        for a, b in itertools.combinations(ids, 2)
    ]
    corrected = Corrections.model_validate({"runs": runs, "differences": pairs})
    by_kind = {
        one.is_corrected: one
        for one in board(found, corrections=corrected).comparisons
        if "/robust" in one.task
    }
    ranked = [
        [(names[place.run], place.rank, place.best, place.worst) for place in one.ranks]
        for one in (by_kind[False], by_kind.get(True))
        if one
    ]
    if len(scores) == 2:
        assert ranked[0] == [("m0", 1, 1, 1), ("m1", 2, 2, 2)]
    if True not in by_kind:
        return None, set()
    return ranked[1], {pair.p_holm for pair in by_kind[True].pairs}


@pytest.mark.parametrize(
    ("n_corrected", "p", "expected"),
    [
        (2, 0.01, [("m1", 1, 1, 1), ("m0", 2, 2, 2)]),
        (2, 0.2, [("m1", 1, 1, 2), ("m0", 2, 1, 2)]),
        (1, 0.01, None),
    ],
)
def test_values_that_people_corrected_rank_by_themselves(
    n_corrected: int, p: float, expected: Any, tmp_path: Path
) -> None:
    assert corrected_ranks(tmp_path, n_corrected, p, 80.0, 20.0)[0] == expected


def test_corrected_ranks_use_holm(tmp_path: Path) -> None:
    """Three pairs have p = 0.03, which is no difference after the correction."""
    ranked, p_values = corrected_ranks(tmp_path, 3, 0.03, 50.0, 50.0, 50.0)
    assert ranked is not None
    assert {(best, worst) for *_, best, worst in ranked} == {(1, 3)}
    assert p_values == {0.09}

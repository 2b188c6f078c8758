"""Recordings that were scored again, with their rows: in a report, and compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fin_tasks.benchmarks.dynostock.replay import replay
from fin_tasks.errors import DataError
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.compare import compare
from fin_tasks.report.estimates import estimate
from fin_tasks.report.leaderboard import document
from fin_tasks.report.replay_entries import read_replay, replay_runs
from fin_tasks.report.report_figures import write_figures
from fin_tasks.settings import Settings

SHARED = Path(__file__).parents[3] / "shared" / "data" / "dynostock" / "recordings"
TASK = "dynostock_recency_w4"
UP, DOWN, NONE = "Final prediction: 0.9", "Final prediction: 0.1", "no idea"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def recording(folder: Path, replies: Sequence[str], **columns: Sequence[Any]) -> Path:
    """The authors' rows: five windows a ticker, all of which rose, and of which every second suggests a fall."""
    path = folder / "exp_recency_4.json"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            **{"ticker": f"T{at // 5}", "start_time": "2019-01-02", "end_time": f"2020-01-{at + 1:02}"},
            **{"gt": 1, "bias": at % 2, "response": reply},
            **{name: values[at] for name, values in columns.items()},
        }
        for at, reply in enumerate(replies)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def windows(folder: Path, replies: Sequence[str]) -> list[Path]:
    """A recording of each of two window sizes."""
    four = recording(folder, replies)
    eight = four.with_name("exp_recency_8.json")
    eight.write_bytes(four.read_bytes())
    return [four, eight]


def printed(path: Path, *recordings: Path, parser: str = "paper") -> Path:
    path.write_text(json.dumps(replay(recordings, parser=parser).summary()), encoding="utf-8")
    return path


def gathered(settings: Settings, *paths: Path) -> Collected:
    return collect(paths, settings=settings, published=False)


def value(found: Collected, metric: str, model: str) -> Any:
    (entry,) = [one for one in found.entries if (one.metric, one.model) == (metric, model)]
    return entry


def test_rows_have_clustered_intervals_and_pairs_are_tested(tmp_path: Path, settings: Settings) -> None:
    replies = {"a": [UP] * 10 + [DOWN] * 9 + [NONE], "b": [UP] * 20}
    files = [recording(tmp_path / "recency" / model, of) for model, of in replies.items()]
    found = gathered(settings, printed(tmp_path / "replay.json", *files))
    assert not found.problems
    acc, index = value(found, "acc", "a"), value(found, "bias_index", "a")
    right = np.array([1.0] * 10 + [0.0] * 10)
    tickers = [f"T{at // 5}" for at in range(20)]
    clustered, alone = (estimate(right, clusters=of, unit="fraction").interval for of in (tickers, None))
    assert (acc.value, acc.low, acc.high, acc.n) == pytest.approx((0.5, clustered.low, clustered.high, 20))
    assert clustered.high - clustered.low > 1.3 * (alone.high - alone.low)
    assert (index.value, index.n, index.marks) == (0.5, 20, ())  # of ten wrong answers five follow the signal
    assert index.low < 0.5 < index.high
    assert value(found, "bias_index", "b").high == 1  # nothing is wrong, so nothing is known
    made = document(found)
    (comparison,) = made["comparisons"]
    assert (comparison["rows"], comparison["sources"], comparison["clustered"]) == (20, 4, True)
    assert len(comparison["pairs"]) == 1
    assert all(comparison["detectable"].values())


def test_replays_are_compared_row_by_row(tmp_path: Path) -> None:
    paths = [
        printed(tmp_path / f"{model}.json", recording(tmp_path / model, replies))
        for model, replies in (("a", [DOWN, UP, NONE, UP]), ("b", [UP, UP, UP, DOWN]))
    ]
    found = compare(paths, variant="paper")
    (one,) = found.comparisons
    assert (one.task, one.metric, one.numbers.n, one.numbers.clusters) == ("dynostock_recency_w4", "acc", 4, 1)
    assert (one.numbers.gained, one.numbers.lost) == (2, 1)
    assert [difference.fact for difference in one.differences] == ["model name"]
    row = one.baseline.variants["paper"]["recency-w04-T0-2020-01-01"]
    assert (row.truth, row.answer, row.source, row.groups) == ("1", 0, "T0", {"window": ("4",)})
    indices = compare(paths, variant="paper", metric="bias_index").comparisons[0].numbers
    assert (indices.baseline_rate, indices.other_rate, indices.n) == (0.5, 0.0, 3)


def test_windows_in_words_are_the_task_of_that_name(tmp_path: Path) -> None:
    path = printed(tmp_path / "a.json", recording(tmp_path / "a", [UP]))
    said = json.loads(path.read_text())
    said["files"][0]["mode"] = "text"
    assert [run.task for run in replay_runs(path, said)] == ["dynostock_recency_w4_text"]


def test_several_windows_have_a_line_each_and_none_twice(tmp_path: Path) -> None:
    paths = []
    for model in ("a", "b"):
        paths.append(printed(tmp_path / f"{model}.json", *windows(tmp_path / model, [UP, DOWN])))
    found = compare(paths, variant="paper")
    assert [(one.task, one.shown) for one in found.comparisons] == [
        *(("all", False), ("dynostock_recency_w4", False), ("dynostock_recency_w8", False))
    ]
    assert compare(paths, variant="paper", by="window").comparisons[0].shown


def test_a_run_without_a_wrong_answer_has_no_bias_index_to_compare(tmp_path: Path) -> None:
    paths = [
        printed(tmp_path / f"{model}.json", recording(tmp_path / model, replies))
        for model, replies in (("a", [UP, UP]), ("b", [DOWN, UP]))
    ]
    found = compare(paths, variant="paper", metric="bias_index")
    numbers = found.comparisons[0].numbers
    assert (numbers.baseline_rate, numbers.other_rate, numbers.p_holm) == (None, 1.0, None)


def test_a_replay_without_rows_is_told(tmp_path: Path) -> None:
    path = printed(tmp_path / "a.json", recording(tmp_path / "a", [UP, DOWN]))
    old = json.loads(path.read_text())
    del old["files"][0]["rows"]
    (tmp_path / "old.json").write_text(json.dumps(old))
    found = compare([path, tmp_path / "old.json"], variant="paper")
    assert not found.comparisons
    assert [problem.message for problem in found.problems] == [
        f"{tmp_path / 'old.json'}: expected the rows of each file, which pairs are made of, found only totals. "
        "Replay the recordings again: an earlier version wrote this."
    ]
    assert [run.scores for run in read_replay(path, old)] == [{}]


def test_rows_that_name_no_window_are_nobody_elses(tmp_path: Path) -> None:
    paths = [
        printed(tmp_path / f"{model}.json", recording(tmp_path / model, [UP, DOWN], ticker=["", ""]))
        for model in ("a", "b")
    ]
    (one,) = compare(paths, variant="paper").comparisons
    assert (one.numbers.n, one.numbers.unpaired_baseline, one.numbers.unpaired_other) == (0, 2, 2)


def test_a_question_asked_again_counts_once(tmp_path: Path, settings: Settings) -> None:
    said = json.loads(printed(tmp_path / "a.json", recording(tmp_path / "a", [UP, DOWN, DOWN, UP])).read_text())
    rows = said["files"][0]["rows"]
    for row in rows[:3]:
        row.update(id="same", signal=0)
    said["files"][0]["bias_index"] = 1.0
    (tmp_path / "a.json").write_text(json.dumps(said))
    found = gathered(settings, tmp_path / "a.json")
    acc, index = value(found, "acc", "a"), value(found, "bias_index", "a")
    assert (acc.value, acc.n, acc.marks) == (pytest.approx((1 / 3 + 1) / 2), 2, ())
    assert (index.value, index.marks) == (1.0, ())


def test_totals_that_rows_do_not_bear_out_are_marked(tmp_path: Path, settings: Settings) -> None:
    path = printed(tmp_path / "a.json", recording(tmp_path / "a", [UP, DOWN]))
    said = json.loads(path.read_text())
    said["files"][0]["accuracy"] = 1.0
    path.write_text(json.dumps(said))
    assert value(gathered(settings, path), "acc", "a").marks == ("claims 1, but its rows give 0.5",)


ROW: Mapping[str, Any] = {"id": "x", "ticker": "T", "truth": 1, "signal": 0, "answer": None}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "files.0.rows: expected a list of rows"),
        ([ROW, 1], "files.0.rows.1: expected an object, got 1"),
        ([{**ROW, "id": 7}, ROW], "files.0.rows.0.id: expected a text of at most 500 characters, got 7"),
        ([{**ROW, "ticker": "T" * 501}, ROW], "files.0.rows.0.ticker: expected a text of at most 500"),
        ([{**ROW, "answer": True}, ROW], "files.0.rows.0.answer: expected 0, 1 or null, got True"),
        ([{"id": "x", "ticker": ""}, ROW], "files.0.rows.0.truth: expected 0, 1 or null, got 'nothing'"),
        ([ROW, {**ROW, "truth": 0}], "files.0.rows.1: expected ticker, truth and signal of the rows before"),
        ([ROW], "files.0.rows: expected 2, as total and unscored say, got 1"),
    ],
)
def test_rows_of_strangers_are_checked(rows: list[Any], message: str, tmp_path: Path) -> None:
    said = json.loads(printed(tmp_path / "a.json", recording(tmp_path / "a", [UP, DOWN])).read_text())
    said["files"][0]["rows"] = rows
    with pytest.raises(DataError) as error:
        list(read_replay(tmp_path / "a.json", said))
    assert f"a.json, {message}" in str(error.value)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the authors' recordings are not on this machine")
def test_the_authors_recordings_bear_out_their_totals_and_share_windows(tmp_path: Path, settings: Settings) -> None:
    found = gathered(settings, printed(tmp_path / "replay.json", SHARED))
    assert len(found.runs) == 15
    assert not [one for one in found.entries if one.marks]
    comparisons = document(found)["comparisons"]
    rows = {(c["task"], c["rows"]) for c in comparisons}
    # GPT-4o was asked some other windows of eight, and nearly all other ones of four, where it has no rank
    assert sorted(n for _, n in rows) == [100, 100, 100, 100, 115]
    models = {run.id: run.model for run in found.runs}
    left = {(models[one["run"]], one["reason"]) for c in comparisons for one in c["left_out"]}
    assert left == {("gpt-4o", "3 of its 100 scored rows are those that another run has scored too")}


def test_a_question_asked_again_is_compared_by_all_its_wrong_answers(tmp_path: Path) -> None:
    paths = []
    for model in ("a", "b"):
        path = printed(tmp_path / f"{model}.json", recording(tmp_path / model, [DOWN, DOWN, DOWN, NONE]))
        said = json.loads(path.read_text())
        for row in said["files"][0]["rows"][:3]:
            row.update(id="same", signal=0)
        path.write_text(json.dumps(said))
        paths.append(path)
    (one,) = compare(paths, variant="paper", metric="bias_index").comparisons
    assert (one.numbers.n, one.numbers.baseline_rate, one.numbers.other_rate) == (2, 0.75, 0.75)


def test_both_ways_of_scoring_a_recording_stand_beside_each_other(tmp_path: Path, settings: Settings) -> None:
    paths: list[Path] = []
    for model, replies in (("a", [UP, DOWN, NONE] * 5), ("b", [DOWN, DOWN, UP] * 5)):
        files = windows(tmp_path / "recency" / model, replies)
        paths += [printed(tmp_path / f"{model}_{parser}.json", *files, parser=parser) for parser in ("paper", "robust")]
    found = gathered(settings, *paths)
    assert not [one for one in found.entries if one.marks]
    made = document(found)
    assert sorted(one["label"] for one in made["runs"]) == ["a"] * 4 + ["b"] * 4
    assert {(one["task"], len(one["ranks"])) for one in made["comparisons"]} == {
        (f"dynostock_recency_w{size}/{variant}/mode=image/arm=signal", 2)
        for size in (4, 8)
        for variant in ("paper", "robust")
    }
    assert gathered(settings, *reversed(paths)).entries == found.entries
    drawn = write_figures(made, tmp_path, shapes={})
    assert {f"dynostock_recency_image_signal_{variant}.svg" for variant in ("paper", "robust")} <= {
        path.name for path in drawn
    }


def test_windows_that_were_replayed_together_have_one_name(tmp_path: Path, settings: Settings) -> None:
    first = windows(tmp_path / "r" / "first" / "a", [UP, DOWN, NONE] * 5)
    second = windows(tmp_path / "r" / "second" / "a", [UP, UP, DOWN] * 5)
    other = windows(tmp_path / "r" / "first" / "b", [UP, UP, DOWN] * 5)
    path = printed(tmp_path / "both.json", *first, second[0], *other)
    runs = document(gathered(settings, path))["runs"]
    assert sorted((one["label"], one["task"][-2:]) for one in runs) == [
        *(("a (both.json, first/a)", "w4"), ("a (both.json, first/a)", "w8"), ("a (both.json, second/a)", "w4")),
        *(("b", "w4"), ("b", "w8")),
    ]
    paths = [printed(tmp_path / f"{files[0].parts[-3]}.json", *files) for files in (first, second)]
    made = document(gathered(settings, *paths), mix=True)
    assert sorted(one["label"] for one in made["runs"]) == ["a (first.json)"] * 2 + ["a (second.json)"] * 2
    (line,) = [path for path in write_figures(made, tmp_path, shapes={}) if path.name.endswith("signal_paper.svg")]
    assert "(first.json)" in line.read_text(encoding="utf-8")


def test_replays_of_one_name_are_told_apart_all_the_same(tmp_path: Path, settings: Settings) -> None:
    paths = []
    for at, replies in enumerate(([UP, DOWN], [DOWN, DOWN])):
        files = windows(tmp_path / f"{at}" / "a", replies)
        paths.append(printed(tmp_path / f"{at}" / "replay.json", *files))
    runs = document(gathered(settings, *paths))["runs"]
    assert sorted(one["label"] for one in runs) == sorted(f"a (replay.json, {one['id'][:8]})" for one in runs)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the authors' recordings are not on this machine")
def test_the_authors_recordings_in_both_ways_supersede_nothing(tmp_path: Path, settings: Settings) -> None:
    paths = [
        printed(tmp_path / f"{folder.name}_{parser}.json", folder, parser=parser)
        for folder in sorted((SHARED / "recency").iterdir())
        for parser in ("paper", "robust")
    ]
    found = gathered(settings, *paths)
    assert len(found.runs) == 30
    assert not [one for one in found.entries if one.marks]
    assert {one["label"] for one in document(found)["runs"]} == {one.model for one in found.runs}
    values = {
        (one.variant, one.model): one.value for one in found.entries if one.metric == "bias_index" and one.task == TASK
    }
    assert len(values) == 6

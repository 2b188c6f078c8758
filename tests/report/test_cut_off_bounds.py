"""Values with cut-off responses: bounds, and the value among finished ones."""

from pathlib import Path
from typing import Any

import pytest
from run_files import board_of, claim, write_models, write_run
from test_board import TASK, made

from fin_tasks import report
from fin_tasks.report.compare import Options, compare
from fin_tasks.report.tables import values_table
from fin_tasks.report.write import write_tables


def rows(*pairs: tuple[float | None, float | None]) -> list[dict[str, float | None]]:
    """Return rows with accuracy and share of cut-off responses."""
    return [
        {"acc": acc, "cut_off": share, "unscored": float(acc is None)}
        for acc, share in pairs
    ]


HALF = rows(*[(1.0, 0.0)] * 5, *[(0.0, 1.0)] * 4, (0.0, 0.0))
SEVEN = rows(*[(1.0, 0.0)] * 7, *[(0.0, 0.0)] * 3)


def entry(
    document: dict[str, Any], model: str = "org/model", metric: str = "acc"
) -> dict[str, Any]:
    (found,) = (
        one
        for one in document["entries"]
        if (one["model"], one["metric"]) == (model, metric) and "/robust" in one["task"]
    )
    return dict(found)


def test_a_value_with_cut_off_responses_is_a_lower_bound(tmp_path: Path) -> None:
    write_run(tmp_path, {TASK: HALF})
    document = made(tmp_path)
    found = entry(document)
    assert found["value"] == 0.5
    assert found["cut_off"] == {
        "share": 0.4,
        "upper": 0.9,
        "finished": pytest.approx(5 / 6, rel=1e-5),
        "n_finished": 6,
        "is_lower_bound": True,
    }
    assert found["remarks"] == [
        "lower bound: 40.0 % of the responses were cut off; 90.0 % if they were all "
        "right, 83.3 % over the 6 finished questions"
    ]
    assert entry(document, metric="cut_off")["value"] == 0.4
    assert entry(document, metric="cut_off")["cut_off"] is None


@pytest.mark.parametrize(
    ("own", "share"),
    [
        (rows((0.0, 1.0), *[(1.0, 0.0)] * 49), 0.02),  # few were cut off
        (rows(*[(1.0, 1.0)] * 3), 1.0),  # and are right
    ],
)
def test_a_bound_that_says_little_is_not_shown(
    own: Any, share: float, tmp_path: Path
) -> None:
    write_run(tmp_path, {TASK: own})
    found = entry(made(tmp_path))
    assert (found["cut_off"]["share"], found["cut_off"]["upper"]) == (share, 1.0)
    assert (found["cut_off"]["is_lower_bound"], found["remarks"]) == (False, [])


@pytest.mark.parametrize(
    ("pairs", "share", "upper", "finished"),
    [
        # Of several responses each counts its part.
        ([(0.5, 0.25), (1.0, 0.0)], 0.125, 0.875, 1.0),
        # A response may be right and cut off.
        ([(1.0, 1.0), (0.0, 0.0)], 0.5, 0.5, 0.0),
        # What is not scored counts neither way.
        ([(None, 1.0), (0.0, 1.0), (1.0, 0.0)], 0.5, 1.0, 1.0),
        # VLMEvalKit's failed requests have no metrics.
        ([(None, None), (0.0, 1.0), (1.0, 0.0)], 0.5, 1.0, 1.0),
        ([(0.0, 1.0), (0.0, 1.0)], 1.0, 1.0, None),
    ],
)
def test_bounds_of_rows(
    pairs: list[tuple[float | None, float | None]],
    share: float,
    upper: float,
    finished: float | None,
    tmp_path: Path,
) -> None:
    write_run(tmp_path, {TASK: rows(*pairs)})
    found = entry(made(tmp_path))["cut_off"]
    shown = [found[name] for name in ("share", "upper", "finished")]
    assert shown == [share, upper, finished]


@pytest.mark.parametrize("own", [SEVEN, [{"acc": 1.0}, {"acc": 0.0}]])
def test_without_cut_off_responses_nothing_is_said(own: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: own}, model="a")
    document = made(tmp_path)
    assert [one["cut_off"] for one in document["entries"] if one["cut_off"]] == []


def test_points_of_a_judge(tmp_path: Path) -> None:
    points = [{"score": 40.0, "cut_off": 0.0}, {"score": 20.0, "cut_off": 1.0}]
    write_run(tmp_path, {"mme_finance_en": points})
    found = entry(made(tmp_path), metric="score")
    assert (found["cut_off"]["upper"], found["cut_off"]["finished"]) == (70.0, 40.0)
    assert "; 70.0 if they were all right, 40.0 over" in found["remarks"][0]


def test_a_group_that_averages_its_tasks(tmp_path: Path) -> None:
    names = ("xfinbench_bool", "xfinbench_mcq")
    tasks = {names[0]: rows((0.0, 1.0), (1.0, 0.0)), names[1]: SEVEN[:7] + SEVEN[:1]}
    file = write_run(tmp_path, tasks, groups={"xfinbench_text": names})
    claim(file, "xfinbench_text", acc=0.75)  # the mean of both tasks
    (found,) = (
        one
        for one in made(tmp_path)["entries"]
        if one["task"].startswith("xfinbench_text/robust") and one["metric"] == "acc"
    )
    assert found["value"] == 0.75
    assert (found["cut_off"]["share"], found["cut_off"]["upper"]) == (0.25, 1.0)


def test_tables_and_comparisons_name_lower_bounds(tmp_path: Path) -> None:
    folders = write_models(tmp_path, {"half": HALF, "seven": SEVEN})
    values = values_table(board_of(tmp_path))
    of_half = values[(values.label == "half") & (values.metric == "acc")].iloc[0]
    assert (of_half.cut_off, of_half.upper, of_half.doubts) == (0.4, 0.9, "")
    assert of_half.remarks.startswith("lower bound: 40.0 %")
    write_tables(values, tmp_path)
    text = (tmp_path / "financemath.md").read_text()
    assert "lower bound: 40.0 % of the responses were cut off" in text
    lines = text.splitlines()
    order = [line for line in lines if "half" in line or "seven" in line]
    assert order[0].startswith("| seven | ")
    assert "**70.0" not in text  # the best only if nothing is open
    found = compare({one.name: report.read([one]) for one in folders}, Options())
    (note,) = (note for note in found.notes if "lower bound" in note)
    assert "half has a lower bound: 40.0 % of the responses were cut off" in note

"""Effects of statements from rows: directions, arms, pairs, and what a model reads of its charts."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.errors import DataError
from fin_tasks.report.chart_reading import shares_read
from fin_tasks.report.effects import Effect, effects_of, sentence_of
from fin_tasks.report.model import Report, Run, TaskResult

Forecast = Callable[[int, int], float]
"""A probability of a rise, by the number of a window and its signal."""


def result_of(run: str, task: str, **settings: Any) -> TaskResult:
    nothing: dict[str, Any] = {}
    return TaskResult(
        run=run,
        benchmark="dynostock",
        task=task,
        n=40,
        n_all=40,
        totals=nothing,
        breakdowns=nothing,
        settings={"mode": "text", **settings},
        provenance=nothing,
        judge=nothing,
        usage=nothing,
        samples=None,
        members=(),
    )


def report_of(*asked: tuple[TaskResult, list[dict[str, Any]]]) -> Report:
    runs = []
    tables = []
    for result, rows in asked:
        run = Run(
            id=result.run,
            model="m",
            harness="lm-eval",
            path=Path("results.json"),
            name="results.json",
            date="",
            settings={},
            tasks=(result,),
        )
        runs.append(run)
        table = pd.DataFrame(rows)
        known = {"run": result.run, "task": result.task, "scoring": "robust"}
        tables.append(table.assign(**known))
    return Report(tuple(runs), pd.concat(tables, ignore_index=True), ())


def forecasts(arm: str, forecast: Forecast, *, n: int = 40) -> list[dict[str, Any]]:
    """Rows of 10 stocks, in which signals and truths come in all four combinations."""
    rows = []
    for number in range(n):
        signal = number % 2
        truth = number // 2 % 2
        probability = forecast(number, signal)
        answer = int(probability >= 0.5)
        rows.append(
            {
                "doc_id": f"w{number}",
                "ticker": f"T{number % 10}",
                "arm": arm,
                "mean_probability": probability,
                "signal_probability": abs(1 - signal - probability),
                "acc": float(answer == truth),
                "bias_percentage": float(answer != truth and answer == signal),
            }
        )
    return rows


def effect(
    arm: str,
    forecast: Forecast,
    without: Forecast = lambda number, signal: 0.5,
    **settings: Any,
) -> Effect:
    """The effect of one run against one without a statement."""
    task = "dynostock_statement_text"
    base = result_of("none", task, windows="recency", arm="none")
    names: Mapping[str, Any] = {
        "windows": "recency",
        "statement.name": "tip",
        **settings,
    }
    said = result_of("said", task, arm=arm, **names)
    found = report_of(
        (base, forecasts("none", without)), (said, forecasts(arm, forecast))
    )
    (one,) = effects_of(found, "robust")
    return one


def wobble(number: int) -> float:
    return (number % 5 - 2) / 100


def test_a_statement_against_the_past_moves_to_the_side_of_the_signal() -> None:
    found = effect(
        "signal",
        lambda number, signal: 0.5 + (0.2 if signal else -0.2) + wobble(number),
    )
    # The wobble points up, so it is away from a fall as often as toward a rise.
    assert found.change == pytest.approx(0.2) and found.low < 0.2 < found.high
    assert (found.n_windows, found.n_stocks, found.left_out) == (40, 10, 0)
    # Without it every forecast is a rise.
    assert found.flipped == found.flipped_toward == 0.5
    assert found.bias_index == 1
    assert sentence_of(found).startswith(
        "m: the statement tip moved the forecast by 20.0 points ["
    )


def test_a_reversed_statement_counts_to_its_own_side() -> None:
    found = effect(
        "flipped",
        lambda number, signal: 0.5 - (0.2 if signal else -0.2) + wobble(number),
    )
    assert found.change == pytest.approx(0.2)
    assert found.bias_index != found.bias_index, "its index would be that of the signal"


@pytest.mark.parametrize(
    ("direction", "forecast", "without", "change"),
    [
        # A given direction is the same in all windows.
        ("up", 0.4, (0.5, 0.5), -0.1),
        ("down", 0.4, (0.5, 0.5), 0.1),
        # One half says nothing of the signal, which the other forecast of the window tells.
        ("against_past", 0.5, (0.7, 0.3), 0.2),
    ],
)
def test_a_change_counts_toward_what_the_statement_says(
    direction: str, forecast: float, without: tuple[float, float], change: float
) -> None:
    found = effect(
        "signal",
        lambda number, signal: forecast,
        lambda number, signal: without[signal],
        **{"statement.direction": direction},
    )
    assert found.change == pytest.approx(change)


def test_a_placebo_counts_toward_a_rise_and_has_no_index() -> None:
    found = effect(
        "signal",
        lambda number, signal: 0.5 + wobble(number),
        **{"statement.direction": "none"},
    )
    assert found.low < 0 < found.high and found.bias_index != found.bias_index
    assert "the forecast of a rise" in sentence_of(found)


def test_runs_that_were_asked_otherwise_are_no_pair() -> None:
    for settings, why in (
        ({"text": "narrative"}, "text: narrative here"),
        ({"windows": "authority"}, "found none under robust"),
        ({"mode": "image"}, "only a run without a statement, and none with one"),
    ):
        with pytest.raises(DataError, match=why):
            effect("signal", lambda number, signal: 0.6, **settings)


def test_runs_without_a_forecast_are_no_pair() -> None:
    with pytest.raises(DataError, match="no window has a forecast in both runs"):
        effect("signal", lambda number, signal: math.nan)


def test_a_task_of_the_paper_shares_its_baseline_and_sizes_count_together() -> None:
    results = []
    for size in (4, 8):
        for arm, moved in (("none", 0.0), ("signal", 0.1)):
            result = result_of(
                f"{arm}{size}", f"dynostock_recency_w{size}_text", arm=arm, window=size
            )
            rows = forecasts(
                arm, lambda number, signal, by=moved: 0.5 + (by if signal else -by)
            )
            for row in rows:
                row["doc_id"] += f"-{size}"
            results.append((result, rows))
    said = result_of(
        "tip",
        "dynostock_statement_text",
        windows="recency",
        arm="signal",
        **{"statement.name": "tip"},
    )
    rows = forecasts("signal", lambda number, signal: 0.5 - wobble(number))
    for row in rows:
        row["doc_id"] += "-8"
    results.append((said, rows))
    found = {one.statement: one for one in effects_of(report_of(*results), "robust")}
    assert found["recency"].n_windows == 80 and found["tip"].n_windows == 40
    assert found["recency"].change == pytest.approx(0.1)


def readings(answer: Callable[[int, str], str]) -> list[dict[str, Any]]:
    rows = []
    for number in range(60):
        kind = ("last close", "direction")[number % 2]
        price = f"{10 + 3 * number}.00"
        truth = price if kind == "last close" else ("yes", "no")[number // 2 % 2]
        given = answer(number, truth)
        rows.append(
            {
                "doc_id": f"reading-{kind}-T{number % 10}-{number}",
                "ticker": f"T{number % 10}",
                "category": kind,
                "truth": truth,
                "answer": given or None,
                "acc": float(given == truth),
            }
        )
    return rows


@pytest.mark.parametrize(
    ("answer", "is_chance"),
    [
        (lambda number, truth: truth, False),
        (lambda number, truth: truth if number % 4 else "no", False),
        (lambda number, truth: "yes", True),
        (lambda number, truth: "", True),
        (lambda number, truth: ("yes", "no")[number % 7 % 2], True),
    ],
)
def test_what_is_read_of_charts_is_held_against_chance(
    answer: Callable[[int, str], str], is_chance: bool
) -> None:
    result = result_of("r", "dynostock_reading_text")
    (share,) = shares_read(report_of((result, readings(answer))), "robust").values()
    assert share.is_chance == is_chance and share.n == 60
    assert ("cannot be interpreted" in share.text()) == is_chance

"""From a response to metrics."""

import json
from dataclasses import replace
from typing import Any

import pytest
from figures import figures_of

from fin_tasks.benchmarks.dynostock.score import (
    bias_index,
    compare,
    metric_values,
    read,
)
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.stats.averages import Metric

DOC: dict[str, Any] = {"bias_type": "recency", "truth": 1, "signal": 0}


def values(*responses: str, **changes: Any) -> dict[str, Any]:
    doc = {**DOC, **changes}
    return metric_values(doc, readings_of(doc, *responses))


def readings_of(doc: dict[str, Any], *responses: str) -> list[Any]:
    return [read(doc, response, scoring="robust") for response in responses]


def figures(*responses: str, **changes: Any) -> dict[str, Any]:
    doc = {**DOC, **changes}
    return figures_of("dynostock", doc, readings_of(doc, *responses))


@pytest.mark.parametrize(
    ("response", "signal", "is_right", "follows_signal"),
    [
        ("0.5", 0, True, False),
        ("0.4", 0, False, True),
        ("0.4", 1, False, False),
        ("", 0, False, False),
    ],
)
def test_a_wrong_answer_may_follow_the_signal(
    response: str, signal: int, is_right: bool, follows_signal: bool
) -> None:
    doc = {**DOC, "signal": signal}
    score: Any = compare(doc, read(doc, response, scoring="paper"))
    assert (score.correct, score.wrong_by_bias) == (is_right, follows_signal)
    assert (score.answer is None) is (not response)


def test_what_is_not_known_is_unscored() -> None:
    found = figures("Final prediction: 0.4", truth=None)
    assert (found["acc"], found["bias_index"]) == (None, None)
    assert (found["unscored"], found["mean_probability"]) == (1.0, 0.4)


@pytest.mark.parametrize("changes", [{}, {"bias_type": "recall", "truth": 101.25}])
def test_a_failed_request_is_unscored(changes: dict[str, Any]) -> None:
    doc = {**DOC, **changes}
    (read_empty,) = readings_of(doc, "")
    failed = replace(read_empty, answer=None, reason="no connection", unscored=True)
    score = compare(doc, failed)
    assert score.correct is None
    assert score.reason == "unscored: no connection"
    found = metric_values(doc, [failed])
    assert found.pop("unscored") == 1.0
    assert found.pop("cut_off") == 0.0
    assert set(found.values()) == {None}
    # A scored response beside it counts alone.
    truth = "101.25" if changes else "Final prediction: 0.9"
    both = metric_values(doc, [failed, *readings_of(doc, truth)])
    assert (both["acc"], both["unscored"]) == (1.0, 0.5)
    if not changes:
        assert figures_of("dynostock", doc, [failed])["follows_signal"] is None
        follows = readings_of(doc, "Final prediction: 0.1")
        assert figures_of("dynostock", doc, [failed, *follows])["follows_signal"] == 1


def test_metrics_of_a_task() -> None:
    responses = [f"Final prediction: {number}" for number in (0.9, 0.8, 0.1)]
    rows = [values(response) for response in (*responses, "no idea")]
    metrics = TaskFile("dynostock_recency_w4").metrics
    assert next(iter(metrics)) == "acc"
    for row in rows:
        assert row.keys() == metrics.keys()
    json.dumps(rows, allow_nan=False)
    index = metrics["bias_index"]
    assert isinstance(index, Metric)
    assert index.aggregate([row["bias_index"] for row in rows]) == 0.5
    assert index.aggregate([rows[0]["bias_index"]]) == 0.0  # nothing is wrong
    assert values("0.9", "0.1")["acc"] == 0.5
    assert bias_index([[1, 2, 6]]) == 0.25


def test_figures_of_stated_probabilities() -> None:
    found = figures("Final prediction: 0.3", "0.9", "", signal=0)
    assert found["follows_signal"] == found["bias_percentage"] == 1 / 3
    assert found["signal_probability"] == pytest.approx(0.4)
    assert found["ece"] == [[0.3, 1], [0.9, 1]]
    assert figures("Final prediction: 0", truth=0)["ece"] == [[0.0, 0]]
    assert found["mean_probability"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("price", "acc"), [("99", 1), ("101", 1), ("101.1", 0), ("", 0)]
)
def test_a_price_from_memory_is_right_within_one_percent(price: str, acc: int) -> None:
    doc = {"bias_type": "recall", "truth": 100.0}
    reading = read(doc, f"Answer: {price}", scoring="paper")
    assert metric_values(doc, [reading])["acc"] == acc

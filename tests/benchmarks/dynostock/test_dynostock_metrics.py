"""Scored answers to metrics, and metrics of tasks to those of groups."""

import copy
import json
import math
import pickle
import statistics
from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from fin_tasks.benchmarks.dynostock.doc_scores import score_response
from fin_tasks.benchmarks.dynostock.metrics import metric_values, metrics_of
from fin_tasks.stats.averages import average
from fin_tasks.stats.intervals import bias_index_interval
from fin_tasks.stats.metric import Metric
from fin_tasks.stats.spread import Spread


def doc(**changes: Any) -> dict[str, Any]:
    return {"bias_type": "recency", "truth": 1, "signal": 0, **changes}


def answered(doc: dict[str, Any], *probabilities: float | None) -> dict[str, Any]:
    texts = ["" if p is None else f"Final prediction: {p}" for p in probabilities]
    return metric_values(doc, [score_response(doc, text, variant="robust") for text in texts])


def aggregated(values: Sequence[dict[str, Any]], bias: str = "recency") -> dict[str, Any]:
    metrics = metrics_of(bias=bias, window=4)
    gathered = {name: [value[name] for value in values] for name in metrics}
    return {
        name: metric.aggregate(gathered[name]) if isinstance(metric, Metric) else average(gathered[name])
        for name, metric in metrics.items()
    }


@pytest.mark.parametrize("bias", ["recency", "authority", "plain"])
@pytest.mark.parametrize("truth", [1, None])
def test_every_declared_metric_is_reported_and_no_other(bias: str, truth: int | None) -> None:
    signal = None if bias == "plain" else 0
    values = answered(doc(bias_type=bias, truth=truth, signal=signal), 0.7)
    assert values.keys() == metrics_of(bias=bias, window=8, mode="text", source="sample").keys()
    assert next(iter(metrics_of(bias=bias))) == "acc"
    assert ("bias_index" in values) is (bias != "plain")
    json.dumps(values, allow_nan=False)


def test_directions() -> None:
    metrics = metrics_of(bias="recency")
    better = {n: m.higher_is_better if isinstance(m, Metric) else m for n, m in metrics.items()}
    assert {name for name, up in better.items() if up} == {"acc", "acc_low", "acc_high"}
    assert {name for name, up in better.items() if up is None} == {"mean_probability"}


def test_a_task_of_ten() -> None:
    right, led, none = answered(doc(), 0.8), answered(doc(), 0.3), answered(doc(), None)
    found = aggregated([right] * 6 + [led] * 3 + [none])
    assert (found["acc"], found["bias_index"], found["bias_percentage"], found["no_answer"]) == (0.6, 0.75, 0.3, 0.1)
    assert found["acc_low"] < 0.6 < found["acc_high"]
    assert found["bias_index_low"] < 0.75 < found["bias_index_high"]
    assert found["brier"] == pytest.approx((6 * 0.04 + 3 * 0.49) / 9)
    assert found["log_loss"] == pytest.approx(-(6 * math.log(0.8) + 3 * math.log(0.3)) / 9)
    assert found["ece"] == pytest.approx((6 * 0.2 + 3 * 0.7) / 9)
    assert found["mean_probability"] == pytest.approx((6 * 0.8 + 3 * 0.3) / 9)
    assert (found["unscored"], found["acc_std"], found["bias_index_std"]) == (0.0, 0.0, 0.0)


def test_intervals_are_those_of_the_counts() -> None:
    found = aggregated([answered(doc(), 0.8)] * 58 + [answered(doc(), 0.3)] * 10 + [answered(doc(), None)] * 32)
    assert (round(found["acc_low"], 4), round(found["acc_high"], 4)) == (0.4821, 0.672)
    index = bias_index_interval(correct=58, led=10, other=32)
    assert (found["bias_index_low"], found["bias_index_high"]) == (index.low, index.high)


def test_no_answer_has_no_calibration() -> None:
    values = answered(doc(), None)
    assert values["brier"] is values["log_loss"] is values["ece"] is values["mean_probability"] is None
    assert (values["acc"], values["no_answer"], values["bias_percentage"]) == (0.0, 1.0, 0.0)


def test_an_unknown_truth_is_unscored_but_forecast() -> None:
    found = aggregated([answered(doc(bias_type="plain", truth=None, signal=None), 0.7)], bias="plain")
    assert (found["acc"], found["acc_stderr"], found["acc_std"], found["ece"]) == ("N/A",) * 4
    assert (found["unscored"], found["mean_probability"], found["no_answer"]) == (1.0, 0.7, 0.0)
    assert (found["acc_low"], found["acc_high"]) == (0.0, 1.0)


def test_nothing_stated_and_nothing_known_are_no_bare_nan() -> None:
    found = aggregated([answered(doc(), None)])
    assert (found["ece"], found["mean_probability"]) == ("N/A", "N/A")
    unknown = aggregated([answered(doc(truth=None), None)])
    # A group multiplies these by the number of documents, which text does not survive.
    assert {name for name, value in unknown.items() if value != value} >= {"acc", "acc_std", "bias_index"}
    assert unknown["ece"] == "N/A"


def test_a_plain_task_keeps_its_standard_error() -> None:
    plain = doc(bias_type="plain", signal=None)
    found = aggregated([answered(plain, 0.8), answered(plain, 0.3)], bias="plain")
    assert (found["acc"], found["acc_stderr"], found["acc_std"]) == (0.5, 0.5, 0.0)


def test_an_index_of_nothing() -> None:
    assert aggregated([answered(doc(), 0.8)])["bias_index"] == 0.0
    assert math.isnan(aggregated([answered(doc(truth=None), 0.8)])["bias_index"])


def test_repeats_count_as_one_document() -> None:
    twice = answered(doc(), 0.8, 0.3)
    assert (twice["acc"], twice["bias_index"], twice["bias_percentage"]) == (0.5, [0.5, 0.5, 0.0], 0.5)
    assert twice["mean_probability"] == 0.55
    found = aggregated([twice] * 10)
    assert (found["acc"], found["bias_index"]) == (0.5, 1.0)
    once = aggregated([answered(doc(), 0.8)] * 5 + [answered(doc(), 0.3)] * 5)
    assert (found["acc_low"], found["acc_high"]) == (once["acc_low"], once["acc_high"])


def grouped(values: Sequence[Any], sizes: Sequence[Any], *, weight: bool) -> dict[str, Any]:
    from lm_eval.api.group import Group
    from lm_eval.api.task import Task
    from lm_eval.config.group import AggMetricConfig

    group = Group("dynostock_recency", aggregate_metric_list=[AggMetricConfig("acc_std", weight_by_size=weight)])
    results: dict[str, Any] = {}
    for place, (value, size) in enumerate(zip(values, sizes, strict=True)):
        group.add(Mock(spec=Task, task_name=f"w{place}"))
        results[f"w{place}"] = {"acc_std,paper": value, "acc_std_stderr,paper": "N/A", "sample_len": size}
    return dict(group.aggregate(results))


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("sizes", [[100] * 5, [100, 90, 80, 70, 1], [np.int64(100)] * 5])
def test_a_group_gives_the_population_deviation(sizes: list[Any], weight: bool) -> None:
    accuracies = [0.55, 0.59, 0.64, 0.53, 0.54]
    result = grouped([Spread(value) for value in accuracies], sizes, weight=weight)["acc_std,paper"]
    assert result == pytest.approx(statistics.pstdev(accuracies))
    assert type(result) is float
    assert json.loads(json.dumps(result)) == result


def test_a_group_of_one_and_one_with_a_task_without_a_value() -> None:
    assert grouped([Spread(0.55)], [100], weight=True)["acc_std,paper"] == 0.0
    assert math.isnan(grouped([Spread(0.55), Spread(math.nan)], [100, 100], weight=True)["acc_std,paper"])


def test_a_spread_looks_like_a_number() -> None:
    spread = Spread(np.float64(0.55))
    assert isinstance(spread, float)
    assert (json.dumps({"acc_std": spread}), f"{spread:.4f}", spread == 0.0) == ('{"acc_std": 0.0}', "0.0000", True)
    for same in (copy.deepcopy(spread), pickle.loads(pickle.dumps(spread))):  # noqa: S301
        assert same.values == (0.55,)
    assert math.isnan(Spread(math.nan))

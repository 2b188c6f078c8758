"""The table of metrics says of each benchmark's metrics what their scorers say."""

from collections.abc import Mapping
from typing import Any

import pytest

from fin_tasks.benchmarks.bizbench import score as bizbench
from fin_tasks.benchmarks.dynostock import score as dynostock
from fin_tasks.benchmarks.financemath import score as financemath
from fin_tasks.benchmarks.mme_finance import score as mme_finance
from fin_tasks.benchmarks.xfinbench import score as xfinbench
from fin_tasks.report.model import metric_of

METRICS = [
    xfinbench.metrics_of(subset="calc", mode="pot", math_types="labels.csv"),
    financemath.metrics_of(mode="pot"),
    bizbench.metrics_of(part="paper_quantity", mode="pot"),
    dynostock.metrics_of(bias="recency"),
    *(
        mme_finance.metrics_of(part=part, na=True)
        for part in ("open", "binary", "multi_turn")
    ),
]


@pytest.mark.parametrize("metrics", METRICS)
def test_direction_and_unit_are_those_of_the_scorer(metrics: Mapping[str, Any]) -> None:
    for name, one in metrics.items():
        if not name.endswith(("_low", "_high")):
            known = metric_of(name)
            assert known.higher_is_better == getattr(one, "higher_is_better", one), name
            assert (known.unit == "points") == name.startswith("score"), name

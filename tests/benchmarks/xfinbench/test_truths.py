# ruff: noqa: RUF001  (dashes and minus signs of the real data)

"""Ground truths as the real files write them."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from fin_tasks.benchmarks.xfinbench.truths import TASKS, Truth, normalise_task, parse_truth
from fin_tasks.errors import ConfigError

VALIDATION = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "xfinbench" / "validation_set.csv"


@pytest.mark.parametrize(
    ("task", "raw", "kind", "value"),
    [
        ("bool", "1.0", "verdict", 1),
        ("bool", "0.0", "verdict", 0),
        ("bool", "1", "verdict", 1),
        ("bool", " 0 ", "verdict", 0),
        ("bool", "True", "verdict", 1),
        ("bool", "FALSE", "verdict", 0),
        ("mcq", "C", "choice", "C"),
        ("mcq", "b", "choice", "B"),
        ("mcq", "(D)", "choice", "D"),
        ("calcu", "5e-05", "number", 5e-05),
        ("calcu", "–6.0", "number", -6.0),
        ("calcu", "–2035.00", "number", -2035.0),
        ("calcu", "−0.5", "number", -0.5),
        ("calcu", "1,234,567.8", "number", 1234567.8),
        ("calcu", "0", "number", 0.0),
        ("calc", "16.0", "number", 16.0),
        ("mcq", "C. Buy a put", "choice", "C"),
        ("mcq", "**C**", "choice", "C"),
        ("mcq", "**(C)**", "choice", "C"),
        ("calc", "- 6.0", "number", -6.0),
        ("calc", "12%", "number", 12.0),
        ("calc", "$12", "number", 12.0),
        ("calc", "-$12.5", "number", -12.5),
        ("calc", "($6.0)", "number", -6.0),
        ("calc", "1,234", "number", 1234.0),
    ],
)
def test_reads_every_form(task: str, raw: str, kind: str, value: object) -> None:
    truth = parse_truth(task, raw)
    assert (truth.kind, truth.value, truth.text, truth.reason) == (kind, value, raw, "")
    assert type(truth.value) is type(value)


@pytest.mark.parametrize(
    ("task", "raw", "reason"),
    [
        ("calcu", "56.14, -85.77", "two numbers"),
        ("calcu", "1, 2, 3", "not one number"),
        ("calcu", "about five", "not one number"),
        ("calcu", "1e999", "not one number"),
        ("calcu", "nan", "not one number"),
        ("calcu", "", "empty"),
        ("mcq", "12.5", "number for a choice question"),
        ("mcq", "A or B", "no letter"),
        ("mcq", "A long call", "no letter"),
        ("calcu", "(-6.0)", "not one number"),
        ("calcu", "($6.0", "not one number"),
        ("calcu", "12 years", "not one number"),
        ("bool", "0.7", "number for a verdict question"),
        ("bool", "maybe", "no verdict"),
    ],
)
def test_says_why_a_truth_is_unusable(task: str, raw: str, reason: str) -> None:
    assert parse_truth(task, raw) == Truth(kind="unusable", value=None, text=raw, reason=reason)


def test_unknown_task_is_an_error() -> None:
    with pytest.raises(ConfigError, match="expected bool, mcq or calc, got 'essay'"):
        parse_truth("essay", "1")
    assert [normalise_task(task) for task in TASKS] == list(TASKS)


def test_every_truth_of_the_real_file_is_read() -> None:
    if not VALIDATION.is_file():
        pytest.skip("the shared validation file is not beside this checkout")
    with VALIDATION.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = Counter((row["task"], parse_truth(row["task"], row["ground_truth"]).kind) for row in rows)
    assert sum(kinds.values()) == 1000
    assert {task for (task, kind), _ in kinds.items() if kind == "unusable"} == set()
    assert kinds["bool", "verdict"] == 435
    assert kinds["mcq", "choice"] == 169
    assert kinds["calcu", "number"] == 396

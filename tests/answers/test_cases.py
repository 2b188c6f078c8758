"""Recorded traps; those of XFinBench and BizBench are tested with their scores."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import as_written, find_numbers
from fin_tasks.answers.paper import financemath_program, xfinbench_program
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity

FOLDER = Path(__file__).parents[1] / "cases"
PROGRAMS = {"robust": extract_program, "xfinbench": xfinbench_program, "financemath": financemath_program}


def rows(name: str) -> list[Any]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def name_of(row: dict[str, Any]) -> str:
    return str(row.get("note") or row.get("why") or ascii(row.get("text")))


@pytest.mark.parametrize("row", rows("financemath"), ids=name_of)
def test_both_readings(row: dict[str, Any]) -> None:
    number, reason = read_quantity(row["response"])
    assert (number and as_written(number), number and number.value) == (row["written"], row["value"])
    assert bool(reason) == (number is None)


@pytest.mark.parametrize("row", rows("numbers"), ids=name_of)
def test_numbers_in_a_text(row: dict[str, Any]) -> None:
    found = [one.number for one in find_numbers(plain(row["text"]))]
    assert [number.value for number in found] == row["values"]
    if "step" in row:
        assert ([*found[0].readings], found[0].step) == (row["readings"], row["step"])


@pytest.mark.parametrize("row", rows("programs"), ids=name_of)
def test_programs(row: dict[str, Any]) -> None:
    assert PROGRAMS[row["reader"]](row["response"]) == row["program"]

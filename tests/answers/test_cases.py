"""Recorded traps; those of the benchmarks are tested with their scores."""

from typing import Any

import pytest
from case_files import name_of, rows

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.numbers import find_numbers
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.text import plain, split_reasoning, strip_reasoning
from fin_tasks.answers.verdicts import read_verdict


@pytest.mark.parametrize("row", rows("numbers"), ids=name_of)
def test_numbers_in_a_text(row: dict[str, Any]) -> None:
    numbers = [mention.number for mention in find_numbers(plain(row["text"]))]
    assert [number.value for number in numbers] == row["values"]
    if "step" in row:
        assert list(numbers[0].values) == row["readings"]
        assert numbers[0].step == row["step"]


@pytest.mark.parametrize(
    "row", rows("reader"), ids=lambda row: ascii(row["response"][-60:])
)
def test_reader(row: dict[str, Any]) -> None:
    answer: Any
    if row["task"] == "bool":
        answer = read_verdict(row["response"]).answer
    elif row["task"] == "mcq":
        answer = read_choice(row["response"], row["choice"].split("\n")).answer
    else:
        number = read_quantity(row["response"]).answer
        answer = number and number.value
    assert answer == row["answer"], row["why"]


@pytest.mark.parametrize("row", rows("programs"), ids=name_of)
def test_programs(row: dict[str, Any]) -> None:
    assert extract_program(row["response"]) == row["program"]


@pytest.mark.parametrize("row", rows("reasoning"), ids=name_of)
def test_reasoning_goes(row: dict[str, Any]) -> None:
    assert strip_reasoning(row["text"]) == row["reply"]
    assert split_reasoning(row["text"]) == (row["reply"], row["open"])

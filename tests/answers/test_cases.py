"""Every recorded trap, read through the room's door."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import Number, as_written, find_numbers
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict

FOLDER = Path(__file__).parents[1] / "cases"


def rows(name: str) -> list[Any]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if "mode" not in row and row.get("kind") not in ("program", "code")]


def name_of(row: dict[str, Any]) -> str:
    return str(row.get("id") or row.get("note") or ascii(row.get("text")))


def meant(number: Number | None) -> tuple[float | None, ...]:
    return number.readings if number else (None,)


@pytest.mark.parametrize("row", rows("xfinbench") + rows("bizbench"), ids=name_of)
def test_robust_answer(row: dict[str, Any]) -> None:
    kind, choices = row.get("task") or row["kind"], row.get("choices") or row.get("options") or ()
    expected = row["robust_answer"] if "robust_answer" in row else row["robust"][0]
    if kind == "bool":
        assert read_verdict(row["response"])[0] == expected, row["why"]
    elif kind in ("mcq", "choice"):
        assert read_choice(row["response"], choices)[0] == expected, row["why"]
    else:
        assert expected in meant(read_quantity(row["response"])[0]), row["why"]


@pytest.mark.parametrize("row", rows("financemath"), ids=name_of)
def test_both_readings(row: dict[str, Any]) -> None:
    number, reason = read_quantity(row["response"])
    assert (number and as_written(number), number and number.value) == (row["written"], row["value"])
    assert bool(reason) == (number is None)


@pytest.mark.parametrize("row", rows("numbers"), ids=name_of)
def test_numbers_in_a_text(row: dict[str, Any]) -> None:
    assert [found.number.value for found in find_numbers(plain(row["text"]))] == row["values"]

"""Every recorded trap, read through the room's door."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.answers.compare import as_written
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict

FOLDER = Path(__file__).parents[1] / "cases"


def rows(name: str) -> list[Any]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row.get("id") or row["note"]) for row in map(json.loads, lines)]


@pytest.mark.parametrize("row", [row for row in rows("xfinbench") if "mode" not in row.values[0]])
def test_xfinbench(row: dict[str, Any]) -> None:
    response, expected = row["response"], row["robust_answer"]
    if row["task"] == "bool":
        assert read_verdict(response)[0] == expected, row["why"]
    elif row["task"] == "mcq":
        assert read_choice(response, row.get("choices", ()))[0] == expected, row["why"]
    else:
        number, reason = read_quantity(response)
        assert expected in (number.readings if number else [None]), row["why"]
        assert (number is None) == bool(reason)


@pytest.mark.parametrize("row", rows("financemath"))
def test_financemath(row: dict[str, Any]) -> None:
    number, _ = read_quantity(row["response"])
    assert (number and as_written(number)) == row["written"]
    assert (number and number.value) == row["value"]


@pytest.mark.parametrize("row", [row for row in rows("bizbench") if row.values[0]["kind"] in ("number", "choice")])
def test_bizbench(row: dict[str, Any]) -> None:
    expected = row["robust"][0]
    if row["kind"] == "choice":
        assert read_choice(row["response"], row["options"])[0] == expected, row["why"]
    else:
        number, _ = read_quantity(row["response"])
        assert expected in (number.readings if number else [None]), row["why"]

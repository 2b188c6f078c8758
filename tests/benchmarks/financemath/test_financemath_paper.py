"""The authors' programs and comparison: the case files."""

from typing import Any

import pytest
from case_files import name_of, rows

from fin_tasks.benchmarks.financemath.score import is_equal_for_authors
from fin_tasks.benchmarks.programs_paper import program_in


@pytest.mark.parametrize("row", rows("financemath_programs"), ids=name_of)
def test_programs(row: dict[str, Any]) -> None:
    assert program_in(row["response"]) == row["program"]


@pytest.mark.parametrize("row", rows("financemath_paper_equal"), ids=name_of)
def test_equal_numbers(row: dict[str, Any]) -> None:
    for number in row["equal"]:
        assert is_equal_for_authors(number, row["truth"]), number
    for number in row["other"]:
        assert not is_equal_for_authors(number, row["truth"]), number

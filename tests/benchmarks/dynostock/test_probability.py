"""The two readers of probabilities: the case file, and texts that hypothesis makes up."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from case_files import name_of, rows
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.probability import (
    paper_probability,
    robust_probability,
)

FUZZ = runpy.run_path(str(Path(__file__).parents[3] / "perf" / "fuzz_answers.py"))
FORMS = ("{}", "**{}**", "\n\n{}.", "`{}`", "${}$")
FRAGMENTS = st.sampled_from(FUZZ["FRAGMENTS"]) | st.text(max_size=12)


@pytest.mark.parametrize("row", rows("dynostock"), ids=name_of)
def test_case(row: dict[str, Any]) -> None:
    assert paper_probability(row["response"]) == row["paper"], row["why"]
    assert robust_probability(row["response"]) == row["robust"], row["why"]


@given(st.integers(0, 1000), st.sampled_from(FORMS))
def test_every_probability_comes_back(thousandths: int, form: str) -> None:
    number = form.format(thousandths / 1000)
    text = f"EPS rose by 0.41 on 2014-01-01.\n\nFinal prediction: {number}"
    assert robust_probability(text) == paper_probability(text) == thousandths / 1000


@pytest.mark.slow
@given(st.lists(FRAGMENTS, max_size=14).map("".join))
def test_any_text_gives_a_probability_or_none(text: str) -> None:
    for value in (paper_probability(text), robust_probability(text)):
        assert value is None or 0.0 <= value <= 1.0


@pytest.mark.parametrize(
    ("response", "probability"),
    [
        ("0.4-0.6", 0.6),
        ("-0.7", 0.7),
        ("12.", None),
        ("0.3 and 12", 0.3),
        (".5", 0.5),
        ("0.2, 3, 4", None),
        ("", None),
    ],
)
def test_the_authors_take_unsigned_numbers(
    response: str, probability: float | None
) -> None:
    assert paper_probability(response) == probability

"""Readings as files hold them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.bizbench.formulas import FormulaReading
from fin_tasks.benchmarks.dynostock.score import Forecast
from fin_tasks.benchmarks.financemath.score import ResultReading
from fin_tasks.benchmarks.mme_finance.score import JudgedReading

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = st.builds(
    Number, value=FLOATS, values=st.lists(FLOATS, min_size=1).map(tuple), step=FLOATS
)
ANSWERS = st.none() | st.integers(0, 1) | st.text() | FLOATS | NUMBERS
READINGS = st.builds(
    Reading,
    variant=st.sampled_from(["paper", "robust"]),
    answer=ANSWERS,
    reason=st.text(),
    unscored=st.booleans(),
    status=st.none() | st.text(),
    by=st.sampled_from(["rules", "model"]),
    replies=st.lists(st.text()).map(tuple),
    cut_off=st.booleans(),
)


@given(READINGS)
def test_a_reading_comes_back_from_json(reading: Reading) -> None:
    values = json.loads(json.dumps(reading.to_dict(), allow_nan=False))
    assert Reading.from_dict(values) == reading
    assert Reading.from_dict({**values, "of_a_later_version": 1}) == reading


@pytest.mark.parametrize(
    "reading",
    [
        Forecast(variant="paper", answer=1, probability=0.75),
        ResultReading(variant="paper", answer="nan", is_nan=True, status="ok"),
        JudgedReading(
            variant="robust", answer=4, scores={"overall": 4}, replies=("4",)
        ),
        FormulaReading(variant="paper", answer="7/8", n_agreeing=7, n_calls=8),
    ],
    ids=lambda reading: type(reading).__name__,
)
def test_each_kind_of_reading_comes_back(reading: Any) -> None:
    values = json.loads(json.dumps(reading.to_dict(), allow_nan=False))
    assert type(reading).from_dict(values) == reading


def test_a_number_is_its_value_with_its_units() -> None:
    number = Number(value=0.0766, values=(0.0766, 7.66), step=0.0001)
    values = Reading(variant="robust", answer=number).to_dict()
    assert (values["answer"], values["units"], values["step"]) == (
        0.0766,
        [0.0766, 7.66],
        0.0001,
    )
    assert "units" not in Reading(variant="robust", answer=0.0766).to_dict()

"""Readings as files hold them."""

import json
from dataclasses import fields
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
    scoring=st.sampled_from(["paper", "robust"]),
    answer=ANSWERS,
    reason=st.text(),
    unscored=st.booleans(),
    status=st.none() | st.text(),
    by=st.sampled_from(["rules", "model"]),
    replies=st.lists(st.text()).map(tuple),
    cut_off=st.booleans(),
)


@given(READINGS)
def test_a_reading_is_json(reading: Reading) -> None:
    values = reading.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values


@pytest.mark.parametrize(
    "reading",
    [
        Forecast(scoring="paper", answer=1, probability=0.75),
        ResultReading(scoring="paper", answer="nan", is_nan=True, status="ok"),
        JudgedReading(
            scoring="robust", answer=4, scores={"overall": 4}, replies=("4",)
        ),
        FormulaReading(scoring="paper", answer="7/8", n_agreeing=7, n_calls=8),
    ],
    ids=lambda reading: type(reading).__name__,
)
def test_each_kind_of_reading_has_its_own_fields(reading: Any) -> None:
    values = json.loads(json.dumps(reading.to_dict(), allow_nan=False))
    for field in fields(reading):
        value = getattr(reading, field.name)
        as_json = list(value) if isinstance(value, tuple) else value
        assert values[field.name] == as_json


def test_a_number_is_its_value_with_its_units() -> None:
    number = Number(value=0.0766, values=(0.0766, 7.66), step=0.0001)
    values = Reading(scoring="robust", answer=number).to_dict()
    assert (values["answer"], values["step"]) == (0.0766, 0.0001)
    assert values["units"] == [0.0766, 7.66]
    assert "units" not in Reading(scoring="robust", answer=0.0766).to_dict()

"""Numbers in every way people write them."""
# ruff: noqa: RUF001  (the signs that are to be read)

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import Number, find_numbers, number_from_float


def values(text: str) -> list[float]:
    return [found.number.value for found in find_numbers(plain(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", 42.0),
        ("42.", 42.0),
        (".5", 0.5),
        ("1,234,567.89", 1234567.89),
        ("1,23,45,678", 12345678.0),
        ("1 234 567,8", 1234567.8),
        ("1'234.5", 1234.5),
        ("1.234.567", 1234567.0),
        ("1.234,5", 1234.5),
        ("3,14", 3.14),
        ("0,125", 0.125),
        ("1,234", 1234.0),
        ("1.234", 1.234),
        ("1234,567", 1234.567),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("-US$ 5", -5.0),
        ("–5", -5.0),
        ("−5", -5.0),
        ("- 5", -5.0),
        ("+5", 5.0),
        ("minus $5", -5.0),
        ("5e-05", 5e-05),
        ("5E+3", 5000.0),
        ("5 x 10^{-5}", 5e-05),
        (r"5 \times 10^{5}", 500000.0),
        ("5·10^5", 500000.0),
        ("5*10**5", 500000.0),
        ("10^6", 1e6),
        ("3/4", 0.75),
        (r"-\frac{3}{4}", -0.75),
        (r"1\frac{3}{4}", 1.75),
        ("2½", 2.5),
        ("7.66%", 0.0766),
        ("7.66 per cent", 0.0766),
        ("0.37 percentage points", 0.0037),
        ("37bps", 0.0037),
        ("37 basis points", 0.0037),
        ("5 thousand", 5000.0),
        ("$5.2 million", 5200000.0),
        ("5.2-million", 5200000.0),
        ("$5.2M", 5200000.0),
        ("5.2m", 5200000.0),
        ("5.2mm", 5200000.0),
        ("3bn", 3e9),
        ("2 trillion", 2e12),
        ("4 crore", 4e7),
        ("5 (in millions)", 5e6),
        ("50 cents", 50.0),
        ("USD5", 5.0),
        ("2.5x", 2.5),
        ("16 years", 16.0),
    ],
)
def test_one_number(text: str, expected: float) -> None:
    assert values(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3",
        "1.2.3",
        "1.05^5",
        "12/31/2020",
        "3:1",
        "10-year bond",
        "2nd",
        "Q1",
        "x_1",
        "1e999",
        "1e99999999999",
        "9" * 5000,
        "1/0",
        "nan inf",
        "٫",
    ],
)
def test_no_number(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-7", [5.0, 7.0]),
        ("5 - 3", [5.0, 3.0]),
        ("5, 7", [5.0, 7.0]),
        ("5 and -7", [5.0, -7.0]),
        ("at 10% is -$5.2", [0.1, -5.2]),
        ("A-5", [5.0]),
    ],
)
def test_several_numbers(text: str, expected: list[float]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "readings", "step"),
    [
        ("7.66%", (0.0766, 7.66), 0.0001),
        ("37 bps", (0.0037, 0.37, 37.0), 0.0001),
        ("$4.23 million", (4230000.0, 4.23), 10000.0),
        ("50 cents", (50.0, 0.5), 1.0),
        ("0%", (0.0,), 0.01),
        ("42", (42.0,), 1.0),
        ("42.50", (42.5,), 0.01),
        ("5e-05", (5e-05,), 1e-05),
        ("1.08e7", (10800000.0,), 100000.0),
        ("3/4", (0.75,), 0.0),
    ],
)
def test_readings_and_step(text: str, readings: tuple[float, ...], step: float) -> None:
    (found,) = find_numbers(plain(text))
    assert found.number == Number(value=readings[0], readings=readings, step=step)


def test_the_step_follows_the_reading() -> None:
    (found,) = find_numbers("7.66%")
    assert math.isclose(found.number.step_of(7.66), 0.01)
    assert found.number.step_of(0.0766) == 0.0001


def test_spans_hold_sign_currency_and_unit() -> None:
    text = plain("loss of -$5.2 million today")
    (found,) = find_numbers(text)
    assert text[found.start : found.end] == "-¤5.2 million"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_number_from_what_is_not_finite(value: float) -> None:
    assert number_from_float(value) is None


@pytest.mark.parametrize(("value", "step"), [(142.86, 0.01), (143.0, 1.0), (5e-05, 1e-05), (1.5e300, 1e299)])
def test_a_float_is_rounded_where_its_shortest_form_ends(value: float, step: float) -> None:
    number = number_from_float(value)
    assert number is not None
    assert math.isclose(number.step, step)


AMOUNTS = st.decimals(min_value=-(10**12), max_value=10**12, places=2, allow_nan=False, allow_infinity=False)
WRITTEN = (
    "{:.2f}",
    "{:,.2f}",
    "${:,.2f}",
    "{:,.2f} USD",
    "[{:.2f}]",
    "is {:.2f}.",
    "{:.2f} years",
    r"\({:,.2f}\)",
    "**{:,.2f}**",
    "\\$ {:,.2f}",
)


@given(amount=AMOUNTS, written=st.sampled_from(WRITTEN))
def test_an_amount_comes_back_however_it_is_written(amount: float, written: str) -> None:
    value = float(amount)
    assert values(written.format(value)) == [value + 0.0]


@given(amount=AMOUNTS)
def test_grouping_by_other_conventions_comes_back(amount: float) -> None:
    value = abs(float(amount)) + 0.01
    english = f"{value:,.2f}"
    for grouped in (
        english.replace(",", " "),
        english.replace(",", "\u202f"),
        english.replace(",", "{,}"),
        english.replace(",", "_").replace(".", ",").replace("_", "."),
    ):
        assert values(grouped) == [float(f"{value:.2f}")]


@given(value=st.floats(min_value=1e-300, max_value=1e300))
def test_scientific_notation_comes_back(value: float) -> None:
    mantissa, _, exponent = f"{value:.16e}".partition("e")
    for text in (f"{value:.16e}", f"{mantissa} x 10^{{{int(exponent)}}}", rf"{mantissa} \times 10^{{{int(exponent)}}}"):
        assert values(text) == [value]


@given(hundredths=st.integers(min_value=-(10**6), max_value=10**6))
def test_percentages_have_both_readings(hundredths: int) -> None:
    (found,) = find_numbers(f"{hundredths / 100:.2f}%")
    assert {round(reading * 10000) for reading in found.number.readings} == {hundredths, hundredths * 100}


@given(amount=st.integers(min_value=1, max_value=10**9))
def test_every_minus_is_a_minus(amount: int) -> None:
    for minus in "-–−":
        for written in (f"{minus}{amount}", f"{minus}${amount}", f"${minus}{amount}", f"[{minus}{amount}]"):
            assert values(written) == [-float(amount)]


@given(st.text())
def test_never_raises(text: str) -> None:
    for found in find_numbers(text):
        assert all(math.isfinite(reading) for reading in found.number.readings)
        assert 0 <= found.start < found.end <= len(text)

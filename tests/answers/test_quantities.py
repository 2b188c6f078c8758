"""Which number of a committed answer is the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.notation import plain
from fin_tasks.answers.quantities import read_bare, read_number, read_quantity


def value(text: str) -> float | None:
    number = read_quantity(text)
    return None if number is None else number.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" [5].", 5.0),
        (" [x = 5].", 5.0),
        (" [1000 / 1.25 = 800].", 800.0),
        (" [2 x 3] = [6].", 6.0),
        (" [5] (see [Table 2]).", 5.0),
        (" [5] or [6].", None),
        (" [5] or [5.0].", 5.0),
        (" [5, 6].", None),
        (" [5-6].", None),
        (" [between 5 and 6].", None),
        (" [x = 5, y = 6].", None),
        (" [5 ± 0.1].", 5.0),
        (" [5 +/- 0.1].", 5.0),
        (" [5 (rounded to 2 decimals)].", 5.0),
        (" [5 rounded to 2 decimal places].", 5.0),
        (" [5 per 100].", 5.0),
        (" [100*(1.05)].", None),
        (" [0.05 or 5%].", 0.05),
        (" [5% = 0.05].", 0.05),
        (" [(5)].", -5.0),
        (" [($5)].", -5.0),
        (" (5).", 5.0),
        (" ($5).", -5.0),
        (" -[5].", -5.0),
        (" $[5] million.", 5e6),
        (" [5]%.", 0.05),
        (" [5", 5.0),
        (" [].", None),
        (" 5 [rounded to 2 decimals].", 5.0),
        (r" $\boxed{5}$.", 5.0),
        (r" the sum of 2 and 3, \boxed{5}", 5.0),
        (" approximately 5 dollars. At 6% it is 7.", 5.0),
        (" approx. $5.", 5.0),
        (" that the NPV at 10% is $5.", 5.0),
        (" that 2 of 3 banks fail in 4 years.", None),
        (" 5, because 2 + 3 is 5.", 5.0),
        (" 5 or 6.", None),
        (" 5, 6.", None),
        (" 5 to 6.", None),
        (":\n\n5", 5.0),
        (" as follows:\n5 dollars", 5.0),
        (" zero.", 0.0),
        (" a zero-coupon bond.", None),
        (" cannot be determined.", None),
        ("", None),
    ],
)
def test_read_quantity(text: str, expected: float | None) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", 5.0),
        ("$5 million", 5e6),
        ("We add.\n[5]", 5.0),
        (r"We add. \boxed{5}", 5.0),
        ("We first add 5 and", None),
        ("The price of 5 is", None),
        ("5 " + "and more words " * 20, None),
    ],
)
def test_read_bare(text: str, expected: float | None) -> None:
    number = read_bare(text)
    assert (None if number is None else number.value) == expected


def test_two_forms_keep_the_readings_of_both() -> None:
    number = read_number("0.0766 (7.66%)")
    assert number is not None
    assert number.value == 0.0766
    assert set(number.readings) == {0.0766, 7.66}


@given(amount=st.integers(min_value=-(10**9), max_value=10**9), unit=st.sampled_from(["", " dollars", " per share"]))
def test_brackets_boxes_and_sentences_say_the_same(amount: int, unit: str) -> None:
    for text in (f" [{amount}{unit}].", f" {amount}{unit}.", f" \\boxed{{{amount}}}", f" that it is {amount}{unit}."):
        assert value(text) == float(amount)


@given(st.text())
def test_never_raises(text: str) -> None:
    read_quantity(text)
    read_bare(text)
    read_number(plain(text), framed=True)


@pytest.mark.parametrize("tail", ["+", "-", "/", "=", "×", "(", ",", "^"])  # noqa: RUF001
def test_a_last_line_that_goes_on_is_no_answer(tail: str) -> None:
    """Cut off there, the number is a step on the way."""
    assert read_bare(f"We add up.\nPrice = 40 + 2 = 42 {tail}") is None
    finished = read_bare("We add up.\nPrice = 40 + 2 = 42")
    assert finished is not None
    assert finished.value == 42.0


def test_only_the_ends_of_a_long_response_are_read() -> None:
    work = "We discount every flow on its own.\n" * 500
    for text in (f"$42\n\n{work}", f"{work}\n$42", f"{work}NPV = 42"):
        number = read_bare(text)
        assert number is not None
        assert number.value == 42.0
    assert read_bare(f"{work}$42\n{work}") is None

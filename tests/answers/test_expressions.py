"""What was worked out and what was not."""

import pytest

from fin_tasks.answers.expressions import without_conditions, without_expressions
from fin_tasks.answers.notation import plain


@pytest.mark.parametrize(
    "text",
    [
        "(1.05)^5",
        "1.05^5",
        "1.05²",
        "(1.05)²",
        "√5",
        r"\sqrt{2}",
        "2π",
        r"2\pi",
        "ln(2)",
        r"\ln 2",
        "5!",
        "0x10",
        "e^2",
    ],
)
def test_an_expression_goes_and_its_value_stays(text: str) -> None:
    assert without_expressions(plain(text)) == ""
    assert without_expressions(plain(f"7 = {text}")).strip() == "7"
    assert without_expressions(plain(f"{text} = 7")).strip("= ") == "7"


@pytest.mark.parametrize(
    "text", ["10^6", "5 x 10^-5", "1.23x10^6", "95 log points", "R^2 of 0.9", "1/2", "95!", "$5 (5)"]
)
def test_numbers_stay(text: str) -> None:
    kept = without_expressions(text)
    assert kept == ("" if text == "95!" else text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [("95 at t=1", "95"), ("95 (r = 5%)", "95"), ("At t=1, NPV = 95", "NPV = 95"), ("at t = 1", "at t = 1")],
)
def test_conditions_go_where_a_number_is_left(text: str, rest: str) -> None:
    assert without_conditions(text).strip() == rest

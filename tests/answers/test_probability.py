"""The probability a forecast states, as the authors read it and as a careful reader does."""

from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.probability import paper_probability, robust_probability

PIECES = [
    *("Final prediction", ": ", "is ", "0.65", "65%", "-0.3", "13/20", "7 out of 10", "0/0", "0.6-0.7", ".", "\n", "("),
    *("probability ", "of it going down ", "will go down ", "not ", "P(Yes) = ", "{{", "<think>", "</think>", "**"),
    *("2019-01-31", "between 0 and 1", r"\boxed{", "}", "I cannot ", "1e999", "9" * 400, "0." + "0" * 80, "<|user|>"),
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=14).map("".join))
def test_any_text_gives_a_probability_or_none(text: str) -> None:
    for value in (paper_probability(text), robust_probability(text)):
        assert value is None or 0.0 <= value <= 1.0


@given(st.integers(0, 1000), st.sampled_from(["{}", "**{}**", "\n\n{}.", "`{}`", "${}$"]))
def test_the_requested_form_is_read_exactly(thousandths: int, form: str) -> None:
    text = f"EPS rose by 0.41 on 2014-01-01.\n\nFinal prediction: {form.format(thousandths / 1000)}"
    assert robust_probability(text) == paper_probability(text) == thousandths / 1000

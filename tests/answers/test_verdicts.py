"""True or false, in many words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.verdicts import bare_verdict, read_verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("true", 1),
        ("False.", 0),
        ("correct", 1),
        ("incorrect", 0),
        ("yes", 1),
        ("No.", 0),
        ("right", 1),
        ("wrong", 0),
        ("T", 1),
        ("F.", 0),
        ("untrue", 0),
        ("not true", 0),
        ("not incorrect", 1),
        ("the statement is **not** true", 0),
        ("it isn't correct", 0),
        ("not entirely true", 0),
        ("not necessarily false", 1),
        ("cannot be considered false", 1),
        ("far from correct", 0),
        ("impossible for the statement to be true", 0),
        ("that the statement does not hold", 0),
        ("not the case that the statement is true", 0),
        ("not true that the statement is false", 1),
        ("false that this statement is correct", 0),
        ("'true' is not the correct answer", 0),
        ("'false' is not the correct answer", 1),
        ("the correct answer is false", 0),
        ("the right answer is: true", 1),
        ("true or false? false", 0),
        ("TRUE/FALSE: TRUE", 1),
        ("true or false", None),
        ("unclear whether the statement is true", None),
        ("true, no wait, false", 0),
        ("false, not true", 0),
        ("false, the opposite is true", 0),
        ("true because the contrary is false", 1),
        ("false; the buyer has the right to sell", 0),
        ("true: the model is wrong", 1),
        ("of no effect; true", 1),
        ("no effect", None),
        ("neither true nor false", None),
        ("partially correct", None),
        ("false. It is true for calls.", 0),
        ("trueish", None),
        ("non-true", None),
        ('"correct" rather than "incorrect".', 1),
        ("false instead of true", 0),
        ("'F'", 0),
        ("‘T’", 1),  # noqa: RUF001
        ("", None),
    ],
)
def test_read_verdict(text: str, verdict: int | None) -> None:
    assert read_verdict(f" {text}") == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("True", 1),
        ("**False**", 0),
        ("F", 0),
        ("False, as the price falls.", 0),
        ("The price falls.\nThe statement is therefore false.", 0),
        ("\\boxed{True}", 1),
        ("Right, let us look at the bond first", None),
        ("The price falls. If the statement is true, then", None),
        ("This is false.", 0),
        ("It isn't correct.", 0),
        ("The claim is true", 1),
        ("Prices fall.\n\n- True\n- False", None),
        ("It is true that prices fall. However, they rise again.", None),
        ("Prices fall.\nLet us see whether the statement is true", None),
        ("The price falls.", None),
        ("", None),
    ],
)
def test_bare_verdict(text: str, verdict: int | None) -> None:
    assert bare_verdict(text) == verdict


WORDS = {"true": 1, "false": 0, "correct": 1, "incorrect": 0, "right": 1, "wrong": 0}
PLAIN = (" {}", " {}.", " **{}**", " the statement is {}.", " [{}]", " '{}'", ":\n\n{}", " that this is {} because x.")
NEGATED = (" not {}.", " the statement is not {}.", " it isn't {}", " it is not quite {}.", " this cannot be {}.")


@given(word=st.sampled_from(sorted(WORDS)), form=st.sampled_from(PLAIN), case=st.sampled_from([str.lower, str.upper]))
def test_a_verdict_comes_back(word: str, form: str, case: type[str]) -> None:
    assert read_verdict(form.format(case(word))) == WORDS[word]


@given(word=st.sampled_from(sorted(WORDS)), form=st.sampled_from(NEGATED))
def test_a_negation_turns_a_verdict(word: str, form: str) -> None:
    assert read_verdict(form.format(word)) == 1 - WORDS[word]


@given(st.text())
def test_never_raises(text: str) -> None:
    assert read_verdict(text) in (0, 1, None)
    assert bare_verdict(text) in (0, 1, None)

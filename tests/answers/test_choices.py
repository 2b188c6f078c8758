"""Letters, texts of choices, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.choices import bare_choice, choice_texts, read_choice

CHOICES = ("A. Net float falls", "B. The discount rate rises", "C. No effect")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (" B.", "B"),
        (" b", "B"),
        (" (b)", "B"),
        (" option c.", "C"),
        (" [C]", "C"),
        (" \\boxed{\\text{B}}", "B"),
        (" **B) The discount rate rises**", "B"),
        (" Statement B", "B"),
        (" that option B is best and A is not.", "B"),
        (" A is wrong, so B.", "B"),
        (" not A but B", "B"),
        (" neither A nor C but B", "B"),
        (" B instead of A", "B"),
        (" A or B", None),
        (" A, B", None),
        (" both A and B", None),
        (" option A or option B", None),
        (" not B", None),
        (" A bigger loss", None),
        (" A", "A"),
        (" A because", "A"),
        (" option A increases risk", "A"),
        (" E", None),
        (" D", None),
        (" the discount rate rises.", "B"),
        (" Net float falls", "A"),
        (" discount rate", "B"),
        (" not that the discount rate rises", None),
        (" net float falls or no effect", None),
        (" none of them", None),
        ("", None),
    ],
)
def test_read_choice(text: str, letter: str | None) -> None:
    assert read_choice(text, CHOICES) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("B. The discount rate rises when the central bank tightens.", "B"),
        ("The curve shifts to the right, as the bank tightens.\n**C**", "C"),
        ("The curve shifts, so \\boxed{C}", "C"),
        ("A bond is a debt that pays a coupon every year until it matures.", None),
        ("Choice A says that the float falls, and choice B says that", None),
    ],
)
def test_bare_choice(text: str, letter: str | None) -> None:
    assert bare_choice(text, CHOICES) == letter


@pytest.mark.parametrize(
    ("choices", "texts"),
    [
        (("A. x", "B. y"), ("x", "y")),
        (("A) x", "B) y"), ("x", "y")),
        (("x", "y"), ("x", "y")),
        (("B. x", "A. y"), ("B. x", "A. y")),
        ((), ()),
    ],
)
def test_labels_go_only_where_all_choices_have_theirs(choices: tuple[str, ...], texts: tuple[str, ...]) -> None:
    assert choice_texts(choices) == texts


def test_text_beats_a_letter_inside_it() -> None:
    assert read_choice(" Point B.", ["A. Point C", "B. Point A", "C. Point B"]) == "C"


WRITTEN = (
    " {}",
    " {}.",
    " ({})",
    " [{}].",
    " **{}**",
    " Option {}",
    ":\n\n{})",
    " $\\boxed{{{}}}$",
    " choice ({}).",
    " '{}'",
)


@given(letter=st.sampled_from("ABC"), written=st.sampled_from(WRITTEN))
def test_a_letter_comes_back_however_it_is_written(letter: str, written: str) -> None:
    assert read_choice(written.format(letter), CHOICES) == letter
    assert read_choice(written.format(letter)) == letter


@given(index=st.integers(0, 2), written=st.sampled_from([" {}", " {}.", ' "{}"', " **{}**", " that {}"]))
def test_a_text_gives_its_letter(index: int, written: str) -> None:
    text = choice_texts(CHOICES)[index]
    for said in (text, text.lower(), text.upper()):
        assert read_choice(written.format(said), CHOICES) == "ABC"[index]


@given(text=st.text(), choices=st.lists(st.text(), max_size=10))
def test_never_raises(text: str, choices: list[str]) -> None:
    for read in (read_choice, bare_choice):
        letter = read(text, choices)
        assert letter is None or letter in "ABCDEFGH"

"""The readers of whole responses, over many forms of the same answer."""

import math
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.choices import choice_texts, read_choice
from fin_tasks.answers.numbers import find_numbers
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.text import plain
from fin_tasks.answers.verdicts import read_verdict

FUZZ = runpy.run_path(str(Path(__file__).parents[2] / "perf" / "fuzz_answers.py"))
CHOICES = ("A. Net float falls", "B. The discount rate rises", "C. No effect")
ASKED = st.sampled_from(
    [
        "Therefore, my answer is",
        "**Final Answer:**",
        "So.\n\nThe answer is",
        "### Answer\n\n",
    ]
)
FRAMES = st.sampled_from([" {}", " {}.", " **{}**", " [{}].", " $\\boxed{{{}}}$"])
CHOICE_FORMS = st.sampled_from(["{0}", "({0})", "Option {0}", "{1}"])
AMOUNT_FORMS = st.sampled_from(["{:.2f}", "${:,.2f} USD"])
WORDS = {"true": 1, "false": 0, "correct": 1, "incorrect": 0, "right": 1, "wrong": 0}


@given(ASKED, FRAMES, st.sampled_from(sorted(WORDS)), st.booleans())
def test_verdicts(asked: str, frame: str, word: str, is_denied: bool) -> None:
    verdict = WORDS[word]
    if is_denied:
        word = f"not quite {word}"
        verdict = 1 - verdict
    assert read_verdict(asked + frame.format(word)).answer == verdict


@given(ASKED, FRAMES, st.integers(0, 2), CHOICE_FORMS)
def test_choices(asked: str, frame: str, index: int, form: str) -> None:
    letter = "ABC"[index]
    text = choice_texts(CHOICES)[index]
    answer = frame.format(form.format(letter, text))
    assert read_choice(asked + answer, CHOICES).answer == letter


@given(ASKED, FRAMES, st.integers(-(10**12), 10**12), AMOUNT_FORMS)
def test_quantities(asked: str, frame: str, cents: int, form: str) -> None:
    amount = cents / 100
    answer = frame.format(form.format(amount))
    number = read_quantity(asked + answer).answer
    assert number is not None
    assert number.value == amount


@given(cents=st.integers(1, 10**14))
def test_every_grouping_comes_back(cents: int) -> None:
    amount = float(f"{cents / 100:.2f}")
    english = f"{amount:,.2f}"
    german = english.replace(",", "_").replace(".", ",").replace("_", ".")
    spaced = english.replace(",", "\u202f")
    latex = english.replace(",", "{,}")
    for text in (english, german, spaced, latex):
        values = [mention.number.value for mention in find_numbers(plain(text))]
        assert values == [amount]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for mention in find_numbers(plain(text)):
        assert all(map(math.isfinite, mention.number.values))


THOROUGH = pytest.param(200, 32_000, marks=pytest.mark.thorough)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "size"), [(20, 1_000), THOROUGH])
def test_hostile_texts_end_soon_and_raise_nothing(count: int, size: int) -> None:
    assert FUZZ["failures"](count=count, seed=13, size=size) == []

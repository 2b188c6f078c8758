"""The rules by which XFinBench's authors keep and drop questions."""

from collections.abc import Sequence
from random import Random
from string import ascii_lowercase, ascii_uppercase

from .question import Question, kept_questions

_N_CHOICES = 3
_MOST_WORDS_APART = 5
_NUMBER_CHARACTERS = frozenset("0123456789.-/")


def says_no(reply: str) -> bool:
    """Return whether "no" or "No" stands anywhere in a reply, as in "cannot". "NO" and an empty reply are a yes."""
    return "no" in reply or "No" in reply


def missing_part(question: Question) -> str:
    """Return the rule that drops a question before its verification, which needs all its parts."""
    if not question.text or not question.answer:
        return "incomplete"
    if question.task == "mcq" and len(question.choices) != _N_CHOICES:
        return "choices"
    return ""


def shown_choices(choices: Sequence[str]) -> str:
    """Return choices as the verifier sees them, in the order in which the model wrote them."""
    lines = []
    for letter, text in zip(ascii_lowercase, choices, strict=False):
        lines.append(f"({letter}) {text}")
    return "\n".join(lines)


def finish(question: Question, random: Random) -> None:
    """Bring a verified question into the file's form, or drop it if it breaks a rule."""
    if question.task == "bool":
        question.answer = "1.0" if question.kind == "statement_true" else "0.0"
    elif question.task == "calcu":
        # A fraction stays one, and so does `5-3`.
        if not set(question.answer) <= _NUMBER_CHARACTERS:
            question.dropped = "not_a_number"
    else:
        sizes = [len(text.split()) for text in question.choices]
        if max(sizes) - min(sizes) > _MOST_WORDS_APART:
            question.dropped = "choice_length"
        right = question.choices[0]
        question.choices = random.sample(question.choices, _N_CHOICES)
        question.answer = ascii_uppercase[question.choices.index(right)]


def drop_one(
    true: Question, false: Question, questions: Sequence[Question], random: Random
) -> None:
    """Drop one of two statements of an exercise: the kind of which the exercise has more, or one by lot."""
    if true.dropped or false.dropped:
        return
    own = [question for question in questions if question.source == true.source]
    n_true = len(kept_questions(own, "statement_true"))
    n_false = len(kept_questions(own, "statement_false"))
    loser, winner = true, false
    if n_false > n_true or (n_false == n_true and random.random() < 1 / 2):
        loser, winner = false, true
    loser.dropped = "gives_away"
    loser.why = winner.text

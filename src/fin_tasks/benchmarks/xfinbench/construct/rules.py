"""The rules that drop questions: ours with care (`house`), or the authors' (`paper`)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from string import ascii_uppercase

from fin_tasks.benchmarks.xfinbench.construct.question import Question

_N_CHOICES = 3
_MOST_WORDS_APART = 5
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_FRACTION = re.compile(rf"({_NUMBER.pattern})/(0*[1-9]\d*)")
_NUMBER_CHARACTERS = frozenset("0123456789.-/")
_LETTER = re.compile(r"\W*(?:choice\W+)?([a-c])\b", re.IGNORECASE)
# At the start of a line, or behind a number: "Yes", "Q1: Yes", "Q1 and Q2: Yes".
_ANSWER = re.compile(r"(?:^\W*|\d\W+)(yes|no)\b", re.MULTILINE)
_ANSWER_IN_PROSE = re.compile(r"\b(yes|no)\b")
_NUMBERED_LINE = re.compile(r"^\W*q?\d+\W", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """What decides whether a question is kept."""

    name: str
    is_number: Callable[[str], bool]
    """Whether a calculation may have this answer."""
    all_yes: Callable[[str, int], bool]
    """Whether a reply answers yes to so many questions about a question that was made."""
    says_yes: Callable[[str], bool]
    """Whether a reply says that a true statement gives a false one away."""
    solves_calculations: bool
    """Whether a model solves each calculation without seeing its answer."""


def all_yes(reply: str, n_questions: int) -> bool:
    """Return whether a reply answers yes to the yes-or-no questions it was asked, and no to none.

    One answer may stand for all questions, but each numbered line must have one.
    """
    reply = reply.lower()
    answers = _ANSWER.findall(reply)
    if len(answers) != n_questions:  # prose, or all in one line
        answers = _ANSWER_IN_PROSE.findall(reply)
    n_lines = len(_NUMBERED_LINE.findall(reply))
    return len(answers) >= max(1, n_lines) and "no" not in answers


def has_yes_or_no(reply: str) -> bool:
    """Return whether a reply answers a yes-or-no question at all."""
    return _ANSWER_IN_PROSE.search(reply.lower()) is not None


def flaw_of(question: Question, rules: RuleSet, random: Random) -> str:
    """Return the rule that a question breaks, or bring choices and answer into the file's form."""
    if not question.text or not question.answer:
        return "incomplete"
    if question.task == "bool":
        return _flaw_of_statement(question)
    if question.task == "mcq":
        return _flaw_of_choices(question, random)
    if not rules.is_number(question.answer):
        return "not_a_number"
    fraction = _FRACTION.fullmatch(question.answer)
    if fraction:
        question.answer = repr(float(fraction[1]) / float(fraction[2]))
    return ""


def _flaw_of_statement(question: Question) -> str:
    truth = question.kind.removeprefix("statement_")
    answer = re.sub(r"\W", "", question.answer).lower()
    question.answer = "1.0" if truth == "true" else "0.0"
    return "" if answer == truth else "other_answer"


def _flaw_of_choices(question: Question, random: Random) -> str:
    words = [tuple(text.lower().split()) for text in question.choices]
    if len(words) != _N_CHOICES or len(set(words)) < _N_CHOICES:
        return "choices"
    sizes = list(map(len, words))
    if max(sizes) - min(sizes) > _MOST_WORDS_APART:
        return "choice_length"
    letter = _LETTER.match(question.answer)
    if letter is None:
        return "other_answer"
    right = question.choices["abc".index(letter[1].lower())]
    question.choices = random.sample(question.choices, _N_CHOICES)
    question.answer = ascii_uppercase[question.choices.index(right)]
    return ""


def _is_one_number(answer: str) -> bool:
    return bool(_NUMBER.fullmatch(answer) or _FRACTION.fullmatch(answer))


def _has_number_characters(answer: str) -> bool:
    # The authors keep `5-3` too.
    return set(answer) <= _NUMBER_CHARACTERS


def _has_no_no(reply: str, n_questions: int) -> bool:
    # In the authors' check the "no" of "know" is a no, and an empty reply is a yes.
    del n_questions
    return "no" not in reply.lower()


RULE_SETS: Mapping[str, RuleSet] = {
    "house": RuleSet(
        name="house",
        is_number=_is_one_number,
        all_yes=all_yes,
        says_yes=partial(all_yes, n_questions=1),
        solves_calculations=True,
    ),
    "paper": RuleSet(
        name="paper",
        is_number=_has_number_characters,
        all_yes=_has_no_no,
        says_yes=lambda reply: "yes" in reply.lower(),
        solves_calculations=False,
    ),
}

"""Read the questions in a reply of the model that writes them, and drop those that break a rule of ours."""

import re
from random import Random
from string import ascii_uppercase
from typing import Literal

from fin_tasks.answers.text import strip_reasoning

from ..rows import parse_choices
from .paper import missing_part
from .question import Kind, Question

Rules = Literal["house", "paper"]
"""Rules of ours, or the authors' of the module `paper`."""

_N_CHOICES = 3
_MOST_WORDS_APART = 5
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_FRACTION = re.compile(rf"({_NUMBER.pattern})/(0*[1-9]\d*)")
# At the start of a line, or behind a number: "Yes", "Q1: Yes", "Q1 and Q2: Yes".
_ANSWER = re.compile(r"(?:^\W*|\d\W+)(yes|no)\b", re.MULTILINE)
_ANSWER_IN_PROSE = re.compile(r"\b(yes|no)\b")
_LABEL = re.compile(
    r"""
    ^[\s*\#>-]*
    (Context | (?:Generated\ )?Question | Statement | Choices | (?:Correct\ )?Answer)
    [\ \d*]*:
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What stands before each part of a question."""
_CHOICE_LETTER = re.compile(r"^[\s*-]*\(?([a-zA-Z])[).:]\**[ \t]*", re.MULTILINE)


def read_questions(
    source: str,
    kind: Kind,
    reply: str,
    rules: Rules,
    *,
    is_cut: bool,
    seed: int,
) -> list[Question]:
    """Read the questions in a reply, and drop those that break a rule.

    Our rules also shuffle the choices. The authors' other rules apply after verification (`paper.finish`).

    Args:
        source: Id of the exercise.
        kind: What the model was asked for.
        reply: Its reply.
        rules: The rules.
        is_cut: Whether the reply was cut off, so that its last question is incomplete.
        seed: Decides the order of choices.
    """
    questions = []
    context = ""
    _, *parts = _LABEL.split(reply)
    for label, part in zip(parts[::2], parts[1::2], strict=True):
        text = part.strip(" *\n\t")
        on_one_line = " ".join(text.split())
        if label == "Context":
            has_context = text.lower().strip(".") not in ("none", "n/a")
            context = on_one_line if has_context else ""
        elif label.endswith(("Question", "Statement")):
            questions.append(Question(source, kind, context, on_one_line, why=reply))
        elif questions and label == "Choices":
            capitals = _CHOICE_LETTER.sub(lambda match: f"{match[1].upper()}. ", text)
            questions[-1].choices = parse_choices(capitals)
        elif questions:
            questions[-1].answer = text.partition("\n")[0].strip(" *")
    if not questions:
        return [Question(source, kind, dropped="no_question", why=reply)]
    for question in questions:
        if rules == "paper":
            question.dropped = missing_part(question)
        else:
            random = Random(f"{seed} {source} {question.text}")
            question.dropped = _flaw_of(question, random)
    if is_cut:
        questions[-1].dropped = "incomplete"
    return questions


def is_verified(reply: str) -> bool:
    """Return whether a reply answers yes to all yes-or-no questions that it was asked.

    One answer may stand for all questions, but each numbered line must have one.
    """
    reply = reply.lower()
    n_lines = len(re.findall(r"^\W*q?\d+\W", reply, re.MULTILINE))
    answers = (_ANSWER if n_lines else _ANSWER_IN_PROSE).findall(reply)
    return len(answers) >= max(1, n_lines) and "no" not in answers


def says_yes(reply: str) -> bool:
    """Return whether a reply says that a true statement gives a false one away."""
    return reply.lower().strip(" *").startswith("yes")


def is_useful(reply: str, purpose: str) -> bool:
    """Return whether a reply has the form that was asked for, right or wrong."""
    text = strip_reasoning(reply)
    if purpose == "pair" or purpose.startswith("verify"):
        return _ANSWER_IN_PROSE.search(text.lower()) is not None
    return _LABEL.search(text) is not None


def _flaw_of(question: Question, random: Random) -> str:
    """Return the rule that a question breaks, or bring choices and answer into the file's form."""
    if not question.text or not question.answer:
        return "incomplete"
    if question.task == "bool":
        return _flaw_of_statement(question)
    if question.task == "mcq":
        return _flaw_of_choices(question, random)
    fraction = _FRACTION.fullmatch(question.answer)
    if fraction:
        question.answer = repr(float(fraction[1]) / float(fraction[2]))
    elif not _NUMBER.fullmatch(question.answer):
        return "not_a_number"
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
    letter = re.match(r"\W*(?:choice\W+)?([a-c])\b", question.answer, re.IGNORECASE)
    if letter is None:
        return "other_answer"
    right = question.choices["abc".index(letter[1].lower())]
    question.choices = random.sample(question.choices, _N_CHOICES)
    question.answer = ascii_uppercase[question.choices.index(right)]
    return ""

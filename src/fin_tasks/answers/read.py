"""Read the answer in a whole response as a careful reader does: right or silent.

Three layers are read in turn. What is *announced* counts first: the sentence that prompts ask for, a
label, a key, a tag, a box. Then come *whole lines*: the first or the last line is an answer. Then
come *framed sentences*, such as `the statement is false`. Without any of them there is no answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic

from fin_tasks.answers.choices import announced_choice, line_choice, sentence_choices
from fin_tasks.answers.locate import (
    Passage,
    announced_passages,
    concluding_passages,
    ends_with_marker,
    marked_passages,
    outer_lines,
    prepare,
)
from fin_tasks.answers.numbers import Number, number_from_float, same_number
from fin_tasks.answers.phrases import CORRECTION, REFUSAL, RETRACTION, Style
from fin_tasks.answers.quantities import announced_quantity, unannounced_quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Answer, Extraction
from fin_tasks.answers.verdicts import announced_verdict, line_verdict, sentence_verdicts

NEEDS_REVIEW = "needs review"
# Between two different answers with more text than this, the second is a new result.
_NEW_DERIVATION = 300


@dataclass(frozen=True)
class Candidate(Generic[Answer]):
    """An answer with its place in the reply."""

    answer: Answer
    rule: str
    start: int


@dataclass(frozen=True)
class AnswerReader(Generic[Answer]):
    """How one kind of answer is read."""

    announced: Callable[[str, Style], Answer | None]
    """Read the text behind an announcement."""
    unannounced: Callable[[str], list[Candidate[Answer]]]
    """Return what whole lines and framed sentences say, in their order."""
    is_same: Callable[[Answer, Answer], bool]


class TwoAnswersError(Exception):
    """A reply gives two different final answers."""


def read_verdict(response: str) -> Extraction[int]:
    """Read whether a statement is called true (1) or false (0)."""
    unannounced = partial(
        _lines_and_sentences,
        announced=announced_verdict,
        line=line_verdict,
        sentences=sentence_verdicts,
    )
    reader = AnswerReader(announced_verdict, unannounced, int.__eq__)
    return _read(response, reader)


def read_choice(response: str, choices: Sequence[str] = ()) -> Extraction[str]:
    """Read the letter of a choice, given by letter, by place or by text."""
    announced = partial(announced_choice, choices=choices)
    unannounced = partial(
        _lines_and_sentences,
        announced=announced,
        line=partial(line_choice, choices=choices),
        sentences=partial(sentence_choices, choices=choices),
    )
    return _read(response, AnswerReader(announced, unannounced, str.__eq__))


def read_quantity(response: str) -> Extraction[Number]:
    """Read a number with its unit."""
    return _read(response, AnswerReader(announced_quantity, _number_candidates, same_number))


def number_of_result(value: float | None, text: str | None) -> Number | None:
    """Read the result of a program: a float, or a text that is only a number, such as `7.66%`."""
    if value is not None:
        return number_from_float(value)
    if text is None or "\\" in text:
        return None
    return read_quantity(text[:200]).answer


def _read(response: str, reader: AnswerReader[Answer]) -> Extraction[Answer]:
    reply = strip_reasoning(response)
    if not reply.strip():
        return Extraction(answer=None, reason="no reply")
    reply = prepare(reply)
    try:
        candidate = _settled(reply, reader)
    except TwoAnswersError:
        return Extraction(answer=None, reason=f"{NEEDS_REVIEW}: two different answers")
    if candidate is None:
        return Extraction(answer=None, reason=NEEDS_REVIEW)
    try:
        candidate = _after_retraction(reply, candidate, reader)
    except TwoAnswersError:
        return Extraction(answer=None, reason=f"{NEEDS_REVIEW}: the answer is taken back")
    return Extraction(answer=candidate.answer, rule=candidate.rule)


def _settled(reply: str, reader: AnswerReader[Answer]) -> Candidate[Answer] | None:
    # A layer that speaks settles the matter.
    marked = marked_passages(reply)
    if marked or ends_with_marker(reply):
        return _last(reply, _announced(marked, reader), reader)
    announced = announced_passages(reply)
    for style in ("label", "prose", "conclusion"):
        passages = [passage for passage in announced if passage.style == style]
        candidates = _announced(passages, reader)
        if candidates:
            return _last(reply, candidates, reader)
        if style == "label" and any(REFUSAL.search(passage.text[:120]) for passage in passages):
            return None
    return _last(reply, reader.unannounced(reply), reader)


def _announced(passages: list[Passage], reader: AnswerReader[Answer]) -> list[Candidate[Answer]]:
    candidates = []
    for passage in passages:
        answer = reader.announced(passage.text, passage.style)
        if answer is not None:
            candidates.append(Candidate(answer, passage.rule, passage.start))
    return candidates


def _last(
    reply: str, candidates: list[Candidate[Answer]], reader: AnswerReader[Answer]
) -> Candidate[Answer] | None:
    # The last answer counts. An earlier one may differ only if a correction or new working follows it.
    if not candidates:
        return None
    last = candidates[-1]
    for earlier in candidates[:-1]:
        if not reader.is_same(earlier.answer, last.answer):
            between = reply[earlier.start : last.start]
            if len(between) < _NEW_DERIVATION and not CORRECTION.search(between):
                raise TwoAnswersError
    return last


def _after_retraction(
    reply: str, candidate: Candidate[Answer], reader: AnswerReader[Answer]
) -> Candidate[Answer]:
    # An answer that the text takes back later is replaced by the one that follows.
    retraction = RETRACTION.search(reply, candidate.start + 1)
    if retraction is None:
        return candidate
    rest = reply[retraction.end() :]
    replacement = _settled(rest, reader)
    if replacement is None:
        return candidate
    return replacement


def _lines_and_sentences(
    reply: str,
    *,
    announced: Callable[[str, Style], Answer | None],
    line: Callable[[str, Style], Answer | None],
    sentences: Callable[[str], list[tuple[int, Answer]]],
) -> list[Candidate[Answer]]:
    candidates = [Candidate(answer, "framed sentence", start) for start, answer in sentences(reply)]
    for passage in concluding_passages(reply):
        answer = announced(passage.text, "conclusion")
        if answer is not None:
            candidates.append(Candidate(answer, passage.rule, passage.start))
    for passage in outer_lines(reply):
        answer = line(passage.text, passage.style)
        if answer is not None and line(passage.neighbor, passage.style) in (None, answer):
            candidates.append(Candidate(answer, passage.rule, passage.start))
    return sorted(candidates, key=lambda candidate: candidate.start)


def _number_candidates(reply: str) -> list[Candidate[Number]]:
    result = unannounced_quantity(reply)
    if result is None:
        return []
    number, passage = result
    return [Candidate(number, passage.rule, passage.start)]

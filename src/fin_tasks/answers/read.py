"""Read the answer in a whole response. In doubt, read none.

Three layers are read in turn. What is *announced* counts first: the sentence that prompts ask for, a
label, a key, a tag, a box. Then come *whole lines*: the first or the last line is an answer. Then
come *framed sentences*, such as `the statement is false`. Without any of them there is no answer.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, NamedTuple

from .choices import ChoiceReader
from .locate import (
    Passage,
    announced_passages,
    concluding_passages,
    marked_passages,
    outer_lines,
    placed,
    shortened,
)
from .numbers import Number, number_from_float, same_number
from .phrases import Phrases
from .quantities import announced_quantity, unannounced_quantity
from .reasoning import strip_reasoning
from .translate import in_english
from .types import Answer, Candidate, Extraction, Style
from .verdicts import announced_verdict, line_verdict, sentence_verdicts

_SIGNS = Phrases("signs")

NEEDS_REVIEW = "needs review"

_Announced = Callable[[str, Style], Candidate[Answer] | None]


class AnswerReader(NamedTuple, Generic[Answer]):
    """How one kind of answer is read."""

    announced: _Announced[Answer]
    """Read the text behind an announcement."""
    unannounced: Callable[[str], list[Candidate[Answer]]]
    """Read whole lines and framed sentences, in their order."""
    is_same: Callable[[Answer, Answer], bool]

    def read(
        self,
        response: str,
    ) -> Extraction[Answer]:
        """Read the final answer of a response, without its reasoning."""
        reply = strip_reasoning(response)
        if not reply.strip():
            return Extraction(answer=None, reason="no reply")
        reply = in_english(shortened(reply))
        try:
            candidate = self._final_candidate(reply)
        except TwoAnswersError:
            return Extraction(
                answer=None, reason=f"{NEEDS_REVIEW}: two different answers"
            )
        if candidate is None:
            return Extraction(answer=None, reason=NEEDS_REVIEW)
        return Extraction(answer=candidate.answer, rule=candidate.rule)

    def _final_candidate(
        self,
        reply: str,
    ) -> Candidate[Answer] | None:
        # If the text takes an answer back and then gives another, the other one counts.
        candidate = self._candidate(reply)
        if candidate is None:
            return None
        retraction = _SIGNS.retraction.search(reply, candidate.start + 1)
        later = self._candidate(reply[retraction.end() :]) if retraction else None
        return later or candidate

    def _candidate(
        self,
        reply: str,
    ) -> Candidate[Answer] | None:
        # The first layer that gives an answer decides. The marker decides too, even if no answer follows it.
        marked = marked_passages(reply)
        if marked:
            return self._last(reply, _read_passages(marked, self.announced))
        announced = announced_passages(reply)
        for style in ("label", "prose"):
            passages = [passage for passage in announced if passage.style == style]
            candidates = _read_passages(passages, self.announced)
            if candidates:
                return self._last(reply, candidates)
        return self._last(reply, self.unannounced(reply))

    def _last(
        self,
        reply: str,
        candidates: list[Candidate[Answer]],
    ) -> Candidate[Answer] | None:
        # The last answer counts. Between it and a different one a correction must stand.
        if not candidates:
            return None
        last = candidates[-1]
        for earlier in candidates[:-1]:
            between = reply[earlier.start : last.start]
            is_same = self.is_same(earlier.answer, last.answer)
            if not is_same and not _SIGNS.correction.search(between):
                raise TwoAnswersError
        return last


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
    return AnswerReader(announced_verdict, unannounced, int.__eq__).read(response)


def read_choice(
    response: str,
    choices: Sequence[str] = (),
) -> Extraction[str]:
    """Read the letter of a choice, given by letter, by place or by text."""
    reader = ChoiceReader(choices)
    unannounced = partial(
        _lines_and_sentences,
        announced=reader.announced,
        line=reader.line,
        sentences=reader.sentences,
    )
    return AnswerReader(reader.announced, unannounced, str.__eq__).read(response)


def read_quantity(response: str) -> Extraction[Number]:
    """Read a number with its unit."""
    return AnswerReader(announced_quantity, unannounced_quantity, same_number).read(
        response
    )


def number_of_result(
    value: float | None,
    text: str | None,
) -> Number | None:
    """Read the result of a program: a float, or a text that is only a number, such as `7.66%`."""
    if value is not None:
        return number_from_float(value)
    return read_quantity(text[:200]).answer if text else None


def _read_passages(
    passages: Sequence[Passage], announced: _Announced[Answer]
) -> list[Candidate[Answer]]:
    candidates = []
    for passage in passages:
        candidate = announced(passage.text, passage.style)
        if candidate is not None:
            candidates.append(placed(candidate, passage))
    return candidates


def _lines_and_sentences(
    reply: str,
    *,
    announced: _Announced[Answer],
    line: Callable[[str, bool], Candidate[Answer] | None],
    sentences: Callable[[str], list[Candidate[Answer]]],
) -> list[Candidate[Answer]]:
    candidates = []
    for candidate in sentences(reply):
        candidates.append(candidate._replace(rule=f"framed sentence: {candidate.rule}"))
    candidates += _read_passages(concluding_passages(reply), announced)
    for outer_line in outer_lines(reply):
        answer = line(outer_line.text, outer_line.is_last)
        neighbor = line(outer_line.neighbor, outer_line.is_last)
        is_item = answer and neighbor and neighbor.answer != answer.answer
        if answer and not is_item:
            candidates.append(placed(answer, outer_line))
    return sorted(candidates, key=lambda candidate: candidate.start)

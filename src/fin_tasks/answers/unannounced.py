"""Find an answer that nothing announces: in concluding sentences, and in the first and the last line."""

from collections.abc import Callable
from typing import NamedTuple

from .phrases import Phrases
from .read import PASSAGE_LENGTH, Announced, Passage, read_passages
from .text import SIGNS
from .types import Answer, Candidate

_MOST_CONCLUSIONS = 5

_UNANNOUNCED = Phrases("unannounced")


class Line(NamedTuple):
    """The first or the last line of a reply, without its bullet."""

    rule: str
    text: str
    start: int
    is_last: bool
    neighbor: str
    """The line beside it. If that is an answer too, both are items of a list."""

    def place(self, candidate: Candidate[Answer]) -> Candidate[Answer]:
        """Return a candidate whose rule names the line and the wording: `last line: letter`."""
        rule = f"{self.rule}: {candidate.rule}"
        return candidate._replace(rule=rule, start=self.start)


def lines_and_sentences(
    reply: str,
    *,
    announced: Announced[Answer],
    line: Callable[[str, bool], Candidate[Answer] | None],
    sentences: Callable[[str], list[Candidate[Answer]]],
) -> list[Candidate[Answer]]:
    """Read framed sentences, concluding ones, and the first and the last line, in their order."""
    candidates = []
    for candidate in sentences(reply):
        candidates.append(candidate._replace(rule=f"framed sentence: {candidate.rule}"))
    candidates += read_passages(concluding_passages(reply), announced)
    for outer_line in outer_lines(reply):
        answer = line(outer_line.text, outer_line.is_last)
        neighbor = line(outer_line.neighbor, outer_line.is_last)
        is_item = answer and neighbor and neighbor.answer != answer.answer
        if answer and not is_item:
            candidates.append(outer_line.place(answer))
    return sorted(candidates, key=lambda candidate: candidate.start)


def is_unfinished(reply: str) -> bool:
    """Return whether a reply ends in the middle of a number, a sum, a list or a sentence."""
    text = reply.rstrip()
    return _UNANNOUNCED.unfinished.search(text, max(0, len(text) - 250)) is not None


def concluding_passages(reply: str) -> list[Passage]:
    """Return the sentences that begin with `Therefore` and the like, in their order.

    Only the last two paragraphs are searched.
    """
    text = reply.rstrip()
    breaks = list(SIGNS.paragraph_break.finditer(text))
    begin = 0
    if len(breaks) > 1:
        begin = breaks[-2].end()
    passages = []
    matches = list(_UNANNOUNCED.conclusion.finditer(text, begin))
    for match in matches[-_MOST_CONCLUSIONS:]:
        end = match.end()
        passage = Passage(
            rule="concluding sentence",
            style="conclusion",
            text=text[end : end + PASSAGE_LENGTH],
            start=match.start(),
        )
        passages.append(passage)
    return passages


def outer_lines(text: str) -> list[Line]:
    """Return the last and the first line that hold letters or digits."""
    lines = ["", *text.split("\n"), ""]
    filled = []
    for index, line in enumerate(lines):
        if any(map(str.isalnum, line)):
            filled.append(index)
    while len(filled) > 1 and SIGNS.closer.match(lines[filled[-1]]):
        filled.pop()
    if not filled:
        return []
    last = filled[-1]
    start = len("\n".join(lines[:last]))
    lines = list(map(_without_bullet, lines))
    last_text = lines[last][-PASSAGE_LENGTH:]
    first = filled[0]
    first_text = lines[first][:PASSAGE_LENGTH]
    return [
        Line(
            rule="last line",
            text=last_text,
            start=start,
            is_last=True,
            neighbor=lines[last - 1],
        ),
        Line(
            rule="first line",
            text=first_text,
            start=0,
            is_last=False,
            neighbor=lines[first + 1],
        ),
    ]


def _without_bullet(line: str) -> str:
    bullet = SIGNS.bullet.match(line)
    return line[bullet.end() :] if bullet else line

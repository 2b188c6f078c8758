"""Find the passages of a reply that may hold the answer."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from .notation import last_box
from .phrases import Phrases, Table
from .types import Answer, Candidate, Style

_ANNOUNCED = Phrases("announced")
_SIGNS = Phrases("signs")
_TABLES: Mapping[Style, Table] = {
    "label": _ANNOUNCED.table("label"),
    "prose": _ANNOUNCED.table("prose"),
}

_PASSAGE_LENGTH = 1_000
_MOST_PASSAGES = 20
_MOST_CONCLUSIONS = 5
# The start of a longer reply, and its end, are searched.
_HEAD_LENGTH = 3_000
_TAIL_LENGTH = 8_000


class Passage(NamedTuple):
    """The text behind an announcement."""

    rule: str
    """Name of the announcement."""
    style: Style
    text: str
    start: int
    """Position in the reply."""


class Line(NamedTuple):
    """The first or the last line of a reply, without its bullet."""

    rule: str
    text: str
    start: int
    is_last: bool
    neighbor: str
    """The line beside it. If that is an answer too, both are items of a list."""


def placed(
    candidate: Candidate[Answer],
    place: Passage | Line,
) -> Candidate[Answer]:
    """Return a candidate whose rule names the place and the wording: `answer label: letter`."""
    return candidate._replace(rule=f"{place.rule}: {candidate.rule}", start=place.start)


def shortened(reply: str) -> str:
    """Return a reply without the middle of a long one."""
    if len(reply) <= _HEAD_LENGTH + _TAIL_LENGTH:
        return reply
    return f"{reply[:_HEAD_LENGTH]}\n\n{reply[-_TAIL_LENGTH:]}"


def marked_passages(reply: str) -> list[Passage]:
    """Return the passages behind the sentence that our prompts ask for, in their order."""
    passages = []
    for match in _ANNOUNCED.marker.finditer(reply):
        passage = _passage_behind(match, "marker", "marker")
        is_placeholder = _SIGNS.placeholder.match(reply, passage.start)
        if not (is_placeholder and _SIGNS.word_character.search(passage.text)):
            passages.append(passage)
    return _before_new_turn(reply, passages)


def announced_passages(reply: str) -> list[Passage]:
    """Return the passages that a label, key, tag, box or table row announces, in their order."""
    passages = []
    for style, announcements in _TABLES.items():
        for name, pattern in announcements.items():
            for match in pattern.finditer(reply):
                passage = _passage_behind(match, name, style)
                if _SIGNS.word_character.search(passage.text):
                    passages.append(passage)
    box = last_box(reply)
    if box:
        text = rf"\boxed{{{box.content}}}"
        passages.append(Passage("box", "label", text, box.start))
    passages += _table_passages(reply)
    passages.sort(key=lambda passage: passage.start)
    return _before_new_turn(reply, passages)


def concluding_passages(reply: str) -> list[Passage]:
    """Return the sentences that begin with `Therefore` and the like, in their order.

    Only the last two paragraphs are searched.
    """
    text = reply.rstrip()
    breaks = list(_SIGNS.paragraph_break.finditer(text))
    begin = breaks[-2].end() if len(breaks) > 1 else 0
    passages = []
    matches = list(_ANNOUNCED.conclusion.finditer(text, begin))
    for match in matches[-_MOST_CONCLUSIONS:]:
        passage = _passage_behind(match, "concluding sentence", "conclusion")
        passages.append(passage._replace(start=match.start()))
    return passages


def outer_lines(text: str) -> list[Line]:
    """Return the last and the first line that hold letters or digits."""
    lines = ["", *text.split("\n"), ""]
    filled = []
    for index, line in enumerate(lines):
        if any(map(str.isalnum, line)):
            filled.append(index)
    while len(filled) > 1 and _SIGNS.closer.match(lines[filled[-1]]):
        filled.pop()
    if not filled:
        return []
    last = filled[-1]
    start = len("\n".join(lines[:last]))
    lines = list(map(_without_bullet, lines))
    last_text = lines[last][-_PASSAGE_LENGTH:]
    first = filled[0]
    first_text = lines[first][:_PASSAGE_LENGTH]
    return [
        Line("last line", last_text, start, True, lines[last - 1]),
        Line("first line", first_text, 0, False, lines[first + 1]),
    ]


def _passage_behind(
    match: re.Match[str],
    rule: str,
    style: Style,
) -> Passage:
    # The group `answer` of an announcement, else the text behind it.
    if "answer" in match.re.groupindex:
        return Passage(rule, style, match["answer"], match.start("answer"))
    text = match.string[match.end() :][:_PASSAGE_LENGTH]
    return Passage(rule, style, text, match.end())


def _table_passages(reply: str) -> Iterator[Passage]:
    # The last row of each table may hold an answer.
    start = 0
    for line, next_line in pairwise([*reply.split("\n"), ""]):
        row = _SIGNS.table_row.fullmatch(line)
        if row and not _SIGNS.table_row.fullmatch(next_line):
            answer = _answer_in_row(row["cells"])
            if answer is not None:
                # In brackets, because `(5)` in a table is -5.
                yield Passage("table row", "label", f"[{answer}]", start)
        start += len(line) + 1


def _answer_in_row(cells: str) -> str | None:
    # The only value, or the only bold one, if the first cell is bold or names an answer.
    label, *values = map(str.strip, cells.split("|"))
    answers = list(filter(None, values))
    if len(answers) > 1:
        answers = [value for value in answers if value.startswith("**")]
    is_label = label.startswith("**") or _SIGNS.table_label.search(label)
    return answers[0] if is_label and len(answers) == 1 else None


def _without_bullet(line: str) -> str:
    bullet = _SIGNS.bullet.match(line)
    return line[bullet.end() :] if bullet else line


def _before_new_turn(
    reply: str,
    passages: list[Passage],
) -> list[Passage]:
    # Base models write a next exercise behind their answer; passages in it are left out.
    turn = _SIGNS.new_turn.search(reply, passages[0].start) if passages else None
    if turn is None:
        return passages[-_MOST_PASSAGES:]
    own_passages = []
    for passage in passages:
        length = turn.start() - passage.start
        if length > 0:
            own_passages.append(passage._replace(text=passage.text[:length]))
    return own_passages[-_MOST_PASSAGES:]

"""Find the passages of a reply that may hold the answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fin_tasks.answers.notation import last_box
from fin_tasks.answers.phrases import (
    ANNOUNCEMENTS,
    CLOSER,
    CONCLUSION,
    FOREIGN,
    FOREIGN_LABEL,
    MARKER,
    NEW_TURN,
    PLACEHOLDER,
    TRANSLATIONS,
    Style,
)

_PASSAGE_LENGTH = 1_000
_MOST_ANNOUNCEMENTS = 20
# Of a longer reply, only the two ends are searched for anything but the marker.
_HEAD_LENGTH = 3_000
_TAIL_LENGTH = 8_000
_MIN_FOREIGN_WORDS = 3
_FOREIGN_SHARE = 0.15

_BULLET = re.compile(
    r"\s{0,9}(?:(?:#{1,6}\s|>|[-*•+]\s{1,4}(?=\D)|\d{1,2}[.)]\s{1,3}(?=[A-Za-z*(]))\s{0,4}){1,4}"
)
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?:0,\d|\d{1,3},(?:\d{1,2}|\d{4,9})(?![\d,]))")
_DECIMAL_POINT = re.compile(r"(?<![\d.,])\d{1,9}\.(?:\d{1,2}|\d{4,9})(?!\d)")
_GROUPING_POINT = re.compile(r"(?<=\d)\.(?=\d{3}(?!\d))")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_TABLE_ROW = re.compile(r"[ \t]*\|(?P<cells>.{1,600})\|[ \t]*")
_TABLE_LABEL = re.compile(r"answer|verdict|conclusion|result|choice|decision", re.IGNORECASE)
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n")
_MOST_CONCLUSIONS = 5


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A part of a reply that may hold the answer."""

    rule: str
    """Name of the wording or of the place."""
    style: Style
    text: str
    start: int = 0
    """Position in the reply."""
    neighbor: str = ""
    """The line beside a first or last line; an answer there makes both items of a list."""


def prepare(reply: str) -> str:
    """Return the two ends of a long reply, in English as far as the answer's wording goes."""
    if len(reply) > _HEAD_LENGTH + _TAIL_LENGTH:
        reply = f"{reply[:_HEAD_LENGTH]}\n\n{reply[-_TAIL_LENGTH:]}"
    if not _is_foreign(reply):
        return reply
    for pattern, english in TRANSLATIONS:
        reply = pattern.sub(english, reply)
    return _with_decimal_points(reply)


def marked_passages(reply: str) -> list[Passage]:
    """Return the passages behind the sentence that our prompts ask for, in their order."""
    passages = []
    for match in MARKER.pattern.finditer(reply):
        if not PLACEHOLDER.match(reply, match.end()):
            text = reply[match.end() : match.end() + _PASSAGE_LENGTH]
            passages.append(
                Passage(rule=MARKER.name, style=MARKER.style, text=text, start=match.end())
            )
    return _before_new_turn(reply, passages)


def announced_passages(reply: str) -> list[Passage]:
    """Return the passages that a label, key, tag, box or table row announces, in their order."""
    passages = []
    for announcement in ANNOUNCEMENTS:
        matches = list(announcement.pattern.finditer(reply))
        for match in matches[-_MOST_ANNOUNCEMENTS:]:
            is_enclosed = "answer" in match.re.groupindex
            start = match.start("answer") if is_enclosed else match.end()
            text = match["answer"] if is_enclosed else reply[start : start + _PASSAGE_LENGTH]
            if re.search(r"\w", text) and not PLACEHOLDER.match(reply, start):
                passages.append(
                    Passage(
                        rule=announcement.name, style=announcement.style, text=text, start=start
                    )
                )
    box = last_box(reply)
    if box is not None:
        start, content = box
        text = rf"\boxed{{{content}}}"
        passages.append(Passage(rule="box", style="label", text=text, start=start))
    passages.extend(_table_passages(reply))
    passages.sort(key=lambda passage: passage.start)
    return _before_new_turn(reply, passages)


def concluding_passages(reply: str) -> list[Passage]:
    """Return the last sentences that begin with `Therefore` and the like, in their order.

    Only the last two paragraphs are searched.
    """
    text = reply.rstrip()
    breaks = [match.end() for match in _PARAGRAPH_BREAK.finditer(text)]
    begin = breaks[-2] - 1 if len(breaks) > 1 else 0
    matches = list(CONCLUSION.finditer(text, begin))
    return [
        Passage(
            rule="concluding sentence",
            style="conclusion",
            text=text[match.end() : match.end() + _PASSAGE_LENGTH],
            start=match.start() + 1,  # behind the full stop
        )
        for match in matches[-_MOST_CONCLUSIONS:]
    ]


def outer_lines(text: str) -> list[Passage]:
    """Return the last and the first line that hold letters or digits, without bullets."""
    lines = text.split("\n")
    filled = [index for index, line in enumerate(lines) if any(map(str.isalnum, line))]
    while len(filled) > 1 and CLOSER.match(lines[filled[-1]]):
        filled.pop()
    if not filled:
        return []
    first, last = filled[0], filled[-1]
    above = lines[last - 1] if last > first else ""
    below = lines[first + 1] if last > first else ""
    last_line = _without_bullet(lines[last])
    return [
        Passage(
            rule="last line",
            style="last line",
            text=last_line[-_PASSAGE_LENGTH:],
            start=sum(len(line) + 1 for line in lines[:last]),
            neighbor=_without_bullet(above),
        ),
        Passage(
            rule="first line",
            style="first line",
            text=_without_bullet(lines[first])[:_PASSAGE_LENGTH],
            neighbor=_without_bullet(below),
        ),
    ]


def _without_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _is_foreign(text: str) -> bool:
    ends = text[:2_000] + text[-2_000:]
    if _CJK.search(ends) or FOREIGN_LABEL.search(ends):
        return True
    n_foreign = len(FOREIGN.findall(ends))
    return n_foreign >= _MIN_FOREIGN_WORDS or n_foreign > _FOREIGN_SHARE * len(ends.split())


def _with_decimal_points(text: str) -> str:
    # Where a text shows decimal commas and no decimal points, `1,766` is 1.766 there.
    if not _DECIMAL_COMMA.search(text) or _DECIMAL_POINT.search(text):
        return text
    text = _GROUPING_POINT.sub("", text)
    return _COMMA.sub(".", text)


def _before_new_turn(reply: str, passages: list[Passage]) -> list[Passage]:
    # Base models make up the next exercise. It cannot begin before the first answer.
    if not passages:
        return []
    turn = NEW_TURN.search(reply, passages[0].start)
    if turn is None:
        return passages
    kept = []
    for passage in passages:
        if passage.start < turn.start():
            text = passage.text[: turn.start() - passage.start]
            kept.append(
                Passage(rule=passage.rule, style=passage.style, text=text, start=passage.start)
            )
    return kept


def _table_passages(reply: str) -> Iterator[Passage]:
    # The last row of a table, if its first cell is bold or names an answer, and one other cell is filled.
    lines = reply.split("\n")
    start = 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        row = _TABLE_ROW.fullmatch(line)
        if row and not _TABLE_ROW.fullmatch(following):
            cells = [cell.strip() for cell in row["cells"].split("|")]
            label, values = cells[0], [cell for cell in cells[1:] if cell]
            bold = [value for value in values if value.startswith("**")]
            answers = bold if len(values) > 1 else values
            is_labelled = label.startswith("**") or _TABLE_LABEL.search(label)
            if is_labelled and len(answers) == 1:
                # In brackets, because `(5)` in a table is -5.
                text = f"[{answers[0]}]"
                yield Passage(rule="table row", style="label", text=text, start=start)
        start += len(line) + 1


def ends_with_marker(reply: str) -> bool:
    """Return whether the reply ends with the sentence that our prompts ask for, without an answer."""
    matches = list(MARKER.pattern.finditer(reply))
    return bool(matches) and not re.search(r"\w", reply[matches[-1].end() :])

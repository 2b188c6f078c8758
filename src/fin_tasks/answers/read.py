"""Read the answer in a whole response. In doubt, read none.

Three layers are read in turn. What is *announced* counts first: the sentence that prompts ask for, a
label, a key, a tag, a box. Then come *whole lines*: the first or the last line is an answer. Then
come *framed sentences*, such as `the statement is false`. Without any of them there is no answer.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple

from .phrases import Phrases
from .text import SIGNS, in_english, last_box, split_reasoning
from .types import Answer, Candidate, Extraction, Style

NEEDS_REVIEW = "needs review"

_ANNOUNCED = Phrases("announced", tables=["marker", "label", "prose"])

PASSAGE_LENGTH = 1_000
_MOST_PASSAGES = 20
_MOST_CONCLUSIONS = 5
# The start of a longer reply, and its end, are searched.
_HEAD_LENGTH = 3_000
_TAIL_LENGTH = 8_000
# Characters at the start and at the end that show the language.
_ENDS_LENGTH = 2_000

_Announced = Callable[[str, Style], Candidate[Answer] | None]


class Rules(NamedTuple, Generic[Answer]):
    """How one kind of answer is read."""

    announced: _Announced[Answer]
    """Read the text behind an announcement."""
    unannounced: Callable[[str], list[Candidate[Answer]]]
    """Read whole lines and framed sentences, in their order."""
    is_same: Callable[[Answer, Answer], bool]


class TwoAnswersError(Exception):
    """A reply gives two different final answers."""


def read_response(
    response: str,
    rules: Rules[Answer],
) -> Extraction[Answer]:
    """Read the final answer of a response, without its reasoning."""
    reply = split_reasoning(response).text
    if not reply.strip():
        return Extraction(answer=None, reason="no reply")
    if len(reply) > _HEAD_LENGTH + _TAIL_LENGTH:
        reply = f"{reply[:_HEAD_LENGTH]}\n\n{reply[-_TAIL_LENGTH:]}"
    ends = reply[:_ENDS_LENGTH] + reply[-_ENDS_LENGTH:]
    if SIGNS.chinese_character.search(ends):
        reply = in_english(reply)
    try:
        candidate = _final_candidate(reply, rules)
        if candidate is None:
            return Extraction(answer=None, reason=NEEDS_REVIEW)
        retraction = SIGNS.retraction.search(reply, candidate.start + 1)
        if retraction:
            # The text takes its answer back. If it then gives another, the other one counts.
            rest = reply[retraction.end() :]
            candidate = _final_candidate(rest, rules) or candidate
    except TwoAnswersError:
        return Extraction(answer=None, reason=f"{NEEDS_REVIEW}: two different answers")
    return Extraction(answer=candidate.answer, rule=candidate.rule)


def _final_candidate(
    reply: str,
    rules: Rules[Answer],
) -> Candidate[Answer] | None:
    # The first layer that gives an answer decides. The marker decides too, even if no answer follows it.
    candidates: list[Candidate[Answer]] = []
    marked = announced_passages(reply, "marker")
    if marked:
        candidates = read_passages(marked, rules.announced)
    else:
        announced = announced_passages(reply, "label", "prose")
        for style in ("label", "prose"):
            passages = [passage for passage in announced if passage.style == style]
            candidates = candidates or read_passages(passages, rules.announced)
        candidates = candidates or rules.unannounced(reply)
    if not candidates:
        return None
    # The last answer counts. Between it and a different one a correction must stand.
    last = candidates[-1]
    for earlier in candidates[:-1]:
        between = reply[earlier.start : last.start]
        is_same = rules.is_same(earlier.answer, last.answer)
        if not is_same and not SIGNS.correction.search(between):
            raise TwoAnswersError
    return last


def lines_and_sentences(
    reply: str,
    *,
    announced: _Announced[Answer],
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


# --- Passages and lines that may hold the answer ---


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

    def place(self, candidate: Candidate[Answer]) -> Candidate[Answer]:
        """Return a candidate whose rule names the line and the wording: `last line: letter`."""
        rule = f"{self.rule}: {candidate.rule}"
        return candidate._replace(rule=rule, start=self.start)


def read_passages(
    passages: Sequence[Passage], announced: _Announced[Answer]
) -> list[Candidate[Answer]]:
    """Read passages; each rule names the announcement and the wording: `answer label: letter`."""
    candidates = []
    for passage in passages:
        candidate = announced(passage.text, passage.style)
        if candidate is not None:
            rule = f"{passage.rule}: {candidate.rule}"
            candidates.append(candidate._replace(rule=rule, start=passage.start))
    return candidates


def announced_passages(reply: str, *styles: Style) -> list[Passage]:
    """Return the passages that announcements of these styles announce, in their order."""
    passages = []
    for style in styles:
        for name, pattern in _ANNOUNCED.tables[style].items():
            for match in pattern.finditer(reply):
                # The group `answer` of an announcement, else the text behind it.
                start = match.end()
                text = reply[start : start + PASSAGE_LENGTH]
                if "answer" in pattern.groupindex:
                    start = match.start("answer")
                    text = match["answer"]
                is_answer = bool(SIGNS.word_character.search(text))
                if style == "marker":
                    # The marker decides, even if nothing follows it.
                    is_placeholder = SIGNS.placeholder.match(reply, start)
                    is_answer = not (is_answer and is_placeholder)
                if is_answer:
                    passages.append(Passage(name, style, text, start))
    if "label" in styles:
        passages += _boxes_and_rows(reply)
        passages.sort(key=lambda passage: passage.start)
    # Base models write a next exercise behind their answer; passages in it are left out.
    turn = None
    if passages:
        turn = SIGNS.new_turn.search(reply, passages[0].start)
    if turn is None:
        return passages[-_MOST_PASSAGES:]
    own_passages = []
    for passage in passages:
        length = turn.start() - passage.start
        if length > 0:
            text = passage.text[:length]
            own_passages.append(passage._replace(text=text))
    return own_passages[-_MOST_PASSAGES:]


def _boxes_and_rows(reply: str) -> Iterator[Passage]:
    # The last box, and the last row of each table if it may hold an answer.
    box = last_box(reply)
    if box:
        yield Passage("box", "label", rf"\boxed{{{box.content}}}", box.start)
    start = 0
    lines = [*reply.split("\n"), ""]
    for line, next_line in pairwise(lines):
        row = SIGNS.table_row.fullmatch(line)
        if row and not SIGNS.table_row.fullmatch(next_line):
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
    is_label = label.startswith("**") or SIGNS.table_label.search(label)
    return answers[0] if is_label and len(answers) == 1 else None


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
    matches = list(_ANNOUNCED.conclusion.finditer(text, begin))
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

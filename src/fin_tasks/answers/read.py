"""Read the answer in a whole response. In doubt, read none.

What is *announced* counts first: the sentence that prompts ask for, then a label, a key, a tag, a box or
a sentence such as `the answer is`. Only without them `unannounced` looks at whole lines and at framed
sentences. Without any of these there is no answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple

from .phrases import Phrases
from .text import SIGNS, find_near, in_english, last_box, split_reasoning
from .types import Answer, Candidate, Extraction, Style

NEEDS_REVIEW = "needs review"

_ANNOUNCED = Phrases(
    "announced",
    tables=["marker", "label", "sentence", "prose", "working"],
    ignore_case=False,
)
# Words of which each match of a pattern has one.
_WORDS_OF: Mapping[str, list[str]] = _ANNOUNCED.sources["words"]

PASSAGE_LENGTH = 500
_MOST_PASSAGES = 20
# The start of a longer reply, and its end, are searched.
_HEAD_LENGTH = 3_000
_TAIL_LENGTH = 8_000
# An announcement begins at most so many characters before its word, and ends so many behind its start.
_BEFORE = 80
_AFTER = 250
# Characters around the start of a sentence that may take back what stands before it.
_GAP_LENGTH = 20
# Characters at the start and at the end that show the language.
_ENDS_LENGTH = 2_000

Announced = Callable[[str, Style], Candidate[Answer] | None]


class Rules(NamedTuple, Generic[Answer]):
    """How one kind of answer is read."""

    announced: Announced[Answer]
    """Read the text behind an announcement."""
    unannounced: Callable[[str], list[Candidate[Answer]]]
    """Read whole lines and framed sentences, in their order."""
    corrections: Callable[[str], list[Candidate[Answer]]]
    """Read framed sentences behind a word such as `wait`, which correct an announced answer."""
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
    if not ends.isascii() and SIGNS.chinese_character.search(ends):
        reply = in_english(reply)
    # Base models write a next exercise behind their answer. It counts only if nothing before it does.
    parts = [reply]
    turn = SIGNS.new_turn.search(reply)
    if turn and SIGNS.word_character.search(reply, 0, turn.start()):
        parts.insert(0, reply[: turn.start()])
    try:
        for part in parts:
            candidate = _final_candidate(part, rules)
            if candidate is None:
                continue
            retraction = SIGNS.retraction.search(part, candidate.start + 1)
            if retraction:
                # The text takes its answer back. If it then gives another, the other one counts.
                # Only a correction replaces an announced answer, no remark.
                rest = part[retraction.end() :]
                is_correction = candidate.is_announced
                other = _final_candidate(rest, rules, is_correction=is_correction)
                candidate = other or candidate
            return Extraction(answer=candidate.answer, rule=candidate.rule)
    except TwoAnswersError:
        return Extraction(answer=None, reason=f"{NEEDS_REVIEW}: two different answers")
    return Extraction(answer=None, reason=NEEDS_REVIEW)


def _final_candidate(
    reply: str,
    rules: Rules[Answer],
    *,
    is_correction: bool = False,
) -> Candidate[Answer] | None:
    # The first layer that gives an answer decides. The marker decides too, even if no answer follows it.
    candidates: list[Candidate[Answer]] = []
    passages = announced_passages(reply, "marker")
    if passages:
        candidates = read_passages(passages, rules.announced)
    else:
        passages = announced_passages(reply, "label", "sentence", "prose", "working")
        decisive = [one for one in passages if one.style in ("label", "sentence")]
        styles: list[Style] = ["label", "sentence", "prose", "working"]
        if decisive and decisive[-1].style == "sentence":
            styles[:2] = ["sentence", "label"]
        for style in styles:
            of_style = [one for one in passages if one.style == style]
            if not candidates:
                candidates = read_passages(of_style, rules.announced)
            elif style == "label" and styles[0] == "sentence":
                # `Answer: True. The answer is False.` gives two answers.
                candidates = read_passages(of_style, rules.announced) + candidates
        if not candidates and not (decisive and decisive[-1].is_final):
            # Else an answer was announced that cannot be read, such as `infinity` for a number.
            unannounced = rules.corrections if is_correction else rules.unannounced
            totals = [one for one in passages if one.style == "total"]
            candidates = [] if totals else unannounced(reply)
            if totals:
                candidates = _below_totals(reply, totals, rules.announced, unannounced)
    if len(candidates) > 1:
        _check_corrections(reply, candidates, rules.is_same)
    return candidates[-1] if candidates else None


def _below_totals(
    reply: str,
    totals: "list[Passage]",
    announced: Announced[Answer],
    unannounced: Callable[[str], list[Candidate[Answer]]],
) -> list[Candidate[Answer]]:
    # What stands below the last table counts more than its total, which may be a step.
    start = totals[-1].start
    below = start + len(reply[start:].partition("\n")[0])
    is_remark = SIGNS.closer.match(reply, below) or SIGNS.on_total.match(reply, below)
    if is_remark or not SIGNS.digit.search(reply, below):
        return read_passages(totals, announced)
    candidates = []
    for candidate in unannounced(reply[below:]):
        candidates.append(candidate._replace(start=candidate.start + below))
    return candidates


def _check_corrections(
    reply: str,
    candidates: Sequence[Candidate[Answer]],
    is_same: Callable[[Answer, Answer], bool],
) -> None:
    # The last answer counts. Between it and the nearest different one a correction must stand, which then also stands
    # between it and all others.
    *others, last = candidates
    starts = [one.start for one in others if not is_same(one.answer, last.answer)]
    if not starts:
        return
    gap = max(0, last.start - _GAP_LENGTH)
    doubt = SIGNS.retraction.search(reply, gap, last.start + _GAP_LENGTH)
    begins_with_doubt = doubt is not None and doubt.start() < last.start
    between = reply[max(starts) : last.start].lower()
    if not (begins_with_doubt or SIGNS.correction.search(between)):
        raise TwoAnswersError


# --- Passages that may hold the answer ---


class Passage(NamedTuple):
    """The text behind an announcement."""

    rule: str
    """Name of the announcement."""
    style: Style
    text: str
    start: int
    """Position in the reply."""

    @property
    def is_final(self) -> bool:
        """Whether the text behind it is the answer, even if it cannot be read."""
        is_box = self.rule in ("box", "double brackets")
        is_none = SIGNS.no_value.match(self.text) is not None
        return self.style == "sentence" or is_box or is_none


def read_passages(
    passages: Sequence[Passage], announced: Announced[Answer]
) -> list[Candidate[Answer]]:
    """Read passages; each rule names the announcement and the wording: `answer label: letter`."""
    candidates = []
    for passage in passages:
        candidate = announced(passage.text, passage.style)
        if candidate is not None:
            rule = f"{passage.rule}: {candidate.rule}"
            candidate = candidate._replace(rule=rule, start=passage.start)
            is_announced = passage.style != "conclusion"
            candidates.append(candidate._replace(is_announced=is_announced))
    return candidates


def announced_passages(reply: str, *styles: Style) -> list[Passage]:
    """Return the passages that announcements of these styles announce, in their order."""
    passages = []
    # `İ` is the only letter that becomes longer.
    lower_case = reply.replace("İ", "I").lower()
    for style in styles:
        for name, pattern in _ANNOUNCED.tables[style].items():
            words = _WORDS_OF[name]
            near = find_near(words, pattern, lower_case, before=_BEFORE, after=_AFTER)
            for match in near:
                # The group `answer` of an announcement, else the text behind it.
                start = match.end()
                text = reply[start : start + PASSAGE_LENGTH]
                if "answer" in pattern.groupindex:
                    start, end = match.span("answer")
                    text = reply[start:end]
                is_answer = SIGNS.word_character.search(text) is not None
                is_code = match[0].endswith("=") and SIGNS.formula.match(text)
                if is_code or SIGNS.form_of_answer.match(text):
                    is_answer = False
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
    if "|" not in reply:
        return
    start = 0
    lines = [*reply.split("\n"), ""]
    for line, next_line in pairwise(lines):
        row = SIGNS.table_row.fullmatch(line)
        if row and not SIGNS.table_row.fullmatch(next_line):
            answer = _answer_in_row(row["cells"])
            if answer is not None:
                # In brackets, because `(5)` in a table is -5.
                is_label = SIGNS.table_label.search(row["cells"].split("|")[0])
                style: Style = "working" if is_label else "total"
                yield Passage("table row", style, f"[{answer}]", start)
        start += len(line) + 1


def _answer_in_row(cells: str) -> str | None:
    # The only value, or the only bold one, if the first cell is bold or names an answer.
    label, *values = map(str.strip, cells.split("|"))
    answers = list(filter(None, values))
    if len(answers) > 1:
        answers = [value for value in answers if value.startswith("**")]
    is_label = label.startswith("**") or SIGNS.table_label.search(label)
    return answers[0] if is_label and len(answers) == 1 else None

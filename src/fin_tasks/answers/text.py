"""The text of a response: its reply without the reasoning, in plain signs, and in sentences."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from .cut_off import CutOffResponse
from .phrases import Phrases

CURRENCY = "¤"  # stands for any currency symbol or code in plain text

SIGNS = Phrases("signs")
"""Words and characters that matter in every kind of answer."""

_NOTATION = Phrases("notation")
_REASONING = Phrases("reasoning")

# One pattern finds all marks of reasoning and all special tokens. The name of its last group is the
# role of what it found, and the row of the table: `opens_0`, `closes_0`, `ends`, `replaced_1`.
_OPENED_BY_PROMPT: set[str] = set()
_REPLACEMENTS: list[str] = []
_sources: list[str] = []
for _index, _row in enumerate(_REASONING.sources["marks"].values()):
    _sources.append(f"(?P<opens_{_index}> {_row['opens']} )")
    if "closes" in _row:
        _sources.append(f"(?P<closes_{_index}> {_row['closes']} )")
    if _row.get("prompt_opens"):
        _OPENED_BY_PROMPT.add(str(_index))
for _index, _row in enumerate(_REASONING.sources["replaced"].values()):
    _sources.append(f"(?P<replaced_{_index}> {_row['pattern']} )")
    _REPLACEMENTS.append(_row["replacement"])
for _table in ("ends", "turns"):
    for _index, _source in enumerate(_REASONING.sources[_table].values()):
        _sources.append(f"(?P<{_table}_{_index}> {_source} )")
_MARK = _REASONING.pattern(" | ".join(_sources))
_START_OF_MARK = re.compile(r"[<\[◁]")


class Reply(NamedTuple):
    """The reply in a response, and whether the response ends before its reasoning does."""

    text: str
    is_open: bool


def split_reasoning(response: str) -> Reply:
    """Separate the reply from the reasoning and from special tokens.

    The reply is empty if the model never stopped thinking. It ends where a chat turn follows.
    """
    if "<|channel|>" in response:
        return _split_channels(response)
    # gpt-oss writes `assistantfinal` if the tokenizer leaves out the tokens of its channels.
    if response.startswith("analysis") and "assistantfinal" in response:
        return Reply(response.rpartition("assistantfinal")[2], is_open=False)
    if _REASONING.only_analysis.match(response):
        return Reply("", is_open=True)
    # Command models write this before the reply.
    if "<|START_RESPONSE|>" in response:
        response = response.rpartition("<|START_RESPONSE|>")[2]
    reply = ""
    position = 0
    opened_by = ""
    end = 0
    for start in _START_OF_MARK.finditer(response):
        mark = _MARK.match(response, start.start())
        if mark is None or mark.start() < end:
            continue
        end = mark.end()
        role, _, row = str(mark.lastgroup).partition("_")
        if opened_by:
            if role == "closes" and row == opened_by:
                opened_by = ""
                position = mark.end()
            continue
        if role == "closes":
            if row in _OPENED_BY_PROMPT:
                # The prompt opened the reasoning, so all text before the mark is reasoning.
                reply = ""
                position = mark.end()
            continue
        reply += response[position : mark.start()]
        position = mark.end()
        if role == "opens":
            opened_by = row
        elif role == "replaced":
            reply += _REPLACEMENTS[int(row)]
        elif reply.strip() or "user" in mark[0].lower():
            return Reply(reply, is_open=False)
    if not opened_by:
        reply += response[position:]
    return Reply(reply, is_open=bool(opened_by))


def strip_reasoning(response: str) -> str:
    """Return the reply without the reasoning; empty if the model never stopped thinking."""
    return split_reasoning(response).text


def is_cut_off(response: str) -> bool:
    """Return whether a response was cut off: the backend says so, or its reasoning never ends."""
    return isinstance(response, CutOffResponse) or split_reasoning(response).is_open


def _split_channels(response: str) -> Reply:
    finals = list(_REASONING.final_channel.finditer(response))
    # Without a reply, what stands before the first channel is no reasoning.
    rest = response
    if finals:
        start = finals[-1].end()
        rest = response[start:]
    reply = _REASONING.channel_ends.split(rest, maxsplit=1)[0]
    return Reply(reply, is_open=not finals)


def find_near(
    words: Iterable[str],
    pattern: re.Pattern[str],
    text: str,
    *,
    before: int,
    after: int,
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, each of which has one of the words in it.

    Only the text near the words is searched, which is several times as fast as to search all of it. A match begins at
    most `before` characters before its word, and ends at most `after` characters behind the start of the word.
    """
    positions = []
    for word in words:
        position = text.find(word)
        while position >= 0:
            positions.append(position)
            position = text.find(word, position + 1)
    start = end = 0
    for position in sorted(positions):
        if position - before > end:
            yield from pattern.finditer(text, start, end)
            start = position - before
        end = position + after
    yield from pattern.finditer(text, start, end)


# Full-width signs, such as the colon of Chinese texts, lie so far behind their ASCII forms.
_FULL_WIDTH = re.compile("[\uff01-\uff5e]+")
_WIDTH_DISTANCE = 0xFEE0


# No Chinese wording has more characters than these.
_REACH = 100


def in_english(reply: str) -> str:
    """Return a Chinese reply in which the wordings around the answer are English."""
    reply = _FULL_WIDTH.sub(_half_width, reply)
    # A replacement adds no Chinese characters.
    characters = set(reply)
    for wording in _chinese_wordings():
        needed = characters.intersection(wording.needs)
        if not needed:
            continue
        parts = []
        end = 0
        near = find_near(needed, wording.pattern, reply, before=_REACH, after=_REACH)
        for match in near:
            english = wording.english
            if "\\" in english:
                english = match.expand(english)
            parts += [reply[end : match.start()], english]
            end = match.end()
        if parts:
            reply = "".join(parts) + reply[end:]
    return SIGNS.blank_before_stop.sub("", reply)


def _half_width(match: re.Match[str]) -> str:
    return "".join(chr(ord(sign) - _WIDTH_DISTANCE) for sign in match[0])


class _ChineseWording(NamedTuple):
    needs: str
    """Characters of which each match of the pattern has one."""
    pattern: re.Pattern[str]
    english: str


@cache
def _chinese_wordings() -> list[_ChineseWording]:
    # Read and compiled at the first Chinese reply.
    chinese = Phrases("chinese")
    wordings = []
    for row in chinese.sources["wordings"].values():
        pattern = chinese.pattern(row["pattern"])
        wordings.append(_ChineseWording(row["needs"], pattern, row["replacement"]))
    return wordings


class _Signs(dict[int, str]):
    """A translation table that fills itself: dashes, blanks, digits of all scripts, fractions."""

    _signs_by_category: Mapping[str, str] = {
        "Pd": "-",
        "Cf": "",
        "Zs": " ",
    }

    def __missing__(self, code: int) -> str:
        character = chr(code)
        sign = self._signs_by_category.get(unicodedata.category(character))
        if sign is None:
            sign = unicodedata.normalize("NFKC", character)
        if "⁄" in sign:  # ½ becomes 1/2
            sign = " " + sign.replace("⁄", "/")
        self[code] = sign
        return sign


_ASCII = {code: chr(code) for code in range(128)}
_SIGNS = _Signs(_ASCII | str.maketrans(_NOTATION.sources["characters"]))
_ASCII_SIGNS = re.compile("[~\t]")
_CURRENCIES = [
    (row["needs"], _NOTATION.pattern(row["pattern"]))
    for row in _NOTATION.sources["currencies"].values()
]
# Of more boxes only the last ones are read.
_MOST_BOXES = 6
_EMPTY_TAGS = frozenset({"br", "hr", "p", "li", "img"})
# Behind a backslash these stand for themselves.
_ESCAPED = "\n%$&#_-"


def plain(text: str) -> str:
    r"""Return text without LaTeX and Markdown: `¤` for currencies, `a/b` for fractions, ASCII signs."""
    # To look for a character first is fast, and most texts have few of these.
    if not text.isascii():
        text = _NOTATION.superscript.sub(_power_of_superscript, text)
        text = _NOTATION.triangle.sub("-", text)
    if "~" in text:
        text = _NOTATION.tilde_range.sub("-", text)
    if "**" in text:
        text = _NOTATION.python_power.sub("10^", text)
    if not text.isascii() or _ASCII_SIGNS.search(text):
        text = text.translate(_SIGNS)
    if "\\" in text:
        text = _NOTATION.degree.sub("°", text)
        text = _NOTATION.latex_fraction.sub(r" \1/\2 ", text)
        text = _NOTATION.latex_command.sub(_sign_of_command, text)
    if "<" in text:
        text = _without_tags(text)
    text = _NOTATION.emphasis.sub("", text)
    if "_" in text:
        text = _NOTATION.underscore_groups.sub(_without_underscores, text)
    for needs, pattern in _CURRENCIES:
        if needs in text:
            text = pattern.sub(CURRENCY, text)
    return text


def _power_of_superscript(match: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", match[0])


def _sign_of_command(match: re.Match[str]) -> str:
    command = match[1] or match[2]
    if command in _ESCAPED:
        return command
    sign: str = _NOTATION.sources["commands"].get(command, " ")
    return sign


def _without_underscores(match: re.Match[str]) -> str:
    return match[0].replace("_", "")


def _without_tags(text: str) -> str:
    # A tag is markup if the text closes it somewhere; else the angle brackets hold an answer.
    closed = set()
    for tag in _NOTATION.tag.finditer(text):
        if tag[1]:
            closed.add(tag[2].lower())

    def replace_tag(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_markup = match[1] or name in closed or name in _EMPTY_TAGS
        return " " if is_markup else match[0]

    return _NOTATION.tag.sub(replace_tag, text)


class Box(NamedTuple):
    r"""The content of a `\boxed{...}`, and where it starts."""

    content: str
    start: int


def last_box(text: str) -> Box | None:
    r"""Return the last `\boxed{...}`, which may lack its closing brace; None without.

    The contents of boxes side by side are joined by commas.
    """
    boxes: list[Box] = []
    end = 0
    matches = list(_NOTATION.latex_box.finditer(text))
    for match in matches[-_MOST_BOXES:]:
        start = match.end()
        is_beside = _NOTATION.between_boxes.fullmatch(text, end, match.start())
        if not (boxes and is_beside):
            boxes.clear()
        depth = 1
        end = start
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        boxes.append(Box(text[start : end - 1 if depth == 0 else end], start))
    if not boxes:
        return None
    contents = dict.fromkeys(box.content for box in boxes)
    return Box(", ".join(contents), boxes[0].start)


class Sentence(NamedTuple):
    """A sentence, and its position in the text."""

    text: str
    start: int


def split_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text; a line break ends a sentence."""
    start = 0
    ends = [match.end() for match in SIGNS.sentence_end.finditer(text)]
    ends.append(len(text))
    for end in ends:
        sentence = text[start:end].strip()
        if SIGNS.word_character.search(sentence):
            yield Sentence(sentence, start)
        start = end


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; empty if it has none."""
    return next((sentence.text for sentence in split_sentences(text)), "")

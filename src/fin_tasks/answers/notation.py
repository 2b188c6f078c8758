"""Turn LaTeX, Markdown and typographic signs into plain text, and split it into sentences."""

import re
import unicodedata
from typing import NamedTuple

from .phrases import Phrases, read_yaml

CURRENCY = "¤"  # stands for any currency symbol or code in plain text

_NOTATION = Phrases("notation")
_SENTENCES = Phrases("signs")
_SIGNS_BY_CATEGORY = {"Pd": "-", "Cf": "", "Zs": " "}
# Behind a backslash these stand for themselves.
_ESCAPED = "\n%$&#_"


def _signs_of(table: str) -> dict[str, str]:
    # The sign that stands for each word of a table.
    signs = {}
    for sign, words in read_yaml("notation")[table].items():
        signs.update(dict.fromkeys(words.split(), sign))
    return signs


class _Signs(dict[int, str]):
    """A translation table that fills itself: dashes, blanks, digits of all scripts, fractions."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        sign = _SIGNS_BY_CATEGORY.get(unicodedata.category(character))
        if sign is None:
            sign = unicodedata.normalize("NFKC", character)
        if "⁄" in sign:  # ½ becomes 1/2
            sign = " " + sign.replace("⁄", "/")
        self[code] = sign
        return sign


_SIGNS = _Signs(str.maketrans({**_signs_of("characters"), "\t": " "}))
_SIGN_BY_COMMAND = _signs_of("commands")
_EMPTY_TAGS = frozenset({"br", "hr", "p", "li", "img"})


def plain(text: str) -> str:
    r"""Return text without LaTeX and Markdown: `¤` for currencies, `a/b` for fractions, ASCII signs."""
    text = _NOTATION.superscript.sub(_power_of_superscript, text)
    text = _NOTATION.tilde_range.sub("-", text)
    text = _NOTATION.python_power.sub("10^", text)
    text = text.translate(_SIGNS)
    if "\\" in text:
        text = _NOTATION.latex_fraction.sub(r" \1/\2 ", text)
        text = _NOTATION.latex_command.sub(_sign_of_command, text)
    text = _without_tags(text)
    text = _NOTATION.emphasis.sub("", text)
    text = _NOTATION.underscore_groups.sub(_without_underscores, text)
    return _NOTATION.currencies.sub(CURRENCY, text)


class Box(NamedTuple):
    r"""The content of a `\boxed{...}`, and where it starts."""

    content: str
    start: int


def last_box(text: str) -> Box | None:
    r"""Return the last `\boxed{...}`, which may lack its closing brace; None without."""
    start = None
    for match in _NOTATION.latex_box.finditer(text):
        start = match.end()
    if start is None:
        return None
    depth = 1
    for position in range(start, len(text)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
        if depth == 0:
            return Box(text[start:position], start)
    return Box(text[start:], start)


class Sentence(NamedTuple):
    """A sentence, and its position in the text."""

    text: str
    start: int


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; empty if it has none."""
    sentences = split_sentences(text)
    return sentences[0].text if sentences else ""


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text; a line break ends a sentence."""
    sentences = []
    start = 0
    ends = [match.end() for match in _SENTENCES.sentence_end.finditer(text)]
    for end in [*ends, len(text)]:
        sentence = text[start:end].strip()
        if _SENTENCES.word_character.search(sentence):
            sentences.append(Sentence(sentence, start))
        start = end
    return sentences


def _power_of_superscript(match: re.Match[str]) -> str:
    return "^" + unicodedata.normalize("NFKC", match[0])


def _sign_of_command(match: re.Match[str]) -> str:
    command = match[1] or match[2]
    return command if command in _ESCAPED else _SIGN_BY_COMMAND.get(command, " ")


def _without_underscores(match: re.Match[str]) -> str:
    return match[0].replace("_", "")


def _without_tags(text: str) -> str:
    # A tag is markup if the text closes it somewhere; else the angle brackets hold an answer.
    if "<" not in text:
        return text
    closed = {match[2].lower() for match in _NOTATION.tag.finditer(text) if match[1]}

    def replace_tag(match: re.Match[str]) -> str:
        name = match[2].lower()
        is_markup = match[1] or name in closed or name in _EMPTY_TAGS
        return " " if is_markup else match[0]

    return _NOTATION.tag.sub(replace_tag, text)

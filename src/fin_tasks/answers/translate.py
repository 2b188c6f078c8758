"""Put the wordings of other languages into English, the only language that the readers know."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from .phrases import Phrases, compiled, read_yaml

_MIN_WORDS = 3
_MIN_SHARE_OF_WORDS = 0.15
# Characters at the start and at the end of a text, in which its language is looked for.
_END_LENGTH = 2_000
# Full-width signs, such as the colon of Chinese texts, lie this far behind their ASCII forms.
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}

_NUMBERS = Phrases("numbers")


class Phrase(NamedTuple):
    """A wording of another language, and the English in which it is read."""

    pattern: re.Pattern[str]
    english: str
    example: str


class Language(NamedTuple):
    """How a language is recognized, and its wordings."""

    labels: re.Pattern[str]
    """One of these shows the language."""
    words: re.Pattern[str]
    """Several of these show the language."""
    phrases: Sequence[Phrase]


@cache
def languages() -> Sequence[Language]:
    """Return the languages of `translations.yaml`."""
    return list(map(_language, read_yaml("translations")))


def in_english(reply: str) -> str:
    """Return a reply in which the wordings of other languages around the answer are English."""
    if not _is_foreign(reply):
        return reply
    reply = reply.translate(_FULL_WIDTH)
    for language in languages():
        for phrase in language.phrases:
            reply = phrase.pattern.sub(phrase.english, reply)
    return _with_decimal_points(reply)


def _language(row: Mapping[str, Any]) -> Language:
    phrases = []
    for phrase in row["phrases"]:
        pattern = compiled(phrase["pattern"])
        phrases.append(Phrase(pattern, phrase["english"], phrase["example"]))
    return Language(
        labels=compiled(row["labels"]),
        words=compiled(row["words"]),
        phrases=phrases,
    )


def _is_foreign(text: str) -> bool:
    ends = text[:_END_LENGTH] + text[-_END_LENGTH:]
    if any(language.labels.search(ends) for language in languages()):
        return True
    n_words = sum(len(language.words.findall(ends)) for language in languages())
    return n_words >= _MIN_WORDS or n_words > _MIN_SHARE_OF_WORDS * len(ends.split())


def _with_decimal_points(text: str) -> str:
    # Where a text shows decimal commas and no decimal points, `1,766` is 1.766 there.
    if not _NUMBERS.decimal_comma.search(text) or _NUMBERS.decimal_point.search(text):
        return text
    text = _NUMBERS.grouping_point.sub("", text)
    return _NUMBERS.comma.sub(".", text)

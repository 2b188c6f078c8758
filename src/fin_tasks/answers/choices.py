"""Read which choice a text names, by letter, place or text."""

import re
from collections.abc import Sequence

from fin_tasks.answers.locate import Kind
from fin_tasks.answers.notation import plain

_LETTERS = "ABCDEFGH"
_NAMES = "(?i:option|choice|answer|letter|alternative)"
_LABEL = re.compile(r"\s*\(?([A-Ha-h])\s?[.):]\s+")
_LEAD = rf"[\W_]*(?i:(?:that|the|correct|is|{_NAMES})[\W_]{{1,4}}){{0,4}}"
# A letter on its own; `A rise in rates` begins with an article.
_LETTER = re.compile(
    r"(?<![\w&.-])(?<!\w')([B-H]|A(?!\s{1,3}(?!(?:is|because|as|since|and|or|but|with|for)\b)[A-Za-z$¤\d]))"
    r"(?![\w&]|'\w|-[A-Za-z])"
)
_FIRST = re.compile(_LEAD + _LETTER.pattern)
_ONLY = re.compile(rf"(?i){_LEAD}([A-H])[\W_]*\Z")
_NAMED = re.compile(rf"\b{_NAMES}s?\s{{0,2}}:?\s{{0,2}}[(\[\"'*]?([A-H])(?!\w|'\w)|\(([A-H])\)")
_JOINED = re.compile(
    r"[\s)\]\"'*.]*(?:,|/|&|\band\b|\bor\b)\W*(?:(?:possibly|maybe|option)\s)?[(\[]?[A-H](?!'?\w)"
)
# A line that is a letter, or begins with one as a list of choices does.
_LINE = re.compile(r"\W{0,8}\(?[A-H](?:[).:]\W{0,3}\s|\W*$)")
_PLACES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "last"]
_PLACE = re.compile(rf"(?i)\b({'|'.join(_PLACES)})\s(?:(?:{_NAMES}|one)s?\b|(?=and\s|or\s))")
_LIST = r"(?:\(?\b[A-H]\b\)?(?:\s?[,/]\s?|\s)?(?:\b(?:and|or|nor)\s)?){1,8}"
# `A, B and C are all wrong`, `not A`, `none of A and B`, `rather than A`.
_REJECTED = re.compile(
    rf"\b{_LIST}[\"']?\s?(?:is|are)\s(?:(?:all|both)\s)?(?:wrong|incorrect|false|not|ruled\sout)\b"
    rf"|(?i:\b(?:not|neither|nor|rather\sthan|instead\sof|none\sof|over)|n't)\b[\s(\[\"'*]{{1,4}}(?i:option\s)?{_LIST}"
)
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_SENTENCE = re.compile(r"(?<=[\w)\]\"'][.!?])\s+(?=[A-Z])|\n+")


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without their letters, if all have the right one."""
    labels = [_LABEL.match(choice) for choice in choices]
    if not all(
        label and label[1].upper() == letter
        for label, letter in zip(labels, _LETTERS, strict=False)
    ):
        return tuple(choices)
    return tuple(_LABEL.sub("", choice, count=1) for choice in choices)


def choice_in(text: str, kind: Kind, choices: Sequence[str] = ()) -> str | None:
    """Read the letter at the start of a text, else one called option, else the choice it quotes, else the only one."""
    upper = _LETTERS[: len(choices) or 4]
    text = _REJECTED.sub(" ", plain(text[:600]).strip().replace("\\n", "\n"))
    places = dict(zip(_PLACES, [*upper.ljust(8), upper[-1]], strict=True))
    text = _PLACE.sub(lambda found: f"option {places[found[1].lower()]} ", text)
    if (kind == "first" or (kind == "last" and len(text) > 30)) and not _LINE.match(text):
        return None
    if (only := _ONLY.match(text)) and only[1].upper() in upper:
        return only[1].upper()
    if (first := _FIRST.match(text)) and first[1] in upper:
        return None if _JOINED.match(text, first.end()) else first[1]
    if kind == "strict":
        return None
    sentence = next((part for part in _SENTENCE.split(text) if part.strip()), "")
    said, texts = _normal(sentence), [_normal(choice) for choice in choice_texts(choices)[:8]]
    held = [one for one in texts if one.strip() and one in said]
    by_text = {
        _LETTERS[texts.index(one)]
        for one in held
        if not any(one != other and one in other for other in held)
    }
    named = {match[1] or match[2] for match in _NAMED.finditer(sentence)} & set(upper)
    lone = {match[1] for match in _LETTER.finditer(sentence)} & set(upper)
    return next((found.pop() for found in (named, by_text, lone) if len(found) == 1), None)


def _normal(text: str) -> str:
    # Lower case, no articles, and one space around each word, so that only whole words match.
    words = re.sub(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+", "", plain(text).strip()).casefold()
    return f" {' '.join(_WORD.findall(words))} "

"""Read which choice a text names, by letter, place or text."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

from fin_tasks.answers.locate import Kind, end_lines
from fin_tasks.answers.notation import plain

__all__ = ["choice_in", "choice_texts"]

_re = partial(re.compile, flags=re.IGNORECASE)
_LETTERS = "ABCDEFGH"
_NAMES = "option|choice|answer|letter|alternative"
_LABEL = re.compile(r"\s*\(?([A-Ha-h])\s?[.):]\s+")
_WORDS = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_ARTICLES = re.compile(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+")
_ARTICLE = re.compile(
    r"A\s{1,3}(?!(?:is|because|as|since|and|or|but|with|for|which|seems|would|due|given)\b)[A-Za-z$¤\d]"
)
_LEAD = _re(
    rf"(?:[\W_]|\b(?:{_NAMES}|that|the|is|it|so|therefore|thus|hence|correct|best|right|most|appropriate|would|be|statement)\b)*"
)
_AFTER_NAME = _re(r"(?:\b(?:option|choice|letter|alternative)\W{0,4}|[(\[\"'])\Z")
_LETTER = re.compile(r"(?<![\w&.-])(?<!\w')([A-H])(?![\w&]|'\w|-[A-Za-z])")
_NAMED = re.compile(rf"\b(?i:{_NAMES})s?\s{{0,2}}:?\s{{0,2}}[(\[\"'*]?([A-H])(?!\w|'\w)|\(([A-H])\)")
_ONLY = _re(rf"[\W_]*(?:(?:the|correct|is|{_NAMES})[\W_]{{1,4}}){{0,4}}([A-H])[\W_]*\Z")
_JOINED = re.compile(
    r"[\s)\]\"'*.]*(?:,|/|&|\band\b|\bor\b)[\s(\[\"'*]*(?:(?:possibly|perhaps|maybe|even|also)\s)?"
    r"(?:(?i:option|choice)\s)?[(\[]?[A-H](?!\w|'\w)"
)
_LINE = re.compile(
    r"^[^\w\n]{0,8}(?:(?i:option|choice|answer)\s)?\(?([A-H])"
    r"(?:[).:][*_)]{0,3}\s|[^\w\n]*$|[)*_]{0,3}\s(?:is|would\sbe)\s(?:the\s)?(?:correct|right|best|most)\b)",
    re.MULTILINE,
)
_PLACES = ("first|1st", "second|2nd", "third|3rd", "fourth|4th", "fifth|5th", "sixth|6th", "seventh|7th", "eighth|8th")
_NTH = "|".join(f"({words})" for words in _PLACES)
_PLACE = _re(
    rf"\b(?:{_NTH}|(last|final(?=\s(?:option|choice))))\s(?:(?:{_NAMES}|one)s?\b|(?=(?:and|or)\s(?:the\s)?(?:{'|'.join(_PLACES)})\b))"
)
_ONE = rf"(?:(?i:{_NAMES})s?\s{{1,2}})?\(?\b[A-H]\b(?!')\)?"
_LIST = rf"{_ONE}(?:(?:\s?,\s?|\s?/\s?|\s)(?:(?:and|or|nor)\s)?{_ONE}){{0,7}}"
# `A, B and C are all wrong`, `not A`, `none of A and B`, `rather than A`.
_REJECTED = re.compile(
    rf"\b{_LIST}[\"']?\s{{1,2}}(?:is|are|was|were|would\sbe|can\sbe)\s(?:(?:all|both|clearly|each|therefore|also)\s)?"
    r"(?:wrong|incorrect|false|not|invalid|eliminated|excluded|ruled\sout|out)\b"
    r"|(?i:\bnot|n't|\bneither|\bnor|\brather\sthan|\binstead\sof|\bnone\sof|\bexcept|\bover)\b[\s(\[\"'*]{1,4}"
    rf"(?:(?:be|the)\s){{0,2}}[\"'*(]{{0,3}}{_LIST}"
)
_DENIED = re.compile(r"\s(?:not|neither|nor|rather than|instead of)(?:\s(?:be|that|is|it)){0,2}\Z")
_SENTENCE = re.compile(r"(?<=[\w)\]\"'][.!?])(?<!i\.e\.)(?<!e\.g\.)\s+(?=[A-Z])|\n+")


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without the letters before them, if all have theirs."""
    labels = [_LABEL.match(choice) for choice in choices]
    if not all(label and label[1].upper() == letter for label, letter in zip(labels, _LETTERS, strict=False)):
        return tuple(choices)
    return tuple(choice[label.end() :] if label else choice for choice, label in zip(choices, labels, strict=True))


def choice_in(text: str, kind: Kind, choices: Sequence[str] = ()) -> str | None:
    """Read the letter of a choice.

    A letter at the start counts first, then letters called option or put in brackets, the text of one choice, and
    single letters in the first sentence. Rejected letters do not count, and two letters are no answer.
    """
    if kind == "alone":
        return _alone(text, choices)
    upper = _LETTERS[: len(choices) or 4]
    places = [*upper, *[None] * (8 - len(upper)), upper[-1] if choices else None]
    text = _REJECTED.sub(" ", plain(text[:600]).strip().replace("\\n", "\n"))
    text = _PLACE.sub(lambda found: f"option {places[(found.lastindex or 1) - 1]} ", text)
    if (only := _ONLY.match(text)) and only[1].upper() in upper:
        return only[1].upper()
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    letter = _LETTER.match(text, begin)
    if letter and letter[1] in upper and not (_ARTICLE.match(text, begin) and not _AFTER_NAME.search(text[:begin])):
        return None if _JOINED.match(text, begin + 1) else letter[1]
    sentence = next((part for part in _SENTENCE.split(text) if re.search(r"\w", part)), "")
    said, texts = _normal(sentence), [_normal(choice) for choice in choice_texts(choices)[:8]]
    by_text = _by_text(said, texts)
    if kind == "strict":
        return by_text if by_text and said.startswith(texts[upper.index(by_text)]) else None
    named = {match[1] or match[2] for match in _NAMED.finditer(sentence)} & set(upper)
    lone = {match[1] for match in _LETTER.finditer(sentence) if not _ARTICLE.match(sentence, match.start())} & set(
        upper
    )
    return named.pop() if len(named) == 1 else by_text or (lone.pop() if len(lone) == 1 else None)


def _alone(text: str, choices: Sequence[str]) -> str | None:
    # A short reply, else the last or the first line, if it is not just one of the choices in a list of them.
    if len(text.strip()) <= 40 and "\n" not in text.strip():
        return choice_in(text, "loose", choices)
    heads = Counter(match[1] for match in _LINE.finditer(text))
    found = []
    for line, _ in end_lines(text):
        head = _LINE.match(line)
        found.append(head[1] if head and choice_in(line, "loose", choices) else None)
    last, *first = found or [None]
    if last and all(heads[last] > count for letter, count in heads.items() if letter != last):
        return last
    return first[0] if first and first[0] and not (first[0] == "A" and heads.keys() - {"A"}) else None


def _by_text(said: str, texts: Sequence[str]) -> str | None:
    # The choice whose text the sentence holds, or the only one that the sentence is a part of.
    held = [text for text in texts if text.strip() and text in said and not _DENIED.search(said[: said.index(text)])]
    held = [text for text in held if not any(text != other and text in other for other in held)]
    if not held and len(said.split()) >= 2:
        held = [text for text in texts if said in text]
    return _LETTERS[texts.index(held[0])] if len(held) == 1 else None


def _normal(text: str) -> str:
    # Words in lower case, without articles, one space around each so that only whole words match.
    return f" {' '.join(_WORDS.findall(_ARTICLES.sub('', plain(text).strip()).casefold()))} "

"""Read which choice a text names, by letter, place or text."""

import re
from collections import Counter
from collections.abc import Sequence

from fin_tasks.answers.locate import Kind, end_lines
from fin_tasks.answers.notation import plain

__all__ = ["choice_in", "choice_texts"]

_LETTERS = "ABCDEFGH"
_LABEL = re.compile(r"\s*\(?([A-Ha-h])\s?[.):]\s+")
_WORDS = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_ARTICLES = re.compile(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+")
_NAMES = "option|choice|answer|letter|alternative"
_LEAD = re.compile(
    rf"(?:[\W_]|\b(?:that|the|is|it|so|therefore|thus|hence|correct|best|right|most|appropriate|would|be|statement|{_NAMES})\b)*",
    re.I,
)
_ORDINALS = (
    "first|1st",
    "second|2nd",
    "third|3rd",
    "fourth|4th",
    "fifth|5th",
    "sixth|6th",
    "seventh|7th",
    "eighth|8th",
)
_PLACE = re.compile(rf"\b(?:(?:{'|'.join(f'({words})' for words in _ORDINALS)})|(last))\s(?:{_NAMES}|one)s?\b", re.I)
_LETTER = r"(?<![\w&.-])(?<!\w')([{upper}])(?![\w&]|'\w|-[A-Za-z])"
_NAMED = rf"\b(?i:{_NAMES})s?\s{{{{0,2}}}}:?\s{{{{0,2}}}}[(\[\"'*]?([{{upper}}])(?!\w|'\w)|\(([{{upper}}])\)"
_ONLY = rf"[\W_]*(?:(?i:the|correct|is|{_NAMES})[\W_]{{{{1,4}}}}){{{{0,4}}}}([{{lower}}])[\W_]*\Z"
_JOINED = (
    r"[\s)\]\"'*.]*(?:,|/|&|\band\b|\bor\b)[\s(\[\"'*]*(?:(?:possibly|perhaps|maybe|even|also)\s)?"
    r"(?:(?i:option|choice)\s)?[(\[]?[{upper}](?!\w|'\w)"
)
_LINE = (
    r"^[^\w\n]{{0,8}}(?:(?i:option|choice|answer)\s)?\(?([{upper}])"
    r"(?:[).:][*_)]{{0,3}}\s|[^\w\n]*$|[)*_]{{0,3}}\s(?:is|would\sbe)\s(?:the\s)?(?:correct|right|best|most)\b)"
)
_ARTICLE = re.compile(
    r"A\s{1,3}(?!(?:is|because|as|since|and|or|but|with|for|which|seems|would|due|given)\b)[A-Za-z$¤\d]"
)
_AFTER_NAME = re.compile(r"(?:\b(?:option|choice|letter|alternative)\W{0,4}|[(\[\"'])\Z", re.I)
_ONE = rf"(?:(?i:{_NAMES})s?\s{{1,2}})?\(?\b[A-H]\b(?!')\)?"
_LIST = rf"{_ONE}(?:(?:\s?,\s?|\s?/\s?|\s)(?:(?:and|or|nor)\s)?{_ONE}){{0,7}}"
_REJECTED = re.compile(
    rf"\b(?i:{_NAMES}s?\s)?{_LIST}[\"']?\s{{1,2}}(?:is|are|was|were|would\sbe|can\sbe)\s(?:(?:all|both|clearly|each|therefore|also)\s)?"
    r"(?:wrong|incorrect|false|not|invalid|eliminated|excluded|ruled\sout|out)\b"
    r"|(?i:\bnot|n't|\bneither|\bnor|\brather\sthan|\binstead\sof|\bnone\sof|\bexcept|\bover)\b[\s(\[\"'*]{1,4}(?:(?:be|the)\s){0,2}"
    rf"[\"'*(]{{0,3}}{_LIST}"
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
    upper = _LETTERS[: len(choices) or 4]
    if kind == "alone":
        return _alone(text, upper, choices)
    text = plain(text[:600]).strip().replace("\\n", "\n")
    text = _PLACE.sub(lambda found: _placed(found, upper, choices), _REJECTED.sub(" ", text))
    if only := re.match(_ONLY.format(lower=upper.lower()), text):
        return only[1].upper()
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    letter = re.match(_LETTER.format(upper=upper), text[begin:])
    if letter and not (_ARTICLE.match(text, begin) and not _AFTER_NAME.search(text[:begin])):
        return None if re.match(_JOINED.format(upper=upper), text[begin + 1 :]) else letter[1]
    sentence = next((part for part in _SENTENCE.split(text) if any(char.isalnum() for char in part)), "")
    said = _normal(sentence)
    if kind == "strict":
        by_text = _by_text(said, choices)
        return by_text if by_text and said.startswith(_normal(choice_texts(choices)[_LETTERS.index(by_text)])) else None
    return (
        _unique(_named(_NAMED, sentence, upper)) or _by_text(said, choices) or _unique(_named(_LETTER, sentence, upper))
    )


def _alone(text: str, upper: str, choices: Sequence[str]) -> str | None:
    """Read a short reply, else the last or the first line, if it is not just one of the choices in a list of them."""
    if len(text.strip()) <= 40 and "\n" not in text.strip():
        return choice_in(text, "loose", choices)
    label = re.compile(_LINE.format(upper=upper), re.MULTILINE)
    heads = Counter(match[1] for match in label.finditer(text))
    found = []
    for line, _ in end_lines(text):
        head = label.match(line)
        found.append(head[1] if head and choice_in(line, "loose", choices) else None)
    last, *first = found or [None]
    if last and all(heads[last] > count for letter, count in heads.items() if letter != last):
        return last
    start = first[0] if first else None
    return start if start and not (start == upper[0] and heads.keys() - {start}) else None


def _placed(found: re.Match[str], upper: str, choices: Sequence[str]) -> str:
    place = (found.lastindex or 0) - 1
    if place == len(_ORDINALS):  # the last one
        return f"option {upper[-1]}" if choices else found[0]
    return f"option {upper[place]}" if place < len(upper) else found[0]


def _named(pattern: str, sentence: str, upper: str) -> list[str]:
    found = []
    for match in re.finditer(pattern.format(upper=upper), sentence):
        index = match.lastindex or 1
        if not (pattern == _LETTER and _ARTICLE.match(sentence, match.start(index))):
            found.append(match[index])
    return found


def _unique(letters: Sequence[str]) -> str | None:
    return letters[0] if len(set(letters)) == 1 else None


def _by_text(said: str, choices: Sequence[str]) -> str | None:
    """The choice whose text the sentence holds, or the only one that the sentence is a part of."""
    texts = [_normal(text) for text in choice_texts(choices)[: len(_LETTERS)]]
    held = [
        i
        for i, text in enumerate(texts)
        if text.strip() and text in said and not _DENIED.search(said[: said.index(text)])
    ]
    held = [i for i in held if not any(i != k and texts[i] in texts[k] for k in held)]
    if not held and len(said.split()) >= 2:
        held = [i for i, text in enumerate(texts) if said in text]
    return _LETTERS[held[0]] if len(held) == 1 else None


def _normal(text: str) -> str:
    """Words in lower case, without articles, one space around each so that only whole words match."""
    return f" {' '.join(_WORDS.findall(_ARTICLES.sub('', plain(text).strip()).casefold()))} "

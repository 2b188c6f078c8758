"""Read which choice a committed answer names, by letter or by text."""

import re
from collections import Counter
from collections.abc import Sequence

from fin_tasks.answers.notation import boxed, plain
from fin_tasks.answers.standing import standing_lines

__all__ = ["bare_choice", "choice_texts", "read_choice"]

_LETTERS = "ABCDEFGH"
_DEFAULT = 4
"""Letters that count where the choices are not known."""
_LONGEST = 600
_SHORT = 40

_LABEL = re.compile(r"\s*\(?([A-Ha-h])\s?[.):]\s+")
_WORDS = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_ARTICLES = re.compile(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+")
_LEAD = re.compile(
    r"(?:[\W_]|\b(?:that|the|is|it|correct|best|right|most|appropriate|answer|would|be|letter|choice|option|alternative"
    r"|statement)\b)*",
    re.IGNORECASE,
)
_NAMED = (
    r"\b(?i:option|choice|answer|letter|alternative)s?\s{{0,2}}:?\s{{0,2}}[(\[\"'*]?([{upper}])(?!\w|['’]\w)"
    r"|\(([{upper}])\)"
)
_ALONE = r"(?<![\w&.-])(?<!\w['’])([{upper}])(?![\w&]|['’]\w|-[A-Za-z])"
_ONLY = r"[\W_]*(?:(?i:the|correct|answer|option|choice|letter|is)[\W_]{{1,4}}){{0,4}}([{lower}])[\W_]*\Z"
_JOINED = (
    r"[\s)\]\"'*.]*(?:,|/|&|\band\b|\bor\b)[\s(\[\"'*]*(?:(?:possibly|perhaps|maybe|even|also)\s)?"
    r"(?:(?i:option|choice)\s)?[(\[]?[{upper}](?!\w|['’]\w)"
)
_LINE = (
    r"^[^\w\n]{{0,8}}(?:(?i:option|choice|answer)\s)?\(?([{upper}])"
    r"(?:[).:][*_)]{{0,3}}\s|[^\w\n]*$|[)*_]{{0,3}}\s(?:is|would\sbe)\s(?:the\s)?(?:correct|right|best|most)\b)"
)
"""A line that is a letter, a lettered text or a sentence about a letter."""
_ARTICLE = re.compile(
    r"A\s{1,3}(?!(?:is|because|as|since|and|or|but|with|for|which|seems|would|due|given)\b)[A-Za-z$¤\d]"
)
_NEGATED = re.compile(
    r"(?:\bnot|n['’]t|\bneither|\bnor|\brather than|\binstead of|\bexcept|\bover)\b[\s(\[\"'*]*"
    r"(?:(?:be|the|option|choice)\s{1,2}){0,3}[(\[\"'*]*\Z",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"[)\]\"'*]*\s+(?:is|would be)\s+(?:wrong|incorrect|false|not)\b", re.IGNORECASE)
_DENIED = re.compile(r"\s(?:not|neither|nor|rather than|instead of)(?:\s(?:be|that|is|it)){0,2}\Z")
_SENTENCE = re.compile(r"(?<=[\w)\]\"'][.!?])(?<!i\.e\.)(?<!e\.g\.)\s+(?=[A-Z])|\n+")


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without the letters before them.

    Example:
        >>> choice_texts(["A. Point B", "B. Zero"])
        ('Point B', 'Zero')
    """
    labels = [_LABEL.match(choice) for choice in choices]
    lettered = all(label and label[1].upper() == _LETTERS[i] for i, label in enumerate(labels[: len(_LETTERS)]))
    if not choices or not lettered:
        return tuple(choices)
    return tuple(choice[label.end() :] if label else choice for choice, label in zip(choices, labels, strict=True))


def read_choice(committed: str, choices: Sequence[str] = ()) -> str | None:
    r"""Read the letter from the text behind an answer marker.

    The first of these that holds: a letter at the start; letters called option or put in brackets; the text of one
    choice; single letters in the first sentence. Negated letters do not count, and two letters are no answer. The
    article `A` before a word is no letter.

    Args:
        committed: The text.
        choices: The choices in order, with or without their letters; without them only letters are read.

    Example:
        >>> read_choice(" **B) A long position**"), read_choice(" A or B."), read_choice(" not A but C.")
        ('B', None, 'C')
        >>> read_choice(" a long position in a call.", ["A. Short a put", "B. A long position in a call"])
        'B'
    """
    text = plain(committed[:_LONGEST]).strip().replace("\\n", "\n")
    upper = _LETTERS[: len(choices) or _DEFAULT]
    if only := re.match(_ONLY.format(lower=upper.lower()), text):
        return only[1].upper()
    answered, letter = _leading(text, upper)
    if answered:
        return letter
    sentence = next((part for part in _SENTENCE.split(text) if any(char.isalnum() for char in part)), "")
    if named := _letters(_NAMED, sentence, upper):
        return _unique(named)
    if by_text := _by_text(sentence, choices):
        return by_text
    return _unique(_letters(_ALONE, sentence, upper))


def bare_choice(text: str, choices: Sequence[str] = ()) -> str | None:
    r"""Read a response without any marker: a boxed letter, a short reply, else a last or a first line such as `B. Up`.

    A line such as `B. Up` in a list of the choices is no answer; below such a list it is.

    Example:
        >>> bare_choice("**B**"), bare_choice("B. Up", ["Down", "Up"]), bare_choice("A bond pays a coupon.")
        ('B', 'B', None)
        >>> bare_choice("B. Up\n\nPrices rise."), bare_choice("A. Down\nB. Up"), bare_choice("A. Down\nB. Up\n\n**B**")
        ('B', None, 'B')
    """
    if (box := boxed(text)) is not None:
        return read_choice(box, choices)
    stripped = text.strip()
    if len(stripped) <= _SHORT and "\n" not in stripped:
        return read_choice(stripped, choices)
    upper = _LETTERS[: len(choices) or _DEFAULT]
    label = re.compile(_LINE.format(upper=upper), re.MULTILINE)
    heads = Counter(match[1] for match in label.finditer(text))
    last, *first = (_line_choice(line, label, choices) for line, _ in standing_lines(text) or [("", "")])
    if last and all(heads[last] > count for letter, count in heads.items() if letter != last):
        return last
    start = first[0] if first else None
    return start if start and not (start == upper[0] and heads.keys() - {start}) else None


def _line_choice(line: str, label: re.Pattern[str], choices: Sequence[str]) -> str | None:
    found = label.match(line)
    return found[1] if found and read_choice(line, choices) is not None else None


def _leading(text: str, upper: str) -> tuple[bool, str | None]:
    """Whether the text starts with a letter, and which; None where a second one is joined to it."""
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    letter = re.match(_ALONE.format(upper=upper), text[begin:])
    if letter is None or (_ARTICLE.match(text, begin) and not _is_named(text[:begin])):
        return False, None
    if _REJECTED.match(text, begin + 1):
        return False, None
    joined = re.match(_JOINED.format(upper=upper), text[begin + 1 :])
    return True, None if joined else letter[1]


def _is_named(before: str) -> bool:
    return re.search(r"(?:\b(?:option|choice|letter|alternative)\W{0,4}|[(\[\"'])\Z", before, re.IGNORECASE) is not None


def _letters(pattern: str, sentence: str, upper: str) -> list[str]:
    """The letters a pattern finds, negated ones and articles left out."""
    found = []
    for match in re.finditer(pattern.format(upper=upper), sentence):
        index = match.lastindex or 1
        if _NEGATED.search(sentence[max(0, match.start() - 40) : match.start()]) or _REJECTED.match(
            sentence, match.end()
        ):
            continue
        if pattern == _ALONE and _ARTICLE.match(sentence, match.start(index)):
            continue
        found.append(match[index])
    return found


def _unique(letters: Sequence[str]) -> str | None:
    return letters[0] if len(set(letters)) == 1 else None


def _by_text(sentence: str, choices: Sequence[str]) -> str | None:
    """The choice whose text the sentence holds, or of whose text alone the sentence is a part."""
    said = _normal(sentence)
    texts = [_normal(text) for text in choice_texts(choices)]
    if not said.strip():
        return None
    held = [i for i, text in enumerate(texts) if text.strip() and text in said and not _denied(said, text)]
    held = [i for i in held if not any(i != k and texts[i] in texts[k] for k in held)]
    if not held and len(said.split()) >= 2:
        held = [i for i, text in enumerate(texts) if said in text]
    return _LETTERS[held[0]] if len(held) == 1 and held[0] < len(_LETTERS) else None


def _normal(text: str) -> str:
    """Words in lower case, without articles, one space around each so that only whole words match."""
    return f" {' '.join(_WORDS.findall(_ARTICLES.sub('', plain(text).strip()).casefold()))} "


def _denied(said: str, text: str) -> bool:
    return _DENIED.search(said[: said.index(text)]) is not None

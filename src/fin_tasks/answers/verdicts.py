"""Read whether a committed answer calls a statement true or false."""

import re

from fin_tasks.answers.notation import boxed, plain
from fin_tasks.answers.standing import standing_lines

__all__ = ["bare_verdict", "read_verdict"]

_LONGEST = 1000
_SHORT = 200

_POSITIVE = "true|correct|right|accurate|valid|yes"
_NEGATIVE = "false|incorrect|wrong|inaccurate|invalid|untrue|no"
_TOKEN = re.compile(rf"(?<![\w-])(?:(?P<positive>{_POSITIVE})|(?P<negative>{_NEGATIVE}))(?![\w-])", re.IGNORECASE)
_FILLERS = (
    "be|been|being|considered|said|to|regarded|as|seen|called|deemed|entirely|always|necessarily|completely|strictly|fully|quite"
    "|exactly|generally|actually|really|a|an|the|factually|technically|universally|totally|wholly|in|fact|all|case|that|this"
    "|it|it's|is|for|statement|claim|above|given|very|so"
)
_DENIED = re.compile(
    rf"(?:\b(?:not|never|cannot|hardly|neither|nor|anything\s+but|far\s+from|no\s+longer|impossible|fails|doubtful"
    rf"|unlikely|rather\s+than|instead\s+of)|n['’]t)(?!\s+only\b)"
    rf"(?:\s+(?:{_FILLERS})){{0,9}}\s+['\"‘’“”(\[]*\Z",
    re.IGNORECASE,
)
_DENIED_BEHIND = re.compile(
    r"['\"’”]?\s+(?:is|was|would\s+be|can)\s?(?:n['’]t|not)\s+(?:be\s+)?(?:the\s+|a\s+)?(?:correct|right|accurate|true|valid|my|answer)\b"
    r"(?:\s+answer)?",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"\b(?:true|false|correct|incorrect|right|wrong|yes|no)\b\s{0,2}(?:or|/|nor)\s{0,2}(?:not\s+)?"
    r"\b(?:true|false|correct|incorrect|right|wrong|yes|no)\b"
    r"|\b(?:whether|if)\b[^.;:\n]{0,60}?\b(?:true|false|correct|incorrect)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"\bneither\s+(?:true|correct)\s+nor\s+(?:false|incorrect)\b|\b(?:partly|partially|both)\s+(?:true|correct)", re.I
)
_NOT_HELD = re.compile(r"\b(?:does\s+not|doesn['’]t)\s+hold\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?<!not the )(?<!not a )\b(?:correct|right|wrong|incorrect|true|valid|accurate)\s+"
    r"(?:answer|choice|option|response|judge?ment|verdict|term|formula|value|way"
    r"|to|side|now|away)\b",
    re.IGNORECASE,
)
_NOT_THAT = re.compile(r"\s+that\s+(?:(?:the|this|above|given|statement|claim|it|is)\s+){1,6}", re.IGNORECASE)
_REASON = re.compile(
    r"[;:]|\s-\s"
    r"|,?\s\b(?:because|since|as|given|due to|although|though|whereas|while|when|if|unless|only if|provided)\b",
    re.IGNORECASE,
)
_ASIDE_BEHIND = re.compile(r"\s?[,(]\s?(?!(?:no|yes|not|or)\b)(?:[\w'’-]+\s+){2}", re.IGNORECASE)
_CORRECTION = re.compile(
    r"\b(?:wait|actually|rather|correction|sorry|i mean|hmm|on second thought|answer)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')*]+|\n+")
_LETTER = re.compile(r"[\W_]*(?:(?<=['‘])([TF])(?=['’])|([TF])(?![\w'’]))")
_SUBJECT = r"(?:statement|claim|assertion|proposition)"
_STATEMENT = re.compile(rf"\b{_SUBJECT}\b[^.\n]{{0,60}}\b(?:{_POSITIVE}|{_NEGATIVE})\b", re.IGNORECASE)
_ALONE = re.compile(rf"[\W_]*(?:{_POSITIVE}|{_NEGATIVE}|T|F)[\W_]*", re.IGNORECASE)
_AT_END = re.compile(rf"(?:\A|[^\w-])(?:{_POSITIVE}|{_NEGATIVE})[\W_]*\Z", re.IGNORECASE)
_JUDGES = re.compile(
    r"[\W_]*(?:(?:so|thus|hence|i['’]d say|i would say),?\s)?"
    rf"(?:(?:the|this|that)\s(?:(?:given|above|original|stated)\s)?{_SUBJECT}|this|that|it)"
    rf"(?:['’]s|\s(?:is|was)(?:n['’]t)?)[:\s]+(?:(?:not|{_FILLERS}|therefore|thus|clearly)\s){{0,4}}"
    rf"[\W_]*(?:{_POSITIVE}|{_NEGATIVE})(?=[\W_]*\Z|[\"'’”)*]*[.,;:!]|\s(?:because|since|as)\b)",
    re.IGNORECASE,
)
_OPENS = re.compile(r"[\W_]*(?:true|false|incorrect)(?=[*_\"'’”)]*[.,;:!]|\s[-–—]\s)", re.IGNORECASE)


def read_verdict(committed: str) -> int | None:
    """Read 1 (true) or 0 (false) from the text behind an answer marker.

    The first sentence with a verdict counts, up to the reason it gives. Negations turn a verdict (`not entirely
    correct`, `cannot be considered false`, `not true that the statement is wrong`); an echo of the question (`true or
    false?`) is none; of several verdicts the last is the commitment, except where the first is merely explained
    (`False, the opposite is true`).

    Example:
        >>> [read_verdict(text) for text in (" incorrect.", " not false.", " true or false? False.", " unclear.")]
        [0, 1, 0, None]
    """
    text = plain(committed[:_LONGEST])
    if letter := _LETTER.match(text):
        return int((letter[1] or letter[2]) == "T")
    for sentence in _SENTENCE.split(text):
        if _NEITHER.search(sentence):
            return None
        cleaned = _ATTRIBUTE.sub(" ", _ECHO.sub(" ", _NOT_HELD.sub("false", sentence)))
        verdict = _last_verdict(_without_reason(cleaned))
        if verdict is not None:
            return verdict
    return None


def bare_verdict(text: str) -> int | None:
    r"""Read a response without any marker: a boxed or short verdict, else its last or its first line, if that is one.

    Example:
        >>> bare_verdict("False."), bare_verdict("Rates rise.\nSo the statement is true."), bare_verdict("Right, I see")
        (0, 1, None)
        >>> bare_verdict("Bonds repay principal.\n\n**False**"), bare_verdict("FALSE\n\nPrices fall\nwhen yields")
        (0, 0)
    """
    if (box := boxed(text)) is not None:
        return read_verdict(box)
    stripped = text.strip()
    if len(stripped) <= _SHORT and _ends(stripped):
        lead = re.match(r"[\W_]*", stripped)
        if _TOKEN.match(stripped, lead.end() if lead else 0) or _LETTER.fullmatch(stripped.rstrip(".")):
            return read_verdict(stripped)
    for is_first, (line, inward) in enumerate(standing_lines(text)):
        verdict = _line_verdict(line, is_first=bool(is_first))
        if verdict is not None and not (_ALONE.fullmatch(inward) and read_verdict(inward) != verdict):
            return verdict
    return None


def _line_verdict(line: str, *, is_first: bool) -> int | None:
    """Read a line that is a verdict or judges the statement; the first line only if it does nothing else before."""
    if _ALONE.fullmatch(line) or (_JUDGES.match(line) and (_ends(line) or _AT_END.search(line))):
        return read_verdict(line)
    if is_first:
        return read_verdict(line) if _OPENS.match(line) else None
    if (_ends(line) or _AT_END.search(line)) and (judged := _STATEMENT.search(said := _ECHO.sub(" ", line))):
        return read_verdict(said[judged.start() :])
    return None


def _ends(text: str) -> bool:
    """Whether the text is a finished sentence or a lone word, and not cut off in the middle."""
    return text.endswith((".", "!", "*", ")", '"', "'", "]", "}", ">")) or " " not in text


def _without_reason(sentence: str) -> str:
    """Cut a sentence before the reason it gives, where a verdict stands before that."""
    for reason in _REASON.finditer(sentence):
        if _find(sentence[: reason.start() + 1], 0):
            return sentence[: reason.start()]
    first = _find(sentence, 0)
    if first and first[0].lower() in ("true", "false", "incorrect") and not sentence[: first.start()].strip(" \"'[("):
        behind = sentence[first.end() :].lstrip("\"'])")
        if _ASIDE_BEHIND.match(behind) and not _CORRECTION.search(behind):
            return sentence[: first.end()]
    return sentence


def _last_verdict(text: str) -> int | None:
    verdict: int | None = None
    position = 0
    while token := _find(text, position):
        start, end = token.span()
        value = int(token["positive"] is not None)
        if _DENIED.search(text[max(0, start - 90) : start]):
            value = 1 - value
        if behind := _DENIED_BEHIND.match(text, end):
            value, end = 1 - value, behind.end()
        if verdict is not None and _NOT_THAT.fullmatch(text[position:start]):
            value = int(value == verdict)
        verdict, position = value, end
    return verdict


def _find(text: str, position: int) -> re.Match[str] | None:
    """The next word that gives a verdict."""
    for token in _TOKEN.finditer(text, position):
        word = token[0].lower()
        if word not in ("no", "yes", "right") or _stands_alone(text, token.start(), token.end(), word):
            return token
    return None


def _stands_alone(text: str, start: int, end: int, word: str) -> bool:
    """Whether `no`, `yes` or `right` is an answer, and not part of `no effect` or `the right to buy`."""
    behind = text[end:].lstrip("\"'’”)]} ")[:1]
    if behind and behind not in ".,;:!?-":
        return False
    return word != "right" or not text[:start].rstrip().lower().endswith((" the", " a"))

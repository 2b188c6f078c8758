"""Find the part of a response in which the model commits itself."""

import re

__all__ = ["committed_text"]

_GAP = r"[\s*_,:]{1,8}"
_END = r"(?:\s{1,3}(?:is|would\s{1,3}be|should\s{1,3}be)\b(?!['\"’”`])|['\"]?[*_\s]{0,4}[:=])"
_ASKED = re.compile(rf"\btherefore{_GAP}my{_GAP}(?:final{_GAP})?answer{_GAP}(?:is|would{_GAP}be)\b(?!['\"’”`])", re.I)
_HEAD = r"[ \t*#_>]{0,8}(?:(?:my|the)\s)?(?:(?:final|correct)\s)?"
_WORKING = r"[\s*#_>-]{0,8}(?:(?:to|we|let|first|step|given|using|in\s{1,3}order)\b|\d{1,2}[.)]\s)"
"""How a solution begins that stands under the heading `Answer`."""
_OTHER = re.compile(
    r"\b(?:answer(?:\s{1,3}to\s{1,3}(?:the|this)\s{1,3}(?:question|problem))?"
    rf"|(?:correct|best|right|closest|appropriate|suitable)\s{{1,3}}(?:choice|option)){_END}"
    rf"|(?:\A|\n){_HEAD}(?:verdict[*_]{{0,3}}\s?:|answer[*_]{{0,3}}\s[-–—]\s)"
    rf"|(?:\A|\n){_HEAD}(?:answer|verdict)[ \t*_:#]{{0,6}}(?=\n\s*(?!{_WORKING})[^\n]{{1,120}}(?:\n|\Z))",
    re.I,
)
_NEW_TURN = re.compile(
    r"\n[\s*#_>]{0,6}(?:(?:question|statement|problem|exercise|example|q|user|human|instruction|choices)\s?\d{0,3}[*_]{0,2}\s?:"
    r"|is the above statement)",
    re.I,
)
_CONCLUSION = re.compile(
    rf"(?:\A|[.!?]\s|\n)[\s*_#>-]{{0,6}}(?:therefore(?!{_GAP}my{_GAP})|thus|hence|consequently|so"
    r"|in\s{1,3}(?:conclusion|summary))\b[*_]{0,3},?",
    re.I,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_NOTHING = re.compile(r"[\s*_:;,.\[\](){}$\\\"'`-]*\Z")


def committed_text(text: str) -> str | None:
    r"""Return what follows the last place where the model says that its answer follows.

    The wording asked for (`Therefore, my answer is`, in any case, with Markdown inside, with `final`) beats other
    wordings (`The answer is`, `Final answer:`), and these beat a closing sentence that begins with `Therefore` or the
    like in one of the last two paragraphs. A marker with nothing behind it, as in a response cut off there, is passed
    over for the one before. Once an answer is given, a line that opens another question ends the response: base models
    go on and make up the next exercise.

    Returns:
        The text, or None where no marker is followed by anything.

    Example:
        >>> committed_text("Therefore, my answer is 5. Wait. **Therefore, my answer is** 6.")
        '** 6.'
        >>> committed_text("Let us see. The answer is true.")
        ' true.'
        >>> committed_text("We divide 6 by 3.\n\nTherefore, the ratio is 2.")
        ' the ratio is 2.'
        >>> committed_text("I would need more") is None
        True
    """
    for marker in (_ASKED, _OTHER):
        found = _last(marker, text)
        if found is not None:
            return found
    return _conclusion(text)


def _conclusion(text: str) -> str | None:
    turn = _NEW_TURN.search(text)
    text = (text[: turn.start()] if turn else text).rstrip()
    breaks = [match.end() for match in _PARAGRAPH.finditer(text)]
    begin = breaks[-2] - 1 if len(breaks) > 1 else 0  # with the line break that the pattern wants before the word
    ends = [match.end() for match in _CONCLUSION.finditer(text, begin)]
    return next((text[end:] for end in reversed(ends) if not _NOTHING.match(text, end)), None)


def _last(marker: re.Pattern[str], text: str) -> str | None:
    ends = [match.end() for match in marker.finditer(text)]
    if not ends:
        return None
    turn = _NEW_TURN.search(text, _first_answer(ends, text))
    stop = turn.start() if turn else len(text)
    for end in reversed(ends):
        if end <= stop and not _NOTHING.match(text, end, stop):
            return text[end:stop]
    return None


def _first_answer(ends: list[int], text: str) -> int:
    """Where the first marker that is followed by anything ends: no new question can begin before it."""
    return next((end for end in ends if not _NOTHING.match(text, end, min(len(text), end + 40))), ends[-1])

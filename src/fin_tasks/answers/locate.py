"""Find the parts of a response in which the model commits itself to an answer."""

import re
from collections.abc import Iterator
from typing import Literal

from fin_tasks.answers.notation import boxed

# The place of a text: behind the wording we ask for; behind a stated answer, where the answer must come first; behind
# `the answer is` or in a box; a closing sentence; the last or the first line.
Kind = Literal["asked", "strict", "loose", "closing", "last", "first"]

REFUSAL = re.compile(
    r"(?i)\b(?:can(?:\s?not|['’]t)|unable|impossible|not\s(?:possible|provided|enough|given)|insufficient|undetermined)\b"
)
_LONGEST = 4000
_GAP = r"[\s*_,:]{1,8}"
_ASKED = re.compile(
    rf"(?i)\btherefore{_GAP}my{_GAP}(?:final{_GAP})?answer{_GAP}(?:is|would{_GAP}be)\b"
)
_IS = r"\s{1,3}(?:is|would\s{1,3}be)\b"
# Below a heading `Answer`, working may begin instead of the answer.
_WORKING = r"[\s*_:#>-]{0,20}(?:(?:to|we|let|first|step|given|using)\b|\d{1,2}[.)]\s)"
_COLON = rf"['\"]?[*_\s]{{0,4}}[:=](?![ \t*_]{{0,9}}\n{_WORKING})"
_HEAD = r"(?:\A|\n)[ \t*#_>]{0,8}(?:(?:my|the)\s)?(?:(?:final|correct)\s)?"
# `So the answer is`, `Final answer:`, `The correct option is`, `Verdict:`, a heading; a bare `answer is` has no group.
_MARKER = re.compile(
    r"(?i)(\b(?:final|correct)\s{1,3}|\b(?:therefore|thus|so|hence),?\s(?:the|my)\s)?"
    rf"\banswer(?<!this\sanswer)(?<!that\sanswer)(?:\s{{1,3}}(?:choice|option))?(?:{_IS}|({_COLON}))"
    rf"|\b(correct|best|right)\s{{1,3}}(?:choice|option)(?:{_IS}|{_COLON})|({_HEAD}verdict[*_]{{0,3}}\s?:"
    rf"|{_HEAD}(?:answer|verdict)[ \t*_:#]{{0,6}}(?=\n\s*(?!{_WORKING})[^\n]{{1,120}}(?:\n|\Z)))"
)
# Base models make up the next exercise behind their answer.
_NEW_TURN = re.compile(
    r"(?i)\n[\s*#_>]{0,6}(?:question|statement|problem|exercise|q|user|human)\s?\d{0,3}[*_]{0,2}\s?:"
)
_CONCLUSION = re.compile(
    r"(?i)(?:\A|[.!?*]\s|\n)[\s*_#>-]{0,6}(?:therefore|thus|hence|so|in\s(?:conclusion|summary))\b[*_]{0,3},?"
)
_BULLET = re.compile(r"\s{0,9}(?:(?:#{1,6}\s|>|[-*•+]\s{1,4}(?=\D))\s{0,4}){1,4}")


def commitments(reply: str) -> Iterator[tuple[Kind, str, str]]:
    """Yield the kind of each text that may hold the answer, the text, and the line next to it; the best come first."""
    if _ASKED.search(reply):
        yield from (("asked", text, "") for _, text in _behind(_ASKED, reply)[:1])
        return
    found = _behind(_MARKER, reply)
    for mark, text in found:
        if any(mark.groups()):
            yield "strict", text, ""
    if (box := boxed(reply)) is not None:
        yield "loose", rf"\boxed{{{box}}}", ""
    yield from (("loose", text, "") for _, text in found)
    text = reply.rstrip()
    breaks = [match.end() for match in re.finditer(r"\n[ \t]*\n", text[-_LONGEST:])]
    begin = max(0, len(text) - _LONGEST) + (breaks[-2] - 1 if len(breaks) > 1 else 0)
    closings = list(_CONCLUSION.finditer(text, begin))
    yield from (("closing", text[match.end() :], "") for match in closings[:-6:-1])
    # If the closing sentences hold no answer, the text before them is read too, unless they refuse to answer.
    hides = not closings or REFUSAL.search(text, closings[-1].end())
    for body in (reply,) if hides else (reply, reply[: closings[0].start() + 1]):
        lines = [
            _BULLET.sub("", line, count=1)
            for line in body.split("\n")
            if any(map(str.isalnum, line))
        ]
        if lines:
            yield "last", lines[-1], ["", *lines][-2]
        if len(lines) > 1:
            yield "first", lines[0], lines[1]


def _behind(marker: re.Pattern[str], text: str) -> list[tuple[re.Match[str], str]]:
    # The last marker comes first. A new question cannot begin before the first answer.
    marks = list(marker.finditer(text))
    turn = _NEW_TURN.search(text, marks[0].end()) if marks else None
    text = text[: turn.start()] if turn else text
    found = [(mark, text[mark.end() : mark.end() + _LONGEST]) for mark in marks[:-21:-1]]
    return [(mark, behind) for mark, behind in found if re.search(r"\w", behind)]

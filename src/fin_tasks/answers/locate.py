"""Find the parts of a response in which the model commits itself to an answer."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from fin_tasks.answers.notation import boxed, plain

__all__ = ["REFUSAL", "Kind", "commitments", "committed_text", "end_lines"]

Kind = Literal["asked", "strict", "loose", "closing", "alone"]
"""How to read a text: behind the wording asked for; only if the answer leads; as a sentence; as a closing sentence; as
a response without any announcement."""

REFUSAL = re.compile(
    r"\b(?:can\s?not|can['’]t|could\snot|couldn['’]t|unable|im?possible\sto|not\s(?:possible|provided|enough|given|mentioned)"
    r"|insufficient|indeterminate|undetermined)\b",
    re.I,
)
_LONGEST = 4000
_GAP = r"[\s*_,:]{1,8}"
_UNQUOTED = r"(?!['\"’”`])"
_ASKED = re.compile(rf"\btherefore{_GAP}my{_GAP}(?:final{_GAP})?answer{_GAP}(?:is|would{_GAP}be)\b{_UNQUOTED}", re.I)
_HEAD = r"(?:\A|\n)[ \t*#_>]{0,8}(?:(?:my|the)\s)?(?:(?:final|correct)\s)?"
_WORKING = r"[\s*_:#>-]{0,20}(?:(?:to|we|let|first|step|given|using|in\s{1,3}order)\b|\d{1,2}[.)]\s)"
_IS = rf"\s{{1,3}}(?:is|would\s{{1,3}}be|should\s{{1,3}}be)\b{_UNQUOTED}"
_COLON = rf"['\"]?[*_\s]{{0,4}}[:=](?![ \t*_]{{0,9}}\n{_WORKING})"
_MARKER = re.compile(
    r"(?P<firm>\b(?:final|correct)\s{1,3}|\b(?:therefore|thus|so|hence|consequently),?\s(?:the|my)\s)?"
    rf"(?<!this\s)(?<!that\s)\banswer(?:\s{{1,3}}(?:choice|option|to\s{{1,3}}(?:the|this)\s{{1,3}}(?:question|problem)))?(?:{_IS}|(?P<colon1>{_COLON}))"
    rf"|\b(?P<choice>correct|best|right|closest|appropriate|suitable)\s{{1,3}}(?:choice|option)(?:{_IS}|(?P<colon2>{_COLON}))"
    rf"|(?P<head>{_HEAD}(?:verdict[*_]{{0,3}}\s?:|answer[*_]{{0,3}}\s[-–—]\s)"
    rf"|{_HEAD}(?:answer|verdict)[ \t*_:#]{{0,6}}(?=\n\s*(?!{_WORKING})[^\n]{{1,120}}(?:\n|\Z))"
    r"|(?:\A|\n)####[ \t]{0,3}(?=[-+$]{0,2}\d))",
    re.I,
)
_NEW_TURN = re.compile(
    r"\n[\s*#_>]{0,6}(?:(?:question|statement|problem|exercise|example|q|user|human|instruction|choices)\s?\d{0,3}[*_]{0,2}\s?:"
    r"|is the above statement)",
    re.I,
)
_CONCLUSION = re.compile(
    rf"(?:\A|[.!?*]\s|\n)[\s*_#>-]{{0,6}}(?:therefore(?!{_GAP}my{_GAP})|thus|hence|consequently|so"
    r"|in\s{1,3}(?:conclusion|summary))\b[*_]{0,3},?",
    re.I,
)
_DEFINITION = re.compile(r"\n[ \t]{0,9}where\b[^\n]{1,400}\Z", re.I)
_NOTHING = re.compile(r"[\s*_:;,.\[\](){}$\\\"'`-]*\Z")
_BULLET = re.compile(r"\s{0,9}(?:(?:#{1,6}\s|>|[-*•+]\s{1,4}(?=\D))\s{0,4}){1,4}")


def commitments(reply: str) -> Iterator[tuple[Kind, str]]:
    """Yield the texts that may hold the answer, the most binding first, and how to read each.

    The wording asked for beats everything. Then come labels and `the final answer is`, a box, `the answer is` in prose,
    closing sentences that begin with `Therefore` or the like, and the response itself.
    """
    if _ASKED.search(reply):
        yield from (("asked", text) for _, text in islice(_behind(_ASKED, reply), 1))
        return
    found = list(islice(_behind(_MARKER, reply), 20))
    is_stated = [bool(mark["firm"] or mark["choice"] or mark["head"] or mark["colon1"]) for mark, _ in found]
    for (mark, text), stated in zip(found, is_stated, strict=True):
        if stated:
            yield "strict", text
            if mark["head"] or mark["colon1"] or mark["colon2"]:
                yield "loose", text
    if (box := boxed(reply)) is not None:
        yield "loose", rf"\boxed{{{box}}}"
    yield from (("strict", text) for (_, text), stated in zip(found, is_stated, strict=True) if not stated)
    yield from (("loose", text) for _, text in found)
    turn = _NEW_TURN.search(reply)
    text = _DEFINITION.sub("", (reply[: turn.start()] if turn else reply).rstrip())
    breaks = [match.end() for match in re.finditer(r"\n[ \t]*\n", text[-_LONGEST:])]
    begin = max(0, len(text) - _LONGEST) + (breaks[-2] - 1 if len(breaks) > 1 else 0)
    closings = [match for match in _CONCLUSION.finditer(text, begin) if not _NOTHING.match(text, match.end())]
    yield from (("closing", text[match.end() :]) for match in closings[:-6:-1])
    yield "alone", reply
    if closings and not REFUSAL.search(text, closings[-1].end()):
        yield "alone", reply[: closings[0].start() + 1]


def committed_text(text: str) -> str | None:
    """Return what follows the last place where the model announces its answer, or None."""
    return next((found for kind, found in commitments(text) if kind != "alone"), None)


def end_lines(text: str) -> list[tuple[str, str]]:
    """Return the last and the first line that hold a word or number, as plain text, each with the line next to it."""
    lines = [line for line in text[-_LONGEST:].split("\n") if any(char.isalnum() for char in line)]
    first = [line for line in text[:_LONGEST].split("\n") if any(char.isalnum() for char in line)]
    ends = [lines[:-3:-1], first[:2]] if len(lines) > 1 else [lines]
    return [(_bare(end[0]), _bare(end[1]) if len(end) > 1 else "") for end in ends if end]


def _bare(line: str) -> str:
    return plain(_BULLET.sub("", line, count=1)).strip() if len(line) <= 400 else ""


def _behind(marker: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    marks = list(marker.finditer(text))
    # A new question cannot begin before the first answer. Base models make up the next exercise.
    first = next((mark.end() for mark in marks if not _NOTHING.match(text, mark.end(), mark.end() + 40)), len(text))
    turn = _NEW_TURN.search(text, first)
    stop = turn.start() if turn else len(text)
    for mark in reversed(marks):
        behind = text[mark.end() : min(stop, mark.end() + _LONGEST)]
        if not _NOTHING.match(behind):
            yield mark, behind

"""How MME-Finance's authors read the replies of a judge."""

import json
import re
from typing import Any

from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.judging.item import Judged, Verdict, no_response
from fin_tasks.judging.rubric import Rubric, unscored

_INTEGER = re.compile(r"[-+]?\d+")
_OBJECT = re.compile(r"\{[^{}]*\}")


def read_verdict(rubric: Rubric, judged: Judged) -> Verdict:
    """Read the first reply of the judge that the authors' parser reads.

    If no try gave such a reply, or if the model gave no response, the score is the lowest.
    """
    for reply in judged.replies:
        score = score_of(rubric, reply.text)
        if score is not None:
            return Verdict(score)
    silent = no_response(judged.response)
    had_all_tries = len(judged.replies) >= len(rubric.temperatures)
    if had_all_tries or (silent and not judged.error):
        return Verdict(_lowest(rubric), silent or "no reply of the judge is a score")
    return unscored(judged)


def score_of(rubric: Rubric, reply: str) -> int | dict[str, int] | None:
    """Read one reply; return None if the authors' parser finds no score in it."""
    if rubric.parser == "text":
        return None
    if rubric.dimensions:
        return _dimensions_of(rubric, reply)
    return _integer_of(reply, rubric.lowest, rubric.highest)


def _integer_of(reply: str, lowest: int, highest: int) -> int | None:
    """Read the whole reply as an integer, else the last integer of the scale in it."""
    try:
        number = int(reply)
    except ValueError:
        return _last_integer(reply, lowest, highest)
    return number if lowest <= number <= highest else None


def _last_integer(reply: str, lowest: int, highest: int) -> int | None:
    try:
        numbers = [int(text) for text in _INTEGER.findall(reply)]
    except ValueError:  # Python reads no integer of more than 4,300 digits
        return None
    on_scale = [number for number in numbers if lowest <= number <= highest]
    return on_scale[-1] if on_scale else None


def _dimensions_of(rubric: Rubric, reply: str) -> dict[str, int] | None:
    """Read points in the first JSON object of a reply, and those that it lacks behind their names."""
    text = strip_reasoning(reply).strip().removeprefix("```json").strip("`\n ")
    tree = _OBJECT.search(text)
    points: dict[str, Any] = {}
    if tree:
        try:
            points = json.loads(tree[0])
        except (ValueError, RecursionError):
            points = {}
    for title in rubric.dimensions.values():
        number = re.search(rf"{re.escape(title)}\W{{0,8}}(\d{{1,2}})(?!\d)", text)
        points.setdefault(title, int(number[1]) if number else None)
    return rubric.complete(points)


def _lowest(rubric: Rubric) -> int | dict[str, int]:
    if rubric.dimensions:
        return dict.fromkeys(rubric.dimensions, rubric.lowest)
    return rubric.lowest

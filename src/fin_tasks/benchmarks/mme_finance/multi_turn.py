"""Conversations: each question is asked with the model's own earlier answers, and a judge scores every turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.stats.averages import over_responses

from ..contract import ReadingFields
from .arithmetic import python_value

Values = dict[str, float | None]

CATEGORY = "Conversation"
"""The only category of the rubric."""
OVERALL = "overall"
"""The dimension whose points are a turn's score."""
MARK = "<ImageHere>"
"""Marks the place of a picture in the questions of the file."""

DIMENSIONS = (
    "creativity",
    "richness",
    "visual_perception",
    "logical_coherence",
    "answer_accuracy",
    "image_relationship_understanding",
)
"""The other dimensions."""


def dict_in(reply: str) -> dict[str, Any]:
    """Return the Python dict from the first `{` to the last `}` of a reply; empty if there is none.

    The authors evaluate it, so `8/10` in it is 0.8.
    """
    start = reply.find("{")
    points = python_value(reply[start : reply.rfind("}") + 1], arithmetic=True)
    return points if isinstance(points, dict) else {}


def list_of(cell: str) -> list[str]:
    """Return the texts of a cell that is a Python list of texts; empty if it is none."""
    values = python_value(cell)
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        return values
    return []


def dimension_values(readings: Sequence[ReadingFields]) -> Values:
    """Return a turn's metrics in each dimension but the overall one, each the mean over its readings."""
    rows = []
    for reading in readings:
        row: Values = {}
        for dimension in DIMENSIONS:
            row |= turn_values(reading, dimension, f"score_{dimension}")
        rows.append(row)
    return over_responses(rows) if rows else {}


def turn_values(
    reading: ReadingFields,
    dimension: str,
    metric: str,
) -> Values:
    """Return two metrics of a turn in a dimension, both in percent: `metric`, and `..._read`.

    If the points cannot be read, `metric` is 0 under `paper`, else None, and `..._read` is None.
    """
    percent = None
    scores = reading.get("scores")
    if isinstance(scores, Mapping):
        points = scores.get(dimension)
        if isinstance(points, int | float):
            percent = 10.0 * points
    counts_as_zero = (
        reading.get("scoring") == "paper" and reading.get("unscored") is not True
    )
    score = 0.0 if percent is None and counts_as_zero else percent
    return {metric: score, f"{metric}_read": percent}

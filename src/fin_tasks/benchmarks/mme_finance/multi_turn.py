"""Conversations: each question is asked with the model's own earlier answers, and a judge scores every turn."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.contract import ReadingFields
from fin_tasks.benchmarks.mme_finance.prompts import IMAGE_MARK, Wording
from fin_tasks.stats.averages import over_responses

Values = dict[str, float | None]

RUBRIC = "mme_finance_mt_zh"
CATEGORY = "Conversation"  # the only one of the rubric
OVERALL = "overall"
_PARTS = (
    "creativity",
    "richness",
    "visual_perception",
    "logical_coherence",
    "answer_accuracy",
    "image_relationship_understanding",
)
MARK = "<ImageHere>"  # marks the place of a picture in the file's questions


def list_of(cell: str) -> list[str]:
    """Read a list of texts in a cell, as JSON or as Python writes it; empty if the cell holds no such list."""
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return (
            found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []
        )
    return []


def turns_of(
    row: Mapping[str, str],
    questions: Sequence[str],
    answers: Sequence[str],
    pictures: Sequence[Path],
    wording: Wording,
) -> Iterator[dict[str, Any]]:
    """Yield the fields in which a conversation's turns differ; without marks, all pictures open the first turn."""
    marked = sum(question.count(MARK) for question in questions)
    shown = 0
    for turn, (question, answer) in enumerate(zip(questions, answers, strict=True), start=1):
        text = question.replace(MARK, IMAGE_MARK)
        if turn == 1:
            text = wording.fill(text, "", background=row.get("background", "").strip())
            text = text if marked else IMAGE_MARK * len(pictures) + text
        shown += question.count(MARK) if marked else len(pictures) if turn == 1 else 0
        yield {
            "id": f"{row['index']}-{turn}",
            "turn": turn,
            "turns": len(questions),
            "question": question.replace(MARK, "").strip(),
            "answer": answer,
            "target": answer,
            "prompt": text,
            "image_paths": [str(path) for path in pictures[:shown]],
        }


def overall_values(reading: ReadingFields) -> Values:
    """Return a turn's score, over all turns and, as `score_read`, over those with a verdict."""
    return _values(reading, OVERALL, "score")


def dimension_values(readings: Sequence[ReadingFields]) -> Values:
    """Return a turn's points in each dimension, over all turns and over those with a verdict."""
    rows = []
    for reading in readings:
        row: Values = {}
        for dimension in _PARTS:
            row |= _values(reading, dimension, f"score_{dimension}")
        rows.append(row)
    return over_responses(rows) if rows else {}


def _values(reading: ReadingFields, dimension: str, metric: str) -> Values:
    """Return points in percent; a turn without a verdict has 0 under `paper`, else none."""
    percent = None
    scores = reading.get("scores")
    if isinstance(scores, Mapping) and not reading.get("reason"):
        points = scores.get(dimension)
        percent = 10.0 * points if isinstance(points, int) else None
    counts_as_zero = reading.get("variant") == "paper" and reading.get("unscored") is not True
    score = 0.0 if percent is None and counts_as_zero else percent
    return {metric: score, f"{metric}_read": percent}

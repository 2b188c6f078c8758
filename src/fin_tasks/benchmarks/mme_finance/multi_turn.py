"""Conversations: each question is asked with the model's own earlier answers, and a judge scores every turn."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.mme_finance.prompts import IMAGE_MARK, Wording
from fin_tasks.stats.averages import rate

RUBRIC = "mme_finance_mt_zh"
CATEGORY = "Conversation"  # the only one of the rubric
DIMENSIONS = (
    *("creativity", "richness", "visual_perception", "logical_coherence", "answer_accuracy"),
    *("image_relationship_understanding", "overall"),
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


def values(_: Mapping[str, Any], reading: Any) -> dict[str, float | None]:
    """Return a turn's metrics: `score` and the dimensions over all turns, and `..._read` over the turns that were read.

    Under `paper` an unread turn is 0 in `score` and the dimensions; under `robust` it is unscored in all.
    """
    found: dict[str, float | None] = {}
    was_read = reading.scores is not None and not reading.reason
    for name in (DIMENSIONS[-1], *DIMENSIONS[:-1]):
        points = 10.0 * reading.scores[name] if was_read else None
        metric = "score" if name == DIMENSIONS[-1] else f"score_{name}"
        found[metric] = (
            points if was_read or reading.unscored or reading.variant != "paper" else 0.0
        )
        found[f"{metric}_read"] = points
    return {
        **found,
        "judge_error": rate(reading.judge_error),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }

"""Rows that VLMEvalKit's data sets of ours and `fin-tasks judge` wrote, in the form of lm-eval's samples."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.samples import lines_of, sample_of

__all__ = ["ITEMS", "samples_of_items"]

ITEMS = "_items.jsonl"
"""What the names of the kit's files end with; those of `fin-tasks judge` may be any."""

_RESPONSES = "_responses.jsonl"
_NO_QUESTION = "(these result files do not hold the question)"
_OF_DOCUMENT = ("category", "image_type", "image_style", "source", "question", "answer", "ground_truth", "image_path")
_VERDICT = ("score", "raw", "tries", "error", "failed", "judge", "rubric", "image", "response_cut")


def samples_of_items(path: Path, scores: Mapping[str, Scores]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each row under each variant: where it stands, and a sample.

    Args:
        path: A file with a line per row, which `report.item_scores` has read.
        scores: What it read there; values are taken from it, so that they are those of the leaderboard.

    Raises:
        DataError: The file cannot be read.
    """
    responses = _responses(path)
    places = {name: {row: at for at, row in enumerate(of.ids)} for name, of in scores.items()}
    for number, line in lines_of(path):
        where = f"{path}, line {number}"
        item = sample_of(where, line)
        index = str(item.get("index"))
        doc = {"id": index, "prompt": _NO_QUESTION} | {key: item[key] for key in _OF_DOCUMENT if item.get(key)}
        said = item.get("response", responses.get(index))
        for variant, of in scores.items():
            at = places[variant].get(index)
            if at is None:
                raise DataError(f"{where}, index: expected one of the rows that were scored, got {index!r:.80}.")
            values = {name: _number(column[at]) for name, column in of.values.items()}
            resps = [] if said is None else [[said]]
            made = {"filter": variant, "doc": doc, "resps": resps, "filtered_resps": [[_read(item, variant)]]}
            yield where, {**made, "metrics": list(values), **values}


def _read(item: Mapping[str, Any], variant: str) -> dict[str, Any]:
    """Take what was made of a response: an answer that was read, or a judge's verdict."""
    own = item.get(variant)
    found = own if isinstance(own, dict) else item
    keys = [key for key in found if key != "metrics"] if found is own else _VERDICT
    return {key: found[key] for key in keys if key in found}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _responses(path: Path) -> dict[str, str]:
    """Read the responses that the kit keeps beside its items, by row; empty where there are none."""
    if not path.name.endswith(ITEMS):
        return {}
    stem = path.name.removesuffix(ITEMS)
    beside = [
        file
        for file in path.parent.glob(f"*{_RESPONSES}")
        if stem.startswith(file.name.removesuffix(_RESPONSES)) and file.resolve().parent.is_relative_to(path.parent)
    ]
    if not beside:
        return {}
    found = {}
    try:
        for number, line in lines_of(max(beside, key=lambda file: len(file.name))):
            row = sample_of(f"{path}, line {number}", line)
            if isinstance(row.get("prediction"), str):
                found[str(row.get("index"))] = row["prediction"]
    except DataError:  # scores stand without them
        return {}
    return found

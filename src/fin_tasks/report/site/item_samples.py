"""Rows that VLMEvalKit's data sets of ours and `fin-tasks judge` wrote, in the form of lm-eval's samples."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.predictions_files import read_saved
from fin_tasks.report.samples import lines_of, sample_of

__all__ = ["ITEMS", "beside", "samples_of_items"]

ITEMS = "_items.jsonl"
"""What the names of the kit's files end with; those of `fin-tasks judge` may be any."""

_RESPONSES = "_responses.jsonl"
_NO_QUESTION = "(these result files do not hold the question)"
_OF_DOCUMENT = ("category", "image_type", "image_style", "source", "question", "answer", "ground_truth", "image_path")
_OF_PREDICTIONS = ("question", "answer", "image_path")
_TABLES = (".xlsx", ".tsv", ".json")
_PICTURE = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif")
_VERDICT = ("score", "raw", "tries", "error", "failed", "judge", "rubric", "image", "response_cut")


def samples_of_items(path: Path, scores: Mapping[str, Scores]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each row under each variant: where it stands, and a sample.

    The kit's prediction table beside the items says what was asked, as it does not count for any score.

    Args:
        path: A file with a line per row, which `report.item_scores` has read.
        scores: What it read there; values are taken from it, so that they are those of the leaderboard.

    Raises:
        DataError: The file cannot be read.
    """
    responses, asked = _responses(path), _predictions(path)
    places = {name: {row: at for at, row in enumerate(of.ids)} for name, of in scores.items()}
    for number, line in lines_of(path):
        where = f"{path}, line {number}"
        item = sample_of(where, line)
        index = str(item.get("index"))
        doc = _document(index, item, asked.get(index, {}))
        said = item.get("response", responses.get(index, asked.get(index, {}).get("prediction")))
        for variant, of in scores.items():
            at = places[variant].get(index)
            if at is None:
                raise DataError(f"{where}, index: expected one of the rows that were scored, got {index!r:.80}.")
            values = {name: _number(column[at]) for name, column in of.values.items()}
            resps = [] if said is None else [[said]]
            made = {"filter": variant, "doc": doc, "resps": resps, "filtered_resps": [[_read(item, variant)]]}
            yield where, {**made, "metrics": list(values), **values}


def _document(index: str, item: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Gather what is known of a question; what the items say counts over the prediction table."""
    doc = {key: asked[key] for key in _OF_PREDICTIONS if isinstance(asked.get(key), str) and asked[key]}
    doc |= {key: item[key] for key in _OF_DOCUMENT if item.get(key)}
    source = doc.get("source")
    if isinstance(source, str) and source.lower().endswith(
        _PICTURE
    ):  # what rows share, here the picture they are about
        doc.setdefault("image_path", source)
    return {"id": index, **({} if doc.get("question") else {"prompt": _NO_QUESTION}), **doc}


def _read(item: Mapping[str, Any], variant: str) -> dict[str, Any]:
    """Take what was made of a response: an answer that was read, or a judge's verdict."""
    own = item.get(variant)
    found = own if isinstance(own, dict) else item
    keys = [key for key in found if key != "metrics"] if found is own else _VERDICT
    return {key: found[key] for key in keys if key in found}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def beside(path: Path) -> list[Path]:
    """Name the files beside an items file that `samples_of_items` reads too."""
    files = []
    for endings in ((_RESPONSES,), _TABLES):
        with suppress(LookupError):
            files.append(_beside(path, endings))
    return files


def _responses(path: Path) -> dict[str, str]:
    """Read the responses that the kit keeps beside its items, by row; empty where there are none."""
    found = {}
    try:
        for number, line in lines_of(_beside(path, (_RESPONSES,))):
            row = sample_of(f"{path}, line {number}", line)
            if isinstance(row.get("prediction"), str):
                found[str(row.get("index"))] = row["prediction"]
    except (DataError, LookupError):  # scores stand without them
        return {}
    return found


def _predictions(path: Path) -> dict[str, Mapping[str, Any]]:
    """Read the kit's prediction table beside its items, by row; empty where there is none."""
    try:
        return {_index(row.fields.get("index")): row.fields for row in read_saved(_beside(path, _TABLES)).rows}
    except (DataError, LookupError):
        return {}


def _beside(path: Path, endings: tuple[str, ...]) -> Path:
    """Return the file in the same folder whose name the items' name goes on from.

    Raises:
        LookupError: There is none.
    """
    if not path.name.endswith(ITEMS):
        raise LookupError
    stem = path.name.removesuffix(ITEMS)
    found = {}
    for file in path.parent.iterdir():
        ending = next((one for one in endings if file.name.endswith(one)), None)
        own = file.name.removesuffix(ending or "")
        if ending and f"{stem}_".startswith(f"{own}_") and file.resolve().parent.is_relative_to(path.parent.resolve()):
            found[own] = file
    return found[max(found, key=len, default="")]


def _index(value: Any) -> str:
    """Write a row's index as items have it: spreadsheets make 7 of it, or 7.0."""
    return str(value).removesuffix(".0")

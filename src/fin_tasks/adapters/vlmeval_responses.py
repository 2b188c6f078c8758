"""Responses of models that VLMEvalKit asks: whole, with a hash of what was asked.

The kit saves predictions in tables and reads them back on `--reuse`. `N/A` then comes back as
missing, `007.50` as a number, and a cell of a spreadsheet holds 32,767 characters. The kit also
knows questions by index alone, and other data have the same indices. So the responses in a table or
a pickle also go to `..._responses.jsonl` beside it, and the kit loads them from there.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Index = str | int
Predictions = Mapping[Index, Any]
"""Responses by index; in conversations lists with the responses to all turns."""

_provenances: dict[str, Mapping[str, object]] = {}
"""What is known of our data sets that the kit uses; `hash` is that of all questions."""


def keep_responses(dataset: str, provenance: Mapping[str, object]) -> None:
    """Keep the responses to a data set whole from now on."""
    _provenances[dataset] = provenance


def provenance_of(path: Path) -> Mapping[str, object] | None:
    """Return what is known of the data set that a file of the kit belongs to; None if not ours."""
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    for dataset, provenance in _provenances.items():
        if stem.endswith(f"_{dataset}"):
            return provenance
    return None


def write_responses(file: Path, predictions: Predictions) -> None:
    """Write the responses in a file of the kit beside it."""
    lines: list[object] = [{"provenance": provenance_of(file)}]
    for index, prediction in predictions.items():
        whole = prediction if isinstance(prediction, str | list) else str(prediction)
        lines.append({"index": index, "prediction": whole})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    # A killed run leaves no half of a file.
    part = file.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(_beside(file))


def read_responses(file: Path) -> Predictions:
    """Return the responses by index; none if the questions were others.

    They are those of the file's own run, or else those of the newest run.
    """
    path = _beside(file)
    if not path.is_file():
        others = file.parent.parent.glob(f"*/{path.name}")
        path = max(others, key=lambda other: other.stat().st_mtime, default=path)
    provenance = provenance_of(file)
    if provenance is None or not path.is_file():
        return {}
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    if next(lines)["provenance"]["hash"] != provenance["hash"]:
        return {}
    return {line["index"]: line["prediction"] for line in lines}


def _beside(file: Path) -> Path:
    return file.with_name(f"{file.stem}_responses.jsonl")

"""Responses of models that VLMEvalKit asks: whole, each with a hash of what was asked.

The kit saves predictions in tables and reads them back on `--reuse`. `N/A` then comes back as
missing, `007.50` as a number, and a cell of a spreadsheet holds 32,767 characters. The kit also
knows questions by index alone, and other data have the same indices. So the responses in a table or
a pickle also go to `..._responses.jsonl` beside it, and the kit loads them from there.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Index = str | int
Predictions = Mapping[Index, Any]
"""Responses by index; in conversations lists with the responses to all turns."""

_by_dataset: "dict[str, Responses]" = {}


@dataclass(frozen=True)
class Responses:
    """The responses to one data set, in all files that the kit uses in this process."""

    hashes: Mapping[str, str]
    """The hash of what a model is asked now, by index."""
    provenance: Mapping[str, object]

    def write(self, file: Path, predictions: Predictions) -> None:
        """Write the responses in a file of the kit beside it."""
        lines: list[Mapping[str, object]] = [{"provenance": self.provenance}]
        for index, prediction in predictions.items():
            is_whole = isinstance(prediction, str | list)
            whole = prediction if is_whole else str(prediction)
            asked = self.hashes.get(str(index))
            lines.append({"index": index, "asked": asked, "prediction": whole})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        # A killed run leaves no half of a file.
        part = file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(_beside(file))

    def read(self, file: Path) -> Predictions:
        """Return the responses to the questions as they are now, by index.

        They are those of the file's own run, or else those of the newest run.
        """
        path = _beside(file)
        if not path.is_file():
            others = file.parent.parent.glob(f"*/{path.name}")
            path = max(others, key=lambda other: other.stat().st_mtime, default=path)
        if not path.is_file():
            return {}
        _, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        predictions = {}
        for line in lines:
            if line["asked"] == self.hashes.get(str(line["index"])):
                predictions[line["index"]] = line["prediction"]
        return predictions


def keep_responses(dataset: str, responses: Responses) -> None:
    """Keep the responses to a data set whole from now on."""
    _by_dataset[dataset] = responses


def responses_of(path: Path) -> Responses | None:
    """Return the responses to the data set that a file of the kit belongs to; None if not ours."""
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    for dataset, responses in _by_dataset.items():
        if stem.endswith(f"_{dataset}"):
            return responses
    return None


def _beside(file: Path) -> Path:
    return file.with_name(f"{file.stem}_responses.jsonl")

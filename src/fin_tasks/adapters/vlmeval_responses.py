"""Responses of models that VLMEvalKit asks: whole, each with a hash of what was asked.

The kit saves predictions in tables and reads them back on `--reuse`. `N/A` then comes back as
missing, `007.50` as a number, and a cell of a spreadsheet holds 32,767 characters. The kit also
knows questions by index alone, and other data have the same indices. So the responses of a table
also go to `<model>_<data set>_responses.jsonl`, and the kit loads them from there. In its pickles
the hash stands beside the response.
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

    def write(
        self,
        table: Path,
        predictions: Predictions,
    ) -> None:
        """Write the responses of a table beside it."""
        lines: list[Mapping[str, object]] = [{"provenance": self.provenance}]
        for index, prediction in predictions.items():
            whole = (
                prediction if isinstance(prediction, str | list) else str(prediction)
            )
            asked = self.hashes.get(str(index))
            lines.append({"index": index, "asked": asked, "prediction": whole})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        _file_of(table).write_text(text, encoding="utf-8")

    def read(self, table: Path) -> Predictions:
        """Return the responses to the questions as they are now, by index.

        They are those of the table's own run, or else those of the newest run.
        """
        file = _file_of(table)
        if not file.is_file():
            others = table.parent.parent.glob(f"*/{file.name}")
            file = max(others, key=lambda other: other.stat().st_mtime, default=file)
        if not file.is_file():
            return {}
        _, *lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        pickled = {line["index"]: (line["asked"], line["prediction"]) for line in lines}
        return self.from_pickle(pickled)

    def to_pickle(self, predictions: Predictions) -> Predictions:
        """Return responses with the hashes of what was asked."""
        return {
            index: (self.hashes.get(str(index)), text)
            for index, text in predictions.items()
        }

    def from_pickle(self, pickled: Predictions) -> Predictions:
        """Return the responses to the questions as they are now."""
        predictions = {}
        for index, (asked, prediction) in pickled.items():
            if asked == self.hashes.get(str(index)):
                predictions[index] = prediction
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


def _file_of(table: Path) -> Path:
    return table.with_name(f"{table.stem}_responses.jsonl")

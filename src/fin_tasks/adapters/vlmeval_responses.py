"""Responses of models that VLMEvalKit asks: whole, each with a hash of what was asked.

The kit saves predictions in tables and reads them back on `--reuse`. `N/A` then comes back as
missing, `007.50` as a number, and a cell of a spreadsheet holds 32,767 characters. The kit also
knows questions by index alone, and other data have the same indices. So the responses of a table
also go to `<model>_<data set>_responses.jsonl`, and the kit loads them from there. In its pickles
the hash stands beside the response.
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from fin_tasks.judging.item import no_response

Index: TypeAlias = str | int
Prediction: TypeAlias = str | list[str]
"""A response, or the responses to all turns of a conversation."""
Pickled: TypeAlias = dict[Index, tuple[str | None, object]]
"""What the kit's pickles hold for each index: the hash of what was asked, and the response."""

_by_dataset: "dict[str, Responses]" = {}


class Responses:
    """The responses to one data set, in all files that the kit uses in this process."""

    def __init__(
        self,
        dataset: str,
        hashes: Mapping[str, str],
        provenance: Mapping[str, object],
    ) -> None:
        self._hashes = hashes
        self._provenance = provenance
        _by_dataset[dataset] = self

    def write(
        self,
        path: Path,
        indices: Iterable[Index],
        predictions: Iterable[object],
    ) -> None:
        """Write the responses of a table beside it."""
        lines: list[dict[str, object]] = [{"provenance": self._provenance}]
        for index, prediction in zip(indices, predictions, strict=True):
            whole = prediction if isinstance(prediction, str | list) else str(prediction)
            digest = self._hash_of(index)
            lines.append({"index": index, "asked": digest, "prediction": whole})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        _file_of(path).write_text(text, encoding="utf-8")

    def read(self, path: Path) -> dict[Index, Prediction]:
        """Return the responses to the questions as they are now, by index.

        They are those of the table's own run, or else those of the newest run.
        """
        files = [_file_of(path)]
        if not files[0].is_file():
            others = path.parent.parent.glob(f"*/{files[0].name}")
            files = sorted(others, key=lambda file: file.stat().st_mtime)
        if not files:
            return {}
        _, *lines = files[-1].read_text(encoding="utf-8").splitlines()
        predictions: dict[Index, Prediction] = {}
        for line in map(json.loads, lines):
            if line["asked"] == self._hash_of(line["index"]):
                predictions[line["index"]] = line["prediction"]
        return predictions

    def to_pickle(self, responses: Mapping[Index, object]) -> Pickled:
        """Return responses with the hashes of what was asked."""
        return {index: (self._hash_of(index), text) for index, text in responses.items()}

    def from_pickle(self, pickled: Pickled) -> dict[Index, object]:
        """Return the responses to the questions as they are now."""
        responses = {}
        for index, (digest, response) in pickled.items():
            if digest == self._hash_of(index):
                responses[index] = response
        return responses

    def _hash_of(self, index: Index) -> str | None:
        return self._hashes.get(str(index))


def responses_of(path: Path) -> Responses | None:
    """Return the responses to the data set that a file of the kit belongs to; None if not ours."""
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    for dataset, responses in _by_dataset.items():
        if stem.endswith(f"_{dataset}"):
            return responses
    return None


def complete_conversations(
    indices: Iterable[Index],
    predictions: Iterable[object],
) -> dict[Index, object]:
    """Return the conversations in which the model answered every turn."""
    conversations: dict[Index, object] = {}
    for index, prediction in zip(indices, predictions, strict=True):
        if isinstance(prediction, list) and not any(map(no_response, prediction)):
            conversations[index] = prediction
    return conversations


def _file_of(table: Path) -> Path:
    return table.with_name(f"{table.stem}_responses.jsonl")

"""What a VLMEvalKit data set of ours asks, summed up in a hash that lies beside a model's predictions."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Asked", "asked_file"]

_OF_OUR_CODE = {"hash", "fin_tasks", "scorer", "rows", "left_out"}
"""What a data set says of itself that no model sees; of rows the texts speak."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a data set asks.

    Attributes:
        dataset: Its name.
        questions: Index to the document's question.
        facts: What else an answer depends on, for people to read: the data's revision, prompts and options.
        sha256: Of all that, and of the texts models get.
    """

    dataset: str
    questions: Mapping[str, str]
    facts: Mapping[str, Any]
    sha256: str

    @classmethod
    def of(
        cls, dataset: str, provenance: Mapping[str, Any], *, questions: Mapping[str, str], texts: Mapping[str, str]
    ) -> "Asked":
        """Sum up a data set.

        Args:
            dataset: Its name.
            provenance: Of its documents.
            questions: Index to the document's question.
            texts: Index to the text a model gets.
        """
        facts = {name: value for name, value in provenance.items() if name not in _OF_OUR_CODE}
        if isinstance(data := facts.get("data"), Mapping):
            # the same files may come from the hub or from a folder
            facts["data"] = {"revision": data["revision"]} if data.get("revision") else dict(data)
        everything = json.dumps([dataset, facts, dict(texts)], sort_keys=True)
        digest = hashlib.sha256(everything.encode()).hexdigest()
        return cls(dataset=dataset, questions=questions, facts=facts, sha256=digest)


def asked_file(predictions: Path) -> Path:
    """Name the file that says what a prediction file's model was asked."""
    return predictions.with_name(f"{predictions.stem}_asked.json")

"""Documents of a benchmark as the data set a harness loads."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["dataset_of"]


def dataset_of(docs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> "Dataset":
    """Put documents and where they come from into one data set.

    Args:
        docs: At least one document; all have the keys of the first, with values Arrow can hold.
        facts: The provenance, JSON-compatible: all that decides what was asked. Equal facts give equal hashes.

    Returns:
        The data set; `info.description` is the JSON of `facts` with their hash, 16 hexadecimal digits, under `hash`.
    """
    from datasets import Dataset, DatasetInfo
    from datasets.table import InMemoryTable

    # All the facts count: two runs with one hash asked the same questions in the same words.
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    columns = {name: [doc[name] for doc in docs] for name in docs[0]}
    # With a fingerprint given, datasets does not pickle and hash the whole table to find one.
    return Dataset(
        InMemoryTable.from_pydict(columns),
        info=DatasetInfo(description=json.dumps({"hash": digest[:16], **facts})),
        fingerprint=digest[:32],
    )

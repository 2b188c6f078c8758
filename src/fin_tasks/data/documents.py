"""The documents of a benchmark as the data set that a harness loads."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["dataset_of"]


def dataset_of(docs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> "Dataset":
    """Return documents as a data set whose `info.description` is the JSON of the facts with their hash as `hash`.

    There is at least one document, and all have the same keys. Equal facts mean equal documents.
    """
    from datasets import Dataset, DatasetInfo
    from datasets.table import InMemoryTable

    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    table = InMemoryTable.from_pydict({name: [doc[name] for doc in docs] for name in docs[0]})
    info = DatasetInfo(description=json.dumps({"hash": digest[:16], **facts}))
    return Dataset(table, info=info, fingerprint=digest[:32])  # with a fingerprint, the table is not hashed

"""Make the data set that a harness loads."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import fin_tasks
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset

_Row = TypeVar("_Row")


def refuse_typos(benchmark: str, given: Iterable[str], options: Sequence[str]) -> None:
    """Refuse misspelled metadata; keys unlike any option are the model's arguments, which lm-eval adds."""
    for name in given:
        near = get_close_matches(name.lower().replace("-", "_"), options, n=1, cutoff=0.81)
        if near and name not in options:
            raise ConfigError(
                f"{benchmark} metadata: expected a known option, got {name!r}. Did you mean {near[0]!r}?"
            )


def draw(
    benchmark: str, rows: Sequence[_Row], n: int | None, seed: int, id_of: Callable[[_Row], str]
) -> list[_Row]:
    """Return n random rows in the order of the file, all if None; only the seed and the ids decide which."""
    if n is not None and (type(n) is not int or n < 1):
        raise ConfigError(f"{benchmark} n: expected a whole number from 1, got {n!r}.")
    ranked = sorted(
        map(id_of, rows), key=lambda one: hashlib.sha256(f"{seed} {one}".encode()).digest()
    )
    kept = set(ranked[:n])
    return [row for row in rows if id_of(row) in kept]


def dataset_of(docs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> "Dataset":
    """Return documents as a data set whose `info.description` is the JSON of the facts with their hash as `hash`.

    There is at least one document, and all have the same keys. Our version and the number of rows are added to the
    facts. Equal facts mean equal documents.
    """
    from datasets import Dataset, DatasetInfo
    from datasets.table import InMemoryTable

    facts = {"fin_tasks": fin_tasks.__version__, "rows": len(docs), **facts}
    if facts.get("data", {}).get("origin") == "sample":
        facts["split"] = "sample"  # whatever split the rows stand for
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    table = InMemoryTable.from_pydict({name: [doc[name] for doc in docs] for name in docs[0]})
    info = DatasetInfo(description=json.dumps({"hash": digest[:16], **facts}))
    return Dataset(
        table, info=info, fingerprint=digest[:32]
    )  # with a fingerprint, the table is not hashed

"""Make the data set that a harness loads."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import fin_tasks
from fin_tasks.errors import ConfigError, DataError

from .locate import sha256_of

if TYPE_CHECKING:
    from datasets import Dataset

Documents: TypeAlias = "dict[str, Dataset]"
"""The documents that a harness loads, by split."""

IMAGE_MARK = "<image>\n"
"""Marks the place of a picture in a document's `prompt`."""

_Row = TypeVar("_Row")
_SHOWN_DIGITS = 16  # of a hash
_OPTIONS_OF_SOME = frozenset(
    (
        "anonymize",
        "arm",
        "blank_image",
        "chart",
        "corrections",
        "data_revision",
        "encoder",
        "frequency",
        "knowledge",
        "math_types",
        "mitigation",
        "mitigations",
        "picture",
        "protocol",
        "retrieval",
        "sample_n",
        "sample_seed",
        "sample_strata",
        "split",
        "statement",
        "statements",
        "style",
        "system_role",
        "variants",
        "windows_dir",
    )
)
"""Metadata that change what some benchmarks ask. Others refuse them, as they would have no effect."""


def refuse_typos(benchmark: str, names: Iterable[str], options: Sequence[str]) -> None:
    """Refuse misspelled metadata, options that other benchmarks alone have, and the old name of `sample_n`.

    lm-eval adds the arguments of the model to the metadata, so names that resemble no option are
    accepted. `seed` is accepted too: it may be an argument of the model.
    """
    for name in names:
        if name in options:
            continue
        if name in _OPTIONS_OF_SOME:
            raise ConfigError(
                f"{benchmark} metadata: expected no {name}, which this benchmark does not have. Leave "
                "it out, or run the tasks of other benchmarks apart."
            )
        if name == "n" and "sample_n" in options:
            raise ConfigError(
                f"{benchmark} metadata: expected sample_n for a random sample, got its old name n. "
                "Its seed is sample_seed."
            )
        spelled = name.lower().replace("-", "_")
        similar = get_close_matches(spelled, options, n=1, cutoff=0.81)
        if similar:
            raise ConfigError(
                f"{benchmark} metadata: expected a known option, got {name!r}. "
                f"Did you mean {similar[0]!r}?"
            )


def draw_rows(
    benchmark: str,
    rows: Sequence[_Row],
    n: int | str | None,
    seed: int,
    id_of: Callable[[_Row], str],
    strata: Mapping[str, str] | None = None,
) -> list[_Row]:
    """Return n random rows in the order of the file, all if None.

    Only the seed and the ids decide which rows are drawn. With strata by id, each stratum has its share of the draw,
    and each row the same chance.
    """
    if n is None:
        return list(rows)
    if type(n) is not int or n < 1 or type(seed) is not int:
        raise ConfigError(
            f"{benchmark} sample_n and sample_seed: expected whole numbers, the first from 1, "
            f"got {n!r} and {seed!r}."
        )

    def rank(row_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {row_id}".encode()).digest()

    ids = sorted(map(id_of, rows), key=rank)
    drawn_ids = set(ids[:n])
    if strata is not None:
        ids.sort(key=lambda row_id: strata.get(row_id, ""))
        drawn_ids = set(_every_few(ids, n, seed))
    return [row for row in rows if id_of(row) in drawn_ids]


def _every_few(ids: Sequence[str], n: int, seed: int) -> list[str]:
    """Return n ids at equal distances, from a random start: a systematic sample."""
    if n >= len(ids):
        return list(ids)
    digest = hashlib.sha256(f"{seed}".encode()).digest()
    start = int.from_bytes(digest[:4]) / 2**32
    return [ids[int((start + number) * len(ids) / n)] for number in range(n)]


def in_users_turn(doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with its system message on the lines before the question, behind a picture."""
    question = doc["prompt"]
    while question.startswith(IMAGE_MARK):
        question = question.removeprefix(IMAGE_MARK)
    marks = doc["prompt"].removesuffix(question)
    texts = [doc.get("system"), question]
    return {**doc, "system": "", "prompt": marks + "\n".join(filter(None, texts))}


def prompt_parts(prompt: str, pictures: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parts of a prompt, each `image` and its file or `text` and the text.

    Pictures without a mark in the prompt stand first.
    """
    texts = prompt.split(IMAGE_MARK)
    n_unmarked = max(0, len(pictures) - len(texts) + 1)
    parts = [("image", file) for file in pictures[:n_unmarked]]
    parts.append(("text", texts[0]))
    for file, text in zip_longest(pictures[n_unmarked:], texts[1:], fillvalue=""):
        parts += [("image", file), ("text", text)]
    return [(kind, value) for kind, value in parts if value]


def dataset_of(
    docs: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
) -> "Dataset":
    """Return documents as a data set whose `info.description` is the JSON of the facts.

    There is at least one document. A field that some documents lack is None in these. Our version, the number of
    rows and the hash of all facts, as `hash`, are added. Equal facts mean equal documents. The split is
    called `sample` or `own` if the files are not the authors'.
    """
    from datasets import Dataset, DatasetInfo
    from datasets.table import InMemoryTable
    from pyarrow import ArrowException

    facts = {"fin_tasks": fin_tasks.__version__, "rows": len(docs), **facts}
    data = facts.get("data", {})
    if data.get("origin") == "sample":
        facts["split"] = "sample"  # whatever split the rows stand for
    elif data.get("is_own"):
        facts["split"] = "own"
    text = json.dumps(facts, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    names = dict.fromkeys(chain.from_iterable(docs))
    columns = {name: [doc.get(name) for doc in docs] for name in names}
    description = json.dumps({"hash": digest[:_SHOWN_DIGITS], **facts})
    try:
        table = InMemoryTable.from_pydict(columns)
    except ArrowException as error:
        raise DataError(
            f"documents: expected values of one type in each field, such as texts, got: {error}."
        ) from error
    return Dataset(
        table,
        info=DatasetInfo(description=description),
        fingerprint=digest[:32],  # saves hashing the table
    )


def hash_of(*parts: Any) -> str:
    """Return the SHA-256 of texts, or of lists of texts, for the provenance."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def documents_of_file(
    docs: Sequence[Mapping[str, Any]], file: Path, *, split: str = "test"
) -> Documents:
    """Return documents that a benchmark made of a file of its own package, as lm-eval loads them."""
    data = {"origin": "package", "revision": sha256_of(file)[:_SHOWN_DIGITS]}
    pictures: list[str] = []
    for doc in docs:
        pictures += doc.get("image_paths") or filter(None, [doc.get("image_path")])
    if pictures:
        hashes = [sha256_of(Path(picture)) for picture in pictures]
        data["pictures"] = hash_of(hashes)[:_SHOWN_DIGITS]
    return {"test": dataset_of(docs, {"split": split, "data": data})}


def fill_fields(template: str, **fields: str) -> str:
    """Put texts in place of the fields in braces; other braces stay, as LaTeX has many."""
    # No str.format: a question that contains "{choices}" must stay as it is.
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), template)

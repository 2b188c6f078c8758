"""Have a model label calculations with mathematical types, as the paper does (long version, G.2.4)."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from fin_tasks.answers.text import strip_reasoning
from fin_tasks.data.documents import fill_fields, hash_of
from fin_tasks.data.locate import write_file
from fin_tasks.endpoints.chat import ChatClient, ask_all
from fin_tasks.errors import DataError

from ..request import MARKER, Request
from .rows import SPLITS, Row, parse_truth, read_rows

PRINTED = {
    "arithmetic": 80.8,
    "statistical": 77.9,
    "algebraic": 5.3,
    "numeric_commonsense": 10.8,
    "logical": 23.6,
}
"""The shares of Table 5 of the long version, in percent of its calculations."""
_MOST = 2
"""Types of a question."""
_OPTIONS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 1024}
_TEXTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
ALL_TYPES: Sequence[str] = tuple(_TEXTS["types"])


@dataclass(frozen=True)
class Labels:
    """The types of calculations, and what could not be read."""

    types_by_id: dict[str, list[str]]
    unread: dict[str, str]
    """The end of each reply that names no type, or more than two, by question."""
    n_asked: int
    facts: dict[str, Any]
    """Model and wording."""

    def shares(self) -> dict[str, float]:
        """Return the share of labeled questions with each type, in percent."""
        counts = Counter(name for names in self.types_by_id.values() for name in names)
        n = len(self.types_by_id)
        return {name: 100 * counts[name] / n if n else 0.0 for name in ALL_TYPES}


def read_calculations(
    split: str,
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    limit: int | None = None,
) -> list[Row]:
    """Return the calculations of a split that have a truth, or the first ones up to a limit."""
    metadata = {"source": source, "data_dir": data_dir}
    request = Request.of("xfinbench", metadata, split=split)
    table = SPLITS["validation" if source == "sample" else split]
    rows = []
    for row in read_rows(request.locate([table]).files[table]):
        is_usable = row.task == "calcu" and not row.flaw
        if is_usable and parse_truth("calcu", row.ground_truth).value is not None:
            rows.append(row)
    if not rows:
        raise DataError(f"{table}: expected calculations with a truth, found none.")
    return rows[:limit]


async def label_types(
    rows: Sequence[Row], chat: ChatClient, *, ask_again: bool = False
) -> Labels:
    """Ask a model for the types of each question. Replies are kept on disk, so a second run asks only for the others.

    `ask_again` asks once more where an earlier reply could not be read.
    """

    async def label(row: Row) -> tuple[list[str], str]:
        messages = [{"role": "user", "content": prompt_of(row)}]
        reply = await chat.ask(messages, **_OPTIONS)
        types = types_in(reply.text)
        if not types and ask_again and reply.cached:
            reply = await chat.ask(messages, fresh=True, **_OPTIONS)
            types = types_in(reply.text)
        return types, reply.text

    replies = await ask_all(label, rows, title="Labeling calculations")
    types_by_id = {}
    unread = {}
    for row, (types, text) in zip(rows, replies, strict=True):
        if types:
            types_by_id[row.id] = types
        else:
            unread[row.id] = " ".join(text.split())[-80:]
    facts = {"model": chat.endpoint.model, "prompt_sha256": hash_of(_TEXTS)}
    return Labels(types_by_id, unread, len(rows), facts)


def prompt_of(row: Row) -> str:
    """Return what the model is asked about a question."""
    described = []
    for number, (name, text) in enumerate(_TEXTS["types"].items(), start=1):
        described.append(f"{number}. {_words_of(name)}: {text}")
    return fill_fields(
        _TEXTS["prompt"],
        types="\n".join(described),
        question=row.question.strip(),
        answer=row.ground_truth.strip(),
    )


def types_in(reply: str) -> list[str]:
    """Return the types that stand behind the last marker of a reply, in their usual order.

    The list is empty if there is none, or if there are more than two.

    >>> types_in("Sums. Therefore, my answer is Arithmetic reasoning, logical.")
    ['logical', 'arithmetic']
    """
    _, marker, answer = strip_reasoning(reply).rpartition(MARKER)
    paragraph = answer.partition("\n\n")[0]
    words = re.sub(r"[\W_]+", " ", paragraph).lower()
    names = [name for name in ALL_TYPES if f" {_words_of(name)} " in f" {words} "]
    if not marker or len(names) > _MOST:
        return []
    return names


def write_types(labels: Labels, file: Path) -> None:
    """Write the labels as the CSV file that the metadata `math_types` names."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "math_types"])
    for question_id, types in labels.types_by_id.items():
        writer.writerow([question_id, ";".join(types)])
    write_file(file, text.getvalue().encode())


def _words_of(name: str) -> str:
    return name.replace("_", " ")

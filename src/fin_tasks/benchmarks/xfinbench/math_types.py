"""Mathematical types of calculations, of which a model names at most two for each question."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.benchmarks.xfinbench.prompts import Templates
from fin_tasks.data.tables import read_csv
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.threads import map_in_threads
from fin_tasks.errors import DataError

MATH_TYPES: Mapping[str, str] = {
    "arithmetic": "arithmetic",
    "statistical": "statistic",
    "algebraic": "algebra",
    "numeric_commonsense": "numeric|commonsense",
    "logical": "logic",
    "geometry": "geometr",
    "scientific": "scien",
}
"""The seven types, each with how its name begins in a reply."""
PUBLISHED: Mapping[str, float] = dict(
    zip(MATH_TYPES, (0.808, 0.779, 0.053, 0.108, 0.236), strict=False)
)
"""The five types of the paper's tables, each with the share of calculations that need it."""


def read_types(reply: str) -> tuple[list[str], str]:
    """Return the types that a reply names behind the last marker; if there are none, also the reason."""
    _, marker, behind = reply.rpartition(MARKER)
    if not marker:
        return [], "no marker"
    listed = re.sub(r"^\s*\d+[.)]\s*", "", behind.strip(" :*\n"), flags=re.MULTILINE)
    sentence = re.sub(r":[^\n]*|\([^)]*\)", "", re.split(r"\.(?:\W|$)|\n\s*\n", listed)[0])
    found: list[str] = []
    for item in filter(re.compile("[a-z]").search, re.split(r"[,;/&\n]|\band\b", sentence.lower())):
        named = [name for name, words in MATH_TYPES.items() if re.search(rf"\b(?:{words})", item)]
        if not named:
            return [], f"unknown type {item.strip()!r}"
        found += [name for name in named if name not in found]
    return (found, "") if 0 < len(found) <= 2 else ([], f"{len(found) or 'no'} types")


def label_rows(
    rows: Sequence[Mapping[str, Any]], chat: Chat, prompts: Templates
) -> list[dict[str, str]]:
    """Ask a model about calculations; return the `id` of each, its `math_types`, and the `reason` if it has none."""

    def label(row: Mapping[str, Any]) -> dict[str, str]:
        text = prompts.fill("math_types", question=row["question"], answer=row["ground_truth"])
        reply = chat.ask([{"role": "user", "content": text}], temperature=0.0, max_tokens=2048)
        named, reason = read_types(reply.text)
        return {"id": row["id"], "math_types": ";".join(named), "reason": reason}

    return map_in_threads(label, rows, chats=[chat], n_threads=16, title="Labeling")


def read_labels(path: Path, ids: Collection[str]) -> dict[str, list[str]]:
    """Read the types of some of these questions from a CSV file with the columns `id` and `math_types`."""
    labels: dict[str, list[str]] = {}
    for record in read_csv(path, ("id", "math_types")):
        named = [name for name in map(str.strip, record.cells["math_types"].split(";")) if name]
        if unknown := sorted(set(named) - MATH_TYPES.keys()):
            expected = f"types of {', '.join(MATH_TYPES)}, separated by `;`"
            raise DataError(f"{path}, line {record.line}: expected {expected}, got {unknown[0]!r}.")
        labels[record.cells["id"].strip()] = named
    if not any(labels.get(one) for one in ids):
        raise DataError(
            f"{path}: expected types of the questions that are asked, got none. Is it for another split?"
        )
    return labels

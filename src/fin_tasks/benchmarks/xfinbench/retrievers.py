"""Measure how often a retriever finds a term that helps with a question, by task and capability."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fin_tasks.errors import DataError

from ..request import Request
from .rows import BANK, CAPABILITIES, SPLITS, Row, read_rows
from .terms import find_terms, read_terms

Method = Literal["bm25", "dense"]

_TEXT_TASKS = {"bool": "bool", "mcq": "mcq", "calcu": "calc"}
"""The name that the papers print for each task, without questions that show a figure."""
_VISUAL = "mcq_visual"
_PRINTED_CONDITIONS: dict[Method, str] = {"bm25": "bm25", "dense": "ada"}
_METRIC = "retriever_acc"


class Group(NamedTuple):
    """Questions that are counted together."""

    column: Literal["task", "capability"]
    name: str
    """A task, a capability, or `all` for all questions without a figure."""


@dataclass(frozen=True)
class Accuracy:
    """The share of questions for which a retriever finds at least one gold term."""

    column: str
    name: str
    n: int
    accuracy: float
    """In percent."""
    printed: float | None
    """What the papers print for the test set; `dense` stands beside text-embedding-ada-002."""


@dataclass(frozen=True)
class RetrieverResult:
    """A retriever on the questions of a split."""

    method: Method
    accuracies: list[Accuracy]
    terms_per_question: float
    """Ties bring more terms than asked for."""
    provenance: dict[str, Any]


@dataclass(frozen=True)
class GoldTerms:
    """The questions of a split whose gold terms are in the knowledge bank, and how many others there are."""

    split: str
    rows: list[Row]
    bank: Path
    left_out: dict[str, int]
    """How many rows cannot be asked or name no gold term, by the reason."""
    n_without_bank: int
    """How many of `rows` name only terms that the bank lacks. No retriever can find these."""


def read_gold_terms(
    split: str,
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    bank: Path | None = None,
) -> GoldTerms:
    """Read the questions that name gold terms; the bank is by default the authors', beside the questions."""
    request = Request.of(
        "xfinbench", {"source": source, "data_dir": data_dir}, split=split
    )
    table = SPLITS["validation" if source == "sample" else split]
    files = request.locate([table])
    path = bank or files.with_files([BANK]).files[BANK]
    known_ids = read_terms(path).keys()
    rows = []
    left_out: dict[str, int] = {}
    n_without_bank = 0
    for row in read_rows(files.files[table]):
        flaw = row.flaw or ("" if row.gold_terms else "no-gold-term")
        if flaw:
            left_out[flaw] = left_out.get(flaw, 0) + 1
            continue
        rows.append(row)
        n_without_bank += known_ids.isdisjoint(row.gold_terms)
    if n_without_bank == len(rows):
        raise DataError(
            f"{path}: expected the gold terms that {files.files[table]} names in the column "
            "gold_fin_term_id, found none of them. Take the bank of these questions."
        )
    split_name = "sample" if source == "sample" else split
    return GoldTerms(split_name, rows, path, left_out, n_without_bank)


def measure_retriever(
    questions: GoldTerms, method: Method, *, top_k: int = 3, encoder: str | None = None
) -> RetrieverResult:
    """Retrieve terms for all questions, and count those with a gold term among them."""
    rows = questions.rows
    terms_of_rows, provenance = find_terms(
        rows, questions.bank, method, top_k=top_k, encoder=encoder
    )
    is_found = []
    for row, terms in zip(rows, terms_of_rows, strict=True):
        found_ids = {term.id for term in terms}
        is_found.append(not found_ids.isdisjoint(row.gold_terms))
    n_terms = sum(map(len, terms_of_rows))
    accuracies = list(_accuracies(rows, is_found, _printed_values(method)))
    return RetrieverResult(method, accuracies, n_terms / len(rows), provenance)


def _accuracies(
    rows: Sequence[Row], is_found: Sequence[bool], printed: dict[str, float]
) -> Iterator[Accuracy]:
    """Yield the accuracy in each group that has questions: tasks, all of them, capabilities."""
    groups_of_rows = [set(_groups_of(row)) for row in rows]
    names = [*_TEXT_TASKS.values(), "all", _VISUAL]
    groups = [Group("task", name) for name in names]
    groups += [Group("capability", name) for name in CAPABILITIES]
    for group in groups:
        outcomes = []
        for groups_of_row, outcome in zip(groups_of_rows, is_found, strict=True):
            if group in groups_of_row:
                outcomes.append(outcome)
        if outcomes:
            share = 100 * sum(outcomes) / len(outcomes)
            value = printed.get(group.name)
            yield Accuracy(*group, n=len(outcomes), accuracy=share, printed=value)


def _groups_of(row: Row) -> Iterator[Group]:
    """Yield the groups that a question counts in.

    Questions with a figure have a group of their own, because the printed values fit only the others.
    """
    if row.figure:
        yield Group("task", _VISUAL)
        return
    yield Group("task", _TEXT_TASKS[row.task])
    yield Group("task", "all")
    for capability in row.capabilities:
        yield Group("capability", capability)


def _printed_values(method: Method) -> dict[str, float]:
    """Return what the papers print for a method, by task; both papers print the same values."""
    text = Path(__file__).with_name("published.csv").read_text("utf-8")
    values = {}
    for row in csv.DictReader(text.splitlines()):
        is_asked = row["condition"] == _PRINTED_CONDITIONS[method]
        if row["metric"] == _METRIC and is_asked:
            values[row["task"]] = float(row["value"])
    return values

"""How often retrievers find the terms the annotators named: `fin-tasks retrieval-report`.

Every question with a gold term counts, whether or not its figure exists: retrieval sees the text alone. A question
without a gold term, or with one that the bank lacks, has nothing to be measured by and is left out with its reason.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.benchmarks.xfinbench.augmentation import Options, searching
from fin_tasks.benchmarks.xfinbench.files import Files
from fin_tasks.benchmarks.xfinbench.knowledge import Bank, knowledge_bank
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.rows import Row, read_rows
from fin_tasks.benchmarks.xfinbench.truths import TASKS
from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.measures import accuracy, ndcg_at_k, recall_at_k, reciprocal_rank
from fin_tasks.retrieval.retriever import RETRIEVERS
from fin_tasks.settings import Settings
from fin_tasks.stats.intervals import wilson

__all__ = ["RetrievalReport", "RetrieverReport", "Search", "report_retrieval"]


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a retriever found for one question.

    Attributes:
        row: The question.
        found: Ids and scores of the terms it gets, the best first; more than `top_k` under the paper's rule for ties.
        rank: Place of the first gold term among all terms, from 1; None where the retriever ranks none of them.
        accuracy: 1 if a gold term was found, else 0.
        recall: Share of the gold terms among the first `top_k`.
        ndcg: Normalised discounted cumulative gain of the first `top_k`.
    """

    row: Row
    found: tuple[tuple[str, float], ...]
    rank: int | None
    accuracy: float
    recall: float
    ndcg: float


@dataclass(frozen=True, kw_only=True)
class RetrieverReport:
    """One retriever.

    Attributes:
        name: One of `RETRIEVERS`.
        facts: What decides its scores.
        searches: One per question that counts, in the file's order.
    """

    name: str
    facts: Mapping[str, Any]
    searches: tuple[Search, ...]

    def summary(self) -> dict[str, Any]:
        """Return the measures overall, without figure questions, by task and by capability.

        A question counts in each capability it names. The published accuracies over all tasks follow from those by
        task only where the 124 figure questions are left aside, so that part stands on its own.
        """
        return {
            "retriever": self.name,
            **_means(self.searches),
            "without_figure": _means(s for s in self.searches if s.row.figure is None),
            "by_task": {task: _means(s for s in self.searches if s.row.task == task) for task in TASKS},
            "by_capability": {
                code: _means(s for s in self.searches if code in s.row.capabilities) for code in CAPABILITIES
            },
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, kw_only=True)
class RetrievalReport:
    """All retrievers on the same questions.

    Attributes:
        files: Where questions and bank come from.
        options: How was retrieved.
        bank: The terms.
        left_out: Reason to the rows that do not count: a kind of defect, `no-gold-term`, `gold-term-not-in-bank`.
        retrievers: One report each.
        not_run: Retriever to why it could not be run here.
    """

    files: Files
    options: Options
    bank: Bank
    left_out: Mapping[str, tuple[Row, ...]]
    retrievers: tuple[RetrieverReport, ...]
    not_run: Mapping[str, str]

    def summary(self) -> dict[str, Any]:
        """Return the report as one JSON-compatible object; shares are fractions of 1, None where nothing counts."""
        left_out = {reason: len(rows) for reason, rows in self.left_out.items()}
        retrievers = [report.summary() for report in self.retrievers]
        return {
            "split": self.files.split,
            "origin": self.files.origin,
            "top_k": self.options.top_k,
            "ties": self.options.ties,
            "bank": self.bank.facts,
            "retrievers": [{"retriever": each["retriever"], "left_out": left_out, **each} for each in retrievers],
            "not_run": dict(self.not_run),
        }

    def parts(self) -> Iterator[dict[str, Any]]:
        """Yield one flat object per retriever and part of the questions, with `retriever`, `grouping` and `group`.

        `grouping` is `all`, `without_figure`, `task` or `capability`; `group` is empty for the first two.
        """
        for each in self.summary()["retrievers"]:
            parts = {("all", ""): {name: each[name] for name in each["without_figure"]}}
            parts[("without_figure", "")] = each["without_figure"]
            parts |= {("task", task): part for task, part in each["by_task"].items()}
            parts |= {("capability", code): part for code, part in each["by_capability"].items()}
            for (grouping, group), part in parts.items():
                yield {"retriever": each["retriever"], "grouping": grouping, "group": group, **part}

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield one JSON-compatible object per retriever and row; rows left out come last, with their reason."""
        for report in self.retrievers:
            for search in report.searches:
                yield {
                    **_row_item(report.name, search.row),
                    "retrieved": [{"id": term, "score": score} for term, score in search.found],
                    "rank": search.rank,
                    "accuracy": search.accuracy,
                    "recall_at_k": search.recall,
                    "ndcg_at_k": search.ndcg,
                    "left_out": None,
                }
            for reason, rows in self.left_out.items():
                for row in rows:
                    yield {**_row_item(report.name, row), "left_out": reason}


def report_retrieval(
    files: Files, *, retrievers: Sequence[str] = (), options: Options, settings: Settings
) -> RetrievalReport:
    """Search the knowledge bank for every question and compare with the gold terms.

    Args:
        files: From `files.locate`.
        retrievers: Which of `RETRIEVERS`; where none is named all that work here, `not_run` says why others do not.
        options: How to retrieve.
        settings: Where caches are and how endpoints are reached.

    Raises:
        ConfigError: No such retriever, or one that was asked for cannot be run.
        FetchError: The bank cannot be downloaded.
        DataError: The bank is not there or broken.
        EndpointError: The encoder is behind an address that does not answer.
    """
    for name in retrievers:
        if name not in RETRIEVERS:
            raise ConfigError(f"retriever: expected one of {', '.join(RETRIEVERS)}, got {name!r}.")
    bank = knowledge_bank(files)
    counted, left_out = _countable(read_rows(files, fetch_figures=False).rows, bank)
    reports: list[RetrieverReport] = []
    not_run: dict[str, str] = {}
    for name in dict.fromkeys(retrievers or RETRIEVERS):
        try:
            reports.append(_run(name, counted, bank, options, settings))
        except ConfigError as error:
            if retrievers or options.encoder is not None:
                raise
            not_run[name] = str(error)
    return RetrievalReport(
        files=files, options=options, bank=bank, left_out=left_out, retrievers=tuple(reports), not_run=not_run
    )


def _countable(rows: Iterable[Row], bank: Bank) -> tuple[tuple[Row, ...], dict[str, tuple[Row, ...]]]:
    counted: list[Row] = []
    left_out: dict[str, list[Row]] = {"no-gold-term": [], "gold-term-not-in-bank": []}
    for row in rows:
        if row.left_out:
            left_out.setdefault(row.left_out, []).append(row)
        elif not row.gold_terms:
            left_out["no-gold-term"].append(row)
        elif any(term not in bank.by_id for term in row.gold_terms):
            left_out["gold-term-not-in-bank"].append(row)
        else:
            counted.append(row)
    return tuple(counted), {reason: tuple(there) for reason, there in left_out.items()}


def _run(name: str, rows: Sequence[Row], bank: Bank, options: Options, settings: Settings) -> RetrieverReport:
    from fin_tasks.retrieval.ranking import best, order  # numpy, which `--help` has no use for

    places = {term.id: place for place, term in enumerate(bank.terms)}
    searches: list[Search] = []
    with searching(name, bank.texts, options=options, settings=settings) as retriever:
        for row, scores in zip(rows, retriever.scores([row.question for row in rows]), strict=True):
            gold = [places[term] for term in row.gold_terms]
            hits = best(scores, top_k=options.top_k, ties=options.ties, absent=retriever.absent)
            ranked = order(scores, absent=retriever.absent)
            closeness = reciprocal_rank(ranked, gold)
            searches.append(
                Search(
                    row=row,
                    found=tuple((bank.terms[hit.index].id, hit.score) for hit in hits),
                    rank=round(1 / closeness) if closeness else None,
                    accuracy=accuracy([hit.index for hit in hits], gold),
                    recall=recall_at_k(ranked, gold, k=options.top_k),
                    ndcg=ndcg_at_k(ranked, gold, k=options.top_k),
                )
            )
        return RetrieverReport(name=name, facts=dict(retriever.facts), searches=tuple(searches))


def _means(searches: Iterable[Search]) -> dict[str, Any]:
    of = tuple(searches)
    hits = sum(search.accuracy == 1 for search in of)
    interval = wilson(hits, len(of))

    def mean(value: Callable[[Search], float]) -> float | None:
        return math.fsum(map(value, of)) / len(of) if of else None

    return {
        "n": len(of),
        "accuracy": mean(lambda search: search.accuracy),
        "accuracy_low": interval.low if of else None,
        "accuracy_high": interval.high if of else None,
        "recall_at_k": mean(lambda search: search.recall),
        "mrr": mean(lambda search: 1 / search.rank if search.rank else 0.0),
        "ndcg_at_k": mean(lambda search: search.ndcg),
        "mean_terms": mean(lambda search: len(search.found)),
    }


def _row_item(retriever: str, row: Row) -> dict[str, Any]:
    return {
        "retriever": retriever,
        "id": row.id,
        "task": row.task,
        "capabilities": list(row.capabilities),
        "gold": list(row.gold_terms),
    }

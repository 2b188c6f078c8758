"""Which finance terms each question gets: none, those a retriever finds, or those the annotators named.

A retriever searches the terms' names and definitions for the question's text alone, as the paper does: choices are
what the model has to judge, and for calculation there are none. What was found depends on nothing but the question,
the bank and the options, so a question gets the same terms in every task and mode that asks it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.xfinbench.knowledge import Bank, Term
from fin_tasks.benchmarks.xfinbench.rows import Row
from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.retriever import RETRIEVERS, Retriever, open_retriever
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from tqdm import tqdm

    from fin_tasks.retrieval.ranking import Hit

__all__ = ["CONDITIONS", "Augmentation", "Options", "Shown", "augment", "searching"]

CONDITIONS = ("none", *RETRIEVERS, "oracle")
"""What a task puts before its questions. `oracle` are the terms the annotators gave a question."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How terms are retrieved. One set serves all tasks of a run; a condition leaves alone what it has no use for.

    Attributes:
        top_k: Terms for a question.
        ties: `paper` keeps every term that scores as much as the last of the `top_k`; `strict` keeps `top_k`.
        tokeniser: Of BM25: `whitespace`, as in the paper, or `english`.
        encoder: Of dense retrieval, see `retrieval.encoders.open_encoder`; the packaged one where None.

    Raises:
        ConfigError: A value does not exist, whether or not the condition has a use for it.
    """

    top_k: int = 3
    ties: str = "paper"
    tokeniser: str = "whitespace"
    encoder: str | None = None

    def __post_init__(self) -> None:
        from fin_tasks.retrieval.ranking import TIES
        from fin_tasks.retrieval.tokens import TOKENISERS

        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1:
            raise ConfigError(f"xfinbench top_k: expected a whole number of 1 or more, got {self.top_k!r}.")
        for name, value, allowed in (("ties", self.ties, TIES), ("tokeniser", self.tokeniser, TOKENISERS)):
            if value not in tuple(allowed):
                raise ConfigError(f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}.")
        if self.encoder is not None and (not isinstance(self.encoder, str) or not self.encoder):
            raise ConfigError(f"xfinbench encoder: expected the name of an encoder, got {self.encoder!r}.")


@dataclass(frozen=True)
class Shown:
    """A term a question gets, with the score that brought it there; None where nobody scored it."""

    term: Term
    score: float | None


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """The terms of each question.

    Attributes:
        shown: For each row, in the rows' order, its terms, the best first.
        facts: What decided that, JSON-compatible, for the provenance.
        without: Ids of the rows that get no term and are asked without.
        more: Ids of the rows that get more than `top_k` terms, as scores tie; none for `oracle`.
        gold_missing: Row to those of its gold terms that the bank lacks; `oracle` only.
    """

    shown: tuple[tuple[Shown, ...], ...]
    facts: dict[str, Any]
    without: tuple[str, ...]
    more: tuple[str, ...]
    gold_missing: dict[str, tuple[str, ...]]


def augment(rows: Sequence[Row], bank: Bank, *, condition: str, options: Options, settings: Settings) -> Augmentation:
    """Choose the terms of every question.

    Args:
        rows: The questions.
        bank: The terms there are.
        condition: One of `CONDITIONS` but `none`.
        options: How to retrieve; `oracle` has no use for it.
        settings: Where caches are and how endpoints are reached.

    Raises:
        ConfigError: No such encoder, or a package it needs is missing.
        EndpointError: The encoder is behind an address that does not answer.
    """
    missing: dict[str, tuple[str, ...]] = {}
    more: tuple[str, ...] = ()
    if condition == "oracle":
        shown, missing = _gold(rows, bank)
        facts: dict[str, Any] = {"gold_missing": missing}
    else:
        queries = tuple(row.question for row in rows)
        retriever, hits = _retrieve(condition, bank.texts, queries, options, settings)
        shown = tuple(tuple(Shown(bank.terms[hit.index], hit.score) for hit in found) for found in hits)
        more = tuple(row.id for row, terms in zip(rows, shown, strict=True) if len(terms) > options.top_k)
        facts = {"top_k": options.top_k, "ties": options.ties, "retriever": retriever, "rows_with_more_terms": more}
    without = tuple(row.id for row, terms in zip(rows, shown, strict=True) if not terms)
    facts = {"condition": condition, "bank": bank.facts, **facts, "rows_without_terms": without}
    return Augmentation(shown=shown, facts=facts, without=without, more=more, gold_missing=missing)


@contextmanager
def searching(name: str, texts: tuple[str, ...], *, options: Options, settings: Settings) -> Iterator[Retriever]:
    """Give the retriever of a collection, the same one each time; it counts what it embeds on stderr, on a terminal.

    Raises:
        ConfigError: No such retriever or encoder, or a package is missing.
        EndpointError: The encoder is behind an address that does not answer.
    """
    retriever, counter = _index(name, texts, options.tokeniser, options.encoder, settings)
    try:
        yield retriever
    finally:
        counter.close()


class _Counter:
    """A progress bar that appears with the first text embedded, so that none is drawn where all were known."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __call__(self, more: int) -> None:
        from tqdm import tqdm

        if self._bar is None:  # a bar without a total has no truth value
            self._bar = tqdm(desc="Embedding", unit="text", disable=None)
        self._bar.update(more)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None


@lru_cache(maxsize=4)
def _index(
    name: str, texts: tuple[str, ...], tokeniser: str, encoder: str | None, settings: Settings
) -> tuple[Retriever, _Counter]:
    # The tasks of a group search the same bank.
    counter = _Counter()
    try:
        retriever = open_retriever(
            name, texts, tokeniser=tokeniser, encoder=encoder, settings=settings, on_done=counter
        )
    finally:
        counter.close()
    return retriever, counter


@lru_cache(maxsize=8)
def _retrieve(
    name: str, texts: tuple[str, ...], queries: tuple[str, ...], options: Options, settings: Settings
) -> "tuple[dict[str, Any], tuple[tuple[Hit, ...], ...]]":
    # The calculation tasks ask the same questions in three modes.
    from fin_tasks.retrieval.ranking import best

    with searching(name, texts, options=options, settings=settings) as retriever:
        hits = tuple(
            tuple(best(scores, top_k=options.top_k, ties=options.ties, absent=retriever.absent))
            for scores in retriever.scores(queries)
        )
        return dict(retriever.facts), hits


def _gold(rows: Sequence[Row], bank: Bank) -> tuple[tuple[tuple[Shown, ...], ...], dict[str, tuple[str, ...]]]:
    shown = tuple(tuple(Shown(bank.by_id[term], None) for term in row.gold_terms if term in bank.by_id) for row in rows)
    missing = {row.id: tuple(term for term in row.gold_terms if term not in bank.by_id) for row in rows}
    return shown, {row: terms for row, terms in missing.items() if terms}

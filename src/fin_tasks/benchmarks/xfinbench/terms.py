"""The finance terms before a question: the right ones, or those that retrieval found."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.data.locate import sha256_of
from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError
from fin_tasks.retrieval.search import retrieve, retriever_provenance
from fin_tasks.settings import Settings

from .rows import Row

_COLUMNS = ("id", "term_name", "term_definition")


class Term(NamedTuple):
    """A term of the knowledge bank; it has a score if retrieval found it."""

    id: str
    name: str
    definition: str
    score: float | None = None

    @property
    def text(self) -> str:
        """What a model is shown."""
        return ": ".join(filter(None, (self.name, self.definition)))


def find_terms(
    rows: Sequence[Row],
    bank: Path,
    condition: str,
    *,
    top_k: int,
    encoder: str | None,
) -> tuple[list[list[Term]], dict[str, Any]]:
    """Return each row's terms, the best first, and the provenance; `retrieve` explains the options."""
    terms = read_terms(bank)
    facts: dict[str, Any] = {
        "condition": condition,
        "bank": {"n": len(terms), "sha256": sha256_of(bank)},
    }
    if condition == "oracle":
        return [_gold_terms(row, terms) for row in rows], facts
    candidates = list(terms.values())
    texts = [f"{term.name} {term.definition}" for term in candidates]
    questions = [row.question for row in rows]
    if condition == "dense":
        texts = list(map(_on_one_line, texts))
        questions = list(map(_on_one_line, questions))
    results = retrieve(
        texts,
        questions,
        method=condition,
        top_k=top_k,
        encoder=encoder,
        settings=Settings.from_environ(),
    )
    terms_of_rows = []
    for hits in results:
        terms_of_rows.append(
            [candidates[hit.text_index]._replace(score=hit.score) for hit in hits]
        )
    facts["top_k"] = top_k
    facts["retriever"] = retriever_provenance(condition, encoder=encoder)
    return terms_of_rows, facts


def read_terms(bank: Path) -> dict[str, Term]:
    """Read the terms of a knowledge bank by their ids; of several with one id the first counts."""
    terms: dict[str, Term] = {}
    for record in read_table(bank, _COLUMNS):
        term_id, name, definition = map(str.strip, itemgetter(*_COLUMNS)(record.cells))
        term = Term(term_id, name, definition)
        if term.id and term.text:
            terms.setdefault(term.id, term)
    if not terms:
        raise DataError(
            f"{bank}: expected finance terms with an id each, got none. Put the authors' file there."
        )
    return terms


def _gold_terms(row: Row, terms: Mapping[str, Term]) -> list[Term]:
    return [terms[term_id] for term_id in row.gold_terms if term_id in terms]


def _on_one_line(text: str) -> str:
    # The authors put a blank in place of each line break before they embed a text.
    return text.replace("\n", " ")

"""Finance terms before a question: those that retrieval finds, or the annotators' gold terms (`oracle`)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import DataError
from fin_tasks.retrieval.search import facts, retrieve
from fin_tasks.settings import Settings

__all__ = ["CONDITIONS", "Term", "find_terms"]

_COLUMNS = ("id", "term_name", "term_definition")
CONDITIONS = ("none", "bm25", "dense", "oracle")


class Term(NamedTuple):
    """A term of the knowledge bank; it has a score if retrieval found it."""

    id: str
    name: str
    definition: str
    score: float | None = None


def find_terms(
    rows: Sequence[Mapping[str, Any]], bank: Path, method: str, top_k: int, encoder: str | None, settings: Settings
) -> tuple[list[list[Term]], dict[str, Any]]:
    """Return each row's terms, the best first, and the provenance; see `retrieval.search.retrieve` for the options."""
    terms: dict[str, Term] = {}
    records = read_csv(bank, _COLUMNS).records
    for record in records:
        term_id, name, definition = (record.cells[column].strip() for column in _COLUMNS)
        if term_id and (name or definition):
            terms.setdefault(term_id, Term(term_id, name, definition))
    if not terms:
        raise DataError(f"{bank}: expected finance terms with an id each, got none. Put the authors' file there.")
    about_bank = {"n": len(terms), "left_out": len(records) - len(terms), "sha256": sha256_of(bank)}
    provenance: dict[str, Any] = {"condition": method, "bank": about_bank}
    if method == "oracle":
        missing = sum(term not in terms for row in rows for term in row["gold_terms"])
        found = [[terms[term] for term in row["gold_terms"] if term in terms] for row in rows]
        return found, {**provenance, "gold_missing": missing}
    known = list(terms.values())
    texts, questions = [f"{term.name} {term.definition}" for term in known], [row["question"] for row in rows]
    hits = retrieve(texts, questions, method=method, top_k=top_k, encoder=encoder, settings=settings)
    provenance |= {"top_k": top_k, "retriever": facts(method, encoder=encoder, settings=settings)}
    return [[known[place]._replace(score=score) for place, score in found] for found in hits], provenance

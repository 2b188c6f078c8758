"""Choose the finance terms that stand before a question: its gold terms, or those that retrieval finds."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.choices import lettered
from fin_tasks.data.locate import sha256_of
from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError
from fin_tasks.retrieval.search import retrieve, retriever_provenance
from fin_tasks.settings import Settings

from ..contract import Document
from ..request import Request
from .rows import BANK, COLUMNS, Row

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
        return [_gold_terms(row.gold_terms, terms) for row in rows], facts
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


def terms_for_people(
    docs: Sequence[Document], n_candidates: int, metadata: Mapping[str, Any]
) -> list[dict[str, list[dict[str, str]]]]:
    """Return the terms that people see beside each question: its gold terms, and those that BM25 finds.

    BM25 finds at most `n_candidates` terms; among equal ones the first in the bank count.
    """
    options = {name: metadata.get(name) for name in ("source", "data_dir")}
    options["source"] = options["source"] or "auto"
    files = Request.of("xfinbench", options, split="test").locate([BANK])
    terms = read_terms(files.files[BANK])
    candidates: list[list[Term]] = [[] for _ in docs]
    if n_candidates:
        rows = [
            Row(id=doc["id"], question=doc["question"], ground_truth="") for doc in docs
        ]
        candidates, _ = find_terms(
            rows, files.files[BANK], "bm25", top_k=n_candidates, encoder=None
        )
    texts = []
    for doc, terms_of_doc in zip(docs, candidates, strict=True):
        gold_terms = _gold_terms(doc.get("gold_terms") or (), terms)
        texts.append(
            {
                "shown_gold_terms": list(map(_fields_of, gold_terms)),
                "candidates": list(map(_fields_of, terms_of_doc[:n_candidates])),
            }
        )
    return texts


def rows_with_terms(
    docs: Sequence[Document], ids_of_terms: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return rows of XFinBench's file for questions with other gold terms."""
    rows = []
    for doc, ids in zip(docs, ids_of_terms, strict=True):
        cells = {
            "id": doc["id"],
            "task": doc["task"],
            "question": doc["question"],
            "choice": lettered(doc["choices"]) if doc["choices"] else "",
            "ground_truth": doc["ground_truth"],
            "figure": doc["figure"],
            "fin_capability": "; ".join(doc["capabilities"]),
            "gold_fin_term_id": ";".join(ids),
        }
        rows.append([cells[name] for name in COLUMNS])
    return rows


def _fields_of(term: Term) -> dict[str, str]:
    return {"id": term.id, "name": term.name, "definition": term.definition}


def _gold_terms(ids: Iterable[str], terms: Mapping[str, Term]) -> list[Term]:
    return [terms[term_id] for term_id in ids if term_id in terms]


def _on_one_line(text: str) -> str:
    # The authors put a blank in place of each line break before they embed a text.
    return text.replace("\n", " ")

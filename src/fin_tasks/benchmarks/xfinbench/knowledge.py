"""The knowledge bank: finance terms with definitions, some of which help with a question."""

from dataclasses import dataclass

from fin_tasks.benchmarks.xfinbench.files import KNOWLEDGE_BANK, Files
from fin_tasks.data.schema import read_csv
from fin_tasks.errors import DataError

__all__ = ["Term", "knowledge_bank"]


@dataclass(frozen=True, kw_only=True)
class Term:
    """One entry of the knowledge bank."""

    id: str
    name: str
    definition: str


def knowledge_bank(files: Files) -> tuple[Term, ...]:
    """Read the knowledge bank.

    Raises:
        FetchError: It cannot be downloaded.
        DataError: It is not there, cannot be read, lacks a column, or has an id twice or none.
    """
    path = files.require([KNOWLEDGE_BANK])[KNOWLEDGE_BANK]
    terms: dict[str, Term] = {}
    for record in read_csv(path, columns=("id", "term_name", "term_definition")).records:
        cells = record.cells
        term = Term(
            id=cells["id"].strip(), name=cells["term_name"].strip(), definition=cells["term_definition"].strip()
        )
        if not term.id or term.id in terms:
            raise DataError(
                f"{path}, line {record.line}: expected a term id of its own, got {term.id!r}. Fetch it again."
            )
        terms[term.id] = term
    return tuple(terms.values())

"""The knowledge bank: finance terms with definitions, some of which help with a question.

A row of the bank stays out only where it cannot be told from another one or says nothing: no id, an id that came
before, neither name nor definition. What stays out is a `Defect`, counted and named wherever the bank is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.xfinbench.files import KNOWLEDGE_BANK, Files
from fin_tasks.data.checksums import digest
from fin_tasks.data.schema import Defect, ids_by_kind, read_csv
from fin_tasks.errors import DataError

__all__ = ["Bank", "Term", "knowledge_bank"]


@dataclass(frozen=True, kw_only=True)
class Term:
    """One entry of the knowledge bank."""

    id: str
    name: str
    definition: str

    @property
    def text(self) -> str:
        """What a retriever searches: name and definition, with a space between.

        Example:
            >>> Term(id="term_1", name="Par value", definition="What a bond repays.").text
            'Par value What a bond repays.'
        """
        return f"{self.name} {self.definition}"


@dataclass(frozen=True, kw_only=True)
class Bank:
    """The bank as read.

    Attributes:
        terms: The terms, in the file's order, each with an id of its own.
        defects: Rows left out: `term-without-id`, `duplicate-term-id`, `empty-term`.
        sha256: Checksum of the file.
    """

    terms: tuple[Term, ...]
    defects: tuple[Defect, ...]
    sha256: str

    @cached_property
    def by_id(self) -> Mapping[str, Term]:
        """Id to term."""
        return {term.id: term for term in self.terms}

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts to search, in the order of `terms`."""
        return tuple(term.text for term in self.terms)

    @property
    def facts(self) -> dict[str, Any]:
        """What identifies it, JSON-compatible: terms, checksum, and the rows left out where there are any."""
        left_out = {kind: list(ids) for kind, ids in ids_by_kind(self.defects).items()}
        return {"n": len(self.terms), "sha256": self.sha256, **({"left_out": left_out} if left_out else {})}


def knowledge_bank(files: Files) -> Bank:
    """Read the knowledge bank, downloaded where the questions are.

    Raises:
        FetchError: It cannot be downloaded.
        DataError: It is not there, cannot be read, lacks a column, or has no term.
    """
    path = files.require([KNOWLEDGE_BANK])[KNOWLEDGE_BANK]
    stamp = path.stat()
    return _read(path, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=2)
def _read(path: Path, _mtime: int, _size: int) -> Bank:
    # The tasks of a group ask for the same file one after the other; a file that changed is read anew.
    terms: dict[str, Term] = {}
    defects: list[Defect] = []
    for record in read_csv(path, columns=("id", "term_name", "term_definition")).records:
        term_id, name, definition = (record.cells[column].strip() for column in ("id", "term_name", "term_definition"))
        if not term_id:
            defects.append(Defect("term-without-id", "", f"line {record.line}: {name!r}"))
        elif term_id in terms:
            defects.append(Defect("duplicate-term-id", term_id, f"line {record.line}: {name!r}"))
        elif not name and not definition:
            defects.append(Defect("empty-term", term_id, f"line {record.line}"))
        else:
            terms[term_id] = Term(id=term_id, name=name, definition=definition)
    if not terms:
        raise DataError(
            f"{path}: expected finance terms with an id each, got none (left out: "
            f"{ids_by_kind(defects) or 'nothing'}). Put the authors' file there."
        )
    return Bank(terms=tuple(terms.values()), defects=tuple(defects), sha256=digest(path).sha256)

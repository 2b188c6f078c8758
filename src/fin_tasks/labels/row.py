"""A row that people label: a question, and the response to it if a study is about responses."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ValidationError, model_validator

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import DataError, first_problem


class Row(BaseModel):
    """A row that people label."""

    id: str = ""
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    """What shares are broken down by: `task`, the benchmark's breakdowns, and `response`, which is right or wrong."""
    response: str = ""
    labels: dict[str, str | float] = {}
    """What was decided in an earlier round, by question."""

    @model_validator(mode="after")
    def _can_be_labelled(self) -> Self:
        choices = self.doc.get("choices") or []
        terms = self.doc.get("terms") or []
        if not self.facts.get("task") or not isinstance(choices, list):
            raise ValueError("expected facts with a task, and choices as a list")
        if not isinstance(terms, list) or not all(map(_is_term, terms)):
            raise ValueError("expected terms as a list of objects with a name")
        return self

    @property
    def kind(self) -> str:
        """The `task` of the document, such as `bool`; of a document without one, lm-eval's task."""
        return self.facts["task"][0]


def row_of(
    benchmark: Benchmark, task: str, doc_id: str, doc: Mapping[str, Any], where: str
) -> Row:
    """Return a document as a row; raise DataError, which names the place, if people cannot label it."""
    facts = {"task": [str(doc.get("task") or task)], **benchmark.groups_of(doc)}
    try:
        return Row(doc_id=doc_id, task=task, doc=dict(doc), facts=facts)
    except ValidationError as error:
        raise DataError(f"{where}: {first_problem(error)}.") from error


def _is_term(term: Any) -> bool:
    return isinstance(term, Mapping) and isinstance(term.get("name"), str)

"""Find the calculations that variants can be made of, with the programs of models that solved them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.programs import extract_program
from fin_tasks.variants.build import Source

from ..request import rows_of
from .rows import Row, parse_truth

_COPIED = {"task", "capabilities", "gold_terms", "has_table"}


class Solution(NamedTuple):
    """A response to a question."""

    place: str
    """Its file and line, for messages."""
    model: str
    doc: Mapping[str, Any]
    response: str
    is_right: bool


def sources_of(solutions: Iterable[Solution]) -> list[Source]:
    """Return the calculations that models were asked to solve by a program, with the right programs.

    The last right program of each model counts. Questions with a table are left out, because the table may
    hold a total that a variant would also have to change.
    """
    rows_by_id = {}
    programs_by_id: dict[str, dict[str, str]] = defaultdict(dict)
    for solution in solutions:
        (row,) = rows_of(Row, Path(solution.place), [solution.doc])
        is_program = solution.doc.get("mode") == "pot"
        if row.has_table or not row.question or not is_program:
            continue
        rows_by_id[row.id] = row
        if solution.is_right:
            program = extract_program(solution.response)
            programs_by_id[row.id][solution.model] = program or ""
    sources = []
    for row in rows_by_id.values():
        programs = list(programs_by_id[row.id].values())
        truth = parse_truth("calcu", row.ground_truth).value
        sources.append(
            Source(
                id=row.id,
                question=row.question,
                texts=(),
                texts_column="tables",
                program=programs[0] if programs else "",
                others=programs[1:],
                truth=float(truth or 0.0),
                fields=row.model_dump(include=_COPIED),
            )
        )
    return sources

"""Variants of calculations, by the programs of models that solved them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.request import rows_of
from fin_tasks.benchmarks.short_answers import programs
from fin_tasks.benchmarks.xfinbench.rows import Row
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.variants.build import Source


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

    Of each model one program counts. Questions with a table are left out, as a total may stand in it.
    """
    rows: dict[str, Row] = {}
    programs_by_id: dict[str, dict[str, str]] = {}
    for solution in solutions:
        if solution.doc.get("mode") != "pot":
            continue
        (row,) = rows_of(Row, Path(solution.place), [solution.doc])
        if row.has_table or not row.question:
            continue
        rows[row.id] = row
        right_programs = programs_by_id.setdefault(row.id, {})
        (program,) = programs(solution.doc, solution.response, variant="robust")
        if program and solution.is_right:
            right_programs[solution.model] = program
    sources = []
    for row_id, row in rows.items():
        own = list(programs_by_id[row_id].values())
        truth = parse_truth("calcu", row.ground_truth).value
        sources.append(
            Source(
                id=row.id,
                question=row.question,
                texts=(),
                texts_column="tables",
                program=own[0] if own else "",
                others=own[1:],
                truth=float(truth or 0.0),
                fields=row.model_dump(
                    include={"task", "capabilities", "gold_terms", "has_table"}
                ),
            )
        )
    return sources

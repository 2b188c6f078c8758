"""Choose the rows that a task asks: the usable ones, or a random sample of them."""

import logging
import re
from collections.abc import Mapping, Sequence
from itertools import product
from operator import attrgetter

from fin_tasks.benchmarks.request import Request
from fin_tasks.benchmarks.xfinbench.document import TASKS, Subset, Task
from fin_tasks.benchmarks.xfinbench.rows import Row, read_rows
from fin_tasks.data.documents import draw_rows
from fin_tasks.data.locate import Located
from fin_tasks.errors import DataError

STUDIES: Mapping[str, Mapping[Task, int]] = {
    "human": {"bool": 400, "mcq": 170, "calcu": 430},
    "sensitivity": {"bool": 180, "mcq": 67, "calcu": 253},
}
"""How many rows of the test set the studies of the paper asked; its figures fit no other numbers."""

_FIGURE_SUFFIXES = ("jpeg", "jpg", "png")
"""A figure with several files is the last one."""
_FIGURE_NAME = re.compile(r"[\w-]+")
_log = logging.getLogger(__name__)


def choose_rows(
    request: Request, files: Located, table: str, subset: Subset
) -> tuple[list[Row], Located, dict[str, list[str]]]:
    """Return the rows to ask, the files that they need, and the ids of unusable rows by their flaw.

    `sample_n` of the request is the size of a sample, or the name of a study. A study draws one
    sample from the choices with a figure and those without one.
    """
    task = TASKS[subset]
    study = STUDIES.get(str(request.sample_n))
    rows = [
        row
        for row in read_rows(files.files[table])
        if row.task == task or row.task not in TASKS.values()
    ]
    if subset == "mcq_visual" or (study and task == "mcq"):
        _find_figures(files, rows)
    own_rows = [row for row in rows if _is_own(row, subset)]
    left_out: dict[str, list[str]] = {}
    for row in own_rows:
        if row.flaw:
            left_out.setdefault(row.flaw, []).append(row.id)
    counts = ", ".join(f"{flaw} {len(ids)}" for flaw, ids in left_out.items())
    if counts:
        _log.warning("xfinbench %s: rows of %s left out: %s", subset, table, counts)
    n_rows = study[task] if study else request.sample_n
    candidates = [row for row in (rows if study else own_rows) if not row.flaw]
    drawn = draw_rows("xfinbench", candidates, n_rows, request.sample_seed, attrgetter("id"))
    chosen = [row for row in drawn if _is_own(row, subset)]
    draw = f"{len(drawn):,} of {len(candidates):,} usable rows ({task}) of {files.files[table]}"
    if study:
        # lm-eval shows nothing below a warning.
        message = "xfinbench %s: sample_n %s draws %s; this task asks %d of them"
        _log.warning(message, subset, request.sample_n, draw, len(chosen))
    if not chosen:
        raise DataError(
            f"xfinbench {subset}: expected a row to ask, got none among {draw} "
            f"(sample_n: {request.sample_n}, left out: {counts or 'nothing'}). "
            "Leave out this task, or take another sample_seed."
        )
    if subset == "mcq_visual":
        files = files.with_files(_figure_files(rows), optional=True)
    return chosen, files, left_out


def _is_own(row: Row, subset: Subset) -> bool:
    """Return whether a row of the task belongs to the subset: choices have a figure or none."""
    shows_figures = subset == "mcq_visual"
    return row.task != "mcq" or bool(row.figure) == shows_figures


def _find_figures(files: Located, rows: Sequence[Row]) -> None:
    """Add the file of its figure to each row; mark rows whose figure nobody has."""
    paths: dict[str, str] = {}
    for name in _figure_files(rows):
        for path in files.matches(name):
            paths[path.stem] = str(path)
    for row in rows:
        row.figure_path = paths.get(row.figure, "")
        if row.figure and not row.figure_path:
            row.flaw = "missing-figure"


def _figure_files(rows: Sequence[Row]) -> list[str]:
    """Return the names that the files of all figures may have."""
    figures = sorted({row.figure for row in rows})
    names = filter(_FIGURE_NAME.fullmatch, figures)
    return [f"dataset/figures/{name}.{suffix}" for suffix, name in product(_FIGURE_SUFFIXES, names)]

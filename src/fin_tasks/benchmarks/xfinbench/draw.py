"""Choose the rows that a task asks: the usable ones, or a random sample of them."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from fin_tasks.benchmarks.xfinbench.document import TASKS, Subset, Task
from fin_tasks.benchmarks.xfinbench.rows import Row, read_rows
from fin_tasks.data.documents import draw_rows
from fin_tasks.data.locate import Located, Provenance
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


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The rows that a task asks, and what the provenance says of them."""

    rows: Sequence[Row]
    figure_paths: Mapping[str, str]
    """The file of each figure, by its name in the table."""
    data: Provenance
    left_out: Mapping[str, Sequence[str]]
    """Ids of the rows that cannot be asked, by their flaw."""


def choose_rows(
    files: Located,
    table: str,
    subset: Subset,
    *,
    sample_n: int | str | None,
    sample_seed: int,
) -> Chosen:
    """Return the usable rows of a subset, or a random sample of them.

    `sample_n` is the size of the sample, or the name of a study. A study draws one sample from the
    choices with a figure and those without one.
    """
    task = TASKS[subset]
    study = STUDIES.get(str(sample_n))
    rows = [row for row in read_rows(files.files[table]) if row["task"] in (task, "")]
    if subset == "mcq_visual" or (study and task == "mcq"):
        _mark_missing_figures(files, rows)
    own_rows = [row for row in rows if _is_own(row, subset)]
    left_out = _flawed_ids(own_rows)
    counts = ", ".join(f"{flaw} {len(ids)}" for flaw, ids in left_out.items())
    if counts:
        _log.warning("xfinbench %s: rows of %s left out: %s", subset, table, counts)
    n_rows: int | str | None = sample_n
    candidates = [row for row in own_rows if not row["flaw"]]
    if study:
        n_rows = study[task]
        candidates = [row for row in rows if not row["flaw"]]
    drawn = draw_rows("xfinbench", candidates, n_rows, sample_seed, lambda row: row["id"])
    chosen_rows = [row for row in drawn if _is_own(row, subset)]
    draw = f"{len(drawn):,} of {len(candidates):,} usable rows ({task}) of {files.files[table]}"
    if study:
        # lm-eval shows nothing below a warning.
        message = "xfinbench %s: sample_n %s draws %s; this task asks %d of them"
        _log.warning(message, subset, sample_n, draw, len(chosen_rows))
    if not chosen_rows:
        raise DataError(
            f"xfinbench {subset}: expected a row to ask, got none among {draw} "
            f"(sample_n: {sample_n}, left out: {counts or 'nothing'}). "
            "Leave out this task, or take another sample_seed."
        )
    figure_paths = {}
    if subset == "mcq_visual":
        files = files.with_files(_figure_files(rows), optional=True)
        for name, path in files.files.items():
            if name != table:
                figure_paths[path.stem] = str(path)
    return Chosen(
        rows=chosen_rows, figure_paths=figure_paths, data=files.provenance(), left_out=left_out
    )


def _is_own(row: Row, subset: Subset) -> bool:
    """Return whether a row of the task belongs to the subset: choices have a figure or none."""
    shows_figures = subset == "mcq_visual"
    return row["task"] != "mcq" or bool(row["figure"]) == shows_figures


def _flawed_ids(rows: Sequence[Row]) -> dict[str, list[str]]:
    ids_by_flaw: dict[str, list[str]] = {}
    for row in rows:
        if row["flaw"]:
            ids_by_flaw.setdefault(row["flaw"], []).append(row["id"])
    return ids_by_flaw


def _mark_missing_figures(files: Located, rows: Sequence[Row]) -> None:
    """Mark the rows whose figure the authors, or the user's folder, do not have."""
    figures: set[str] = set()
    for name in _figure_files(rows):
        figures.update(path.stem for path in files.matches(name))
    for row in rows:
        if row["figure"] and row["figure"] not in figures:
            row["flaw"] = "missing-figure"


def _figure_files(rows: Sequence[Row]) -> list[str]:
    """Return the names that the files of all figures may have."""
    figures = sorted({row["figure"] for row in rows})
    names = filter(_FIGURE_NAME.fullmatch, figures)
    return [f"dataset/figures/{name}.{suffix}" for suffix, name in product(_FIGURE_SUFFIXES, names)]

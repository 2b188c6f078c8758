"""Corrections of questions from what people decided or rated in sheets."""

from collections.abc import Sequence
from pathlib import Path

from fin_tasks.benchmarks.corrections import Correction
from fin_tasks.errors import ConfigError
from fin_tasks.report.questions.decided import corrections_in

from .filled import FilledSheets, draw_file, group_by_draw, read_sheets
from .vote import labels_of

LOW = 4.0
"""Mean scores below this one are low: XFinBench, long version, section C.1 and Table 10."""


def corrections_of_people(
    sheets: Sequence[Path], below: float = LOW
) -> tuple[list[Correction], list[str]]:
    """Return the corrections in filled sheets, and a sentence for each cell that cannot be used.

    Sheets of `fin-tasks questions` hold decisions. From sheets of a study with scores, the questions are excluded
    that have a mean score below a limit on one of the study's scales at least.
    """
    decided = [path for path in sheets if not draw_file(path).is_file()]
    corrections, problems = corrections_in(decided)
    rated = [path for path in sheets if path not in decided]
    for of_draw in group_by_draw(rated):
        filled = read_sheets(of_draw)
        corrections += _low_rated(filled, below)
        problems += map(str, filled.problems)
    return corrections, problems


def _low_rated(filled: FilledSheets, below: float) -> list[Correction]:
    """Return a correction for each question that people rated below a limit on one of the study's scales."""
    study = filled.draw.study
    scales = [name for name, question in study.questions.items() if question.scale]
    if not scales:
        raise ConfigError(
            f"label corrections: expected a study with scores, got {study.name}."
        )
    labels = labels_of(filled.draw, filled.values).query("question in @scales")
    low = labels[labels["label"].astype(float) < below]
    by = f"{len(filled.values.columns)} people, study {study.name}"
    corrections: dict[str, Correction] = {}
    for (_, doc_id), rows in low.groupby(["task", "doc_id"], sort=False):
        ratings = []
        for name, label in zip(rows["question"], rows["label"], strict=True):
            ratings.append(f"{name} {float(label):.1f}")
        corrections[doc_id] = Correction(
            benchmark=study.benchmark,
            id=doc_id,
            exclude=True,
            reason=f"rated {', '.join(ratings)}",
            by=by,
        )
    return list(corrections.values())

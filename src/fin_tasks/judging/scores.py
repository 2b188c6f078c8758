"""Verdicts as figures: a table's numbers, and a line per item."""

from collections.abc import Sequence
from typing import Any

from fin_tasks.judging.item import JudgeItem, Verdict
from fin_tasks.judging.judge import Judged
from fin_tasks.judging.rubric import Rubric

__all__ = ["item_record", "summary"]


def summary(items: Sequence[JudgeItem], verdicts: Sequence[Verdict], *, rubric: Rubric) -> dict[str, Any]:
    """Sum up verdicts, JSON-encodable.

    Scores are 100 x (mean - lowest) / (highest - lowest), the mean x 20 on a scale from 0 to 5.

    Args:
        items: What was judged.
        verdicts: One per item, in order.
        rubric: What was scored by.

    Returns:
        `n` and `unscored` items; `overall` over scored items, None where there are none; `overall_paper` over all, 0
        for each unscored one, as the authors of MME-Finance count; `by_category`, `by_type` and `by_style` with scores
        over scored items by name (None where there are none), and beside them `counts_by_category`, `counts_by_type`
        and `counts_by_style` with `n`, `unscored` and `score_paper` by name; `failed` with the number of items by whose
        failure it is (`response`, `judge`, `reply`).
    """
    raise NotImplementedError


def item_record(item: JudgeItem, verdict: Verdict, judged: Judged) -> dict[str, Any]:
    """Return an item's line of a JSONL file: what became of it, and by whom."""
    raise NotImplementedError

"""Verdicts as figures: a table's numbers, and a line per item."""

from collections.abc import Callable, Sequence
from typing import Any

from fin_tasks.judging.old_item import JudgeItem, Verdict, response_sha256
from fin_tasks.judging.old_judge import Judged
from fin_tasks.judging.old_rubric import Rubric
from fin_tasks.stats.averages import average_or_none

__all__ = ["item_record", "summary"]

_BY: dict[str, Callable[[JudgeItem], str]] = {
    "category": lambda item: item.category,
    "type": lambda item: item.image_type,
    "style": lambda item: item.image_style,
}
"""What scores are told apart by; items for which it is empty are left out there."""
_FAILURES = ("response", "judge", "reply")


def summary(items: Sequence[JudgeItem], verdicts: Sequence[Verdict], *, rubric: Rubric) -> dict[str, Any]:
    """Sum up verdicts, JSON-encodable.

    Scores are 100 x (mean - lowest) / (highest - lowest), the mean x 20 on a scale from 0 to 5.

    Args:
        items: What was judged.
        verdicts: One per item, in order.
        rubric: What was scored by.

    Returns:
        `n` and `unscored` items; `overall` over scored items, None where there are none; `overall_paper` over all, 0
        for each unscored one, as the authors of MME-Finance count (None where there are no items); `by_category`,
        `by_type` and `by_style` with scores over scored items by name (None where there are none), and beside them
        `counts_by_category`, `counts_by_type` and `counts_by_style` with `n`, `unscored` and `score_paper` by name;
        `failed` with the number of items by whose failure it is (`response`, `judge`, `reply`). Categories come in
        the rubric's order, the others as they are met.

    Example:
        >>> from fin_tasks.judging.old_rubric import load_rubric
        >>> items = [JudgeItem(index=i, question="", answer="", response="", category="OCR") for i in "123"]
        >>> verdicts = [Verdict(score=5), Verdict(score=2), Verdict(failed="reply")]
        >>> figures = summary(items, verdicts, rubric=load_rubric("mme_finance_en"))
        >>> figures["overall"], round(figures["overall_paper"], 2), figures["by_category"]
        (70.0, 46.67, {'OCR': 70.0})
    """
    rows = list(zip(items, verdicts, strict=True))
    figures = _figures([verdict for _, verdict in rows], rubric)
    told: dict[str, Any] = {
        "n": figures["n"],
        "unscored": figures["unscored"],
        "overall": figures["score"],
        "overall_paper": figures["score_paper"],
    }
    counts: dict[str, Any] = {}
    for by, name_of in _BY.items():
        groups: dict[str, list[Verdict]] = {name: [] for name in rubric.categories} if by == "category" else {}
        for item, verdict in rows:
            groups.setdefault(name_of(item), []).append(verdict)
        groups.pop("", None)
        by_name = {name: _figures(group, rubric) for name, group in groups.items() if group}
        told[f"by_{by}"] = {name: figures["score"] for name, figures in by_name.items()}
        counts[f"counts_by_{by}"] = {
            name: {key: figures[key] for key in ("n", "unscored", "score_paper")} for name, figures in by_name.items()
        }
    failed = {kind: sum(verdict.failed == kind for verdict in verdicts) for kind in _FAILURES}
    return {**told, **counts, "failed": failed}


def item_record(item: JudgeItem, verdict: Verdict, judged: Judged) -> dict[str, Any]:
    """Return an item's line of a JSONL file: what became of it, by whom, and the hash of the response that it is of.

    Args:
        item: What was judged.
        verdict: What became of it.
        judged: The run it is of.
    """
    return {
        "index": item.index,
        "score": verdict.score,
        "raw": verdict.raw,
        "tries": verdict.tries,
        "error": verdict.error,
        "failed": verdict.failed,
        "category": item.category,
        "image_type": item.image_type,
        "image_style": item.image_style,
        "judge": judged.setup.model,
        "image": judged.setup.image and item.image is not None,
        "rubric": judged.rubric.label,
        "rubric_sha256": judged.rubric.sha256,
        "response_sha256": response_sha256(item.response),
    }


def _figures(verdicts: Sequence[Verdict], rubric: Rubric) -> dict[str, Any]:
    scale = 100 / (rubric.highest - rubric.lowest)
    scores = [None if verdict.score is None else (verdict.score - rubric.lowest) * scale for verdict in verdicts]
    return {
        "n": len(scores),
        "unscored": scores.count(None),
        "score": average_or_none(scores),
        "score_paper": average_or_none([score or 0.0 for score in scores]),
    }

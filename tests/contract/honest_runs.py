"""Honest runs over the packaged samples, for tests of `verify` and for `make attack`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from in_process import run, saved

TEXT_TASKS = (
    "xfinbench_bool",
    "xfinbench_text",
    "financemath_pot",
    "dynostock_recency_w4_text",
)


def right_or_wrong(doc: Mapping[str, Any]) -> str:
    """Answer two rows in three right, and never twice in the same words."""
    row_id = str(doc.get("id", doc.get("question_id")))
    is_right = sum(map(ord, row_id)) % 3
    return f"About {row_id}: {doc['target'] if is_right else 'I cannot say.'}"


def save_run(task: str, folder: Path, **options: Any) -> Path:
    """Run a task with right and wrong answers, and save it."""
    return saved(run(task, answer=right_or_wrong, **options), folder / task)


def save_judged_run(folder: Path, base_url: str) -> Path:
    """Run MME-Finance with a judge that gives few points."""
    judge = {"judge_model": "judge", "judge_base_url": base_url}

    def answer(doc: Mapping[str, Any]) -> str:
        return f"give me {int(doc['id']) % 3} points"

    return saved(run("mme_finance_en", answer=answer, sees=True, **judge), folder)

"""Rows that a judge has read: its kept replies are scored again; no judge is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fin_tasks.judging.item import Judged, Reply
from fin_tasks.report.verify.scoring import Asked
from fin_tasks.report.verify.task_files import Step

__all__ = ["ClaimedReplies", "judge_of"]


@dataclass
class ClaimedReplies:
    """Takes a judge's replies from a submission; `taken` counts them."""

    judge: str
    taken: int = 0
    unsure: set[str] = field(default_factory=set)

    def __call__(self, variant: str, step: Step, rows: Sequence[Asked]) -> list[list[Any]]:
        """Return the judged responses of each row under a variant."""
        if not self.judge and step.arguments.get("optional"):
            return [list(row.responses) for row in rows]
        return [
            [self._judged(text, said or {}) for text, said in zip(row.responses, _padded(row, variant), strict=True)]
            for row in rows
        ]

    def _judged(self, response: str, said: Mapping[str, Any]) -> Judged:
        texts = said.get("replies")
        if said.get("read_by") == "judge" and not said.get("unscored"):  # FinanceMath keeps the number
            texts = ["none" if said.get("answer") is None else repr(said["answer"])]
        replies = [Reply(text=text, temperature=0.0) for text in texts or () if isinstance(text, str)]
        self.taken += bool(replies)
        lost = bool(said.get("judge_error")) or (said.get("read_by") == "judge" and bool(said.get("unscored")))
        error = str(said.get("reason", ""))[:200] if lost else ""
        return Judged(response, tuple(replies), error)


def judge_of(metadata: Mapping[str, Any]) -> str:
    """Return whom a task's metadata name as judge; empty if nobody."""
    told = metadata.get("judge")
    name = told.get("model") if isinstance(told, dict) else metadata.get("judge_model")
    return name if isinstance(name, str) else ""


def _padded(row: Asked, variant: str) -> list[Mapping[str, Any] | None]:
    said = list(row.claimed.get(variant, ()))[: len(row.responses)]
    return said + [None] * (len(row.responses) - len(said))

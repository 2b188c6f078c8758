"""What `fin-tasks replay financemath --json` prints: the counts, and all that a report has to know of the file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.benchmarks.financemath.data import SCORER_VERSION
from fin_tasks.benchmarks.financemath.metrics import metric_values
from fin_tasks.benchmarks.financemath.replay import Item, Replay
from fin_tasks.benchmarks.financemath.rows import TOPICS
from fin_tasks.judging.predictions_model import model_of

__all__ = ["ReplayedFile", "model_of_file"]

_SPLIT = re.compile(r"(validation|test|sample)-\d+")  # as the authors number questions, and the packaged sample


def model_of_file(path: Path) -> str:
    """Name the model: by the results beside lm-eval's samples, or their folder; else by the file's name.

    Example:
        >>> model_of_file(Path("recordings/cot/gpt-4o.json"))
        'gpt-4o'
    """
    if not path.name.startswith("samples_"):
        return path.stem
    return model_of(path, "samples", []) or path.resolve().parent.name


@dataclass(frozen=True, kw_only=True)
class ReplayedFile:
    """A replay, and what it is of.

    Attributes:
        replay: What was scored.
        path: The file, as it was named.
        model: Whose responses they are.
        judge: The judge's `model`, and which responses it `reads`; None where none was asked.
        rounded: `robust` compares with the rounded truths, as no sandbox could give the exact ones.
    """

    replay: Replay
    path: Path
    model: str
    judge: Mapping[str, str] | None = None
    rounded: bool = False

    def summary(self) -> dict[str, Any]:
        """Return the counts of `Replay.summary`, what they are of, and `rows`.

        Returns:
            Beside the counts `benchmark`, `file`, `model`, `mode`, `variant` (which of them is `acc`), `split` (None
            where question ids do not say it), `judge`, `truths` (`exact` or `rounded`), `scorer`, `fin_tasks`, and of
            each row `id`, `topic`, and under the variants the metrics that lm-eval's task would give it, those that
            apply. Of programs only under `paper`: for `robust` that task takes another program out of a response.
        """
        return {
            **self.replay.summary(),
            "benchmark": "financemath",
            "file": str(self.path),
            "model": self.model,
            "mode": self.replay.mode,
            "variant": self.replay.variant,
            "split": self._split,
            "judge": self.judge,
            "truths": "rounded" if self.rounded else "exact",
            "scorer": SCORER_VERSION,
            "fin_tasks": fin_tasks.__version__,
            "rows": [self._row(item) for item in self.replay.results],
        }

    def items(self) -> list[dict[str, Any]]:
        """Return `Replay.items`."""
        return self.replay.items()

    @property
    def _split(self) -> str | None:
        found = {match[1] if match else None for match in map(_SPLIT.fullmatch, self._ids)}
        return found.pop() if len(found) == 1 else None

    @property
    def _ids(self) -> list[str]:
        return [str(item.question_id) for item in self.replay.results]

    def _row(self, item: Item) -> dict[str, Any]:
        correct = {"paper": item.correct}
        if self.replay.mode == "cot":
            correct["robust"] = item.robust_correct
        values = {variant: self._values(item, of) for variant, of in correct.items()}
        return {"id": item.question_id, "topic": item.topic, **values}

    def _values(self, item: Item, correct: bool | None) -> dict[str, float]:
        doc = {"mode": self.replay.mode, "topic_name": TOPICS.get(item.topic or "", "")}
        answer = {"correct": correct, "answer": item.number, "status": item.status}
        answer |= {"read_by": item.read_by, "judge_error": item.judge_error}
        return {name: value for name, value in metric_values(doc, [answer]).items() if value is not None}

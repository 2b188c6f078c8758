"""Breakdowns in lm-eval: each task collects figures of its documents, the results file has means."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fin_tasks.adapters.lm_eval_private import LM
from fin_tasks.adapters.task_file import Mapped
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import benchmark_of
from fin_tasks.benchmarks.breakdowns import (
    Breakdowns,
    Values,
    document_values,
    fields_of,
    summarize,
)
from fin_tasks.benchmarks.contract import Document

RowsByVariant = dict[str, list[Values]]


class BreakdownRows:
    """The figures of one task's documents, as far as this process has them."""

    def __init__(self, task: str) -> None:
        self._benchmark = benchmark_of(task)
        self.rows: RowsByVariant = defaultdict(list)

    def add(
        self,
        doc: Document,
        readings: Sequence[Reading],
        metrics: Mapping[str, object],
    ) -> None:
        """Add the figures of a document under the variant that the readings have."""
        # Under `--predict_only` there are responses in place of readings.
        if self._benchmark is None or not isinstance(readings[0], Reading):
            return
        fields = [fields_of(reading) for reading in readings]
        values = document_values(self._benchmark, doc, fields, metrics)
        self.rows[readings[0].variant].append(values)

    def summary(self, rows: RowsByVariant) -> Breakdowns:
        """Return the figures of the task by variant."""
        if self._benchmark is None:
            return {}
        return {variant: summarize(self._benchmark, own) for variant, own in rows.items()}


def add_breakdowns(
    lm: LM,
    breakdowns: Mapping[str, BreakdownRows],
    results: Mapped | None,
) -> None:
    """Write the figures of tasks into the metadata of their results.

    Every process must call this; only the first one has results.
    """
    own_rows = {task: dict(collected.rows) for task, collected in breakdowns.items()}
    rows_of_processes = [own_rows]
    if getattr(lm, "world_size", 1) > 1:
        rows_of_processes = lm.gather_object(own_rows, dst=0)
    if results is None:
        return
    for task, collected in breakdowns.items():
        rows: RowsByVariant = defaultdict(list)
        for rows_of_process in rows_of_processes:
            for variant, values in rows_of_process[task].items():
                rows[variant] += values
        config = results["configs"][task]
        config["metadata"] = {**config["metadata"], "breakdowns": collected.summary(rows)}

"""Breakdowns in lm-eval: each task collects figures of its documents, the results file has means."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fin_tasks.adapters.lm_eval_private import LM
from fin_tasks.adapters.task_file import Mapped
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import benchmark_of
from fin_tasks.benchmarks.breakdowns import Values, document_values, fields_of, summarize
from fin_tasks.benchmarks.contract import Benchmark, Document


class BreakdownRows:
    """The figures of one task's documents by variant, as far as this process has them."""

    def __init__(self, task: str) -> None:
        self._benchmark = _benchmark_of(task)
        self.by_variant: dict[str, list[Values]] = defaultdict(list)

    def add(
        self,
        doc: Document,
        readings: Sequence[Reading],
        metrics: Mapping[str, object],
    ) -> None:
        """Add the figures of a document under the variant that the readings have."""
        fields = list(map(fields_of, readings))
        values = document_values(self._benchmark, doc, fields, metrics)
        self.by_variant[readings[0].variant].append(values)


def add_breakdowns(
    lm: LM,
    rows_by_task: Mapping[str, dict[str, list[Values]]],
    results: Mapped | None,
) -> None:
    """Write the figures of tasks into the metadata of their results.

    Every process must call this; only the first one has results.
    """
    rows_of_processes = [rows_by_task]
    if getattr(lm, "world_size", 1) > 1:
        rows_of_processes = lm.gather_object(rows_by_task, dst=0)
    if results is None:
        return
    for task, by_variant in rows_by_task.items():
        breakdowns = {}
        for variant in by_variant:
            rows: list[Values] = []
            for rows_of_process in rows_of_processes:
                rows += rows_of_process[task][variant]
            breakdowns[variant] = summarize(_benchmark_of(task), rows)
        metadata = results["configs"][task]["metadata"]
        metadata["breakdowns"] = breakdowns


def _benchmark_of(task: str) -> Benchmark:
    benchmark = benchmark_of(task)
    assert benchmark is not None  # noqa: S101 - a task without a benchmark is refused earlier
    return benchmark

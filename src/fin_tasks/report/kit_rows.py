"""VLMEvalKit's runs in the form that is compared row by row, beside lm-eval's."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.entry import RunRead, Scores
from fin_tasks.report.item_scores import followed_signal
from fin_tasks.report.kit_files import TASKS, KitRun
from fin_tasks.report.row_scores import BIAS_INDEX
from fin_tasks.report.runs import Problem, Run, benchmark_of
from fin_tasks.report.samples import Row, Rows, groups_of
from fin_tasks.report.site.item_samples import samples_of_items
from fin_tasks.report.vlmeval_entries import read_kit_run

__all__ = ["kit_runs"]

_WINDOW = re.compile(r"_w(\d+)\Z")


def kit_runs(found: Iterable[KitRun], problems: list[Problem], notes: list[str]) -> Iterator[Run]:
    """Give runs with their rows.

    Args:
        found: Of `kit_files.find_kit_runs`.
        problems: Told of files that cannot be used.
        notes: Told of runs of which only totals are known.
    """
    for one in found:
        try:
            unit = read_kit_run(one)
            problems += unit.problems
            for read in unit.runs:
                if read.samples is not None and read.scores:
                    yield _run(one, read, read.samples)
                else:
                    notes.append(f"{one.score}: left out, as its rows are not known and totals cannot be paired.")
        except DataError as error:
            problems.append(Problem(str(one.score), str(error)))


def _run(found: KitRun, read: RunRead, items: Path) -> Run:
    task = TASKS[found.dataset]
    return Run(
        benchmark=benchmark_of(task),
        task=task,
        model=read.facts.model,
        date=found.date,
        setting=read.facts.provenance,
        variants=_rows(items, read.scores, task),
        path=items,
    )


def _rows(items: Path, scores: Mapping[str, Scores], task: str) -> dict[str, Rows]:
    """Give each row its values, and what was asked and answered as far as the files beside the scores say it."""
    window = match[1] if (match := _WINDOW.search(task)) else None
    sources = {
        variant: dict(zip(of.ids, of.clusters or ("",) * len(of.ids), strict=True)) for variant, of in scores.items()
    }
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    for where, sample in samples_of_items(items, scores):
        doc, variant = sample["doc"], sample["filter"]
        name = doc["id"]
        source = sources[variant].get(name, "")
        found[variant][name] = Row(
            id=name,
            truth=_text(doc.get("ground_truth")) or _text(doc.get("answer")),
            values={metric: sample[metric] for metric in sample["metrics"]} | _bias(task, sample),
            answer=_answer(sample),
            groups=groups_of(where, {**doc, **({"window": window} if window else {})}),
            source="" if source == name else source,
            question=_text(doc.get("question")),
            from_table=True,
        )
    return dict(found)


def _bias(task: str, sample: Mapping[str, Any]) -> dict[str, float | None]:
    """Say of a wrong answer whether it follows the signal, which the items tell beside their metrics."""
    if not task.startswith("dynostock"):
        return {}
    ((read,),) = sample["filtered_resps"]
    return {BIAS_INDEX: followed_signal(read)}


def _answer(sample: Mapping[str, Any]) -> Any:
    """Take the answer that was read out of a response; of one that a judge read, the response itself."""
    ((read,),) = sample["filtered_resps"]
    if "answer" in read or "reason" in read:
        answer = read.get("answer")
        return answer if isinstance(answer, (str, int)) or (isinstance(answer, float) and isfinite(answer)) else None
    ((said,),) = sample["resps"] or [[None]]
    return said if isinstance(said, str) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

"""`leaderboard.json`: everything a report shows, in one document that needs nothing else."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

import fin_tasks
from fin_tasks.report import rankings
from fin_tasks.report.collect import Collected
from fin_tasks.report.entry import Entry, RunFacts
from fin_tasks.report.metric_names import BENCHMARKS, headline, named
from fin_tasks.report.run_labels import labels_of
from fin_tasks.report.schema import FORMAT, VERSION
from fin_tasks.report.variants import split_title

__all__ = ["TITLE", "document", "task_id"]

TITLE = "Finance benchmarks"
_DIMENSIONS = ("split", "mode", "style", "retrieval", "arm")
"""With the task and the variant, what makes a column of its own; rows of another judge stand in it, marked."""
_ROUNDING = 1e-5  # of bounds, relatively: twice what six digits may lose
_NOTHING = 1e-9  # how far from 0 a bound may be that is meant to be 0
_BIAS = re.compile(r"dynostock_(?P<bias>recency|authority)(?:_w(?P<window>\d+))?")


def document(
    collected: Collected,
    *,
    title: str = TITLE,
    baseline: str | None = None,
    mix: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Make the document of `leaderboard.schema.json`.

    Args:
        collected: What was found in result files.
        title: Of the report.
        baseline: A model that others are shown against.
        mix: Rank rows together that differ in data, prompts or judge; their marks stay.
        now: When the report is made, with its time zone; the current time where None.

    Returns:
        JSON-compatible: None stands where there is no number. Bounds have six significant digits.
    """
    by_task: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(collected.entries, key=_place):
        by_task[task_id(entry)].append(entry)
    now = now or datetime.now(timezone.utc)
    comparisons = {
        name: rankings.compare_task(
            [entry for entry in entries if entry.metric == headline(entry.benchmark)],
            scores_of=collected.scores,
            mix=mix,
        )
        for name, entries in by_task.items()
    }
    not_ranked = {
        (name, left.run): left.reason for name, found in comparisons.items() for one in found for left in one.left_out
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "fin_tasks": fin_tasks.__version__,
        "title": title,
        "generated": now.astimezone(timezone.utc).isoformat(timespec="seconds"),
        "baseline": baseline,
        "mixed": mix,
        "alpha": rankings.ALPHA,
        "confidence": rankings.CONFIDENCE,
        "power": rankings.POWER,
        "models": _models(collected.runs),
        "runs": _runs(collected.runs, collected.entries),
        "tasks": [_task(name, entries) for name, entries in by_task.items()],
        "metrics": _metrics(collected.entries),
        "groups": {one.group: dict(one.facts) for one in collected.entries if one.group},
        "entries": [
            _entry(name, entry, not_ranked.get((name, entry.run)))
            for name, entries in by_task.items()
            for entry in entries
        ],
        "comparisons": [one.as_object(name) for name, found in comparisons.items() for one in found],
        "problems": [
            {"path": collected.shown(one.path), "message": collected.shown(one.message)} for one in collected.problems
        ],
        "notes": [collected.shown(note) for note in collected.notes],
    }


def task_id(entry: Entry) -> str:
    """Name what is asked and how it is scored.

    Example:
        >>> task_id(Entry(run="r", source="lm-eval", model="m", benchmark="xfinbench", task="xfinbench_bool",
        ...     split="test", variant="paper", mode="cot", metric="acc", value=0.5))
        'xfinbench_bool/paper/split=test/mode=cot'
    """
    said = [f"{name}={getattr(entry, name)}" for name in _DIMENSIONS if getattr(entry, name)]
    return "/".join([entry.task, entry.variant, *said])


def _place(entry: Entry) -> tuple[Any, ...]:
    benchmarks = list(BENCHMARKS)
    place = benchmarks.index(entry.benchmark) if entry.benchmark in benchmarks else len(benchmarks)
    metric = (entry.metric != headline(entry.benchmark), entry.metric)
    return (place, _in_order(entry.task), task_id(entry), entry.model.casefold(), entry.model, entry.run, *metric)


def _in_order(name: str) -> tuple[Any, ...]:
    """Sort w4 before w12."""
    return tuple((part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", name))


def _models(runs: Sequence[RunFacts]) -> list[dict[str, Any]]:
    own: dict[str, list[RunFacts]] = defaultdict(list)
    for run in runs:
        own[run.model].append(run)
    return [
        {
            "name": name,
            "runs": [run.id for run in of],
            "sources": sorted({run.source for run in of}),
            "published": all(run.source == "published" for run in of),
        }
        for name, of in sorted(own.items(), key=lambda one: (one[0].casefold(), one[0]))
    ]


def _runs(runs: Sequence[RunFacts], entries: Iterable[Entry]) -> list[dict[str, Any]]:
    tasks: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        tasks[entry.run].add(task_id(entry))
    labels = labels_of(runs, tasks)
    return [
        {
            "id": run.id,
            "label": labels[run.id],
            "source": run.source,
            "model": run.model,
            "task": run.task,
            "date": run.date,
            "path": run.path,
            "samples": run.samples,
            "provenance": dict(run.provenance),
        }
        for run in runs
    ]


def _task(name: str, entries: Sequence[Entry]) -> dict[str, Any]:
    first = entries[0]
    bias = _BIAS.match(first.task)
    metrics = list(dict.fromkeys(entry.metric for entry in entries))
    top = headline(first.benchmark)
    return {
        "id": name,
        "title": _title(first),
        "benchmark": first.benchmark,
        "task": first.task,
        "variant": first.variant,
        **{dimension: getattr(first, dimension) for dimension in _DIMENSIONS},
        "bias": bias["bias"] if bias else "",
        "window": int(bias["window"]) if bias and bias["window"] else None,
        "headline": top,
        "metrics": sorted(metrics, key=lambda metric: metric != top),
    }


def _title(entry: Entry) -> str:
    """Say for people what a task is.

    Example:
        >>> _title(Entry(run="r", source="lm-eval", model="m", benchmark="xfinbench", task="xfinbench_mcq_visual",
        ...     split="test", variant="paper", mode="cot", retrieval="bm25", metric="acc", value=0.5))
        'XFinBench mcq visual · test split · cot · bm25 · paper'
    """
    task = entry.task.removeprefix(entry.benchmark).replace("_", " ")
    split = split_title(entry.split)
    retrieval = "" if entry.retrieval == "none" else entry.retrieval
    parts = [f"{BENCHMARKS.get(entry.benchmark, entry.benchmark)}{task}", split, entry.mode, entry.style, retrieval]
    return " · ".join(part for part in [*parts, entry.arm, entry.variant] if part)


def _metrics(entries: Iterable[Entry]) -> dict[str, Any]:
    first = {entry.metric: entry for entry in reversed(list(entries))}
    found = {}
    for metric, entry in sorted(first.items()):
        said = named(metric, entry.benchmark)
        better = {"unit": entry.unit, "higher_is_better": entry.higher_is_better}
        found[metric] = {"label": said.label, **better, "by": said.by, "of": said.of}
    return found


def _entry(task: str, entry: Entry, not_ranked: str | None) -> dict[str, Any]:
    """Describe a value; why its run is not ranked is one more mark, where nothing else says that it stands apart."""
    marks = entry.marks or ((f"not ranked: {not_ranked}",) if not_ranked else ())
    low, high = _bounds(entry)
    return {
        "task": task,
        "model": entry.model,
        "run": entry.run,
        "metric": entry.metric,
        "value": entry.value if entry.value is not None and math.isfinite(entry.value) else None,
        "low": low,
        "high": high,
        "n": entry.n,
        "unscored": entry.unscored,
        "judge": entry.judge,
        "group": entry.group,
        "marks": list(marks),
    }


def _bounds(entry: Entry) -> tuple[float | None, float | None]:
    """Round the interval's ends; none where it does not hold the value, as in a file that claims more than there is."""
    if entry.value is None or not math.isfinite(entry.value):
        return None, None
    slack = _ROUNDING * abs(entry.value) + _NOTHING
    low, high = rankings.six_digits(entry.low), rankings.six_digits(entry.high)
    outside = (low is not None and low > entry.value + slack) or (high is not None and high < entry.value - slack)
    return (None, None) if outside else (low, high)

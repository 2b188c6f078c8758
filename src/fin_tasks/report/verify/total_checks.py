"""Whether claimed totals are those of the rows, and nothing else stands among them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.verify.closeness import same, shown
from fin_tasks.report.verify.findings import Finding, Place, finding, not_checked
from fin_tasks.report.verify.task_files import TaskFile
from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.metric import Metric

__all__ = ["check_aggregates", "totals"]

_OF_LM_EVAL = ("name", "alias", "sample_len", " ")


def totals(task: TaskFile, values: Sequence[Mapping[str, Any]]) -> dict[str, Claim]:
    """Work out a task's metrics over rows, as the task does.

    Args:
        task: The task.
        values: Each row's metrics, in the documents' order.
    """
    found: dict[str, Claim] = {}
    for name, metric in task.metrics.items():  # in the order of declaration: some go by what came before
        of_rows = [row.get(name) for row in values]
        if isinstance(metric, Metric):
            stderr = None if metric.stderr is None else metric.stderr(of_rows)
            found[name] = Claim(_number(metric.aggregate(of_rows)), _number(stderr))
        else:
            found[name] = Claim(_number(average(of_rows)), _number(standard_error(of_rows)))
    return found


def check_aggregates(
    place: Place,
    task: TaskFile,
    claims: TaskClaims | None,
    raw: Mapping[str, Any],
    ours: Mapping[str, Mapping[str, Claim]],
    *,
    rows: int,
) -> Finding:
    """Compare a task's claimed totals with those over the rows' scores.

    Args:
        place: The task.
        task: The task.
        claims: What the results file says; None where it says nothing of the task.
        raw: The results file.
        ours: Variant to metric to total.
        rows: How many rows there are.
    """
    if claims is None:
        return not_checked("aggregates", place, "there is no results file that claims anything of this task")
    wrong, count = [], 0
    for variant, metrics in ours.items():
        said = claims.variants.get(variant, {})
        for name, right in metrics.items():
            if name.endswith("_stderr"):
                continue  # declared by hand; compared as the error of its metric
            count += 1
            stderr = metrics.get(f"{name}_stderr", Claim(right.stderr, None)).value
            claim = said.get(name)
            if claim is None:
                if right.value is not None:
                    wrong.append(f"{name},{variant}: not among the results; it is {shown(right.value)}")
            elif not same(claim.value, right.value):
                wrong.append(f"{name},{variant}: is {shown(right.value)}, claimed {shown(claim.value)}")
            elif not same(claim.stderr, stderr) and not _no_error(task, name):
                wrong.append(f"{name}_stderr,{variant}: is {shown(stderr)}, claimed {shown(claim.stderr)}")
        wrong += [f"{name},{variant}: no metric of the task" for name in said if name not in metrics]
    wrong += [f"{name!r:.60}: no filter of the task" for name in claims.variants if name not in ours]
    wrong += _strange(place.task, raw, ours, rows)
    wrong += _directions(task, raw)
    return finding(
        "aggregates", place, "{n} totals are not those of the rows", wrong, fine=f"{count} totals are those of the rows"
    )


def _strange(name: str, raw: Mapping[str, Any], ours: Mapping[str, Mapping[str, Claim]], rows: int) -> Iterator[str]:
    """Name what stands among a task's results and is neither a metric under a filter nor lm-eval's own."""
    said = _object(_object(raw.get("results")).get(name))
    for key, value in said.items():
        metric, comma, variant = key.partition(",")
        known = ours.get(variant, {})
        of_error = metric.removesuffix("_stderr_stderr")
        if not comma and key not in _OF_LM_EVAL:
            yield f"{key!r:.60}: no metric under a filter"
        elif of_error != metric and of_error in known:
            if value != "N/A":  # `<metric>_stderr` is a metric to lm-eval, without an error of its own
                yield f"{key!r:.60}: expected 'N/A', claimed {value!r:.40}"
        elif metric.endswith("_stderr") and metric.removesuffix("_stderr") not in known:
            yield f"{key!r:.60}: no metric of the task"
    if said.get("sample_len", rows) != rows:
        yield f"sample_len: is {rows}, claimed {said['sample_len']!r:.40}"


def _directions(task: TaskFile, raw: Mapping[str, Any]) -> Iterator[str]:
    """Name metrics of which the results say the wrong way round whether more is better."""
    said = _object(_object(raw.get("higher_is_better")).get(task.name))
    for name, metric in task.metrics.items():
        right = metric.higher_is_better if isinstance(metric, Metric) else metric
        if said.get(name) is not right:
            yield f"higher_is_better.{name}: is {right}, claimed {said.get(name)!r:.40}"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _no_error(task: TaskFile, name: str) -> bool:
    """Whether a metric has no standard error of ours: lm-eval may write one of its own."""
    metric = task.metrics[name]
    return isinstance(metric, Metric) and metric.stderr is None and f"{name}_stderr" not in task.metrics


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, str):  # N/A
        return None
    # as it is: a `Spread` remembers what groups need
    return None if math.isnan(value) else value

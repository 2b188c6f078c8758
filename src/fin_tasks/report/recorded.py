"""One's own runs beside recorded models: those that the user names, or those just above and below."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from fin_tasks.errors import ConfigError
from fin_tasks.recordings import MODEL_PREFIX

from .conditions import Conditions, conditions_of
from .model import Report, Run, headline
from .values import value_of

NEAREST = "nearest"
AS_RECORDED = (
    "Recorded models were asked with the authors' prompts, so ask your model with them, too: "
    """lm_eval ... --metadata '{"prompts": "upstream"}'."""
)
"""What brings a model into the setting of the recorded ones."""

_N_NEAREST = 3  # above, and below


def keep_beside(
    reports: Mapping[str, Report], names: Sequence[str], scoring: str
) -> dict[str, Report]:
    """Return reports without the recorded models that nobody asked for.

    Args:
        reports: What was read, by path.
        names: `nearest`, or a model with its benchmark before it, such as `financemath:gpt-4o`; a shell pattern may
            stand for the model.
        scoring: By whose values models are near.

    Raises:
        ConfigError: There is no recorded model of a name, or no run of one's own.
    """
    runs = [run for report in reports.values() for run in report.runs]
    recorded = [run for run in runs if run.model.startswith(MODEL_PREFIX)]
    if len(recorded) == len(runs):
        raise ConfigError(
            "compare --with: expected runs of your own beside the recorded models, found none."
        )
    chosen: set[str] = set()
    for name in names:
        is_nearest = name == NEAREST
        run_ids = _nearest(reports, scoring) if is_nearest else _named(name, recorded)
        if not run_ids:
            raise ConfigError(_nothing_found(name))
        chosen |= run_ids
    shorter = {}
    for path, report in reports.items():
        runs = [run for run in report.runs if run not in recorded or run.id in chosen]
        # The baseline is the first of one's own.
        runs.sort(key=lambda run: run.model.startswith(MODEL_PREFIX))
        shorter[path] = replace(report, runs=tuple(runs))
    return shorter


def _named(name: str, recorded: Sequence[Run]) -> set[str]:
    """Return the recorded runs of a name such as `financemath:gpt-4*`."""
    benchmark, colon, model = name.partition(":")
    if not colon:
        benchmark, model = "*", name
    run_ids = set()
    for run in recorded:
        benchmarks = {result.benchmark for result in run.tasks}
        is_model = fnmatchcase(run.model.removeprefix(MODEL_PREFIX), model)
        if is_model and any(fnmatchcase(title, benchmark) for title in benchmarks):
            run_ids.add(run.id)
    return run_ids


def _nearest(reports: Mapping[str, Report], scoring: str) -> set[str]:
    """Return the recorded runs whose values are next to those of one's own, task by task."""
    own_values = defaultdict[Conditions, list[float]](list)
    recorded_values = defaultdict[Conditions, dict[str, float]](dict)
    for report in reports.values():
        for run, result in report.results:
            rows = report.rows_of(result, scoring)
            metric = headline(result)
            if metric not in rows or rows[metric].isna().all():
                continue
            value = value_of(rows, metric).mean
            if run.model.startswith(MODEL_PREFIX):
                recorded_values[conditions_of(result)][run.id] = value
            else:
                own_values[conditions_of(result)].append(value)
    run_ids: set[str] = set()
    for conditions, values in own_values.items():
        others = recorded_values[conditions]
        for value in values:
            above = [run for run in others if others[run] >= value]
            below = [run for run in others if others[run] < value]
            run_ids.update(sorted(above, key=others.__getitem__)[:_N_NEAREST])
            run_ids.update(sorted(below, key=others.__getitem__)[-_N_NEAREST:])
    return run_ids


def _nothing_found(name: str) -> str:
    """Say that a name means no recorded run, and how such runs are got."""
    benchmark, colon, model = name.partition(":")
    get = "fin-tasks recordings BENCHMARK --out RESULTS"
    if colon:
        get = f"fin-tasks recordings {benchmark} --models '{model}' --out RESULTS"
    if name == NEAREST:
        return (
            "compare --with nearest: found no recorded model under the conditions of your runs. "
            f"`{get}` brings them. {AS_RECORDED}"
        )
    return (
        f"compare --with: expected nearest or a recorded model such as financemath:gpt-4o, and found no {name!r:.80} "
        f"in the results. `{get}` brings it."
    )

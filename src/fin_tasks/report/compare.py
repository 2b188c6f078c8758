"""Compares runs row by row: by how much one condition is better than another on the same questions."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.compared_runs import read_compared
from fin_tasks.report.estimates import unit_of
from fin_tasks.report.measure import OVER_OWN_ROWS, Numbers, measure
from fin_tasks.report.metric_names import headline
from fin_tasks.report.pairing import Pair, pair_conditions, pair_folders, require
from fin_tasks.report.pooling import not_in_wholes, one_run, wholes_of
from fin_tasks.report.runs import Problem, Run
from fin_tasks.report.samples import DIMENSIONS
from fin_tasks.report.settings import Difference
from fin_tasks.stats.multiple import holm

__all__ = ["Comparison", "Comparisons", "Line", "compare", "lines_of"]

_DIMENSION_OF = {
    **{"xfinbench": "capability", "financemath": "topic", "bizbench": "part"},
    **{"mme_finance": "category", "dynostock": "window"},
}


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One task, or several pooled, under two conditions.

    Attributes:
        pairs: The runs; several where tasks are pooled.
        metric: What is compared.
        numbers: Over all rows.
        by: Group (a capability, topic or part) to the numbers of its rows; a row counts in every group it names.
    """

    pairs: tuple[Pair, ...]
    metric: str
    numbers: Numbers
    by: Mapping[str, Numbers]

    @property
    def shown(self) -> bool:
        """Whether there are groups to show: a single one is the task again."""
        return len(self.by) > 1

    @property
    def baseline(self) -> Run:
        """The baseline's run, the first where tasks are pooled."""
        return self.pairs[0].baseline

    @property
    def other(self) -> Run:
        """The other run, the first where tasks are pooled."""
        return self.pairs[0].other

    @property
    def runs(self) -> tuple[Run, Run]:
        """Both, the baseline first."""
        return self.baseline, self.other

    @property
    def pooled(self) -> bool:
        """Whether this is over several tasks."""
        return len(self.pairs) > 1

    @property
    def task(self) -> str:
        """The task without its condition; `all` where several are pooled."""
        return "all" if self.pooled else self.other.family

    @property
    def differences(self) -> tuple[Difference, ...]:
        """In what the runs of a pair differ beside the condition, over all pairs."""
        return tuple(dict.fromkeys(one for pair in self.pairs for one in pair.differences))


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """All comparisons of a call.

    Attributes:
        variant: `paper` or `robust`.
        metric: What was asked for; None for each benchmark's headline.
        sets: Comparisons of one thing: tasks pooled first, then each task.
        problems: Files and pairs that could not be used.
        notes: What was left out or is not known.
    """

    variant: str
    metric: str | None
    sets: tuple[tuple[Comparison, ...], ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All of them, one after the other."""
        return tuple(one for several in self.sets for one in several)


def compare(
    paths: Sequence[Path],
    *,
    variant: str,
    metric: str | None = None,
    by: str | None = None,
    allow_different_data: bool = False,
    on_done: Callable[[int], None] | None = None,
) -> Comparisons:
    """Compare runs.

    Args:
        paths: One folder, whose runs with finance terms are compared with those without; or several paths, of which
            the first is compared with each other one. See `pairing`.
        variant: The filter whose scores are compared: `paper` or `robust`.
        metric: A metric of the tasks; None takes the headline of each benchmark, `acc` or `score`.
        by: A key of `samples.DIMENSIONS`; None takes the benchmark's own.
        allow_different_data: Compare runs over different data too, by the rows of the same id and truth.
        on_done: Told how many samples files are read.

    Raises:
        ConfigError: No run has the metric.
        DataError: A path does not exist, or nothing below can be compared.
    """
    done = 0

    def advance(files: int) -> None:
        if on_done is not None:
            on_done(done + files)

    found = []
    for group in [paths] if len(paths) == 1 else [[path] for path in paths]:
        found.append(read_compared(group, on_done=advance))
        done += len(found[-1].runs) + len(found[-1].problems)
    if len(found) == 1:
        pairs = pair_conditions(found[0].runs, allow_different_data=allow_different_data)
    else:
        others = {path: one.runs for path, one in zip(paths[1:], found[1:], strict=True)}
        pairs = pair_folders(found[0].runs, others, allow_different_data=allow_different_data)
    problems = [problem for one in found for problem in one.problems] + list(pairs.problems)
    if not problems:
        require(pairs, [run for one in found for run in one.runs])
    notes = [note for one in found for note in one.notes] + list(pairs.notes)
    usable = [pair for pair in pairs.pairs if _has(pair, variant, metric, notes)]
    if pairs.pairs and not usable:
        _refuse(pairs.pairs, variant, metric)
    sets_of_pairs = one_run(usable)
    wholes = [list(wholes_of(of_set, notes)) for of_set in sets_of_pairs]
    notes += not_in_wholes(sets_of_pairs, wholes)
    sets = [
        tuple(_comparison(some, variant, metric, by) for some in [*whole, *((one,) for one in of_set)])
        for of_set, whole in zip(sets_of_pairs, wholes, strict=True)
    ]
    notes += _without_rows(sets, variant)
    return Comparisons(
        variant=variant,
        metric=metric,
        sets=_corrected(sets),
        problems=tuple(problems),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a table.

    Attributes:
        comparison: Which.
        group: Of its rows; None for all of them.
        whole: Nothing above is over these rows too.
    """

    comparison: Comparison
    group: str | None
    whole: bool

    @property
    def numbers(self) -> Numbers:
        """What stands in it."""
        return self.comparison.numbers if self.group is None else self.comparison.by[self.group]


def lines_of(several: Sequence[Comparison]) -> list[Line]:
    """Give the lines to show of a set: groups below what is over several tasks, or below each task where nothing is."""
    any_whole = any(one.pooled for one in several)
    lines = []
    for one in several:
        whole = one.pooled or not any_whole
        groups = one.by if one.shown and whole else ()
        lines.append(Line(comparison=one, group=None, whole=whole))
        lines += [Line(comparison=one, group=group, whole=False) for group in groups]
    return lines


def _corrected(sets: Sequence[Sequence[Comparison]]) -> tuple[tuple[Comparison, ...], ...]:
    """Correct the p-values of all lines together, as they are read together."""
    lines = [line for several in sets for line in lines_of(several)]
    adjusted = holm([line.numbers.p if line.numbers.tested else math.nan for line in lines])
    found = {
        (id(line.comparison), line.group): None if math.isnan(p) else p for line, p in zip(lines, adjusted, strict=True)
    }

    def with_p(one: Comparison) -> Comparison:
        return replace(
            one,
            numbers=replace(one.numbers, p_holm=found[id(one), None]),
            by={group: replace(of, p_holm=found.get((id(one), group))) for group, of in one.by.items()},
        )

    return tuple(tuple(with_p(one) for one in several) for several in sets)


def _without_rows(sets: Sequence[Sequence[Comparison]], variant: str) -> Iterator[str]:
    """Say of what there is no row to compare, and what else a reader would take for something it is not."""
    for one in (one for several in sets for one in several if not one.pooled):
        numbers, where = one.numbers, f"{one.task}, {one.other.path}"
        if not numbers.n and numbers.unscored:
            yield f"{where}: no row has {one.metric} in both runs, though {numbers.unscored} were asked in both."
        elif not numbers.n:
            yield f"{where}: no row in common with {one.baseline.path}, so there is nothing to compare."
        if one.metric in OVER_OWN_ROWS and numbers.n:
            a, b = (
                sum(row.values.get(one.metric) is not None for row in run.variants[variant].values())
                for run in one.runs
            )
            yield (
                f"{where}: {one.metric} is over the wrong answers of each run, in {a} rows of the first and {b} of "
                "this one; n counts rows that either got wrong, gained and lost those that both did."
            )


def _metric_of(pair: Pair, metric: str | None) -> str:
    return metric or headline(pair.other.benchmark)


def _has(pair: Pair, variant: str, asked: str | None, notes: list[str]) -> bool:
    metric = _metric_of(pair, asked)
    for run in (pair.baseline, pair.other):
        rows = run.variants.get(variant)
        if rows is None:
            notes.append(
                f"{run.path}: left out, as it has no scores of the variant {variant}, only of "
                f"{', '.join(sorted(run.variants))}."
            )
            return False
        if not any(metric in row.values for row in rows.values()):
            notes.append(f"{run.path}: left out, as {run.task} has no metric {metric}.")
            return False
    return True


def _refuse(pairs: Sequence[Pair], variant: str, metric: str | None) -> None:
    """Say what there is instead of a variant or metric that nothing has."""
    runs = [run for pair in pairs for run in (pair.baseline, pair.other)]
    if not any(variant in run.variants for run in runs):
        seen = ", ".join(sorted({name for run in runs for name in run.variants}))
        raise DataError(f"compare: expected scores of the variant {variant}, found only {seen}.")
    metrics = {name for run in runs for row in run.variants.get(variant, {}).values() for name in row.values}
    wanted = list(dict.fromkeys(_metric_of(pair, metric) for pair in pairs))
    if not metrics.intersection(wanted):
        there = ", ".join(sorted(metrics))
        raise ConfigError(f"compare --metric: expected one of {there}, got {', '.join(map(repr, wanted))}.")
    raise DataError(
        f"compare: expected {' or '.join(wanted)}, {variant}, in both runs of a pair, found it in one of each only."
    )


def _comparison(pairs: tuple[Pair, ...], variant: str, asked: str | None, by: str | None) -> Comparison:
    metric = _metric_of(pairs[0], asked)
    unit = unit_of(pairs[0].other.benchmark, metric)
    rows = [(pair.baseline.variants[variant], pair.other.variants[variant]) for pair in pairs]
    dimension = by or _DIMENSION_OF.get(pairs[0].other.benchmark, next(iter(DIMENSIONS)))
    groups = [{group for row in baseline.values() for group in row.groups.get(dimension, ())} for baseline, _ in rows]
    # windows of one bias are the tasks again, which would be tested twice
    again = by is None and dimension == "window" and len(rows) > 1 and all(groups.count(own) == 1 for own in groups)
    shown = [] if again else sorted(set[str]().union(*groups), key=_in_order)
    return Comparison(
        pairs=pairs,
        metric=metric,
        numbers=measure(rows, metric, unit=unit),
        by={group: measure(rows, metric, unit=unit, group=(dimension, group)) for group in shown},
    )


def _in_order(group: str) -> tuple[int, str]:
    """Sort windows by their size, all else by name."""
    return (int(group) if group.isdecimal() else 0, group)

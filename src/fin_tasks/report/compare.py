"""Compares runs row by row: by how much one condition is better than another on the same questions."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.estimates import Unit, unit_of
from fin_tasks.report.kit_rows import read_both
from fin_tasks.report.metric_names import headline
from fin_tasks.report.pairing import Pair, pair_conditions, pair_folders, require
from fin_tasks.report.pooling import not_in_wholes, one_run, wholes_of
from fin_tasks.report.runs import Problem, Run
from fin_tasks.report.samples import DIMENSIONS, Row, Rows
from fin_tasks.report.settings import Difference
from fin_tasks.stats.averages import average
from fin_tasks.stats.paired import PairedDifference, paired_difference
from fin_tasks.stats.ranks import compare_all

__all__ = ["Comparison", "Comparisons", "Numbers", "compare", "measure"]

_DIMENSION_OF = {
    **{"xfinbench": "capability", "financemath": "topic", "bizbench": "part"},
    **{"mme_finance": "category", "dynostock": "window"},
}
_Matched = Sequence[tuple[Row, Row]]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A metric of the same rows under two conditions, in its unit.

    Attributes:
        n: Rows that both have, with a value in both.
        unpaired_baseline: Rows that only the baseline has.
        unpaired_other: Rows that only the other has.
        unscored: Rows that both have, but at least one without a value.
        baseline_rate: Mean over the `n` rows; None without any.
        other_rate: Likewise.
        difference: Other less baseline; sources are resampled where rows share them.
        p: Of the test a leaderboard makes of this pair, see `stats.ranks.compare_all`, but for its correction.
        exact: The test is McNemar's; a t-test otherwise.
        gained: Rows with a higher value in the other.
        lost: Rows with a lower value in the other.
        unit: Of the metric, `fraction` or `points` of 100, or any other `number`.
    """

    n: int
    unpaired_baseline: int
    unpaired_other: int
    unscored: int
    baseline_rate: float | None
    other_rate: float | None
    difference: PairedDifference
    p: float
    exact: bool
    gained: int
    lost: int
    unit: Unit = "fraction"


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
    def baseline(self) -> Run:
        """The baseline's run, the first where tasks are pooled."""
        return self.pairs[0].baseline

    @property
    def other(self) -> Run:
        """The other run, the first where tasks are pooled."""
        return self.pairs[0].other

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
        found.append(read_both(group, on_done=advance))
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
    return Comparisons(
        variant=variant,
        metric=metric,
        sets=tuple(sets),
        problems=tuple(problems),
        notes=tuple(dict.fromkeys(notes)),
    )


def measure(
    pairs: Iterable[tuple[Rows, Rows]],
    metric: str,
    *,
    unit: Unit = "fraction",
    group: tuple[str, str] | None = None,
) -> Numbers:
    """Compare the rows of runs, pooled.

    Args:
        pairs: Rows of the baseline and of the other run, for each task. Rows of the same id but another truth are
            different questions: unpaired on both sides.
        metric: What is compared.
        unit: Of the metric.
        group: Only rows of this dimension and group.

    Example:
        >>> row = lambda id, acc: Row(id=id, truth="1", values={"acc": acc}, answer=None, groups={})
        >>> before = {"a": row("a", 0.0), "b": row("b", 1.0), "c": row("c", None)}
        >>> after = {"a": row("a", 1.0), "b": row("b", 1.0), "c": row("c", 1.0), "d": row("d", 1.0)}
        >>> found = measure([(before, after)], "acc")
        >>> found.n, found.unscored, found.unpaired_other, found.baseline_rate, found.other_rate, found.gained
        (2, 1, 1, 0.5, 1.0, 1)
    """
    matched: list[tuple[Row, Row]] = []
    only_baseline = only_other = 0
    for baseline, other in pairs:
        a, b = (_of_group(rows, group) for rows in (baseline, other))
        both = [(row, b[name]) for name, row in a.items() if name in b and row.same_question(b[name])]
        matched += both
        only_baseline += len(a) - len(both)
        only_other += len(b) - len(both)
    scored = [
        (x, y, one)
        for one, two in matched
        if (x := one.values.get(metric)) is not None and (y := two.values.get(metric)) is not None
    ]
    before, after = [x for x, _, _ in scored], [y for _, y, _ in scored]
    clusters = _clusters([row for _, _, row in scored])
    (test,) = compare_all({"other": after, "baseline": before}, clusters=clusters)
    return Numbers(
        n=len(scored),
        unpaired_baseline=only_baseline,
        unpaired_other=only_other,
        unscored=len(matched) - len(scored),
        baseline_rate=average(before) if scored else None,
        other_rate=average(after) if scored else None,
        difference=paired_difference(after, before, clusters=clusters),
        p=test.p,
        exact=test.exact,
        gained=sum(y > x for x, y, _ in scored),
        lost=sum(y < x for x, y, _ in scored),
        unit=unit,
    )


def _clusters(rows: Sequence[Row]) -> list[Hashable] | None:
    """Say what rows share; None where each stands alone."""
    clusters: list[Hashable] = [row.source or ("row", place) for place, row in enumerate(rows)]
    return clusters if len(set(clusters)) < len(clusters) else None


def _of_group(rows: Rows, group: tuple[str, str] | None) -> Rows:
    if group is None:
        return rows
    dimension, name = group
    return {key: row for key, row in rows.items() if name in row.groups.get(dimension, ())}


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
    groups = dict.fromkeys(
        group for baseline, _ in rows for row in baseline.values() for group in row.groups.get(dimension, ())
    )
    return Comparison(
        pairs=pairs,
        metric=metric,
        numbers=measure(rows, metric, unit=unit),
        by={
            group: measure(rows, metric, unit=unit, group=(dimension, group)) for group in sorted(groups, key=_in_order)
        },
    )


def _in_order(group: str) -> tuple[int, str]:
    """Sort windows by their size, all else by name."""
    return (int(group) if group.isdecimal() else 0, group)

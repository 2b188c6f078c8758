"""Comparing runs, or one model's styles or knowledge, on the rows that they share."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import nan
from typing import NamedTuple

from pandas import DataFrame, factorize, merge

from fin_tasks.errors import DataError
from fin_tasks.recordings import MODEL_PREFIX
from fin_tasks.stats.pairs import compare_pair, holm

from . import cut_off
from .conditions import conditions_of, differences
from .corrections import Corrections, note_of
from .factors import FACTORS
from .model import BREAKDOWNS, Report, TaskResult, headline, largest
from .recorded import AS_RECORDED
from .values import value_of

ARMS = ("arm", "window")
"""Columns that `arms.compare_arms` compares."""

EFFECTS = ("statement", "mitigation")
"""What `effects.effects_of` compares."""

GROUPS = tuple(name for name in BREAKDOWNS if name not in ARMS)
"""Columns by which rows can be grouped."""

_BASELINES = ("cot", "none")


class Line(NamedTuple):
    """A run's value over a group of rows, and its difference from the baseline over the rows that both have scored."""

    heading: str
    task: str = ""
    metric: str = ""
    scoring: str = ""
    group: str = ""
    """Empty for all rows."""
    model: str = ""
    """Empty if runs are compared."""
    run: str = ""
    against: str = ""
    """The baseline; empty for the baseline itself."""
    test: str = ""
    unit: float = 1.0
    """The largest value of the metric."""
    value: float = nan
    deviation: float = nan
    low: float = nan
    high: float = nan
    p: float = nan
    p_holm: float = nan
    """Corrected over all lines, which are one family of tests."""
    difference: float = nan
    difference_low: float = nan
    difference_high: float = nan
    detectable: float = nan
    """The smallest difference that the pairs could have shown with a power of 80 %."""
    n: int = 0
    pairs: int = 0
    left_out: int = 0
    gained: float = nan
    lost: float = nan


class Comparisons(NamedTuple):
    """A table of lines, and notes on what could not be compared and on settings that differ."""

    lines: DataFrame
    """A row for each `Line`."""
    notes: list[str]


class Options(NamedTuple):
    """What to compare."""

    scoring: str = "paper"
    metric: str = ""
    """By default the metric that models are ranked by."""
    factor: str = ""
    """Compare results of one model that differ in it instead of runs."""
    by: str = ""
    """Also compare groups of rows."""
    baseline: str = ""
    """A label; by default the first run, with a factor chain of thought or no knowledge."""
    corrections: Corrections = Corrections()
    """Values that people's labels corrected."""


class _LabeledResult(NamedTuple):
    """A result with what tables call it."""

    heading: str
    """The conditions that compared results share."""
    label: str
    """The name of the run; with a factor the result's style or knowledge, such as `cot`."""
    model: str
    """Empty if runs are compared."""
    scoring: str
    result: TaskResult
    rows: DataFrame
    is_part: bool
    """Whether its task belongs to a group that the run has, too."""


def compare(reports: Mapping[str, Report], options: Options) -> Comparisons:
    """Compare runs with a baseline, task by task; a pair's test depends on these two runs alone.

    The reports have a name for each path that was read.
    """
    sets, notes = _sets_of(reports, options)
    lines: list[Line] = []
    metrics: set[str] = set()
    for entries in sets:
        for entry in entries:
            own_lines, own_notes = _compare_with(entries[0], entry, options)
            lines += own_lines
            notes += own_notes
            metrics.update(*entry.result.totals.values())
    if not lines:
        expected = f"{options.metric or 'a value'} under {options.scoring}"
        got = ", ".join(sorted(metrics)) or "no metric"
        if options.factor and not metrics:
            expected += f", and results of one model that differ in {options.factor}"
            got = "none that differ in it"
        raise DataError(f"compare: expected results with {expected}, got {got}.")
    table = DataFrame(lines)
    table["p_holm"] = holm(table["p"].tolist())
    n_tests = table["p"].notna().sum()
    if n_tests:
        notes.append(
            f"Holm: p corrected over all tests of this table as one family, {n_tests} in number."
        )
    if not table["against"].any():
        notes.append(
            "Nothing is compared: the runs share no task under the same conditions. "
            "--by style, --by mode and others compare results of one model."
        )
    return Comparisons(table, notes)


def check_baseline(options: Options, labels: Iterable[str]) -> None:
    """Raise DataError if the baseline is none of the labels that are compared."""
    names = list(labels)
    if options.baseline not in ("", *names):
        raise DataError(
            f"compare --baseline: expected one of {', '.join(names)}, got {options.baseline!r}."
        )


def _sets_of(
    reports: Mapping[str, Report], options: Options
) -> tuple[list[list[_LabeledResult]], list[str]]:
    """Return the sets of results that are compared, and notes. In each set the baseline comes first.

    A set holds the results of several runs under the same conditions. With a factor it holds the results of one model
    under conditions that differ in the factor only.
    """
    all_entries = list(_entries_of(reports, options))
    labels = dict.fromkeys(entry.label for entry in all_entries)
    check_baseline(options, labels)
    entries_by_key, notes = _without_repeats(all_entries)
    sets = []
    for (heading, _), entries in entries_by_key.items():
        candidates = list(labels)
        if options.factor:
            if len(entries) < 2:
                continue
            candidates = [name for name in (*_BASELINES, *entries) if name in entries]
        name = options.baseline or candidates[0]
        if name in entries:
            sets.append([entries.pop(name), *entries.values()])
        else:
            others = ", ".join(entries)
            note = f"{heading}: {name} has no result to compare {others} with."
            is_recorded = any(other.startswith(MODEL_PREFIX) for other in entries)
            notes.append(f"{note} {AS_RECORDED}" if is_recorded else note)
    return sets, notes


def _without_repeats(
    all_entries: Iterable[_LabeledResult],
) -> tuple[dict[tuple[str, str], dict[str, _LabeledResult]], list[str]]:
    """Return the entries by heading and model, and by label, with a note for each label that was run twice."""
    entries_by_key = defaultdict[tuple[str, str], dict[str, _LabeledResult]](dict)
    notes = []
    for entry in all_entries:
        entries = entries_by_key[entry.heading, entry.model]
        if entry.label in entries:
            notes.append(
                f"{entry.heading}: {entry.label} was run twice; the most complete run counts, "
                "then the newest."
            )
            if len(entry.rows) < len(entries[entry.label].rows):
                continue
        entries[entry.label] = entry
    return entries_by_key, notes


def _entries_of(
    reports: Mapping[str, Report], options: Options
) -> Iterator[_LabeledResult]:
    """Yield all results, those of groups first; of each path the oldest run comes first."""
    paths_by_model = defaultdict[str, set[str]](set)
    for path, report in reports.items():
        for run in report.runs:
            paths_by_model[run.model].add(path)
    factor = FACTORS.get(options.factor)
    for path, report in reports.items():
        for run in report.runs:
            label = run.model
            if len(paths_by_model[label]) > 1:
                label += f" ({path})"
            parts = {member for result in run.tasks for member in result.members}
            for result in sorted(run.tasks, key=lambda result: not result.members):
                entry = _LabeledResult(
                    heading=conditions_of(result).text(),
                    label=label,
                    model="",
                    scoring=options.scoring,
                    result=result,
                    rows=report.rows_of(result, options.scoring),
                    is_part=result.task in parts,
                )
                if factor is None:
                    yield entry
                elif factor.scorings:
                    for scoring in factor.scorings:
                        rows = report.rows_of(result, scoring)
                        scored = entry._replace(scoring=scoring, rows=rows)
                        yield scored._replace(label=scoring, model=run.model)
                else:
                    yield entry._replace(
                        heading=factor.shared_conditions(result).text(),
                        label=factor.label_of(result) or path,
                        model=run.model,
                    )


def _compare_with(
    first: _LabeledResult, entry: _LabeledResult, options: Options
) -> tuple[Iterable[Line], list[str]]:
    """Return a line for all rows of a result and for each group of rows, and notes."""
    where = f"{entry.heading}: {', '.join(filter(None, (entry.model, entry.label)))}"
    metric = options.metric or headline(first.result)
    results = (entry.result, first.result)
    revisions = {result.settings.get("data.revision") for result in results}
    if len(revisions - {None}) > 1:
        differing = "; ".join(differences(*results))
        return [], [f"{where} is not compared with {first.label}: {differing}."]
    if metric not in entry.rows or entry.rows[metric].isna().all():
        return [], [f"{where} has no {entry.scoring} value of {metric}."]
    notes = []
    if metric not in first.rows:
        notes.append(f"is not compared, as {first.label} has no value of {metric}")
    if not entry.is_part:
        factor = FACTORS.get(options.factor)
        expected = ("tasks", *(factor.may_differ if factor else ()))
        differing = "; ".join(differences(*results, expected))
        if differing:
            notes.append(f"differs from {first.label} in {differing}")
        bound = cut_off.note_of(cut_off.cut_offs_of(entry.rows, metric), metric)
        if bound:
            notes.append(f"has a {bound}")
    corrections = options.corrections
    run = entry.result.id
    notes.append(note_of(corrections.of(run, entry.scoring, metric)))
    notes.append(corrections.difference_note(run, first.result.id, entry.scoring))
    lines = _lines_of(first, entry, metric, options)
    return lines, [f"{where} {note}." for note in notes if note]


def _lines_of(
    first: _LabeledResult, entry: _LabeledResult, metric: str, options: Options
) -> Iterator[Line]:
    """Yield a line for all rows of a result and for each group of rows, with its difference from the baseline."""
    by = "" if entry.is_part else options.by
    bases = groups_of(first.rows, by)
    for group, rows in groups_of(entry.rows, by).items():
        value = value_of(rows, metric)
        line = Line(
            heading=entry.heading,
            task=entry.result.task,
            metric=metric,
            scoring=entry.scoring,
            group=group,
            model=entry.model,
            run=entry.label,
            unit=largest(metric),
            value=value.mean,
            low=value.low,
            high=value.high,
            n=value.n,
        )
        if entry is not first and metric in first.rows:
            base = bases.get(group, first.rows.head(0))
            line = _with_difference(line, first.label, base, rows)
        yield line


def groups_of(rows: DataFrame, by: str) -> dict[str, DataFrame]:
    """Return all rows, and the rows of each group; a row may be in several."""
    groups = {"": rows}
    if by:
        parts = rows[by].dropna().astype(str).str.split("|").explode()
        for group, members in parts.groupby(parts):
            groups[str(group)] = rows.loc[members.index]
    return groups


def _with_difference(
    line: Line, against: str, base: DataFrame, rows: DataFrame
) -> Line:
    """Add the difference of a run from the baseline, on the rows that both have scored."""
    keys = ["task", "doc_id"]
    if base["doc_id"].is_unique and rows["doc_id"].is_unique:
        # The runs may have asked the question under other names of tasks.
        keys = ["doc_id"]
    columns = [*keys, "source", line.metric]
    joined = merge(
        base[columns].astype(object),
        rows[columns].astype(object),
        how="outer",
        on=keys,
        suffixes=("_first", "_second"),
    )
    before = joined[f"{line.metric}_first"].to_numpy(float)
    after = joined[f"{line.metric}_second"].to_numpy(float)
    sources = joined["source_first"].combine_first(joined["source_second"])
    pair = compare_pair(after, before, clusters=factorize(sources)[0])
    gained = int((after > before).sum())
    lost = int((after < before).sum())
    could_show = nan
    if pair.n:
        # It imports scipy.stats, which takes a second that a report does not need.
        from fin_tasks.stats.power import detectable

        could_show = detectable(pair, (gained + lost) / pair.n)
    return line._replace(
        against=against,
        test=pair.test,
        p=pair.p if pair.test else nan,
        difference=pair.difference,
        difference_low=pair.low,
        difference_high=pair.high,
        pairs=pair.n,
        left_out=len(joined) - pair.n,
        detectable=could_show,
        gained=gained,
        lost=lost,
    )

"""Comparing runs, or one model's styles or knowledge, on the rows that they share."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report import cut_off
from fin_tasks.report.conditions import Conditions, conditions_of, differences
from fin_tasks.report.model import BREAKDOWNS, Report, Run, TaskResult, headline, largest
from fin_tasks.report.samples import read_samples
from fin_tasks.report.values import value_of
from fin_tasks.stats.pairs import compare_pair, holm

FACTORS: Mapping[str, tuple[str, ...]] = {"style": ("mode", "style"), "knowledge": ("retrieval",)}
"""What one model's results may differ in, with the conditions that say so."""

ARMS = ("arm", "window")
"""Columns that `arms.compare_arms` compares."""

GROUPS = (*(name for name in BREAKDOWNS if name not in ARMS), "task")
"""Columns by which rows can be grouped; `task` means no groups."""

_BASELINES = ("cot", "none")
_MAY_DIFFER = ("style.", "prompts.", "mode", "version", "retrieval.")
"""Beginnings of settings that may differ with a factor."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A run's value over a group of rows, and its difference from the baseline over the rows that both have scored."""

    heading: str
    task: str = ""
    metric: str
    variant: str
    by: str = ""
    group: str = ""
    """Empty for all rows."""
    model: str = ""
    run: str
    against: str = ""
    """The baseline; empty for the baseline itself."""
    family: str = ""
    """`p_holm` is corrected over the lines of a family."""
    test: str = ""
    unit: float
    """The largest value of the metric."""
    value: float = math.nan
    deviation: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_holm: float = math.nan
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan
    n: int
    pairs: int = 0
    left_out: int = 0
    gained: int | None = None
    lost: int | None = None


@dataclass(frozen=True)
class Comparisons:
    """A table of lines, and notes on what could not be compared and on settings that differ."""

    lines: pd.DataFrame
    """A row for each `Line`."""
    notes: tuple[str, ...]

    @classmethod
    def of(cls, lines: Sequence[Line], notes: Sequence[str]) -> "Comparisons":
        """Make a table of lines."""
        table = pd.DataFrame([asdict(line) for line in lines])
        return cls(table.astype({"gained": "Int64", "lost": "Int64"}), tuple(notes))


@dataclass(frozen=True, kw_only=True)
class _Options:
    variant: str
    metric: str
    factor: str
    by: str
    baseline: str


@dataclass(frozen=True)
class _Entry:
    label: str
    model: str
    result: TaskResult
    rows: pd.DataFrame


@dataclass(frozen=True)
class _Set:
    """What is compared with each other."""

    heading: str
    baseline: _Entry
    entries: Sequence[_Entry]


@dataclass
class _Sets:
    sets: list[_Set] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(
    reports: Mapping[str, Report],
    *,
    variant: str = "paper",
    metric: str = "",
    factor: str = "",
    by: str = "",
    baseline: str = "",
) -> Comparisons:
    """Compare runs with a baseline, task by task; a pair's test depends on these two runs alone.

    Args:
        reports: What was read, with a name for each path.
        variant: The scores.
        metric: By default the metric that models are ranked by.
        factor: Compare results of one model that differ in it instead of runs.
        by: Also compare groups of rows.
        baseline: The label of the baseline, by default the first run; with a factor chain of thought or no knowledge.
    """
    options = _Options(variant=variant, metric=metric, factor=factor, by=by, baseline=baseline)
    matched = _sets_of(reports, options)
    notes = matched.notes
    grouped = _grouped_tasks(matched.sets)
    lines: list[Line] = []
    for comparison in matched.sets:
        first = comparison.baseline
        is_part = (first.result.run, first.result.task) in grouped
        for entry in comparison.entries:
            differing = differences(entry.result, first.result)
            where = f"{comparison.heading}: {_name(entry, factor)}"
            if _has_other_data(entry.result, first.result):
                notes.append(f"{where} is not compared with {first.label}: {'; '.join(differing)}.")
                continue
            if not is_part:
                notes += _difference_notes(where, first, differing, factor)
                notes += _bound_notes(where, entry, metric or headline(first.result))
            entry_lines = list(_lines_of(comparison, entry, options, is_part=is_part))
            notes += _value_notes(where, entry, first, options, entry_lines)
            lines += entry_lines
    if not lines:
        raise DataError(_nothing_found(reports, options))
    table = Comparisons.of(lines, notes)
    families = table.lines.groupby("family")["p"]
    table.lines["p_holm"] = families.transform(lambda p: holm(p.tolist()))
    if not table.lines["against"].any():
        return replace(table, notes=(*notes, _nothing_compared(reports)))
    return table


def _nothing_found(reports: Mapping[str, Report], options: _Options) -> str:
    known: set[str] = set()
    for report in reports.values():
        for run in report.runs:
            for result in run.tasks:
                known.update(*result.totals.values())
    expected = f"{options.metric or 'a value'} under {options.variant}"
    if options.factor:
        expected += f" that differ in {options.factor}"
    return (
        f"compare: expected results with {expected}, got {', '.join(sorted(known)) or 'no metric'}."
    )


def _nothing_compared(reports: Mapping[str, Report]) -> str:
    if len(reports) < 2:
        return "Nothing is compared: name several runs, or --by style or --by knowledge."
    return (
        "Nothing is compared: the runs share no task under the same conditions. "
        "--by style and --by knowledge compare conditions of one model."
    )


def _has_other_data(result: TaskResult, first: TaskResult) -> bool:
    revisions = (result.settings.get("data.revision"), first.settings.get("data.revision"))
    return None not in revisions and revisions[0] != revisions[1]


def _grouped_tasks(sets: Sequence[_Set]) -> set[tuple[str, str]]:
    """Return the tasks of the groups that are compared; their rows are compared with the group's, too."""
    tasks = set()
    for comparison in sets:
        for entry in comparison.entries:
            tasks |= {(entry.result.run, member) for member in entry.result.members}
    return tasks


def _difference_notes(
    where: str, first: _Entry, differing: Sequence[str], factor: str
) -> list[str]:
    expected = ("tasks", *_MAY_DIFFER) if factor else ("tasks",)
    others = [difference for difference in differing if not difference.startswith(expected)]
    return [f"{where} differs from {first.label} in {'; '.join(others)}."] if others else []


def _value_notes(
    where: str,
    entry: _Entry,
    first: _Entry,
    options: _Options,
    lines: Sequence[Line],
) -> list[str]:
    """Say what is missing."""
    metric = options.metric or headline(first.result)
    if not lines:
        return [f"{where} has no {options.variant} value of {metric}."]
    notes = []
    if entry is not first and not lines[0].against:
        notes.append(f"{where} is not compared, as {first.label} has no value of {metric}.")
    return notes


def _bound_notes(where: str, entry: _Entry, metric: str) -> list[str]:
    note = cut_off.note_of(cut_off.cut_offs_of(entry.rows, metric), metric)
    return [f"{where} has a {note}."] if note else []


def _name(entry: _Entry, factor: str) -> str:
    return f"{entry.model}, {entry.label}" if factor else entry.label


def _sets_of(reports: Mapping[str, Report], options: _Options) -> _Sets:
    """Return what is compared with each other, groups before their tasks.

    That is one model's results under conditions that differ in the factor only, or several runs' under the same ones.
    """
    matched = _Sets()
    entries_by_key: dict[tuple[str, str], dict[str, _Entry]] = defaultdict(dict)
    for label, run, result, report in _labeled(reports):
        heading, label = _heading_and_label(conditions_of(result), label, options.factor)
        entries = entries_by_key[heading, run.model if options.factor else ""]
        earlier = entries.get(label)
        if earlier is not None:
            differing = "; ".join(differences(earlier.result, result)) or "no setting"
            matched.notes.append(
                f"{heading}: {label} was run twice; the newest run counts. They differ in {differing}."
            )
        rows = report.rows_of(result, options.variant)
        entries[label] = _Entry(label, run.model, result, rows)
    labels = {label: None for entries in entries_by_key.values() for label in entries}
    if options.baseline and options.baseline not in labels:
        raise DataError(
            f"compare --baseline: expected one of {', '.join(labels)}, got {options.baseline!r}."
        )
    for (heading, _), entries in entries_by_key.items():
        if options.factor and len(entries) < 2:
            continue
        name = _baseline_of(entries, options) or next(iter(labels))
        if name in entries:
            others = [entry for label, entry in entries.items() if label != name]
            matched.sets.append(_Set(heading, entries[name], [entries[name], *others]))
        else:
            labels_of_set = ", ".join(entries)
            matched.notes.append(
                f"{heading}: {name} has no result to compare {labels_of_set} with."
            )
    return matched


def _baseline_of(entries: Mapping[str, _Entry], options: _Options) -> str:
    """Return the label of the baseline; empty if it is the first run."""
    if options.baseline or not options.factor:
        return options.baseline
    usual = [name for name in _BASELINES if name in entries]
    return [*usual, *entries][0]


def _labeled(
    reports: Mapping[str, Report],
) -> Iterator[tuple[str, Run, TaskResult, Report]]:
    """Yield all results, by date, with the name of their run: the model, and the path if several runs are of it."""
    models: list[str] = []
    for report in reports.values():
        models += {run.model for run in report.runs}
    for path, report in reports.items():
        for run in sorted(report.runs, key=lambda run: run.date):
            label = run.model if models.count(run.model) == 1 else f"{run.model} ({path})"
            for result in sorted(run.tasks, key=lambda result: not result.members):
                yield label, run, result, report


def _heading_and_label(conditions: Conditions, run: str, factor: str) -> tuple[str, str]:
    """Return the conditions that results share, and the name of a result: its run, or what it has of the factor."""
    if not factor:
        return conditions.text(), run
    values = conditions._asdict()
    factor_values = [values[name] for name in FACTORS[factor] if values[name]]
    shared = conditions._replace(**dict.fromkeys(FACTORS[factor], ""))
    return shared.text(), ", ".join(factor_values)


def _lines_of(
    comparison: _Set,
    entry: _Entry,
    options: _Options,
    *,
    is_part: bool,
) -> Iterator[Line]:
    """Yield a line for all rows of a result, and for each group of rows."""
    first = comparison.baseline
    metric = options.metric or headline(first.result)
    if metric not in entry.rows or entry.rows[metric].isna().all():
        return
    by = "" if is_part or options.by == "task" else options.by
    family = entry.model if options.factor else entry.label
    for group in ["", *_groups_of(entry.rows, by)]:
        rows = _in_group(entry.rows, by, group)
        value = value_of(rows, metric)
        line = Line(
            heading=comparison.heading,
            task=entry.result.task,
            metric=metric,
            variant=options.variant,
            by=by if group else "",
            group=group,
            model=entry.model,
            run=entry.label,
            family=f"{family}, {'parts' if is_part or group else 'headline'}",
            unit=largest(metric),
            value=value.mean,
            low=value.low,
            high=value.high,
            n=value.n,
        )
        if entry is not first and metric in first.rows:
            line = _with_difference(line, _in_group(first.rows, by, group), rows, first.label)
        yield line
    question_hits = hits(entry.result) if options.factor == "knowledge" else []
    if question_hits:
        yield Line(
            heading=comparison.heading,
            task=entry.result.task,
            metric="hit_rate",
            variant=options.variant,
            model=entry.model,
            run=entry.label,
            family=family,
            unit=1.0,
            value=fmean(question_hits),
            n=len(question_hits),
        )


def _groups_of(rows: pd.DataFrame, by: str) -> list[str]:
    if not by:
        return []
    names: set[str] = set()
    for text in rows[by].dropna().unique():
        names.update(str(text).split("|"))
    return sorted(names)


def _in_group(rows: pd.DataFrame, by: str, group: str) -> pd.DataFrame:
    """Return the rows of a group, all if it is empty; a row may be in several."""
    if not group:
        return rows
    is_in_group = rows[by].map(lambda text: group in str(text).split("|"))
    return rows[is_in_group.eq(True)]


def _with_difference(line: Line, base: pd.DataFrame, rows: pd.DataFrame, against: str) -> Line:
    """Add what a run has more than the baseline, on the rows that both have scored."""
    columns = ["task", "doc_id", "source"]
    first = base[[*columns, line.metric]].astype(dict.fromkeys(columns, object))
    second = rows[[*columns, line.metric]].astype(dict.fromkeys(columns, object))
    is_one_task = first["doc_id"].is_unique and second["doc_id"].is_unique
    keys = ["doc_id"] if is_one_task else ["task", "doc_id"]  # a group has several tasks
    joined = first.merge(second, how="outer", on=keys, suffixes=("_first", "_second"))
    before = joined[f"{line.metric}_first"].to_numpy()
    after = joined[f"{line.metric}_second"].to_numpy()
    sources = joined["source_first"].combine_first(joined["source_second"])
    pair = compare_pair(after, before, clusters=pd.factorize(sources)[0])
    return replace(
        line,
        against=against,
        test=pair.test,
        p=pair.p if pair.n else math.nan,
        difference=pair.difference,
        difference_low=pair.low,
        difference_high=pair.high,
        pairs=pair.n,
        left_out=len(joined) - pair.n,
        gained=int((after > before).sum()),
        lost=int((after < before).sum()),
    )


def hits(result: TaskResult) -> list[bool]:
    """Return for each question that has gold terms whether one of them is among the terms shown."""
    is_hit: dict[str, bool] = {}
    for sample in read_samples(result.samples):
        gold = sample.doc.get("gold_terms")
        terms = sample.doc.get("terms")
        if isinstance(gold, list) and gold and isinstance(terms, list):
            term_ids = [term.get("id") for term in terms if isinstance(term, dict)]
            is_hit[sample.id] = any(term in gold for term in term_ids)
    return list(is_hit.values())

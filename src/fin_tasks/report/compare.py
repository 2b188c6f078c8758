"""Comparing runs, or one model's styles, knowledge or statements, on the rows that they share."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock import experiment
from fin_tasks.benchmarks.dynostock.figures import contrast_name, names_of
from fin_tasks.benchmarks.dynostock.windows import BIASES
from fin_tasks.errors import DataError
from fin_tasks.report.comparable import conditions_of, differences, text_of
from fin_tasks.report.metrics import headline, largest
from fin_tasks.report.model import BENCHMARKS, WEIGHT, Report, Run, TaskResult
from fin_tasks.report.rows import read_samples
from fin_tasks.report.values import value_of
from fin_tasks.stats.pairs import compare_pair, holm

FACTORS: Mapping[str, tuple[str, ...]] = {"style": ("mode", "style"), "knowledge": ("retrieval",)}
"""What one model's results may differ in, with the conditions that say so."""

GROUPS = ("capability", "topic", "part", "category", "image_type", "image_style", "math_types", "ticker", "task")
"""Columns by which rows can be grouped; `task` means no groups."""

COLUMNS = (
    *("heading", "task", "metric", "variant", "unit", "by", "group", "run", "against", "family"),
    *("n", "value", "deviation", "low", "high"),
    *("pairs", "difference", "difference_low", "difference_high", "p", "p_holm", "test"),
    *("gained", "lost", "left_out"),
)
"""Columns of `Comparisons.lines`."""

_BASELINES = ("cot", "none")
_FOLLOW = ("style.", "prompts.", "mode", "version", "retrieval.")  # settings that may differ with a factor
_SAME_DATA = ("split", "data.revision")
_STATEMENT = ("anonymize", "arm", "bias", "mode", "scorer", "window")  # settings in which arms differ on purpose


@dataclass(frozen=True)
class Comparisons:
    """All differences, with `COLUMNS`.

    Attributes:
        lines: A line for each group of rows and run: the run's own value with its interval; then, against the baseline
            and over the `pairs` rows that both have scored, the difference with its interval and test. `heading` names
            the task, `group` is empty for all rows. `p_holm` is corrected over the lines of a `family`.
        notes: Results that could not be compared, and settings in which runs differ.
    """

    lines: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    label: str
    report: Report
    run: Run
    result: TaskResult
    conditions: Mapping[str, str]

    def title(self, factor: str = "") -> str:
        names = [name for name in self.conditions if name not in ("task", *FACTORS.get(factor, ()))]
        said = [self.conditions[name] for name in names if self.conditions[name] not in ("", "none")]
        return " · ".join([self.result.task, *said])


def compare(
    reports: Mapping[str, Report], *, variant: str = "paper", metric: str = "", factor: str = "", by: str = ""
) -> Comparisons:
    """Compare runs with the first of them, task by task; a pair's test depends on these two runs alone.

    `reports` has a name for each path. By default the metric is the one that models are ranked by. With a `factor`,
    results of one model that differ in it are compared instead: with chain of thought and a role, or no knowledge.
    Raise DataError if no run has the metric.
    """
    notes: list[str] = []
    entries = _entries(reports, factor, notes)
    if factor:
        entries.sort(key=lambda one: one.label not in _BASELINES)
    sets = _by_factor(entries, factor) if factor else _by_run(entries, notes)
    members = {(one.run.id, name) for one in entries for name in one.result.members}
    order = list(BENCHMARKS)
    sets.sort(key=lambda own: (order.index(own[0].result.benchmark), (own[0].run.id, own[0].result.task) in members))
    lines: list[dict[str, Any]] = []
    for own in sets:
        first = own[0]
        inner = (first.run.id, first.result.task) in members  # its rows are compared with the group's, too
        heading = f"{first.title(factor)}, {first.run.model}" if factor else first.title()
        grouped = "" if inner or by == "task" else by
        for one in own:
            against = None if one is first else first
            if against and not inner:
                expected = (*(_FOLLOW if factor else ()), "tasks")
                if told := [said for said in differences(one.result, first.result) if not said.startswith(expected)]:
                    notes.append(f"{heading}: {one.label} differs from {first.label} in {'; '.join(told)}.")
            name = metric or headline(first.result)
            found = _lines(one, against, name, variant, grouped)
            if not found:
                notes.append(f"{heading}: {one.label} has no {variant} value of {name}.")
            of = one.run.model if factor else one.label
            for line in found:
                part = "parts" if line["group"] or inner else "headline"
                lines.append({**line, "heading": heading, "family": f"{of}, {part}"})
            if factor == "knowledge" and one.conditions["retrieval"] != "none" and (shown := hits(one.result)):
                facts = {"heading": heading, "task": one.result.task, "variant": variant, "run": one.label}
                lines.append({**facts, "metric": "hit_rate", "unit": 1.0, "n": len(shown), "value": fmean(shown)})
    if not lines:
        known = ", ".join(sorted({name for one in entries for own in one.result.totals.values() for name in own}))
        wanted = f"{metric or 'a value'} under {variant}" + (f" that differ in {factor}" if factor else "")
        raise DataError(f"compare: expected results with {wanted}, got {known or 'no metric'}.")
    table = _table(pd.DataFrame(lines))
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.tolist()))
    if not table["against"].any():
        notes.append("Nothing is compared: name several runs, or --by style or --by knowledge.")
    return Comparisons(table, tuple(notes))


def compare_statements(report: Report, *, variant: str = "paper", effects: bool = True) -> Comparisons:
    """Return DynoStock's measures by arm and window size, and with `effects` the differences between arms.

    Lines have the window size as group; `mean` is the mean over sizes. Intervals of differences resample tickers.
    """
    rows, notes = statement_rows(report, variant=variant)
    arms = experiment.by_window(rows)
    contrasts, more = experiment.compare_arms(rows) if effects else (pd.DataFrame(), [])
    names = [name for name in experiment.GROUP if name != "bias"]
    arms = arms.assign(heading=arms["bias"] + ", " + names_of(arms, names), run=arms["arm"])
    tables = []
    for measure in experiment.MEASURES:
        parts = {"value": "", "low": "_low", "high": "_high", "deviation": "_std"}
        values = {name: arms.get(measure + ending, math.nan) for name, ending in parts.items()}
        tables.append(arms.assign(metric=measure, **values))
    if len(contrasts):
        renamed = {"measure": "metric", "low": "difference_low", "high": "difference_high"}
        tables.append(
            contrasts.rename(columns=renamed).assign(
                heading=contrasts["bias"] + ", " + names_of(contrasts, names),
                run=contrasts.apply(contrast_name, axis=1),
                against=contrasts["second"].astype(str),
                n=contrasts["pairs"],
                left_out=contrasts["unpaired"] + contrasts["without_value"],
                test="McNemar",
            )
        )
    table = pd.concat(tables).assign(variant=variant, unit=1.0, by="window")
    lines = _table(table.assign(group=table["window"].astype(str)))
    return Comparisons(lines, (*notes, *more))


def statement_rows(report: Report, *, variant: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of bias tasks with `experiment.COLUMNS`, newest run last, and notes on runs kept apart.

    Raises:
        DataError: There are no such rows.
    """
    parts: list[pd.DataFrame] = []
    settings: dict[tuple[str, ...], list[Mapping[str, str]]] = defaultdict(list)
    for run in sorted(report.runs, key=lambda run: run.date):
        for one in run.tasks:
            bias = next((name for name in BIASES if one.task.startswith(f"dynostock_{name}")), "")
            rows = report.rows_of(one, variant)
            if not bias or one.members or rows.empty:
                continue
            mode = "text" if one.task.endswith("_text") else "image"
            asked = {name: value for name, value in one.settings.items() if name not in _STATEMENT}
            known = settings[run.model, bias, mode]
            if asked not in known:
                known.append(asked)
            facts: dict[str, Any] = {"model": run.model, "bias": bias, "mode": mode}
            facts |= {"setting": f"settings {known.index(asked) + 1}"}
            parts.append(rows.assign(**facts, anonymized=one.settings.get("anonymize") == "true"))
    if not parts:
        raise DataError(f"compare: expected rows of DynoStock's bias tasks under {variant}, found none.")
    table = pd.concat(parts).reindex(columns=list(experiment.COLUMNS)).dropna(subset=["window"])
    notes = []
    for key, several in settings.items():
        names = sorted({name for one in several for name in one})
        if differ := [name for name in names if len({one.get(name) for one in several}) > 1]:
            notes.append(f"{', '.join(key)}: runs that differ in {', '.join(differ)} are not compared.")
    return table.astype({"arm": str, "doc_id": str, "ticker": str}).astype({"window": int}), notes


def hits(result: TaskResult) -> list[bool]:
    """Return for each question that has gold terms whether one of them is among the terms shown."""
    found: dict[str, bool] = {}
    for sample in read_samples(result):
        doc = sample["doc"]
        gold, terms = doc.get("gold_terms"), doc.get("terms")
        if isinstance(gold, list) and gold and isinstance(terms, list):
            found[str(doc.get("id"))] = any(isinstance(term, dict) and term.get("id") in gold for term in terms)
    return list(found.values())


def _entries(reports: Mapping[str, Report], factor: str, notes: list[str]) -> list[_Entry]:
    """Return results with their labels; of results under the same conditions, the newest."""
    runs = [(path, report, run) for path, report in reports.items() for run in report.runs]
    paths: dict[str, set[str]] = defaultdict(set)
    for path, _, run in runs:
        paths[run.model].add(path)
    found: dict[tuple[Any, ...], _Entry] = {}
    for path, report, run in sorted(runs, key=lambda one: (list(reports).index(one[0]), one[2].date)):
        for result in run.tasks:
            conditions = conditions_of(result)
            label = ", ".join(conditions[name] for name in FACTORS.get(factor, ()) if conditions[name])
            if not factor:
                label = run.model if len(paths[run.model]) == 1 else f"{run.model} ({path})"
            key = (run.model if factor else label, result.task, *conditions.values())
            if earlier := found.pop(key, None):
                told = "; ".join(differences(earlier.result, result)) or "no setting"
                notes.append(f"{result.task}: {label} was run twice; the newest run counts. They differ in {told}.")
            found[key] = _Entry(label, report, run, result, conditions)
    return list(found.values())


def _by_factor(entries: Iterable[_Entry], factor: str) -> list[list[_Entry]]:
    sets: dict[tuple[Any, ...], list[_Entry]] = defaultdict(list)
    for one in entries:
        rest = [value for name, value in one.conditions.items() if name not in FACTORS[factor]]
        sets[one.run.model, one.result.benchmark, tuple(rest)].append(one)
    return [own for own in sets.values() if len({one.label for one in own}) > 1]


def _by_run(entries: Sequence[_Entry], notes: list[str]) -> list[list[_Entry]]:
    """Pair each run's results with the first run's: those under the same conditions, else the only one of the task."""
    runs: dict[str, list[_Entry]] = defaultdict(list)
    for one in entries:
        runs[one.label].append(one)
    base, *others = runs.values()
    sets = [[one] for one in base]
    for one in (one for own in others for one in own):
        alike = [own for own in sets if own[0].conditions == one.conditions]
        alike = alike or [own for own in sets if own[0].conditions["task"] == one.conditions["task"]]
        if len(alike) != 1:
            found = len(alike) or "no"
            notes.append(f"{one.title()}: {base[0].label} has {found} results to compare {one.label} with.")
            continue
        first, theirs = alike[0][0], one.result.settings
        ours = first.result.settings
        if other := [name for name in _SAME_DATA if name in ours and name in theirs and ours[name] != theirs[name]]:
            told = " and ".join(f"{name} {text_of(theirs[name])} against {text_of(ours[name])}" for name in other)
            notes.append(f"{one.title()}: {one.label} is not compared with {first.label}: {told}.")
        else:
            differ = [value for name, value in one.conditions.items() if value != first.conditions[name]]
            alike[0].append(replace(one, label=", ".join([one.label, *filter(None, differ)])))
    return sets


def _lines(one: _Entry, first: _Entry | None, metric: str, variant: str, by: str) -> list[dict[str, Any]]:
    """Return a line for all rows of a result, and for each group, each with the difference from the first result."""
    rows = one.report.rows_of(one.result, variant)
    if metric not in rows or rows[metric].isna().all():
        return []
    base = first.report.rows_of(first.result, variant) if first else None
    facts: dict[str, Any] = {"task": one.result.task, "metric": metric, "variant": variant, "run": one.label}
    facts |= {"against": first.label if first else "", "unit": largest(metric)}
    names = {name for said in rows[by].dropna().unique() for name in str(said).split("|")} if by else set()
    lines: list[dict[str, Any]] = []
    for group in ["", *sorted(names)]:
        own = _in_group(rows, by, group)
        value = value_of(own, metric)
        line = {**facts, "by": by if group else "", "group": group}
        line |= {"n": value.n, "value": value.mean, "low": value.low, "high": value.high}
        lines.append(line if base is None else {**line, **_difference(_in_group(base, by, group), own, metric)})
    return lines


def _in_group(rows: pd.DataFrame, by: str, group: str) -> pd.DataFrame:
    """Return the rows of a group, all if it is empty; a row may be in several."""
    return rows[rows[by].map(lambda said: group in str(said).split("|")).eq(True)] if group else rows


def _difference(base: pd.DataFrame, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Return what the second run has more than the first, on the rows that both have scored."""
    whole = base["doc_id"].is_unique and rows["doc_id"].is_unique  # else a group asks one document in several tasks
    tables = []
    for one in (base, rows):
        ids = one["doc_id"].astype(str)
        weights = one[WEIGHT].fillna(0) if metric == "bias_index" else 1.0
        table = pd.DataFrame({"value": one[metric], "weight": weights, "source": one["source"].astype(object)})
        tables.append(table.set_axis(pd.Index(ids if whole else one["task"].astype(str) + " " + ids)))
    joined = pd.merge(*tables, how="outer", left_index=True, right_index=True, suffixes=("_first", "_second"))
    if metric == "bias_index":  # a share of the wrong answers: linearised, it is a mean over all rows
        common = joined.dropna(subset=["weight_first", "weight_second"])
        for name in ("first", "second"):
            weights, values = common[f"weight_{name}"], common[f"value_{name}"].fillna(0)
            index = (weights * values).sum() / weights.sum() if weights.sum() else math.nan
            joined[f"value_{name}"] = index + weights * (values - index) / weights.mean()
    before, after = joined["value_first"].to_numpy(), joined["value_second"].to_numpy()
    sources = joined["source_first"].combine_first(joined["source_second"])
    pair = compare_pair(after, before, clusters=pd.factorize(sources)[0])
    found: dict[str, Any] = {"pairs": pair.n, "difference": pair.difference, "test": pair.test}
    found |= {"difference_low": pair.low, "difference_high": pair.high, "p": pair.p if pair.n else math.nan}
    found |= {"gained": int((after > before).sum()), "lost": int((after < before).sum())}
    return {**found, "left_out": len(joined) - pair.n}


def _table(lines: pd.DataFrame) -> pd.DataFrame:
    lines = lines.reindex(columns=list(COLUMNS)).reset_index(drop=True)
    texts = dict.fromkeys(("task", "by", "group", "against", "family", "test"), "")
    lines = lines.astype(dict.fromkeys(texts, object)).fillna({**texts, "n": 0, "pairs": 0, "left_out": 0})
    return lines.astype({"n": int, "pairs": int, "left_out": int, "gained": "Int64", "lost": "Int64"})

"""Comparing runs, or one model's styles, knowledge or statements, on the rows that they share."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock import experiment
from fin_tasks.benchmarks.dynostock.windows import BIASES
from fin_tasks.errors import DataError
from fin_tasks.report import cut_off
from fin_tasks.report.conditions import conditions_of, differences, setting_id
from fin_tasks.report.model import BREAKDOWNS, Report, TaskResult, headline, largest
from fin_tasks.report.samples import read_samples
from fin_tasks.report.values import value_of
from fin_tasks.stats.pairs import compare_pair, holm

FACTORS: Mapping[str, tuple[str, ...]] = {"style": ("mode", "style"), "knowledge": ("retrieval",)}
"""What one model's results may differ in, with the conditions that say so."""

STATEMENTS = ("arm", "window")
"""Columns that `compare_statements` compares."""

GROUPS = (*(name for name in BREAKDOWNS if name not in STATEMENTS), "task")
"""Columns by which rows can be grouped; `task` means no groups."""

_BASELINES = ("cot", "none")
_FOLLOW = (
    "style.",
    "prompts.",
    "mode",
    "version",
    "retrieval.",
)  # settings that may differ with a factor
_STATEMENT = (
    "anonymize",
    "arm",
    "bias",
    "mode",
    "scorer",
    "window",
)  # settings in which arms differ on purpose
_TEXTS = ("heading", "task", "metric", "variant", "by", "group", "run", "against", "family", "test")
_NUMBERS = (
    *("unit", "value", "deviation", "low", "high", "p", "p_holm"),
    *("difference", "difference_low", "difference_high"),
)
_LINE = {
    **dict.fromkeys(_TEXTS, ""),
    **dict.fromkeys(_NUMBERS, math.nan),
    "n": 0,
    "pairs": 0,
    "left_out": 0,
}
_LINE |= {"gained": None, "lost": None}


@dataclass(frozen=True)
class Comparisons:
    """A line for each group of rows and run, and notes on what could not be compared and on settings that differ.

    A line has the run's own value with its interval; then, against the baseline and over the `pairs` rows that both
    have scored, the difference with its interval and test. `heading` names the task, `group` is empty for all rows.
    `p_holm` is corrected over the lines of a `family`.
    """

    lines: pd.DataFrame
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    label: str
    model: str
    result: TaskResult
    rows: pd.DataFrame


def compare(
    reports: Mapping[str, Report],
    *,
    variant: str = "paper",
    metric: str = "",
    factor: str = "",
    by: str = "",
) -> Comparisons:
    """Compare runs with the first of them, task by task; a pair's test depends on these two runs alone.

    `reports` has a name for each path. By default the metric is the one that models are ranked by. With a `factor`,
    results of one model that differ in it are compared instead: with chain of thought and a role, or no knowledge.
    Raise DataError if no run has the metric.
    """
    notes: list[str] = []
    sets = _sets(reports, variant, factor, notes)
    members = {
        (one.result.run, name)
        for own in sets.values()
        for one in own
        for name in one.result.members
    }
    lines: list[dict[str, Any]] = []
    for heading, own in sets.items():
        first = own[0]
        inner = (
            first.result.run,
            first.result.task,
        ) in members  # its rows are compared with the group's, too
        name = metric or headline(first.result)
        for one in own:
            told = differences(one.result, first.result)
            if (
                len({entry.result.settings.get("data.revision") for entry in (one, first)} - {None})
                > 1
            ):
                notes.append(
                    f"{heading}: {one.label} is not compared with {first.label}: {'; '.join(told)}."
                )
                continue
            expected = (*(_FOLLOW if factor else ()), "tasks")
            if not inner and (other := [said for said in told if not said.startswith(expected)]):
                notes.append(
                    f"{heading}: {one.label} differs from {first.label} in {'; '.join(other)}."
                )
            found = _lines(one, first, name, "" if inner or by == "task" else by)
            if not found:
                notes.append(f"{heading}: {one.label} has no {variant} value of {name}.")
            if not inner:
                notes += _cut_off_notes(heading, one, name)
            if factor == "knowledge" and (shown := hits(one.result)):
                found.append(
                    {"metric": "hit_rate", "unit": 1.0, "n": len(shown), "value": fmean(shown)}
                )
            facts = {
                "heading": heading,
                "task": one.result.task,
                "variant": variant,
                "run": one.label,
            }
            for line in found:
                part = "parts" if inner or line.get("group") else "headline"
                family = f"{one.model if factor else one.label}, {part}"
                lines.append({**_LINE, **facts, **line, "family": family})
    if not lines:
        totals = [of for own in sets.values() for one in own for of in one.result.totals.values()]
        known = ", ".join(sorted({name for of in totals for name in of}))
        wanted = f"{metric or 'a value'} under {variant}" + (
            f" that differ in {factor}" if factor else ""
        )
        raise DataError(f"compare: expected results with {wanted}, got {known or 'no metric'}.")
    table = pd.DataFrame(lines).astype({"gained": "Int64", "lost": "Int64"})
    table["p_holm"] = table.groupby("family")["p"].transform(lambda p: holm(p.tolist()))
    if not table["against"].any():
        notes.append("Nothing is compared: name several runs, or --by style or --by knowledge.")
    return Comparisons(table, tuple(notes))


def _cut_off_notes(heading: str, entry: _Entry, metric: str) -> list[str]:
    limit = cut_off.limit_of([entry.result])
    cut_offs = cut_off.cut_offs_of(entry.rows, metric, limit=limit)
    note = cut_off.note_of(cut_offs, metric)
    return [f"{heading}: {entry.label} has a {note}."] if note else []


def compare_statements(
    report: Report, *, variant: str = "paper", effects: bool = True
) -> Comparisons:
    """Return DynoStock's measures by arm and window size, and with `effects` the differences between arms.

    Lines have the window size as group; `mean` is the mean over sizes. Intervals of differences resample tickers.
    """
    rows, notes = statement_rows(report, variant=variant)
    arms = experiment.by_window(rows)
    contrasts, more = experiment.compare_arms(rows) if effects else (pd.DataFrame(), [])
    tables = [
        arms.rename(
            columns={measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
        ).assign(metric=measure, run=arms["arm"], deviation=arms.get(f"{measure}_std", math.nan))
        for measure in experiment.MEASURES
    ]
    if len(contrasts):
        tables.append(
            contrasts.assign(run=contrasts["contrast"], n=contrasts["pairs"], test="McNemar")
        )
    lines = []
    for table in tables:
        heading = (
            table["bias"]
            + ", "
            + experiment.names_of(table, [name for name in experiment.GROUP if name != "bias"])
        )
        facts = {
            "heading": heading,
            "variant": variant,
            "unit": 1.0,
            "by": "window",
            "group": table["window"].map(str),
        }
        lines += [
            {**_LINE, **{name: value for name, value in line.items() if name in _LINE}}
            for line in table.assign(**facts).to_dict("records")
        ]
    return Comparisons(pd.DataFrame(lines), (*notes, *more))


def statement_rows(report: Report, *, variant: str) -> tuple[pd.DataFrame, list[str]]:
    """Return rows of bias tasks with `experiment.COLUMNS`, newest run last, and notes; or DataError without rows."""
    parts: list[pd.DataFrame] = []
    firsts: dict[tuple[str, ...], TaskResult] = {}
    notes: dict[str, None] = {}
    for run in sorted(report.runs, key=lambda run: run.date):
        for one in run.tasks:
            bias = next((name for name in BIASES if one.task.startswith(f"dynostock_{name}")), "")
            rows = report.rows_of(one, variant)
            if not bias or one.members or rows.empty:
                continue
            key = (run.model, bias, "text" if one.task.endswith("_text") else "image")
            same = {name: value for name, value in one.settings.items() if name not in _STATEMENT}
            asked = replace(one, task="", settings=same)
            if told := differences(asked, firsts.setdefault(key, asked)):
                notes[
                    f"{', '.join(key)}: runs that differ are not compared; {'; '.join(told)}."
                ] = None
            facts = dict(zip(experiment.GROUP, (*key, setting_id(asked)[:6]), strict=False))
            parts.append(rows.assign(**facts, anonymized=one.settings.get("anonymize") is True))
    if not parts:
        raise DataError(
            f"compare: expected rows of DynoStock's bias tasks under {variant}, found none."
        )
    table = pd.concat(parts).reindex(columns=list(experiment.COLUMNS)).dropna(subset=["window"])
    return table.astype({"arm": str, "doc_id": str, "ticker": str}).astype({"window": int}), list(
        notes
    )


def hits(result: TaskResult) -> list[bool]:
    """Return for each question that has gold terms whether one of them is among the terms shown."""
    found: dict[str, bool] = {}
    for sample in read_samples(result.samples):
        doc = sample.doc
        gold, terms = doc.get("gold_terms"), doc.get("terms")
        if isinstance(gold, list) and gold and isinstance(terms, list):
            found[str(doc.get("id"))] = any(
                isinstance(term, dict) and term.get("id") in gold for term in terms
            )
    return list(found.values())


def _sets(
    reports: Mapping[str, Report], variant: str, factor: str, notes: list[str]
) -> dict[str, list[_Entry]]:
    """Return what is compared with each other, by its heading and the baseline first; groups before their tasks.

    That is one model's results under conditions that differ in the factor only, or several runs' under the same ones.
    """
    apart = FACTORS.get(factor, ())
    models = [model for report in reports.values() for model in {run.model for run in report.runs}]
    found: dict[str, dict[str, _Entry]] = defaultdict(dict)
    for path, report in reports.items():
        for run in sorted(report.runs, key=lambda run: run.date):
            for result in sorted(run.tasks, key=lambda result: not result.members):
                conditions = conditions_of(result)._asdict()
                same = [value for name, value in conditions.items() if name not in apart]
                heading = " · ".join(
                    one for one in (*same, run.model if factor else "") if one not in ("", "none")
                )
                label = run.model if models.count(run.model) == 1 else f"{run.model} ({path})"
                if factor:
                    label = ", ".join(conditions[name] for name in apart if conditions[name])
                if earlier := found[heading].get(label):
                    told = "; ".join(differences(earlier.result, result)) or "no setting"
                    notes.append(
                        f"{heading}: {label} was run twice; the newest run counts. They differ in {told}."
                    )
                found[heading][label] = _Entry(
                    label, run.model, result, report.rows_of(result, variant)
                )
    sets = {heading: list(own.values()) for heading, own in found.items()}
    if factor:
        sets = {heading: own for heading, own in sets.items() if len(own) > 1}
        return {
            heading: sorted(own, key=lambda one: one.label not in _BASELINES)
            for heading, own in sets.items()
        }
    base = next(iter(sets.values()))[0].label
    for heading in [heading for heading in sets if base not in found[heading]]:
        notes.append(
            f"{heading}: {base} has no result to compare {', '.join(found[heading])} with."
        )
        del sets[heading]
    return sets


def _lines(one: _Entry, first: _Entry, metric: str, by: str) -> list[dict[str, Any]]:
    """Return a line for all rows of a result, and for each group, each with the difference from the first result."""
    if metric not in one.rows or one.rows[metric].isna().all():
        return []
    names = (
        {name for said in one.rows[by].dropna().unique() for name in str(said).split("|")}
        if by
        else set()
    )
    lines: list[dict[str, Any]] = []
    for group in ["", *sorted(names)]:
        own, base = (_in_group(entry.rows, by, group) for entry in (one, first))
        value = value_of(own, metric)
        line = {
            "metric": metric,
            "unit": largest(metric),
            "by": by if group else "",
            "group": group,
        }
        line |= {"n": value.n, "value": value.mean, "low": value.low, "high": value.high}
        if one is not first:
            line |= {"against": first.label, **_difference(base, own, metric)}
        lines.append(line)
    return lines


def _in_group(rows: pd.DataFrame, by: str, group: str) -> pd.DataFrame:
    """Return the rows of a group, all if it is empty; a row may be in several."""
    return (
        rows[rows[by].map(lambda said: group in str(said).split("|")).eq(True)] if group else rows
    )


def _difference(base: pd.DataFrame, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    """Return what the second run has more than the first, on the rows that both have scored."""
    tables = [
        one[["task", "doc_id", metric, "source"]].astype(
            {name: object for name in ("task", "doc_id", "source")}
        )
        for one in (base, rows)
    ]
    same = (
        ["doc_id"] if all(one["doc_id"].is_unique for one in tables) else ["task", "doc_id"]
    )  # as in a group
    joined = pd.merge(*tables, how="outer", on=same, suffixes=("_first", "_second"))
    before, after = joined[f"{metric}_first"].to_numpy(), joined[f"{metric}_second"].to_numpy()
    sources = joined["source_first"].combine_first(joined["source_second"])
    pair = compare_pair(after, before, clusters=pd.factorize(sources)[0])
    found: dict[str, Any] = {"pairs": pair.n, "difference": pair.difference, "test": pair.test}
    found |= {
        "difference_low": pair.low,
        "difference_high": pair.high,
        "p": pair.p if pair.n else math.nan,
    }
    found |= {"gained": int((after > before).sum()), "lost": int((after < before).sum())}
    return {**found, "left_out": len(joined) - pair.n}

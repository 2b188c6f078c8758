"""Comparing runs, or one model's styles or knowledge, on the rows that they share."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report.comparable import conditions_of, differences, text_of
from fin_tasks.report.lm_eval import largest, read_samples
from fin_tasks.report.model import BENCHMARKS, WEIGHT, Report, Run, TaskResult
from fin_tasks.report.values import headline, value_of
from fin_tasks.stats.multiple import holm
from fin_tasks.stats.pairs import compare_pair

FACTORS: Mapping[str, tuple[str, ...]] = {"style": ("mode", "style"), "knowledge": ("retrieval",)}
"""What one model's results may differ in, with the conditions that say so."""

GROUPS = ("capability", "topic", "part", "category", "image_type", "image_style", "math_types", "ticker", "task")
"""Columns whose values are compared apart. The first six are tried in turn if none is named."""

_BASELINES = ("cot", "none")
_FOLLOW = {
    "style": ("style.", "prompts.", "mode", "version", "tasks"),
    "knowledge": ("retrieval.", "prompts.", "tasks"),
}
_SAME_DATA = ("split", "data.revision")


@dataclass(frozen=True)
class Comparisons:
    """What was found.

    Attributes:
        lines: A line for each group of rows and run: the run's own value with its interval; then, against the baseline
            and over the `pairs` rows that both have scored, the difference with its interval and test. `heading` names
            what is compared, `group` is empty for all rows. `p_holm` is corrected over the lines of a `family`.
        items: A line for each paired row.
        terms: How well retrievers found XFinBench's gold terms, if knowledge is compared.
        notes: What could not be compared, and in which settings runs differ.
    """

    lines: pd.DataFrame
    items: pd.DataFrame
    terms: pd.DataFrame
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
        return " · ".join([self.result.task, *(one for n in names if (one := self.conditions[n]) not in ("", "none"))])


def compare(
    reports: Mapping[str, Report],
    *,
    variant: str = "paper",
    metric: str = "",
    factor: str = "",
    by: str = "",
    baseline: str = "",
) -> Comparisons:
    """Compare runs with the first of them, task by task; a pair's test depends on these two runs alone.

    `reports` has a name for each path. By default the metric is what models are ranked by. With a `factor`, results of
    one model that differ in it are compared instead of runs. `baseline` is the label of a run or condition; by default
    the first run, chain of thought with a role, or no knowledge. Raise DataError if no run has the metric or label.
    """
    notes: list[str] = []
    entries = _entries(reports, factor, notes)
    if baseline and baseline not in {one.label for one in entries}:
        labels = ", ".join(dict.fromkeys(one.label for one in entries))
        raise DataError(f"compare --baseline: expected one of {labels}, got {baseline!r}.")
    entries.sort(key=lambda one: (one.label != baseline, bool(factor) and one.label not in _BASELINES))
    sets = _by_factor(entries, factor) if factor else _by_run(entries, notes)
    members = {(one.run.id, name) for own in sets for one in own for name in one.result.members}
    inner_sets = [(own, (own[0].run.id, own[0].result.task) in members) for own in sets]
    lines: list[dict[str, Any]] = []
    items: list[pd.DataFrame] = []
    known: set[str] = set()
    order = list(BENCHMARKS)
    for own, inner in sorted(inner_sets, key=lambda one: (order.index(one[0][0].result.benchmark), one[1])):
        first = own[0]
        benchmark, name = first.result.benchmark, metric or headline(first.result.benchmark, first.result)
        heading = f"{first.title(factor)}, {first.run.model}" if factor else first.title()
        base = first.report.rows_of(first.result, variant)
        known |= {one for one in base.columns[base.columns.get_loc("reason") + 1 :] if base[one].notna().any()}
        apart = "" if inner or by == "task" else by or next((one for one in GROUPS[:6] if base[one].nunique() > 1), "")
        if apart and not base[apart].notna().any():
            notes.append(f"{heading}: its rows name no {apart}.")
        for one in own if name in known else ():
            rows = one.report.rows_of(one.result, variant)
            if name not in rows or not rows[name].notna().any():
                notes.append(f"{heading}: {one.label} has no {variant} value of {name}.")
                continue
            against = "" if one is first else first.label
            facts: dict[str, Any] = {
                "heading": heading,
                "benchmark": benchmark,
                "task": one.result.task,
                "metric": name,
            }
            facts |= {"variant": variant, "unit": largest(benchmark, name), "run": one.label, "against": against}
            told = differences(one.result, first.result) if against and not inner else []
            if told := [of for of in told if not of.startswith((*_FOLLOW.get(factor, ()), "tasks"))]:
                notes.append(f"{heading}: {one.label} differs from {first.label} in {'; '.join(told)}.")
            for group in ("", *_groups(rows, apart)):
                of, of_base = (_rows_in(table, apart, group) for table in (rows, base))
                paired = _paired(of_base, of, name) if against else pd.DataFrame()
                family = f"{one.run.model if factor else one.label}, {'parts' if group or inner else 'headline'}"
                place = {"by": apart if group else "", "group": group, "family": family}
                lines.append({**facts, **place, **_measured(of, paired, name, benchmark)})
                if against and not group and not one.result.members:
                    items.append(paired.drop(columns="source").reset_index(names="doc_id").assign(**facts))
    if not lines:
        found = f"got {', '.join(sorted(known))}." if known else " ".join(notes) or "found none."
        raise DataError(f"compare: expected results of one task with {metric or 'a value'} under {variant}, {found}")
    table = pd.DataFrame(lines)
    adjusted = table.groupby("family")["p"].transform(lambda p: holm(p.tolist()))
    table.insert(table.columns.get_loc("p") + 1, "p_holm", adjusted)
    if not table["against"].any():
        notes.append("Nothing is compared: name several runs, or --by style or --by knowledge.")
    terms = [
        {"model": one.run.model, "knowledge": one.label, "task": one.result.task, **measured}
        for own in (sets if factor == "knowledge" else ())
        for one in own
        if not one.result.members and (measured := retrieved(one.result))
    ]
    return Comparisons(table, pd.concat(items) if items else pd.DataFrame(), pd.DataFrame(terms), tuple(notes))


def retrieved(result: TaskResult) -> dict[str, float]:
    """Return hit rate, recall, reciprocal rank and nDCG of the gold terms among those shown; empty if none were shown.

    The hit rate is the paper's accuracy of a retriever: the share of questions with a gold term among those retrieved.

    References:
        Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques, TOIS 20.
    """
    found: dict[Any, list[float]] = {}
    shown = False
    for sample in read_samples(result):
        doc = sample["doc"]
        gold, terms = doc.get("gold_terms"), doc.get("terms")
        if isinstance(gold, list) and gold and isinstance(terms, list) and doc.get("id") not in found:
            shown = shown or bool(terms)
            ids = [term.get("id") for term in terms if isinstance(term, dict)]
            ranks = [rank for rank, term in enumerate(ids, 1) if term in gold]
            best = math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), len(ids)) + 1))
            gain = math.fsum(1 / math.log2(rank + 1) for rank in ranks)
            first = 1 / ranks[0] if ranks else 0.0
            found[doc.get("id")] = [float(bool(ranks)), len(ranks) / len(gold), first, gain / best if best else 0.0]
    if not shown:
        return {}
    means = np.mean(list(found.values()), axis=0).tolist()
    return {"n": len(found), **dict(zip(("hit_rate", "recall", "mrr", "ndcg"), means, strict=True))}


def _entries(reports: Mapping[str, Report], factor: str, notes: list[str]) -> list[_Entry]:
    """Return results with their labels; of results that a run repeats with the same settings, the newest."""
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
            earlier = found.pop(key, None)
            if earlier and not differences(result, earlier.result):
                notes.append(f"{result.task}: {label} was run again with the same settings; the newest counts.")
            elif earlier:
                found[key, len(found)] = earlier
                label += f" [{'; '.join(differences(result, earlier.result))}]"
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
    for own in others:
        for one in own:
            alike = [of for of in sets if of[0].conditions == one.conditions] or [
                of for of in sets if of[0].conditions["task"] == one.conditions["task"]
            ]
            if len(alike) != 1:
                notes.append(
                    f"{one.title()}: {base[0].label} has {len(alike) or 'no'} results to compare {one.label} with."
                )
                continue
            ours, theirs = alike[0][0].result.settings, one.result.settings
            data = [n for n in _SAME_DATA if n in ours and n in theirs and ours[n] != theirs[n]]
            if data:
                told = " and ".join(f"{n} {text_of(theirs[n])} against {text_of(ours[n])}" for n in data)
                notes.append(f"{one.title()}: {one.label} is not compared with {alike[0][0].label}: {told}.")
            else:
                differ = [value for name, value in one.conditions.items() if value != alike[0][0].conditions[name]]
                alike[0].append(replace(one, label=", ".join([one.label, *filter(None, differ)])))
    return sets


def _groups(rows: pd.DataFrame, by: str) -> list[str]:
    names = rows[by].dropna().unique() if by else []
    return sorted({part for name in names for part in str(name).split("|")})


def _rows_in(rows: pd.DataFrame, by: str, group: str) -> pd.DataFrame:
    return rows[rows[by].map(lambda name: group in str(name).split("|")).eq(True)] if group else rows


def _paired(base: pd.DataFrame, rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a line for each row that either result has: both scores, both answers, the source."""
    tables = []
    whole = base["doc_id"].is_unique and rows["doc_id"].is_unique  # else a group asks one document in several tasks
    for one, name in ((base, "first"), (rows, "second")):
        table = pd.DataFrame({name: one[metric], f"answer_{name}": one["answer"].astype(object), f"asked_{name}": 1.0})
        table[f"source_{name}"] = one["source"].astype(object)
        table[f"weight_{name}"] = one[WEIGHT].fillna(0) if metric == "bias_index" else 1.0
        ids = one["doc_id"].astype(str)
        tables.append(table.set_axis(pd.Index(ids if whole else one["task"].astype(str) + " " + ids)))
    joined = tables[0].join(tables[1], how="outer")
    if metric == "bias_index":  # a share of the wrong answers: linearised, it is a mean over all rows
        common = joined.dropna(subset=["asked_first", "asked_second"])
        for name in ("first", "second"):
            weights, values = common[f"weight_{name}"], common[name].fillna(0)
            index = (weights * values).sum() / weights.sum() if weights.sum() else math.nan
            joined[name] = index + weights * (values - index) / weights.mean()
    joined["source"] = joined.pop("source_first").combine_first(joined.pop("source_second"))
    return joined.drop(columns=["weight_first", "weight_second"])


def _measured(rows: pd.DataFrame, paired: pd.DataFrame, metric: str, benchmark: str) -> dict[str, Any]:
    own = value_of(rows, metric, benchmark)
    unscored = int(rows[WEIGHT if metric == "bias_index" else metric].isna().sum())
    found: dict[str, Any] = {"n": own.n, "unscored": unscored, "value": own.mean}
    found |= {"low": own.low, "high": own.high, "interval": own.method}
    if paired.empty:
        empty = dict.fromkeys(("difference", "difference_low", "difference_high", "p"), math.nan)
        return {**found, "pairs": 0, **empty, "test": "", "gained": 0, "lost": 0, "unasked": 0, "left_out": 0}
    before, after = paired["first"].to_numpy(), paired["second"].to_numpy()
    pair = compare_pair(after, before, clusters=pd.factorize(paired["source"])[0])
    asked = int(paired[["asked_first", "asked_second"]].notna().all(axis=1).sum())
    found |= {"pairs": pair.n, "difference": pair.difference, "difference_low": pair.low, "difference_high": pair.high}
    found |= {"p": pair.p if pair.n else math.nan, "test": pair.test, "gained": int((after > before).sum())}
    return found | {"lost": int((after < before).sum()), "unasked": len(paired) - asked, "left_out": asked - pair.n}

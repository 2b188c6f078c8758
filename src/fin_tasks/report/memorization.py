"""The memorization gap: published questions against variants with other numbers."""

import math
from collections import defaultdict
from collections.abc import Mapping

from pandas import DataFrame, Series, concat, json_normalize

from fin_tasks.errors import DataError
from fin_tasks.stats.pairs import Pair, compare_pair, holm

from .compare import Comparisons, Options, check_baseline, groups_of
from .comparison_model import Gap, GapDifference
from .conditions import Conditions, conditions_of, differences, read_task_id
from .model import BREAKDOWNS, Report, TaskResult, headline

_Key = tuple[str, Conditions]
"""A model, and how it was asked; questions and their variants have the same."""
_EXPECTED = ("tasks", "split", "data.")
"""Beginnings of settings in which variants differ from published questions."""

# Columns of `compare.Line` for the fields of a gap.
_COLUMNS = {
    "model": "run",
    "run": "result",
    "task": "heading",
    "gap": "value",
    "difference.against": "against",
    "difference.n": "pairs",
    "difference.value": "difference",
    "difference.low": "difference_low",
    "difference.high": "difference_high",
    "difference.p_holm": "p_holm",
}


def gaps_of(report: Report, options: Options) -> tuple[list[Gap], list[str]]:
    """Return the gaps of all models that were asked variants, and notes.

    Gaps are compared with that of the baseline, by default the first model.
    """
    with_variants, published = _results_by_key(report)
    check_baseline(options, [model for model, _ in with_variants])
    gaps = []
    notes = []
    # The tests of a task's differences are corrected together, and those of groups apart.
    families = defaultdict[tuple[str, bool], list[GapDifference]](list)
    first_by_group: dict[tuple[str, str], tuple[str, DataFrame]] = {}
    # The baseline comes first.
    for key in sorted(with_variants, key=lambda key: key[0] != options.baseline):
        result = with_variants[key]
        model, conditions = key
        where = f"{conditions.text()}: {model}"
        metric = options.metric or headline(result)
        variants = report.rows_of(result, options.scoring)
        others = [report.rows_of(other, options.scoring) for other in published[key]]
        questions = _questions_of(others, variants, metric)
        if questions.empty:
            notes.append(f"{where} has no {metric} of questions and their variants.")
            continue
        differing = "; ".join(differences(result, published[key][-1], _EXPECTED))
        if differing:
            notes.append(
                f"{where} has variants that were asked otherwise: {differing}."
            )
        task = conditions._replace(split="variants").id(options.scoring)
        for group, rows in groups_of(questions, options.by).items():
            gap = _gap_of(rows, task=task, run=result.id, model=model, group=group)
            first, base = first_by_group.setdefault((task, group), (model, rows))
            if first != model:
                gap.difference = _difference(rows, base["gap"], first)
                families[task, bool(group)].append(gap.difference)
            gaps.append(gap)
    for family in families.values():
        adjusted = holm([difference.p for difference in family])
        for difference, p in zip(family, adjusted, strict=True):
            difference.p_holm = p
    return gaps, notes


def _gap_of(rows: DataFrame, *, task: str, run: str, model: str, group: str) -> Gap:
    """Return the gap of a model over a group of questions."""
    means = rows[["published", "variants", "spread", "recalled"]].mean()
    pair = _compare(rows, "published", "variants")
    return Gap(
        task=task,
        run=run,
        model=model,
        group=group,
        gap=pair.difference,
        n=pair.n,
        low=pair.low,
        high=pair.high,
        p=pair.p,
        test=pair.test,
        **means,
    )


def _results_by_key(
    report: Report,
) -> tuple[dict[_Key, TaskResult], Mapping[_Key, list[TaskResult]]]:
    """Return the results on variants, and those on published questions; the last one of a list counts most."""
    with_variants = {}
    published = defaultdict[_Key, list[TaskResult]](list)
    # Of several runs of a model the most complete counts, then the newest.
    for run, result in sorted(report.results, key=lambda pair: pair[1].n):
        if run.is_refused:
            continue
        conditions = conditions_of(result)
        key = (run.model, conditions._replace(split=""))
        if conditions.split == "variants":
            with_variants[key] = result
        else:
            published[key].append(result)
    return with_variants, published


def compare_variants(report: Report, options: Options) -> Comparisons:
    """Return a line for each gap; the gap is the value of the line."""
    gaps, notes = gaps_of(report, options)
    if not gaps:
        expected = "compare: expected runs of a model on published questions and on variants, got none."
        raise DataError(" ".join([expected, *notes]))
    lines = json_normalize([gap.model_dump() for gap in gaps])
    conditions = [read_task_id(gap.task)[0] for gap in gaps]
    lines["task"] = [asked._replace(split="").text() for asked in conditions]
    lines = lines.drop(columns="difference", errors="ignore").rename(columns=_COLUMNS)
    lines = lines.reindex(columns=lines.columns.union(_COLUMNS.values(), sort=False))
    lines = lines.where(lines.notna(), math.nan)
    return Comparisons(lines.assign(metric="memorization gap", unit=1.0), notes)


def _questions_of(
    published: list[DataFrame],
    variants: DataFrame,
    metric: str,
) -> DataFrame:
    """Return a row for each published question that has scored variants, by its id."""
    if not published:
        return DataFrame()
    columns = ["source", metric, "recalled"]
    scored = variants.reindex(columns=columns).dropna(subset=metric)
    by_question = scored.astype({"source": str}).groupby("source")
    means = by_question.mean().rename(columns={metric: "variants"})
    means["spread"] = by_question[metric].std()
    rows = concat(published).dropna(subset=metric)
    rows = rows.drop_duplicates("doc_id", keep="last")
    rows = rows.set_index(rows["doc_id"].astype(str))
    facts = rows[["source", *BREAKDOWNS, metric]]
    questions = facts.rename(columns={metric: "published"}).join(means, how="inner")
    return questions.eval("gap = published - variants")


def _compare(rows: DataFrame, first: str, second: str) -> Pair:
    """Compare two values of each question; questions of one source are a cluster."""
    values = rows[[first, second]].to_numpy(float)
    clusters = rows["source"].cat.codes.to_numpy()
    return compare_pair(*values.T, clusters=clusters)


def _difference(rows: DataFrame, base: "Series[float]", against: str) -> GapDifference:
    """Return the difference from the gap of another model, on the same questions."""
    both = rows.join(base.rename("gap_of_base"), how="inner")
    pair = _compare(both, "gap", "gap_of_base")
    return GapDifference(
        against=against,
        n=pair.n,
        value=pair.difference,
        low=pair.low,
        high=pair.high,
        p=pair.p,
        p_holm=pair.p,
    )

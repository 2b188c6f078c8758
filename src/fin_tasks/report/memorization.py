"""The memorization gap: published questions against variants with other numbers."""

from collections import defaultdict

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report.compare import Comparisons, Options, groups_of
from fin_tasks.report.conditions import Conditions, conditions_of, differences
from fin_tasks.report.leaderboard_model import Gap, GapDifference
from fin_tasks.report.model import BREAKDOWNS, Report, TaskResult, headline
from fin_tasks.stats.pairs import compare_pair, holm

_EXPECTED = ("tasks", "split", "data.")
"""Beginnings of settings in which variants differ from published questions."""

_TEXTS = ("task", "result", "run", "group", "test", "heading", "metric", "against", "n")


def gaps_of(report: Report, options: Options) -> tuple[list[Gap], list[str]]:
    """Return the gaps of all models that were asked variants, and notes.

    Gaps are compared with that of the baseline, by default the first model.
    """
    asked: dict[tuple[str, Conditions], TaskResult] = {}
    published: dict[tuple[str, Conditions], list[TaskResult]] = defaultdict(list)
    for run, result in sorted(report.results, key=lambda pair: pair[0].date):
        conditions = conditions_of(result)
        key = (run.model, conditions._replace(split=""))
        if conditions.split == "variants":
            asked[key] = result
        else:
            published[key].append(result)
    models = dict.fromkeys(model for model, _ in asked)
    if options.baseline not in ("", *models):
        expected = f"expected one of {', '.join(models)}"
        raise DataError(f"compare: {expected}, got {options.baseline!r}.")
    gaps: list[Gap] = []
    notes: list[str] = []
    first_by_group: dict[tuple[str, str], tuple[str, pd.DataFrame]] = {}
    for key in sorted(asked, key=lambda key: key[0] != options.baseline):
        model, conditions = key
        result = asked[key]
        where = f"{conditions.text()}: {model}"
        metric = options.metric or headline(result)
        variants = report.rows_of(result, options.variant)
        others = [report.rows_of(other, options.variant) for other in published[key]]
        questions = _questions_of(others, variants, metric)
        if questions.empty:
            notes.append(f"{where} has no {metric} of questions and their variants.")
            continue
        differing = "; ".join(differences(result, published[key][-1], _EXPECTED))
        if differing:
            notes.append(
                f"{where} has variants that were asked otherwise: {differing}."
            )
        task = conditions._replace(split="variants").id(options.variant)
        for group, rows in groups_of(questions, options.by).items():
            gap = _gap_of(rows, (task, result.id, model, group))
            first, baseline = first_by_group.setdefault((task, group), (model, rows))
            if first != model:
                gap.difference = _difference(rows, baseline, first)
            gaps.append(gap)
    _correct(gaps)
    return gaps, notes


def compare_variants(report: Report, options: Options) -> Comparisons:
    """Return a line for each gap; the gap is the value of the line."""
    gaps, notes = gaps_of(report, options)
    if not gaps:
        expected = "expected runs of a model on published questions and on variants"
        raise DataError(" ".join([f"compare: {expected}, got none.", *notes]))
    records = []
    for gap in gaps:
        other = gap.difference
        record = gap.model_dump(exclude={"difference"})
        record |= {
            "heading": gap.task,
            "metric": "memorization gap",
            "value": gap.gap,
            "unit": 1.0,
            "against": other and other.against,
            "pairs": other.n if other else 0,
            "difference": other and other.value,
            "difference_low": other and other.low,
            "difference_high": other and other.high,
            "p_holm": other and other.p_holm,
        }
        records.append(record)
    lines = pd.DataFrame(records).rename(columns={"run": "result", "model": "run"})
    numbers = lines.columns.difference(_TEXTS)
    return Comparisons(lines.astype(dict.fromkeys(numbers, float)), notes)


def _questions_of(
    published: list[pd.DataFrame],
    variants: pd.DataFrame,
    metric: str,
) -> pd.DataFrame:
    """Return a row for each published question that has scored variants, by its id."""
    if not published:
        return pd.DataFrame()
    columns = ["source", metric, "recalled"]
    scored = variants.reindex(columns=columns).dropna(subset=metric)
    by_question = scored.astype({"source": str}).groupby("source")
    means = by_question.mean().rename(columns={metric: "variants"})
    means["spread"] = by_question[metric].std()
    rows = pd.concat(published).dropna(subset=metric)
    rows = rows.drop_duplicates("doc_id", keep="last")
    rows = rows.set_index(rows["doc_id"].astype(str))
    facts = rows[["source", *BREAKDOWNS, metric]]
    questions = facts.rename(columns={metric: "published"}).join(means, how="inner")
    questions["gap"] = questions["published"] - questions["variants"]
    return questions


def _gap_of(rows: pd.DataFrame, names: tuple[str, str, str, str]) -> Gap:
    """Return the gap over some questions, each of which counts once."""
    means = rows[["published", "variants", "spread", "recalled"]].mean()
    pair = compare_pair(
        rows["published"].to_numpy(float),
        rows["variants"].to_numpy(float),
        clusters=rows["source"].cat.codes.to_numpy(),
    )
    task, run, model, group = names
    return Gap(
        task=task,
        run=run,
        model=model,
        group=group,
        published=means["published"],
        variants=means["variants"],
        spread=means["spread"],
        recalled=means["recalled"],
        n=pair.n,
        gap=pair.difference,
        low=pair.low,
        high=pair.high,
        test=pair.test,
        p=pair.p,
    )


def _difference(
    rows: pd.DataFrame, baseline: pd.DataFrame, against: str
) -> GapDifference:
    """Return what a gap is more than that of another model, on the same questions."""
    both = rows.join(baseline["gap"].rename("gap_first"), how="inner")
    pair = compare_pair(
        both["gap"].to_numpy(float),
        both["gap_first"].to_numpy(float),
        clusters=both["source"].cat.codes.to_numpy(),
    )
    return GapDifference(
        against=against,
        n=pair.n,
        value=pair.difference,
        low=pair.low,
        high=pair.high,
        p=pair.p,
        p_holm=pair.p,
    )


def _correct(gaps: list[Gap]) -> None:
    """Correct the tests of a task's differences; those of groups are a family apart."""
    families: dict[tuple[str, bool], list[GapDifference]] = defaultdict(list)
    for gap in gaps:
        if gap.difference:
            families[gap.task, bool(gap.group)].append(gap.difference)
    for family in families.values():
        adjusted = holm([difference.p for difference in family])
        for difference, p in zip(family, adjusted, strict=True):
            difference.p_holm = p

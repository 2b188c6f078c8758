"""What papers print, as entries beside those of runs.

Of every figure that a task of ours reports too, under `paper`, which counts as the authors do. Gains, what retrieval
itself finds, rows that no task of ours asks alone, and how judges agree with people stay in the files of figures.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock import published as dynostock
from fin_tasks.benchmarks.mme_finance import published as mme_finance
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.benchmarks.xfinbench import score as scorer
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.report.entry import Entry, RunFacts, RunRead
from fin_tasks.report.estimates import unit_of

__all__ = ["DOUBT", "published"]

DOUBT = "in doubt"
"""What marks of figures begin with that may be wrong in print; others are right, but over other rows."""

_XFINBENCH_FIGURES = Path(scorer.__file__).with_name("published.csv")
_XFINBENCH_PAPERS = {"acl": "XFinBench, ACL version", "long": "XFinBench, long version"}
_MME_PAPER = "MME-Finance, arXiv:2411.03314v1"
_BIAS_PAPERS = {
    "paper": "Behavioral Bias of Vision-Language Models: A Behavioral Finance View",
    "repository": "github.com/mydcxiao/vlm_behavioral_fin, counts beside the recordings",
}

_XFINBENCH_ROWS: Mapping[str, int] = {"bool": 1360, "mcq": 468, "mcq_visual": 124, "calc": 1283, "text": 3111}
_TABLE_ROWS: Mapping[str, int] = {"_no_table": 1283 - 277, "_table": 277}
_STUDY, _STUDY_ROWS = "test_500", {"bool": 180, "mcq": 67, "calc": 253, "text": 500}
"""The study of prompts asked a part of the test split; nobody says which."""
_STYLES = {"cot_role": "", "da_role": "", "cot": "no role", "da": "no role"}
_RETRIEVAL = {"none": "none", "bm25": "bm25", "ada": "dense", "oracle": "oracle"}
_READING = ("printed with", "type known by", "rounded twice")
"""Begin notes that say how a figure was read, and cast no doubt on it."""


@dataclass(frozen=True, kw_only=True)
class _Printed:
    """A figure with the place it has in a leaderboard."""

    paper: str
    table: str
    file: str
    entry: Entry

    @property
    def key(self) -> tuple[str, ...]:
        """What no two figures may share: the same value in two tables is one."""
        one = self.entry
        return (one.model, one.task, one.split, one.mode, one.style, one.retrieval, one.metric)


def published() -> tuple[RunRead, ...]:
    """Return the papers' tables, each as one run of each model in it, without scores of rows.

    A figure that several tables print counts once, that of the first: ACL's version before the long one. Where they
    disagree, or a figure does not fit others, it has a mark.

    Example:
        >>> runs = [run for run in published() if run.facts.model == "gpt-4o"]
        >>> [(e.metric, e.value) for run in runs for e in run.entries if e.task == "xfinbench_text"][:1]
        [('acc', 0.636)]
    """
    known: dict[tuple[str, ...], _Printed] = {}
    for printed in (*_xfinbench(), *_mme_finance(), *_dynostock()):
        known.setdefault(printed.key, printed)
    tables: dict[tuple[str, str, str, str], list[_Printed]] = defaultdict(list)
    for printed in known.values():
        tables[printed.paper, printed.table, printed.entry.model, printed.entry.judge].append(printed)
    return tuple(_run(of_table) for of_table in tables.values())


def _run(printed: Iterable[_Printed]) -> RunRead:
    figures = list(printed)
    first = figures[0]
    model, judge = first.entry.model, first.entry.judge
    name = "\0".join([first.paper, first.table, model, judge])
    told = {"paper": first.paper, "table": first.table, "judge": judge}
    tasks = {figure.entry.task for figure in figures}
    facts = RunFacts(
        id=hashlib.sha256(name.encode()).hexdigest()[:16],
        source="published",
        model=model,
        task=tasks.pop() if len(tasks) == 1 else "",
        date="",
        path=first.file,
        provenance={name: json.dumps(value) for name, value in told.items() if value},
    )
    entries = tuple(replace(figure.entry, run=facts.id) for figure in figures)
    return RunRead(facts=facts, entries=entries, scores={}, samples=None)


def _entry(benchmark: str, **fields: Any) -> Entry:
    metric = fields["metric"]
    unit = unit_of(benchmark, metric)
    scale = 100 if unit == "fraction" else 1
    higher = not metric.startswith("bias_index") and not metric.endswith("_std")
    return Entry(
        **{**fields, "value": round(fields["value"] / scale, 9)},
        run="",
        source="published",
        benchmark=benchmark,
        variant="paper",
        unit=unit,
        higher_is_better=higher,
    )


def _xfinbench() -> Iterator[_Printed]:
    table = pd.read_csv(_XFINBENCH_FIGURES, dtype={"table": str}, keep_default_na=False)
    for figure in sorted(table.itertuples(), key=lambda figure: (figure.paper != "acl", int(figure.table))):
        fields = _place(figure)
        if fields is not None:
            yield _Printed(
                paper=_XFINBENCH_PAPERS[figure.paper],
                table=figure.table,
                file="fin_tasks/benchmarks/xfinbench/published.csv",
                entry=_entry(
                    figure.dataset, model=figure.model, value=figure.value, marks=_xfinbench_marks(figure), **fields
                ),
            )


def _place(figure: Any) -> dict[str, Any] | None:
    """Say which metric of which task of ours a figure is; None where none is it."""
    if figure.model_kind == "retriever" or figure.metric.endswith("_gain"):
        return None
    mode = "cot" if figure.mode == "none" else figure.mode  # people stand beside what models think step by step
    if figure.dataset == "bizbench":
        known = figure.metric == ("acc" if figure.task == "choice" else "acc_err")
        return (
            {"task": f"bizbench_paper_{figure.task}", "split": "test", "mode": mode, "metric": figure.metric}
            | ({"n": {"choice": 141, "quantity": 359}[figure.task]} if figure.model != "human" else {})
            if known
            else None
        )
    if figure.dataset == "financemath":
        rows = {"n": 200} if figure.model != "human" else {}
        place = {"task": "financemath", "split": "validation", "mode": mode, "metric": "acc", **rows}
        return place if figure.metric == "acc_err" else None
    study = figure.condition in _STYLES
    if not study and figure.condition not in _RETRIEVAL:
        return None
    metric = figure.metric
    if figure.capability != "all":
        if figure.capability not in CAPABILITIES:
            return None
        metric = f"{metric}_{figure.capability}"
    part = "text" if figure.task == "all" else figure.task
    return {
        "task": f"xfinbench_{part}",
        "split": _STUDY if study else "test",
        "mode": mode,
        "style": _STYLES.get(figure.condition, ""),
        "retrieval": _RETRIEVAL.get(figure.condition, "none"),
        "metric": metric,
        "n": 0 if figure.model == "human" or figure.capability != "all" else _xfinbench_rows(part, metric, study=study),
    }


def _xfinbench_rows(part: str, metric: str, *, study: bool) -> int:
    if study:
        return _STUDY_ROWS[part]
    return next((rows for ending, rows in _TABLE_ROWS.items() if metric.endswith(ending)), _XFINBENCH_ROWS[part])


def _xfinbench_marks(figure: Any) -> tuple[str, ...]:
    marks = []
    if figure.note and not figure.note.startswith(_READING):
        marks.append(_doubt(figure.note))
    if figure.capability in CAPABILITIES and figure.model_kind == "multimodal":
        marks.append("rows with a figure that name the capability count too")
    return tuple(marks)


def _doubt(note: str) -> str:
    """Say why a figure is in doubt in words that figures of a kind share, so that they stand in one row.

    Example:
        >>> _doubt("no share of 124 rows"), _doubt("tables disagree: 24.6 / 22.6 / 24.6")
        ('in doubt: no share of its rows', 'in doubt: tables disagree')
    """
    reason = note.removeprefix("unreliable: ").partition(":")[0].partition(";")[0]
    return f"{DOUBT}: {re.sub(r'no share of [0-9]+ rows', 'no share of its rows', reason)}"


def _mme_finance() -> Iterator[_Printed]:
    for figure in mme_finance.published():
        if figure.metric != "score":
            continue
        slug = figure.name.replace(" ", "_")
        names = {
            "overall": "score",
            "category": f"score_{figure.name}",
            "image_type": f"score_type_{slug}",
            "image_style": f"score_style_{slug}",
        }
        yield _Printed(
            paper=_MME_PAPER,
            table=figure.table,
            file="fin_tasks/benchmarks/mme_finance/published.csv",
            entry=_entry(
                "mme_finance",
                model=figure.model,
                task=f"mme_finance_{figure.language}",
                split="test",
                style="may decline" if figure.not_applicable == "everywhere" else "",
                judge=figure.judge,
                metric=names[figure.by],
                value=figure.value,
                n=_mme_rows(figure),
                marks=(_doubt(figure.note),) if figure.unreliable else (),
            ),
        )


def _mme_rows(figure: mme_finance.Figure) -> int:
    language: Any = figure.language
    of_category = {category.short: getattr(category, language) for category in CATEGORIES.values()}
    if figure.by == "overall":
        return sum(of_category.values())
    return of_category.get(figure.name) or mme_finance.IMPLIED_ROWS[language].get(figure.name, 0)


def _dynostock() -> Iterator[_Printed]:
    for figure in dynostock.published():
        doubtful = figure.source == "paper" and figure.note and not figure.note.startswith(_READING)
        yield _Printed(
            paper=_BIAS_PAPERS[figure.source],
            table=figure.table,
            file="fin_tasks/benchmarks/dynostock/published.csv",
            entry=_entry(
                "dynostock",
                model=figure.model,
                task=f"dynostock_{figure.bias}" + (f"_w{figure.window}" if figure.window else ""),
                mode="image",
                arm="signal",
                metric=figure.metric,
                value=figure.value,
                n=100 if figure.window else 500,
                marks=(_doubt(figure.note),) if doubtful else (),
            ),
        )

"""The papers' printed figures, with the place that each has beside runs of our tasks."""

import hashlib
import re
from collections.abc import Collection, Iterator
from importlib.resources import as_file, files
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.report.values import Value, without_interval

_Printed = tuple[Value, dict[str, str]]

_PAPERS = {
    "acl": "XFinBench, ACL version",
    "long": "XFinBench, long version",
    "arXiv:2411.03314v1": "MME-Finance, arXiv:2411.03314v1",
    "paper": "Behavioral Bias of Vision-Language Models: A Behavioral Finance View",
    "repository": "github.com/mydcxiao/vlm_behavioral_fin, counts beside the recordings",
}
_ROWS = {"bool": 1360, "mcq": 468, "mcq_visual": 124, "calc": 1283, "text": 3111}
_ROWS_OF_TABLES = {"_no_table": 1283 - 277, "_table": 277}
_STUDY, _STUDY_ROWS = "test_500", {"bool": 180, "mcq": 67, "calc": 253, "text": 500}  # nobody says which rows
_STYLES = {"cot_role": "", "da_role": "", "cot": "no role", "da": "no role"}
_RETRIEVAL = {"none": "none", "bm25": "bm25", "ada": "dense", "oracle": "oracle"}
_READING = ("printed with", "type known by", "rounded twice")  # notes that cast no doubt on a figure


def figures(benchmarks: Collection[str]) -> tuple[list[Value], list[dict[str, Any]]]:
    """Return the figures that tasks of ours report too, and a run for each paper, table, model and judge.

    Of a figure that several tables print, the first counts. Marks say why one is in doubt, or not comparable with ours.

    Example:
        >>> [one.interval.mean for one in figures(["xfinbench"])[0] if one.model == "gpt-4o"][0]
        0.84
    """
    known: dict[tuple[str, ...], Value] = {}
    tables: dict[str, dict[str, Any]] = {}
    for value, told in (*_xfinbench(), *_mme_finance(), *_dynostock()):
        key = (value.model, value.column, value.metric)
        if value.benchmark in benchmarks and key not in known:
            known[key] = value
            provenance = {**told, **({"judge": value.judge} if value.judge else {})}
            tables[value.run] = {"id": value.run, "label": value.model, "source": "published", "model": value.model}
            tables[value.run] |= {"task": "", "date": "", "samples": "", "provenance": provenance}
            tables[value.run] |= {"path": provenance.pop("file")}
    return list(known.values()), list(tables.values())


def _rows(benchmark: str) -> Iterator[Any]:
    with as_file(files("fin_tasks.benchmarks") / benchmark / "published.csv") as path:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if benchmark == "xfinbench":
        table = table.sort_values(
            ["paper", "table"], key=lambda column: column.map(lambda x: x.zfill(4)), kind="stable"
        )
    yield from table.itertuples()


def _figure(benchmark: str, row: Any, task: str, metric: str, scale: float = 100, **more: Any) -> _Printed:
    source = getattr(row, "paper", None) or row.source
    paper = _PAPERS.get(source, source)
    told = {"paper": paper, "table": row.table, "file": f"fin_tasks/benchmarks/{benchmark}/published.csv"}
    named = ("split", "mode", "style", "retrieval", "arm")
    judge = more.get("judge", "")
    value = Value(
        run=hashlib.sha256("\0".join([paper, row.table, row.model, judge]).encode()).hexdigest()[:16],
        model=row.model,
        benchmark=more.get("of", benchmark),
        conditions={"task": task, **{name: more.get(name, "") for name in named}},
        variant="paper",
        metric=metric,
        interval=without_interval(more.get("n", 0), round(float(row.value) / scale, 9)),
        judge=judge,
        marks=(*more.get("marks", ()), *_doubt(row.note, sure=getattr(row, "unreliable", "yes") != "yes")),
    )
    return value, told


def _doubt(note: str, *, sure: bool) -> list[str]:
    if sure:
        return [note] if note else []
    if not note or note.startswith(_READING) or re.match(r"\d+ of \d+ wrong answers", note):
        return []
    reason = re.split(r"[:;]", note.removeprefix("unreliable: "))[0]
    return [f"in doubt: {re.sub('no share of [0-9]+ rows', 'no share of its rows', reason)}"]


def _xfinbench() -> Iterator[_Printed]:
    for row in _rows("xfinbench"):
        human, mode = row.model == "human", "cot" if row.mode == "none" else row.mode
        if row.model_kind == "retriever" or row.metric.endswith("_gain"):
            continue
        if row.dataset == "bizbench" and row.metric == ("acc" if row.task == "choice" else "acc_err"):
            n = 0 if human else {"choice": 141, "quantity": 359}[row.task]
            task = f"bizbench_paper_{row.task}"
            yield _figure("xfinbench", row, task, row.metric, of="bizbench", split="test", mode=mode, n=n)
        elif row.dataset == "financemath" and row.metric == "acc_err":
            other = ("scored by XFinBench's authors, not by FinanceMath's rules",)
            more: dict[str, Any] = {
                "of": "financemath",
                "split": "validation",
                "mode": mode,
                "n": 0 if human else 200,
                "marks": other,
            }
            yield _figure("xfinbench", row, "financemath", "acc", **more)
        elif row.dataset == "xfinbench" and row.condition in {**_STYLES, **_RETRIEVAL}:
            if row.capability not in ("all", *CAPABILITIES, *MATH_TYPES):
                continue
            study, part = row.condition in _STYLES, "text" if row.task == "all" else row.task
            rows = (_STUDY_ROWS if study else _ROWS)[part]
            rows = next((n for end, n in _ROWS_OF_TABLES.items() if row.metric.endswith(end)), rows)
            whole = row.capability == "all"
            seen = row.capability in CAPABILITIES and row.model_kind == "multimodal"
            yield _figure(
                "xfinbench",
                row,
                f"xfinbench_{part}",
                row.metric if whole else f"{row.metric}_{row.capability}",
                split=_STUDY if study else "test",
                mode=mode,
                style=_STYLES.get(row.condition, ""),
                retrieval=_RETRIEVAL.get(row.condition, "none"),
                n=rows if whole and not human else 0,
                marks=("rows with a figure that name the capability count too",) if seen else (),
            )


def _mme_finance() -> Iterator[_Printed]:
    rows = {one.short: {"en": one.en, "zh": one.zh} for one in CATEGORIES.values()}
    for row in _rows("mme_finance"):
        if row.metric == "score":
            prefix = {"image_type": "type_", "image_style": "style_"}.get(row.by, "")
            by = "" if row.by == "overall" else f"_{prefix}{row.name.replace(' ', '_')}"
            n = (
                sum(one[row.language] for one in rows.values())
                if not by
                else rows.get(row.name, {}).get(row.language, 0)
            )
            style = "may decline" if row.not_applicable == "everywhere" else ""
            task = f"mme_finance_{row.language}"
            yield _figure("mme_finance", row, task, f"score{by}", 1, split="test", style=style, n=n, judge=row.judge)


def _dynostock() -> Iterator[_Printed]:
    for row in _rows("dynostock"):
        window = f"_w{row.window}" if row.window else ""
        n = 100 if row.window else 500
        yield _figure("dynostock", row, f"dynostock_{row.bias}{window}", row.metric, mode="image", arm="signal", n=n)

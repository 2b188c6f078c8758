"""The values of a leaderboard as CSV, and as Markdown tables in the papers' shapes."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.report.comparable import conditions_of, text_of
from fin_tasks.report.model import Report, TaskResult
from fin_tasks.report.values import value_of
from fin_tasks.sandbox import escape

MATH_TYPES = ("arithmetic", "statistical", "algebraic", "numeric commonsense", "logical")
"""The five mathematical types that XFinBench's long version reports (Table 15)."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # spreadsheets run cells that begin with these
_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")
_SAID = ("split", "mode", "style", "retrieval", "arm")
_PARTS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")
_PLACE = ("task", "variant", "metric")


_TEXT = {"All": "xfinbench_text acc", "Bool": "xfinbench_bool acc", "MCQ": "xfinbench_mcq acc"}
_TEXT |= {"MCQ, figure": "xfinbench_mcq_visual acc"}
_CALC = [f"{kind}_{rows}" for rows in ("no_table", "table") for kind in ("em", "err")]
_BIZ = {"Choice": "bizbench_paper_choice acc", "Quantity, CoT": "bizbench_paper_quantity acc_err"}
_BIZ |= {"Quantity, PoT": "bizbench_paper_quantity acc_err pot"}
_BIZ_PARTS = ("finknow", "formulaeval", "fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e", "secnum")
_MATH = {"CoT": "financemath acc", "PoT": "financemath acc pot"}
_COMBINED = {f"XFinBench {name}": column for name, column in _TEXT.items()}
_COMBINED |= {"XFinBench Calc, CoT": "xfinbench_calc acc_err", "XFinBench Calc, PoT": "xfinbench_calc acc_err pot"}
_COMBINED |= {f"BizBench {name}": column for name, column in _BIZ.items()}
_COMBINED |= {f"FinanceMath {name}": column for name, column in _MATH.items()}
_MME = {
    "category": {name: one.short for name, one in CATEGORIES.items()},
    "image type": {kind: f"type_{kind.replace(' ', '_')}" for kind in IMAGE_TYPES},
    "image style": {style: f"style_{style.replace(' ', '_')}" for style in IMAGE_STYLES},
}

TABLES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "xfinbench_main": (
        "XFinBench: main table",
        "Accuracy in percent. EM: exact match. ERR: within the margin. All: rows without a figure, calculation by EM.",
        _TEXT
        | {f"Calc CoT, {one}": f"xfinbench_calc acc_{one}" for one in _CALC}
        | {f"Calc PoT, {one}": f"xfinbench_calc acc_{one} pot" for one in _CALC},
    ),
    "xfinbench_capabilities": (
        "XFinBench: capabilities",
        "Accuracy in percent over rows without a figure, calculation by exact match.",
        {name: f"xfinbench_text acc_{code}" for code, name in CAPABILITIES.items()},
    ),
    "xfinbench_capabilities_err": (
        "XFinBench: capabilities, within the margin",
        "Accuracy in percent; calculation counts within the margin, as in Table 10 of the ACL version.",
        {name: f"xfinbench_text acc_err_{code}" for code, name in CAPABILITIES.items()},
    ),
    "xfinbench_math_types": (
        "XFinBench: mathematical types",
        "Accuracy in percent of labeled calculation questions, by exact match.",
        {kind: f"xfinbench_calc acc_math_{kind.replace(' ', '_')}" for kind in MATH_TYPES},
    ),
    "combined": (
        "XFinBench, BizBench and FinanceMath",
        "Accuracy in percent, as in Table 3 of XFinBench's long version: quantities and calculation within the margin.",
        _COMBINED,
    ),
    **{
        f"mme_finance_{language}_{by.replace('image ', '')}": (
            f"MME-Finance, {language}: by {by}",
            "The judge's mean grade, from 0 to 100.",
            {of: f"mme_finance_{language} score{end and f'_{end}'}" for of, end in {"Overall": "", **ends}.items()},
        )
        for language in ("en", "zh")
        for by, ends in _MME.items()
    },
    "dynostock_bias": (
        "DynoStock: bias index and accuracy",
        "Percent, mean ± population standard deviation over window sizes (Table 1). Bias index: the share of wrong "
        "answers that follow the statement; less is better.",
        {
            f"{bias.capitalize()}, {said}": f"dynostock_{bias} {metric}"
            for bias in ("recency", "authority")
            for said, metric in (("accuracy", "acc"), ("bias index", "bias_index"))
        },
    ),
    "financemath": (
        "FinanceMath",
        "Accuracy in percent. Ran: programs that gave a value. Topics: chain of thought.",
        _MATH
        | {"PoT, ran": "financemath execution_rate pot"}
        | {name: f"financemath acc_{code}" for name, code in TOPICS.items()},
    ),
    "bizbench": (
        "BizBench",
        "Accuracy in percent. The first three columns are XFinBench's; the others are asked in BizBench's own way.",
        _BIZ | {f"{part}{end}": f"bizbench_{part} acc{end}" for part in _BIZ_PARTS for end in ("", " pot")},
    ),
}
"""Title, explanation, and header to `task metric mode` of each column, by the stem of the file."""


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; no spreadsheet takes a text in it for a formula."""
    table.map(_cell).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def values_table(board: Mapping[str, Any], report: Report) -> pd.DataFrame:
    """Return a line for each value of a leaderboard, with conditions, interval and origin.

    It adds values over XFinBench's three text tasks if they were asked one by one, and values by mathematical type.
    """
    tasks, runs = ({one["id"]: one for one in board[kind]} for kind in ("tasks", "runs"))
    lines = []
    for entry in board["entries"]:
        task, run = tasks[entry["task"]], runs[entry["run"]]
        line = {"model": entry["model"], "label": run["label"]}
        line |= {name: task.get(name) for name in ("benchmark", "task", "variant", *_SAID, "window")}
        line |= {name: entry[name] for name in ("judge", "metric", "value", "low", "high", "n", "unscored")}
        line |= {"unit": board["metrics"][entry["metric"]]["unit"], "marks": "; ".join(entry["marks"])}
        line |= {name: run[name] for name in ("source", "date", "path")} | {"group": entry["group"]}
        for name in ("data.revision", "prompts.sha256", "fin_tasks_version", "lm_eval_version", "model_args"):
            line[name] = text_of(str(run["provenance"].get(name, "")))
        lines.append(line)
    known = {tuple(line[name] for name in ("path", "task", "variant", "metric")) for line in lines}
    labels = {(run["path"], run["task"]): run["label"] for run in board["runs"]}
    more = [line for line in _more(report, labels) if (line["path"], *(line[n] for n in _PLACE)) not in known]
    return pd.DataFrame([*lines, *more])


def write_tables(values: pd.DataFrame, folder: Path) -> list[Path]:
    """Write each table of `TABLES` that has a value as `<stem>.md`; return the files."""
    paths = []
    for stem, (title, about, columns) in TABLES.items():
        if parts := list(_sections(columns, values)):
            paths.append(folder / f"{stem}.md")
            paths[-1].write_text("\n\n".join([f"# {title}", about, *parts]) + "\n", encoding="utf-8")
    return paths


def safe(text: str) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line.

    Example:
        >>> print(safe("<b>a|b</b> [x](http://y)"))
        &lt;b&gt;a\|b&lt;/b&gt; \[x\](http\://y)
    """
    shown = _MARKUP.sub(r"\\\g<0>", escape(text[:400])).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?i)\bwww\.", lambda found: f"{found[0][:-1]}\\.", shown)  # GitHub links it otherwise


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{escape(value)}" if value.lstrip(" ").startswith(_FORMULA) else escape(value)


def _more(report: Report, labels: Mapping[tuple[str, str], str]) -> Iterator[dict[str, Any]]:
    for run in report.runs:
        sets: dict[tuple[str, ...], dict[str, TaskResult]] = {}
        for result in run.tasks:
            said = conditions_of(result)
            if said["task"] in _PARTS and said["mode"] != "pot":
                sets.setdefault(tuple(said[name] for name in _SAID), {})[said["task"]] = result
        for (key, own), variant in product(sets.items(), ("paper", "robust")):
            tables = {task: rows for task, one in own.items() if len(rows := report.rows_of(one, variant))}
            asked: dict[tuple[str, str], tuple[pd.DataFrame, pd.Series[Any]]] = {}
            if len(tables) == len(_PARTS):
                rows = pd.concat(tables.values())
                asked["xfinbench_text", "acc"] = rows, rows["acc"]
                for code in [one for one in CAPABILITIES if f"acc_err_{one}" in rows]:
                    margin = rows[f"acc_err_{code}"].fillna(rows[f"acc_{code}"])
                    asked["xfinbench_text", f"acc_{code}"] = rows, rows[f"acc_{code}"]
                    asked["xfinbench_text", f"acc_err_{code}"] = rows, margin
            if "xfinbench_calc" in tables:
                rows = tables["xfinbench_calc"]
                names = rows["math_types"].astype(object).fillna("").str.lower().str.replace("_", " ").str.split("|")
                for kind in MATH_TYPES:
                    of_kind = names.map(lambda known, kind=kind: kind in known).astype(bool)
                    asked["xfinbench_calc", f"acc_math_{kind.replace(' ', '_')}"] = rows, rows["acc"].where(of_kind)
            for (task, metric), (rows, scores) in asked.items():
                found = value_of(rows.assign(**{metric: scores}), metric, "xfinbench")
                if found.n:
                    of = own.get(task, next(iter(own.values())))
                    line: dict[str, Any] = {
                        "model": run.model,
                        "label": labels[run.name, of.task],
                        "benchmark": "xfinbench",
                    }
                    line |= {"task": task, "variant": variant, **dict(zip(_SAID, key, strict=True)), "metric": metric}
                    line |= {"value": found.mean, "low": found.low, "high": found.high, "n": found.n, "unscored": 0}
                    yield line | {"unit": "fraction", "marks": "", "source": run.harness, "path": run.name}


def _sections(columns: Mapping[str, str], values: pd.DataFrame) -> Iterator[str]:
    """Yield the title, the table and the notes of each set of conditions."""
    sections: dict[str, dict[tuple[str, bool], dict[str, Any]]] = {}
    for header, column in columns.items():
        task, metric, mode = [*column.split(), ""][:3]
        own = values[((values["mode"] == "pot") == (mode == "pot")) & values["value"].notna()]
        own = _over_windows(own, task, metric) if task.startswith("dynostock") else own
        for one in own[(own["task"] == task) & (own["metric"] == metric)].to_dict("records"):
            row = (one["label"], one["source"] == "published")
            sections.setdefault(_conditions(one, columns is _COMBINED), {}).setdefault(row, {})[header] = one
    for section, rows in sections.items():
        headers = [header for header in columns if any(header in cells for cells in rows.values())]
        order = {row: [_sort_key(header, cells.get(header)) for header in headers] for row, cells in rows.items()}
        own_rows = [keys for (_, published), keys in order.items() if not published]
        best = [min(column) if len(own_rows) > 1 else None for column in zip(*own_rows, strict=True)]
        notes: dict[str, int] = {}
        lines = [["Model", *headers], ["---", *["---:"] * len(headers)]]
        for label, published in sorted(rows, key=order.__getitem__):
            line = [safe(label) + (", *published*" if published else "")]
            for at, header in enumerate(headers):
                one = rows[label, published].get(header)
                text = "–" if one is None else _number(one)
                note = one["marks"] if one else ""
                is_best = one and not note and not published and order[label, published][at] == best[at]
                text = f"**{text}**" if is_best else text
                line.append(f"{text} ({notes.setdefault(note, len(notes) + 1)})" if note else text)
            lines.append(line)
        yield f"## {safe(section)}"
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
        if notes:
            yield "\n".join(f"- ({number}) {safe(note)}" for note, number in notes.items())


def _conditions(one: Mapping[str, Any], combined: bool) -> str:
    usual = {"xfinbench": "test", "bizbench": "test", "financemath": "validation"}  # of the combined table
    split = "" if combined and one["split"] == usual[one["benchmark"]] else one["split"]
    said = ["packaged sample" if split == "sample" else f"{split} split" if split else "", one["mode"], one["style"]]
    how = "scored as the authors do" if one["variant"] == "paper" else "scored robustly"
    return ", ".join(
        [of for of in (*said, one["retrieval"], one["arm"]) if of not in ("", "cot", "pot", "none")] + [how]
    )


def _sort_key(header: str, one: Mapping[str, Any] | None) -> tuple[int, float]:
    sign = 1 if "bias index" in header else -1
    return (2, 0.0) if one is None else (int(bool(one["marks"])), sign * one["value"])


def _over_windows(values: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    """Average a metric over window sizes; a printed mean with its deviation counts as it is."""
    keys = ["label", "source", "variant", *_SAID]
    own = values[values["task"].str.startswith(task) & values["metric"].isin([metric, f"{metric}_std"])]
    printed = own[(own["task"] == task) & (own["source"] == "published")]
    deviations = printed[printed["metric"] == f"{metric}_std"].set_index(keys)["value"]
    sized = own[own["window"].notna() & ~own["label"].isin(printed["label"])].groupby(keys, dropna=False, sort=False)
    means = [
        {**of.iloc[0].to_dict(), "value": of["value"].mean(), "std": of["value"].std(ddof=0), "windows": len(of)}
        | {"task": task, "low": math.nan, "marks": "; ".join(dict.fromkeys(filter(None, of["marks"])))}
        for _, of in sized
    ]
    whole = printed[printed["metric"] == metric]
    whole = whole.assign(std=[deviations.get(key, math.nan) for key in whole[keys].itertuples(index=False, name=None)])
    return pd.concat([pd.DataFrame(means, columns=[*own.columns, "std", "windows"]), whole])


def _number(one: Mapping[str, Any]) -> str:
    scale, digits = (100, 1) if one["unit"] == "fraction" else (1, 2)
    text = f"{scale * one['value']:.{digits}f}"
    if pd.notna(one.get("std")):
        text += f" ± {scale * one['std']:.{digits}f}"
    if one.get("windows", 5) < 5:
        text += f" ({one['windows']:.0f} of 5 windows)"
    return text + (
        f" [{scale * one['low']:.{digits}f}, {scale * one['high']:.{digits}f}]" if pd.notna(one["low"]) else ""
    )

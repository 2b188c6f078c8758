"""The values of a leaderboard as CSV, and as the Markdown tables that `tables.yaml` describes."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.dynostock.windows import WINDOWS
from fin_tasks.data.formulas import quote_formulas
from fin_tasks.report.conditions import setting_text as text_of
from fin_tasks.report.cost import COSTS
from fin_tasks.report.model import known_benchmarks
from fin_tasks.report.values import CONDITIONS
from fin_tasks.sandbox import escape

_OPEN = "not certain, as responses were cut off"
"""Note on a mean over windows, whose values have notes of their own."""
_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; no spreadsheet takes a text in it for a formula."""
    table.map(_cell).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def values_table(board: Mapping[str, Any]) -> pd.DataFrame:
    """Return a line for each value of a leaderboard, with conditions, interval and origin."""
    tasks, runs = ({one["id"]: one for one in board[kind]} for kind in ("tasks", "runs"))
    costs = {one["run"]: one for one in board["costs"]}
    currency = board["prices"]["currency"] if board["prices"] else ""
    lines = []
    for entry in board["entries"]:
        task, run = tasks[entry["task"]], runs[entry["run"]]
        line = {"model": entry["model"], "label": run["label"]}
        line |= {name: task[name] for name in ("benchmark", "variant", *CONDITIONS, "window")}
        line |= {
            name: entry[name]
            for name in ("judge", "metric", "value", "low", "high", "n", "unscored")
        }
        cut_off = entry["cut_off"] or {}
        line["cut_off"] = cut_off.get("share")
        line["upper"] = cut_off.get("upper")
        line["finished"] = cut_off.get("finished")
        line["unit"] = board["metrics"][entry["metric"]]["unit"]
        line["marks"] = "; ".join(entry["marks"])
        line["notes"] = "; ".join(entry["notes"])
        line |= {name: run[name] for name in ("source", "date", "path")} | {"group": entry["group"]}
        for name in (
            "data.revision",
            "prompts.sha256",
            "fin_tasks_version",
            "lm_eval_version",
            "model_args",
        ):
            line[name] = text_of(run["provenance"].get(name, ""))
        cost = costs.get(entry["run"], {})
        line |= {name: cost.get(name) for name in COSTS} | {"currency": currency}
        lines.append(line | {"estimated": ", ".join(cost.get("estimated", ()))})
    return pd.DataFrame(lines)


def write_tables(values: pd.DataFrame, folder: Path) -> None:
    """Write each table of the benchmarks' `tables.yaml` that has a value into a folder."""
    tables: dict[str, Any] = {}
    for benchmark in all_benchmarks().values():
        text = benchmark.text_of("tables.yaml")
        if text:
            tables.update(yaml.safe_load(text))
    for stem, table in tables.items():
        if parts := list(_sections(table["columns"], values, combined=stem == "combined")):
            text = "\n\n".join([f"# {table['title']}", table["about"], *parts]) + "\n"
            (folder / f"{stem}.md").write_text(text, encoding="utf-8")


def write_costs(board: Mapping[str, Any], folder: Path) -> None:
    """Write the tokens, seconds and cost of each task and run as `costs.md`, if any is known."""
    prices = board["prices"]
    currency = (
        safe(" ".join(filter(None, [prices["currency"], prices["date"]])))
        if prices
        else "no prices given"
    )
    lines = [
        f"| Model | Task | Tokens in | Tokens out | Seconds | Cost ({currency}) |",
        "| --- | --- |" + " ---: |" * 4,
    ]
    parts = Counter(one["path"] for one in board["costs"])
    for one in board["costs"]:
        is_shown = one["task"] or parts[one["path"]] > 2  # the only task is the whole run
        if is_shown and any(one[name] is not None for name in COSTS):
            cells = [cost_text(one, name) or "–" for name in COSTS]
            lines.append(
                f"| {' | '.join([safe(one['model']), one['task'] or '**all tasks**', *cells])} |"
            )
    if len(lines) > 2:
        about = "What each run used. The judge's tokens are not included. ≈: an estimate."
        text = "\n\n".join(["# Tokens, time and cost", about, "\n".join(lines)])
        (folder / "costs.md").write_text(text + "\n", encoding="utf-8")


def cost_text(one: Mapping[str, Any], name: str) -> str:
    """Return one of `COSTS` as text, estimates behind ≈; empty if it is not known."""
    if (value := one[name]) is None:
        return ""
    text = f"{value:,.0f}" if name != "cost" or value >= 1000 else f"{value:.3g}"
    return f"≈ {text}" if name in one["estimated"] else text


def safe(text: str) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line."""
    shown = (
        _MARKUP.sub(r"\\\g<0>", escape(text[:400]))
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    return re.sub(
        r"(?i)\bwww\.", lambda found: f"{found[0][:-1]}\\.", shown
    )  # GitHub links it otherwise


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return escape(quote_formulas(value))


def _sections(columns: Mapping[str, str], values: pd.DataFrame, *, combined: bool) -> Iterator[str]:
    """Yield the title, the table and the notes of each set of conditions."""
    sections: dict[str, dict[tuple[str, bool], dict[str, Any]]] = {}
    for header, column in columns.items():
        task, metric, mode = [*column.split(), ""][:3]
        own = values[((values["mode"] == "pot") == (mode == "pot")) & values["value"].notna()]
        own = _over_windows(own, task, metric) if task.startswith("dynostock") else own
        for one in own[(own["task"] == task) & (own["metric"] == metric)].to_dict("records"):
            row = (one["label"], one["source"] == "published")
            sections.setdefault(_conditions(one, combined), {}).setdefault(row, {})[header] = one
    for section, rows in sections.items():
        headers = [header for header in columns if any(header in cells for cells in rows.values())]
        order = {
            row: [_sort_key(header, cells.get(header)) for header in headers]
            for row, cells in rows.items()
        }
        own_rows = [keys for (_, published), keys in order.items() if not published]
        best = [
            min(column) if len(own_rows) > 1 else None for column in zip(*own_rows, strict=True)
        ]
        notes: dict[str, int] = {}
        lines = [["Model", *headers], ["---", *["---:"] * len(headers)]]
        for label, published in sorted(rows, key=order.__getitem__):
            line = [safe(label) + (", *published*" if published else "")]
            for at, header in enumerate(headers):
                one = rows[label, published].get(header)
                text = "–" if one is None else _number(one)
                note = _note_of(one) if one else ""
                is_best = (
                    one and not note and not published and order[label, published][at] == best[at]
                )
                text = f"**{text}**" if is_best else text
                line.append(f"{text} ({notes.setdefault(note, len(notes) + 1)})" if note else text)
            lines.append(line)
        yield f"## {safe(section)}"
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
        if notes:
            yield "\n".join(f"- ({number}) {safe(note)}" for note, number in notes.items())


def _note_of(value: Mapping[str, Any]) -> str:
    return "; ".join(filter(None, [value["marks"], value["notes"]]))


def _conditions(one: Mapping[str, Any], combined: bool) -> str:
    usual = known_benchmarks()[one["benchmark"]].usual_split
    split = "" if combined and one["split"] == usual else one["split"]
    named = {"": "", "sample": "packaged sample", "own": "own data"}
    said = [
        named.get(split, f"{split} split"),
        one["mode"],
        one["style"],
    ]
    how = {"paper": "scored as the authors do", "robust": "scored robustly"}.get(
        one["variant"], one["variant"]
    )
    return ", ".join(
        [of for of in (*said, one["retrieval"], one["arm"]) if of not in ("", "cot", "pot", "none")]
        + [how]
    )


def _sort_key(header: str, one: Mapping[str, Any] | None) -> tuple[int, float]:
    sign = 1 if "bias index" in header else -1
    return (2, 0.0) if one is None else (int(bool(one["marks"])), sign * one["value"])


def _over_windows(values: pd.DataFrame, task: str, metric: str) -> pd.DataFrame:
    """Return the mean and deviation `std` over the window sizes of DynoStock's Table 1."""
    is_printed = values["source"] == "published"
    printed = values[is_printed & (values["task"] == task)]
    deviations = printed[printed["metric"] == f"{metric}_std"].set_index("label")["value"]
    whole = printed[printed["metric"] == metric]
    sizes = "|".join(map(str, WINDOWS))
    is_averaged = values["task"].str.match(f"{task}_w({sizes})(_text)?$")
    sized = values[~is_printed & is_averaged & (values["metric"] == metric)]
    means = sized.groupby(["label", "variant", *CONDITIONS[1:]], sort=False).agg(
        value=("value", "mean"),
        std=("value", lambda of: of.std(ddof=0)),
        windows=("value", "size"),
        marks=("marks", lambda of: "; ".join(dict.fromkeys(filter(None, of)))),
        notes=("notes", lambda of: _OPEN if any(of) else ""),
        **{name: (name, "first") for name in ("benchmark", "source", "unit")},
    )
    means = means.reset_index().assign(task=task, metric=metric, low=math.nan)
    return pd.concat([means, whole.assign(std=whole["label"].map(deviations))])


def _number(one: Mapping[str, Any]) -> str:
    scale, digits = (100, 1) if one["unit"] == "fraction" else (1, 2)
    text = f"{scale * one['value']:.{digits}f}"
    if pd.notna(one.get("std")):
        text += f" ± {scale * one['std']:.{digits}f}"
    if one.get("windows", 5) < 5:
        text += f" ({one['windows']:.0f} of 5 windows)"
    return text + (
        f" [{scale * one['low']:.{digits}f}, {scale * one['high']:.{digits}f}]"
        if pd.notna(one["low"])
        else ""
    )

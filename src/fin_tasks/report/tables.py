"""The values of a leaderboard as one table, and as `leaderboard.csv`."""

from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.data.formulas import quote_formulas
from fin_tasks.report.conditions import CONDITIONS, setting_text
from fin_tasks.report.cost import COSTS
from fin_tasks.report.leaderboard_model import BoardRun, Cost, Entry, Leaderboard
from fin_tasks.sandbox import escape

_SETTINGS = (
    "data.revision",
    "prompts.sha256",
    "fin_tasks_version",
    "lm_eval_version",
    "model_args",
)
_ENTRY = ("judge", "metric", "value", "low", "high", "n", "unscored")


def values_table(board: Leaderboard) -> pd.DataFrame:
    """Return a line for each value of a leaderboard, with conditions, interval and origin."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs}
    costs = {cost.run: cost for cost in board.costs}
    lines = []
    for entry in board.entries:
        task = tasks[entry.task]
        run = runs[entry.run]
        line: dict[str, Any] = {"model": entry.model, "label": run.label}
        for name in ("benchmark", "variant", *CONDITIONS, "window"):
            line[name] = getattr(task, name)
        line |= _entry_columns(entry, board.metrics[entry.metric].unit)
        line |= {"source": run.source, "date": run.date, "path": run.path, "group": entry.group}
        line |= _settings_columns(run)
        line |= _cost_columns(costs.get(entry.run))
        line["currency"] = board.prices.currency if board.prices else ""
        lines.append(line)
    return pd.DataFrame(lines)


def _entry_columns(entry: Entry, unit: str) -> dict[str, Any]:
    columns = {name: getattr(entry, name) for name in _ENTRY}
    for name, field in (("cut_off", "share"), ("upper", "upper"), ("finished", "finished")):
        columns[name] = getattr(entry.cut_off, field, None)
    columns["unit"] = unit
    columns["marks"] = "; ".join(entry.marks)
    columns["notes"] = "; ".join(entry.notes)
    return columns


def _settings_columns(run: BoardRun) -> dict[str, str]:
    return {name: setting_text(run.provenance.get(name, "")) for name in _SETTINGS}


def _cost_columns(cost: Cost | None) -> dict[str, Any]:
    columns = {name: getattr(cost, name, None) for name in COSTS}
    return {**columns, "estimated": ", ".join(cost.estimated if cost else ())}


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV; no spreadsheet takes a text in it for a formula."""
    table.map(_cell).to_csv(path, index=False, encoding="utf-8", lineterminator="\n")


def _cell(value: Any) -> Any:
    return escape(quote_formulas(value)) if isinstance(value, str) else value

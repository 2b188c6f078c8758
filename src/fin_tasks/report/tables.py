"""The values of a leaderboard as one table, and as `leaderboard.csv`."""

from pathlib import Path

from pandas import DataFrame

from fin_tasks.data.tables import quote_formulas
from fin_tasks.errors import escape

from .conditions import CONDITIONS, setting_text
from .cost import COSTS
from .leaderboard_model import Leaderboard

_TASK = {"benchmark", *CONDITIONS, "scoring", "window"}
_ENTRY = {
    "judge",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "unscored",
    "uncorrected",
    "group",
    "is_shown",
}
_RUN = {"label", "source", "date", "path", "decoding"}
_SETTINGS = (
    "data.revision",
    "prompts.sha256",
    "fin_tasks_version",
    "lm_eval_version",
    "model_args",
)


def values_table(board: Leaderboard) -> DataFrame:
    """Return a line for each value of a leaderboard, with conditions, interval and origin."""
    tasks = {task.id: task for task in board.tasks}
    runs = {run.id: run for run in board.runs}
    costs = {cost.run: cost for cost in board.costs}
    lines = []
    for entry in board.entries:
        run = runs[entry.run]
        cost = costs.get(entry.run)
        line = {
            "model": entry.model,
            **run.model_dump(include=_RUN),
            **tasks[entry.task].model_dump(include=_TASK),
            **entry.model_dump(include=_ENTRY),
            "unit": board.metrics[entry.metric].unit,
            "cut_off": entry.cut_off and entry.cut_off.share,
            "upper": entry.cut_off and entry.cut_off.upper,
            "finished": entry.cut_off and entry.cut_off.finished,
            "doubts": "; ".join(entry.doubts),
            "remarks": "; ".join(entry.remarks),
            "estimated": ", ".join(cost.estimated) if cost else "",
            "currency": board.prices.currency if board.prices else "",
        }
        line |= {name: getattr(cost, name, None) for name in COSTS}
        line |= {name: setting_text(run.provenance.get(name, "")) for name in _SETTINGS}
        lines.append(line)
    return DataFrame(lines)


def write_csv(table: DataFrame, path: Path) -> None:
    """Write a table as CSV; no spreadsheet takes a text in it for a formula."""
    quoted = table.map(
        lambda cell: escape(quote_formulas(cell)) if isinstance(cell, str) else cell
    )
    quoted.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")

"""The figures the XFinBench paper prints, in its ACL version and in its long one.

`published.csv` beside this module holds one figure per row, as a percentage and as printed, next to the table it stands
in. What does not add up among them, and what could not be read, is listed in `docs/published.md`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.data.printed_figures import FigureFile, FigureRow

__all__ = ["MATH_TYPES", "PUBLISHED", "Figure", "published", "read_figures"]

PUBLISHED = Path(__file__).with_name("published.csv")

MATH_TYPES = ("arithmetic", "statistical", "algebraic", "numeric_commonsense", "logical")
"""Types of mathematical reasoning; they stand in the column of capabilities."""

_METRICS = ("acc", "acc_em", "acc_err")
_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "paper": ("acl", "long"),
    "model_kind": ("multimodal", "text-only", "human", "retriever"),
    "dataset": ("xfinbench", "bizbench", "financemath"),
    "task": ("bool", "mcq", "mcq_visual", "calc", "all", "choice", "quantity"),
    "mode": ("cot", "pot", "da", "none"),
    "condition": ("none", "bm25", "ada", "oracle", *STYLES, "all_rows", "without_low_quality"),
    "capability": ("all", *CAPABILITIES, *MATH_TYPES),
    "metric": (
        *_METRICS,
        *(f"{metric}_{rows}" for metric in _METRICS[1:] for rows in ("table", "no_table")),
        *(f"{metric}_gain" for metric in _METRICS),
        "retriever_acc",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure.

    Attributes:
        paper: `acl` or `long`, the version it stands in.
        table: Number of the table in that version.
        model: Name as in the main table, `human`, or `retriever` where the retrieval itself is measured.
        model_kind: `multimodal`, `text-only`, `human` or `retriever`.
        dataset: `xfinbench`, `bizbench` or `financemath`.
        task: Subset of the data set; `all` for the micro-average.
        mode: `cot`, `pot` or `da`; `none` for people and retrievers.
        condition: What the prompt was given (`none`, `bm25`, `ada`, `oracle`), its style in the sensitivity study (a
            key of `prompts.STYLES`), or which rows were asked (`all_rows`, `without_low_quality`).
        capability: Code of a capability, one of `MATH_TYPES`, or `all`.
        metric: Name as in `metrics.metrics_of`, where `acc` over several tasks counts calculation by exact match and
            `acc_err` within the margin; `*_gain` is a printed change against `none`; `retriever_acc` is the share
            of questions with a gold term among those retrieved.
        value: Percentage, or percentage points for a gain.
        note: What a reader must know about this figure; mostly empty.
    """

    paper: str
    table: str
    model: str
    model_kind: str
    dataset: str
    task: str
    mode: str
    condition: str
    capability: str
    metric: str
    value: float
    note: str


def published(**wanted: str) -> tuple[Figure, ...]:
    """Return the published figures, in the order of the papers.

    Args:
        **wanted: Field of `Figure`, other than `value` and `note`, to the value it must have.

    Returns:
        The figures that have all of them; possibly none.

    Raises:
        ConfigError: A field does not exist, or no figure at all has that value.

    Example:
        >>> [figure.value for figure in published(paper="acl", table="3", model="gpt-4o", task="all")]
        [63.6]
    """
    return _FILE.ask(wanted)


def read_figures(path: Path) -> tuple[Figure, ...]:
    """Read and check a file of figures.

    Args:
        path: CSV file with the fields of `Figure` as columns.

    Raises:
        DataError: It cannot be read, lacks a column, has a cell that is not allowed there, or one figure twice.
    """
    return _FILE.read(path)


def _figure(row: FigureRow) -> Figure:
    row.check(_ALLOWED)
    if not re.fullmatch(r"[1-9]\d?", row.cells["table"]):
        raise row.error("table", "the number of a table")
    if not row.cells["model"]:
        raise row.error("model", "a name")
    return Figure(value=_value(row), **{name: row.cells[name] for name in (*_FILE.names, "note")})


def _value(row: FigureRow) -> float:
    text = row.cells["value"]
    sign = "-?" if row.cells["metric"].endswith("_gain") else ""
    if not re.fullmatch(rf"{sign}(100\.0|[1-9]?\d\.\d)", text):
        raise row.error("value", "a percentage with one decimal, from 0.0 to 100.0")
    return float(text)


_FILE = FigureFile(path=PUBLISHED, kind=Figure, parse=_figure)

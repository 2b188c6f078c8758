"""FinanceMath's questions as read from their file, and what is odd about them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.data.schema import Defect
from fin_tasks.errors import DataError

__all__ = ["TOPICS", "Row", "Rows", "read_rows"]

TOPICS: Mapping[str, str] = {
    "Accounting": "accounting",
    "Asset Classes & Derivatives": "asset_classes",
    "Corporate & Securities Issuance": "corporate_issuance",
    "Market Analysis & Economics": "market_analysis",
    "Portfolio Management & Strategy": "portfolio",
    "Quantitative Analysis & Valuation": "quantitative",
    "Risk Management": "risk",
}
"""Topic as in the file to its name in metrics."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One question.

    Attributes:
        question_id: Its id.
        question: Its text.
        tables: Tables that belong to it, in Markdown.
        python_solution: The program that computes the truth; empty where there is none.
        ground_truth: The truth, rounded to three decimals in the authors' file.
        topic: As in the file.
    """

    question_id: str
    question: str
    tables: tuple[str, ...]
    python_solution: str
    ground_truth: float
    topic: str


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A file of questions.

    Attributes:
        rows: The questions that can be asked and scored.
        defects: What is wrong with others, or odd about these.
    """

    rows: tuple[Row, ...]
    defects: tuple[Defect, ...]

    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Kind of defect to the ids of the rows it keeps out."""
        kinds = sorted({defect.kind for defect in self.defects} - {"unknown-topic"})
        return {kind: tuple(d.row_id for d in self.defects if d.kind == kind) for kind in kinds}


def read_rows(path: Path, *, split: str = "validation") -> Rows:
    """Read a file of questions.

    Args:
        path: A JSON list, JSON lines, or Parquet.
        split: What the file holds, for messages.

    Raises:
        DataError: It cannot be read, holds no rows, or no row has a truth, as in the authors' test split.
    """
    raw = _raw_rows(path)
    if not raw:
        raise DataError(f"{path}: expected at least one question, found none.")
    if not any(isinstance(row, dict) and row.get("ground_truth") is not None for row in raw):
        advice = (
            "The authors have not published them. Use split: validation, or a file with `ground_truth`."
            if split == "test"
            else "Fetch the authors' file again, or add `ground_truth` to its rows."
        )
        raise DataError(f"{path}: expected truths of {split}, found none. {advice}")
    rows: list[Row] = []
    defects: list[Defect] = []
    seen: set[str] = set()
    for number, row in enumerate(raw, start=1):
        read = _row(row, number, seen)
        if isinstance(read, Defect):
            defects.append(read)
            continue
        seen.add(read.question_id)
        rows.append(read)
        if read.topic not in TOPICS:
            defects.append(Defect("unknown-topic", read.question_id, repr(read.topic)))
    return Rows(rows=tuple(rows), defects=tuple(defects))


def _raw_rows(path: Path) -> Sequence[Any]:
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            rows: Sequence[Any] = pyarrow.parquet.read_table(path).to_pylist()
            return rows
        text = path.read_bytes().decode("utf-8-sig")
        if text.lstrip().startswith("["):
            whole: Sequence[Any] = json.loads(text)
            return whole
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError) as error:  # decoding and pyarrow's own errors are ValueErrors
        raise DataError(f"{path}: expected a list of questions, got {error}. Fetch the file again.") from error


def _row(raw: Any, number: int, seen: set[str]) -> Row | Defect:
    if not isinstance(raw, dict):
        return Defect("no-object", f"row {number}", repr(raw)[:80])
    row_id = str(raw.get("question_id") or f"row {number}")
    question, truth, tables = raw.get("question"), _number(raw.get("ground_truth")), _tables(raw.get("tables"))
    solution, topic = raw.get("python_solution"), raw.get("topic")
    if row_id in seen:
        return Defect("repeated-id", row_id, f"row {number}")
    if not isinstance(question, str) or not question.strip():
        return Defect("no-question", row_id, repr(question)[:80])
    if truth is None:
        return Defect("no-truth", row_id, repr(raw.get("ground_truth"))[:80])
    if tables is None:
        return Defect("bad-tables", row_id, repr(raw.get("tables"))[:80])
    return Row(
        question_id=row_id,
        question=question.strip(),
        tables=tables,
        python_solution=solution if isinstance(solution, str) else "",
        ground_truth=truth,
        topic=topic if isinstance(topic, str) else "",
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _tables(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(table, str) for table in value):
        return None
    return tuple(table.strip() for table in value)

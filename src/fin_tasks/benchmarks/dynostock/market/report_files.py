"""Files of quarterly earnings reports: Alpha Vantage's `EARNINGS` answers as JSON, our own table as CSV or Parquet."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.dynostock.market.price_files import ticker_of_name
from fin_tasks.benchmarks.dynostock.market.price_rows import days_of, figures_of, tickers_of
from fin_tasks.benchmarks.dynostock.market.tables import REPORT_COLUMNS
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError

__all__ = [
    "checked_reports",
    "one_per_quarter",
    "read_report_file",
    "refusal_in",
    "reports_of_answer",
    "with_fiscal_ends",
]

FIELDS: Mapping[str, str] = {
    "fiscal_end": "fiscalDateEnding",
    "reported": "reportedDate",
    "eps": "reportedEPS",
    "estimate": "estimatedEPS",
    "surprise": "surprise",
    "surprise_percentage": "surprisePercentage",
}
"""Our columns to Alpha Vantage's."""

_DAY = FIELDS["reported"]
_FIGURES = ("eps", "estimate", "surprise", "surprise_percentage")
_UNKNOWN = ("", "None", "-", "nan", "NaN", "null", "N/A")
_REFUSALS = ("Note", "Information", "Error Message")
_USUAL_DELAY = pd.Timedelta(days=8)


def read_report_file(path: Path) -> pd.DataFrame:
    """Read a file of earnings reports into the columns of `REPORT_COLUMNS`, cells as they are.

    Raises:
        DataError: The file cannot be read, is no table of reports, or holds an answer without any.
    """
    if path.name.endswith(".json"):
        return reports_of_answer(_json(path), name=str(path), ticker=ticker_of_name(path))
    try:
        if path.name.endswith(".parquet"):
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, EOFError, ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{path}: expected earnings reports, got a file that cannot be read ({error}).") from error
    table.columns = pd.Index([str(label).strip().lower() for label in table.columns])
    if missing := [column for column in REPORT_COLUMNS if column not in table.columns]:
        raise DataError(
            f"{path}: expected earnings reports with the columns {', '.join(REPORT_COLUMNS)}; "
            f"missing {', '.join(missing)}, got {', '.join(table.columns[:8]) or 'none'}."
        )
    return table[list(REPORT_COLUMNS)]


def reports_of_answer(answer: Any, *, name: str, ticker: str) -> pd.DataFrame:
    """Make a table of an Alpha Vantage answer.

    Args:
        answer: The JSON value.
        name: Where it comes from, for messages.
        ticker: Whose reports these are where the answer has no `symbol`.

    Raises:
        DataError: The answer refuses (a rate limit, an unknown symbol) or has no `quarterlyEarnings`, or no report
            among them. A single entry that is no report stays as a row without a day, for `checked_reports` to name.
    """
    if refusal := refusal_in(answer):
        raise DataError(
            f"{name}: expected earnings reports, got an answer of Alpha Vantage that refuses them: {refusal!r}. "
            "Delete it and fetch again later."
        )
    rows = answer.get("quarterlyEarnings") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or (rows and not any(isinstance(row, dict) for row in rows)):
        raise DataError(f"{name}: expected the list 'quarterlyEarnings' of reports, got {str(answer)[:80]!r}.")
    symbol = answer.get("symbol")
    # what is no report keeps its place, and says so where its day would be
    reports = [row if isinstance(row, dict) else {_DAY: f"no report: {json.dumps(row)}"} for row in rows]
    cells = {ours: [_text(row.get(theirs)) for row in reports] for ours, theirs in FIELDS.items()}
    whose = symbol if isinstance(symbol, str) and symbol.strip() else ticker
    return pd.DataFrame({"ticker": [whose] * len(rows), **cells}, columns=list(REPORT_COLUMNS), dtype=object)


def _text(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)


def refusal_in(answer: Any) -> str:
    """Return what Alpha Vantage says instead of reports: a rate limit, a wrong key or symbol; empty where it does not.

    Example:
        >>> refusal_in({"Note": "5 calls per minute"}), refusal_in({"symbol": "AAPL"})
        ('5 calls per minute', '')
    """
    if not isinstance(answer, dict):
        return ""
    return next((str(answer[key]) for key in _REFUSALS if key in answer), "")


def checked_reports(raw: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[Defect]]:
    """Give reports their types and leave out those that cannot be used, each with a defect.

    Without a day of report a report is left out; unknown figures and quarters' ends stay unknown.

    Args:
        raw: The columns of `REPORT_COLUMNS`.
        name: The file's name, for messages.
    """
    raw = raw.reset_index(drop=True)
    raw = raw.where(~raw.isin(_UNKNOWN), None).astype(object)
    tickers, named = tickers_of(raw["ticker"])
    table = pd.DataFrame(
        {"ticker": tickers, "fiscal_end": days_of(raw["fiscal_end"]), "reported": days_of(raw["reported"])}
    )
    defects = []
    for figure in _FIGURES:
        table[figure], odd = figures_of(raw[figure])
        for row in np.flatnonzero(odd):
            found = f"{figure}: expected a number, got {str(raw[figure].iloc[row])[:40]!r}; treated as unknown"
            defects.append(Defect("report-not-a-number", _report_id(table, int(row)), found))
    usable = table["reported"].notna() & named
    for row in np.flatnonzero(~usable):
        wanted, found = ("day", raw["reported"]) if named.iloc[row] else ("ticker", raw["ticker"])
        detail = f"row {row + 1} left out: expected a {wanted}, got {str(found.iloc[row])[:40]!r}"
        defects.append(Defect(f"report-without-{wanted}", f"{name} {_report_id(table, int(row))}", detail))
    table = table[usable].reset_index(drop=True)
    early = table["reported"] < table["fiscal_end"]
    for row in np.flatnonzero(early):
        found = f"reported {table['reported'].iloc[row]:%Y-%m-%d}, before the quarter's end; kept"
        defects.append(Defect("reported-too-early", _report_id(table, int(row)), found))
    return table, defects


def one_per_quarter(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Sort reports and keep one per ticker and quarter, naming those left out.

    The report of the earliest day stays, for that is when the market learned of it; of one day, the last row. Where the
    quarter's end is unknown, only reports of the same day are taken for the same.
    """
    # within a day the last row first, so that one `keep="first"` decides both
    order = table.iloc[::-1].sort_values(["ticker", "fiscal_end", "reported"], kind="stable", ignore_index=True)
    instead = order["reported"].where(order["fiscal_end"].isna())
    again = order.assign(instead=instead).duplicated(["ticker", "fiscal_end", "instead"], keep="first")
    defects = []
    for row in np.flatnonzero(again):
        found = f"reported again {order['reported'].iloc[row]:%Y-%m-%d}; left out"
        defects.append(Defect("duplicate-report", _report_id(order, int(row)), found))
    return order[~again].reset_index(drop=True), defects


def with_fiscal_ends(table: pd.DataFrame) -> tuple[pd.DataFrame, list[Defect]]:
    """Estimate the quarters' ends that are unknown, naming their tickers.

    A company's quarters end in every third month. Which third is taken from all its reports: the month that most often
    was the last to end at least eight days before one. The estimate is then the last such month end before the report.
    It finds the month of 2,755 of the 2,756 reports since 2000 in 29 files of the authors' history.

    Args:
        table: Reports with the columns of `REPORT_COLUMNS`.
    """
    unknown = table["fiscal_end"].isna()
    if not unknown.any():
        return table, []
    rows = table[unknown]
    latest = _month_end(rows["reported"] - _USUAL_DELAY)
    third = (latest.dt.month % 3).groupby(rows["ticker"]).transform(lambda months: months.mode().iloc[0])
    end = _month_end(rows["reported"])
    for _ in range(2):
        end = end.where(end.dt.month % 3 == third, _month_end(end))
    counts = rows["ticker"].value_counts(sort=False)
    defects = [
        Defect("estimated-fiscal-end", str(ticker), f"{count} report(s) without the quarter's end")
        for ticker, count in counts.items()
    ]
    return table.assign(fiscal_end=table["fiscal_end"].fillna(end)), defects


def _month_end(days: pd.Series) -> pd.Series:
    """The last end of a month before each day."""
    return (days + pd.offsets.MonthEnd(-1)).astype("datetime64[ns]")


def _report_id(table: pd.DataFrame, row: int) -> str:
    end = table["fiscal_end"].iloc[row]
    return f"{table['ticker'].iloc[row]} {'?' if pd.isna(end) else format(end, '%Y-%m-%d')}"


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror!r}. Put it there.") from error
    except ValueError as error:
        raise DataError(f"{path}: expected JSON, got {str(error)!r}. Fetch the file again.") from error

"""Days and numbers in the columns of an exported table, whose texts follow the habits of a country."""

import re
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

Order = Literal["day", "month"]
"""Which number a date such as 02/03/2024 begins with."""
Decimal = Literal[".", ","]

_ISO = r"\d{4}-\d{2}-\d{2}(?:[T ].*)?"
_NUMERIC_DATE = r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})"
_FORMATS = (
    "%Y%m%d",
    "%Y/%m/%d",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
)
"""Dates whose order is known."""
_MONTH_FORMATS = ("%m/%Y", "%b %Y", "%B %Y")
"""Months, which stand for their last day."""
_TIME_OF_DAY = r"[T ,]+\d{1,2}:\d{2}.*$"
_MULTIPLES = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
_NUMBER = r"\(?[-+]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?\)?([KMBT]?)"
_UNITS = r"[$€£¥%\s\u00a0\u2009\u202f']"
_GROUPED = {
    ".": r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?",
    ",": r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d*)?",
}
_MANY_GROUPS = re.compile(r"([.,])\d{3}\1\d{3}(?!\d)")


class CellError(ValueError):
    """A cell cannot be understood; `row` counts from 0."""

    def __init__(self, column: str, row: int, problem: str) -> None:
        super().__init__(problem)
        self.column = column
        self.row = row


def days_of(columns: Mapping[str, "pd.Series[str]"]) -> dict[str, "pd.Series[Any]"]:
    """Read columns of days; an empty cell is no day. The order of day and month is decided over all columns.

    Raises:
        CellError: A cell is no day, or the order of day and month cannot be told.
    """
    order = _order_of(columns)
    days = {}
    for name, cells in columns.items():
        texts = cells.astype("string").str.strip()
        # Days repeat among tickers, and a text is read once.
        unique = pd.Series(texts.dropna().unique(), dtype="string")
        known = dict(zip(unique, _read_days(unique, order), strict=True))
        read = pd.to_datetime(texts.map(known))
        _refuse_first(name, texts, read.isna() & texts.notna(), "a day")
        days[name] = read
    return days


def _order_of(columns: Mapping[str, "pd.Series[str]"]) -> Order:
    """Say which number dates with slashes or hyphens begin with."""
    day_first: tuple[str, int, str] | None = None
    month_first: tuple[str, int, str] | None = None
    doubtful: tuple[str, int, str] | None = None
    for name, cells in columns.items():
        dates = cells.astype("string").str.strip()
        if dates.str.match(_ISO).fillna(True).all():
            continue
        dates = dates.str.replace(_TIME_OF_DAY, "", regex=True)
        parts = dates.str.extract(f"^{_NUMERIC_DATE}$")
        # Dates with dots begin with the day in all countries.
        is_open = parts[1].notna() & (parts[1] != ".")
        left = parts[0].astype(float)
        right = parts[2].astype(float)
        day_first = day_first or _first_cell(name, dates, is_open & (left > 12))
        month_first = month_first or _first_cell(name, dates, is_open & (right > 12))
        doubtful = doubtful or _first_cell(name, dates, is_open & (left != right))
    if day_first and month_first:
        name, row, date = month_first
        problem = f"expected days in one order, got {day_first[2]!r} and {date!r}"
        raise CellError(name, row, problem)
    if doubtful and not day_first and not month_first:
        name, row, date = doubtful
        raise CellError(
            name,
            row,
            f"expected days in one order, got {date!r}, which may be dd/mm/yyyy or mm/dd/yyyy, as all days of the "
            "file may be. Write them as yyyy-mm-dd",
        )
    return "day" if day_first else "month"


def _first_cell(
    name: str, cells: "pd.Series[str]", is_meant: "pd.Series[bool]"
) -> tuple[str, int, str] | None:
    """Return the column, the row and the text of the first cell that is meant."""
    rows = np.flatnonzero(is_meant.fillna(False))
    if not len(rows):
        return None
    row = int(rows[0])
    return name, row, str(cells.iloc[row])


def _read_days(texts: "pd.Series[str]", order: Order) -> "pd.Series[Any]":
    """Read days in any format, NaT where none fits."""
    is_iso = texts.str.fullmatch(_ISO)
    iso = texts.where(is_iso).str[:10]
    days = pd.to_datetime(iso, format="%Y-%m-%d", errors="coerce")
    if days.notna().all():
        return days
    dates = texts.str.replace(_TIME_OF_DAY, "", regex=True)
    parts = dates.str.extract(f"^{_NUMERIC_DATE}$")
    year = parts[3].where(parts[3].str.len() == 4, "20" + parts[3])
    is_day_first = (parts[1] == ".") | (order == "day")
    day = parts[0].where(is_day_first, parts[2])
    month = parts[2].where(is_day_first, parts[0])
    ordered = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    days = days.fillna(pd.to_datetime(ordered, format="%Y-%m-%d", errors="coerce"))
    for name in (*_FORMATS, *_MONTH_FORMATS):
        if days.notna().all():
            break
        read = pd.to_datetime(dates, format=name, errors="coerce")
        if name in _MONTH_FORMATS:
            read += pd.offsets.MonthEnd(0)
        days = days.fillna(read)
    return days


def numbers_of(
    columns: Mapping[str, "pd.Series[str]"], separator: str
) -> dict[str, "pd.Series[float]"]:
    """Read columns of numbers with currencies, percent signs, K, M or B; an empty cell is no number.

    Args:
        columns: The cells.
        separator: What stands between the cells of the file; it decides what a comma is where no cell does.

    Raises:
        CellError: A cell is no number.
    """
    texts = {}
    for name, cells in columns.items():
        text = cells.astype("string").str.replace(_UNITS, "", regex=True)
        texts[name] = text.str.replace("\u2212", "-").str.upper()
    decimal = _decimal_of(texts, separator)
    group = "," if decimal == "." else "."
    numbers = {}
    for name, text in texts.items():
        parts = text.str.extract(f"^(?P<figure>{_NUMBER})$")
        figure = parts["figure"].str.replace(r"[()KMBT]", "", regex=True)
        # In parentheses stand losses.
        is_negative = text.str.startswith("(") & text.str.endswith(")")
        has_groups = figure.str.fullmatch(_GROUPED[decimal]).fillna(False)
        plain = figure.where(~has_groups, figure.str.replace(group, "", regex=False))
        plain = plain.where(~plain.str.contains(group, regex=False).fillna(False))
        plain = plain.str.replace(decimal, ".", regex=False)
        values = pd.to_numeric(plain, errors="coerce").astype(float)
        values *= parts[1].map(_MULTIPLES).astype(float)
        values = values.where(~is_negative.fillna(False), -values)
        is_bad = values.isna() & text.notna() & (text != "")
        _refuse_first(name, columns[name], is_bad, "a number")
        numbers[name] = values
    return numbers


def _decimal_of(texts: Mapping[str, "pd.Series[str]"], separator: str) -> Decimal:
    """Say which sign stands before decimals, by the first cell that shows it, else by the separator."""
    for text in texts.values():
        figures = text.dropna()
        has_both = figures.str.contains(",", regex=False) & figures.str.contains(
            ".", regex=False
        )
        # Behind the last sign come decimals if it is another sign, or if they are not three.
        is_sure = has_both | figures.str.contains(r"[.,](?!\d{3}(?:\D|$))")
        for figure in figures[is_sure]:
            return "," if figure.rfind(",") > figure.rfind(".") else "."
    for text in texts.values():
        for figure in text.dropna():
            groups = _MANY_GROUPS.search(figure)
            if groups:
                return "." if groups[1] == "," else ","
    has_comma = any(text.str.contains(",").any() for text in texts.values())
    return "," if has_comma and separator != "," else "."


def _refuse_first(
    name: str, cells: "pd.Series[Any]", is_bad: "pd.Series[bool]", expected: str
) -> None:
    if is_bad.any():
        row = int(is_bad.to_numpy(bool).argmax())
        raise CellError(name, row, f"expected {expected}, got {cells.iloc[row]!r:.60}")

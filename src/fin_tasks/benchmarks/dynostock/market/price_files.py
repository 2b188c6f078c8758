"""Files of daily prices, in the layouts people have them, as one long table.

| Layout | How it is recognised |
|---|---|
| wide with two header rows, as yfinance saves it | one of the first two rows names prices, the other one tickers |
| long | columns for ticker, date and close |
| one ticker | columns for date and close; the ticker is the file's name |
| wide closes | a date column, every other column is a ticker's close |

The content decides, not the file's ending: CSV, CSV packed with gzip, or Parquet. Days may be the table's index or an
ordinary column, as after `reset_index()`, saved with the new index or without.
"""

import csv
import gzip
import io
import warnings
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.errors import DataError

__all__ = ["FIGURES", "read_price_file", "ticker_of_name"]

FIGURES = ("open", "high", "low", "close", "volume", "adj_close")
"""The columns of the long table after `ticker` and `date`, each only where the file has it."""

_NAMES = {name.replace("_", " "): name for name in FIGURES} | {"adjclose": "adj_close", "adjusted close": "adj_close"}
# what yfinance adds on request, and what old exports add; read by nobody here
_OTHER_NAMES = ("dividends", "stock splits", "splits", "capital gains", "repaired?", "openint")
_TICKER_NAMES = ("ticker", "symbol")
_DATE_NAMES = ("date", "datetime", "timestamp")
_UNKNOWN = ("", "nan", "NaN", "NA", "N/A", "#N/A", "null", "NULL", "None", "-")
_UNREADABLE = (
    OSError,
    EOFError,
    zlib.error,
    UnicodeDecodeError,
    csv.Error,
    pd.errors.ParserError,
    pd.errors.ParserWarning,
    pd.errors.EmptyDataError,
)
_SHOWN_CELLS = 8
_SHOWN_TEXT = 80
# the float nearest to the text; pandas does so by itself from 3.1, where the option is deprecated
_EXACT: Mapping[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


def read_price_file(path: Path) -> pd.DataFrame:
    """Read a file of daily prices as it is; nothing is checked or converted yet.

    Returns:
        A table with the text columns `ticker` and `date` (`date` has datetimes where the file has them) and those of
        `FIGURES` that the file has, in the file's own order: long files row by row, wide ones ticker by ticker.

    Raises:
        DataError: The file cannot be read or is no table of prices.
    """
    frame = _read_parquet(path) if _starts_with(path, b"PAR1") else _read_csv(path)
    if isinstance(frame.columns, pd.MultiIndex):
        return _from_wide(frame, path)
    return _from_one_header(frame, path)


def ticker_of_name(path: Path) -> str:
    """Return the ticker a file is named after: its name before the first dot that begins a file ending.

    Example:
        >>> ticker_of_name(Path("prices/brk.b.csv.gz")), ticker_of_name(Path("data-AAPL.json"))
        ('BRK.B', 'AAPL')
    """
    name = path.name
    for ending in (".gz", ".csv", ".parquet", ".json"):
        name = name.removesuffix(ending)
    return name.removeprefix("data-").upper()


def _starts_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror!r}. Put it there.") from error


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
        raise DataError(f"{path}: expected Parquet, got a file that cannot be read ({error}).") from error
    if isinstance(frame.columns, pd.MultiIndex):
        dated = _date_columns(frame.columns)
        return _indexed_by_day(frame, dated) if dated else frame
    has_index = not isinstance(frame.index, pd.RangeIndex)
    return frame.reset_index() if has_index else frame


def _read_csv(path: Path) -> pd.DataFrame:
    packed = _starts_with(path, b"\x1f\x8b")
    try:
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        text = content.decode("utf-8-sig")
        rows = _first_rows(text)
        labels, n_header = _header(rows, path)
        return _parsed(text, labels, n_header)
    except _UNREADABLE as error:
        raise DataError(
            f"{path}: expected a CSV file of daily prices, got one that cannot be read ({error})."
        ) from error


def _first_rows(text: str, n: int = 3) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text[: 1 << 20]))
    return [[cell.strip() for cell in row] for row, _ in zip((row for row in reader if row), range(n), strict=False)]


def _header(rows: list[list[str]], path: Path) -> tuple[pd.Index, int]:
    """Column labels of a CSV file, and how many of its rows are no data."""
    if not rows:
        raise DataError(f"{path}: expected a table of daily prices, got an empty file.")
    first = rows[0]
    second = rows[1] if len(rows) > 1 else []
    if len(first) == len(second) > 1 and not _is_day(second[0]) and _are_two_headers(first, second):
        third = rows[2] if len(rows) > 2 else []
        names_index = bool(third) and third[0].lower() in _DATE_NAMES and not any(third[1:])
        return pd.MultiIndex.from_arrays([first, second]), 3 if names_index else 2
    return pd.Index(first, dtype=object), 1


def _parsed(text: str, labels: pd.Index, n_header: int) -> pd.DataFrame:
    wide = isinstance(labels, pd.MultiIndex)
    # a ticker may be called NA, and a date is ours to read
    if wide:
        words = [0, *_date_columns(labels)]
    else:
        words = [i for i, name in enumerate(labels) if i == 0 or name.lower() in _TICKER_NAMES + _DATE_NAMES]
    numbers = [i for i in range(len(labels)) if i not in words]
    with warnings.catch_warnings():
        # a row longer than the header would only be cut
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame = pd.read_csv(
            io.StringIO(text),
            header=None,
            names=list(range(len(labels))),
            skiprows=_lines_of(text, n_header),
            index_col=False,
            dtype=dict.fromkeys(words, "object"),
            keep_default_na=False,
            na_values={i: list(_UNKNOWN) for i in numbers},
            low_memory=False,
            **_EXACT,
        )
    frame.columns = labels
    # an index that was saved too comes first, whether the days are in it or not
    return _indexed_by_day(frame, _date_columns(labels) or [0], first=1) if wide else frame


def _indexed_by_day(frame: pd.DataFrame, dated: list[int], first: int = 0) -> pd.DataFrame:
    """Make a column of days under two headers the index, as it was before a `reset_index()`."""
    kept = [i for i in range(first, frame.shape[1]) if i not in dated]
    return frame.iloc[:, kept].set_axis(pd.Index(frame.iloc[:, dated[0]]), axis=0)


def _date_columns(labels: pd.MultiIndex) -> list[int]:
    """Columns of days among labels of two levels: one says so, the other one nothing (a ticker may be called DATE)."""
    return [i for i, pair in enumerate(labels) if sorted(map(_day_word, pair)) == ["", "date"]]


def _day_word(label: Any) -> str:
    word = str(label).strip().lower()
    # pandas writes "Unnamed: 1_level_1" for a blank cell of a header
    return "date" if word in _DATE_NAMES else "" if word.startswith("unnamed:") else word


def _lines_of(text: str, n_rows: int) -> int:
    """How many lines the first rows take: blank lines before and between them count."""
    reader = csv.reader(io.StringIO(text[: 1 << 20]))
    seen = 0
    for row in reader:
        seen += bool(row)
        if seen == n_rows:
            break
    return reader.line_num


def _is_day(text: str) -> bool:
    return text[:4].isdecimal() and len(text) >= 8


def _named(label: Any) -> str | None:
    """Our name of a price column, None for any other label."""
    return _NAMES.get(str(label).strip().lower().replace("_", " "))


def _are_two_headers(first: list[str], second: list[str]) -> bool:
    """Whether one of two rows names prices in all columns but those of the index and the days."""
    dated = {0, *_date_columns(pd.MultiIndex.from_arrays([first, second]))}
    rows = [[cell for i, cell in enumerate(row) if i not in dated] for row in (first, second)]
    return any(_are_figures(row) for row in rows)


def _are_figures(labels: Sequence[Any]) -> bool:
    """Whether every label names a price."""
    known = [_named(label) or str(label).strip().lower() in _OTHER_NAMES for label in labels]
    return all(known) and any(name in FIGURES for name in known)


def _from_wide(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    levels = [frame.columns.get_level_values(level) for level in range(frame.columns.nlevels)]
    # a ticker may be called LOW
    closes = [level for level in levels if _are_figures(level) and "close" in map(_named, level)]
    if len(levels) != 2 or not closes:
        raise _no_two_headers(path, frame.columns)
    figures = closes[0]
    tickers = levels[1] if figures is levels[0] else levels[0]
    keys = [(str(ticker).strip().upper(), _named(figure)) for ticker, figure in zip(tickers, figures, strict=True)]
    at = {key: column for column, key in enumerate(keys)}
    if twice := [f"{ticker} {figure}" for ticker, figure in at if figure and keys.count((ticker, figure)) > 1]:
        raise DataError(f"{path}: expected each column once, got {', '.join(twice[:_SHOWN_CELLS])} twice. Remove one.")
    names = list(dict.fromkeys(ticker for ticker, _ in keys))
    # pandas takes its time over hundreds of columns that are named in pairs
    frame = frame.set_axis(range(len(keys)), axis=1)
    absent = pd.Series(np.full(len(frame), np.nan), index=frame.index)
    long = {"ticker": np.repeat(np.array(names, dtype=object), len(frame))}
    long["date"] = pd.concat([frame.index.to_series()] * len(names), ignore_index=True)
    for figure in [name for name in FIGURES if any(key[1] == name for key in keys)]:
        columns = [frame.iloc[:, at[name, figure]] if (name, figure) in at else absent for name in names]
        long[figure] = pd.concat(columns, ignore_index=True)
    return pd.DataFrame(long)


def _from_one_header(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    labels = [str(label).strip() for label in frame.columns]
    lower = [label.lower() for label in labels]
    if twice := sorted({label for label in lower if lower.count(label) > 1}):
        raise DataError(f"{path}: expected each column once, got {', '.join(twice)} twice. Remove one.")
    dated = next((i for i, name in enumerate(lower) if name in _DATE_NAMES), None)
    if dated is None and lower[0] in ("", "index", "price") and len(lower) > 1:
        dated = 0  # a table saved with an index that has no name
    if dated is None:
        raise _no_price_table(path, labels)
    named = {_named(name): i for i, name in enumerate(lower) if _named(name)}
    if "close" not in named:
        return _from_closes(frame, dated, labels, path)
    ticker = next((i for i, name in enumerate(lower) if name in _TICKER_NAMES), None)
    long = {
        "ticker": ticker_of_name(path) if ticker is None else frame.iloc[:, ticker].astype(object),
        "date": frame.iloc[:, dated],
        **{name: frame.iloc[:, named[name]] for name in FIGURES if name in named},
    }
    return pd.DataFrame(long).reset_index(drop=True)


def _from_closes(frame: pd.DataFrame, dated: int, labels: list[str], path: Path) -> pd.DataFrame:
    tickers = [i for i in range(len(labels)) if i != dated]
    if not tickers or any(_named(labels[i]) == "adj_close" or labels[i].lower() in _TICKER_NAMES for i in tickers):
        raise _no_price_table(path, labels)
    return pd.DataFrame(
        {
            "ticker": np.repeat(np.array([labels[i].upper() for i in tickers], dtype=object), len(frame)),
            "date": pd.concat([frame.iloc[:, dated]] * len(tickers), ignore_index=True),
            "close": pd.concat([frame.iloc[:, i] for i in tickers], ignore_index=True),
        }
    )


def _no_two_headers(path: Path, labels: pd.MultiIndex) -> DataError:
    rows = [", ".join(map(str, dict.fromkeys(labels.get_level_values(level)))) for level in range(labels.nlevels)]
    found = " and ".join(repr(row if len(row) <= _SHOWN_TEXT else row[:_SHOWN_TEXT] + "...") for row in rows)
    return DataError(
        f"{path}: expected two header rows, one that names prices with Close among them (Open, High, Low, Close, "
        f"Volume, Adj Close) and one that names tickers; got {found}. "
        "Save the table with Close (yfinance: auto_adjust=False) and these two rows only."
    )


def _no_price_table(path: Path, labels: Sequence[str]) -> DataError:
    found = ", ".join(labels[:_SHOWN_CELLS]) + (", ..." if len(labels) > _SHOWN_CELLS else "")
    return DataError(
        f"{path}: expected daily prices: the columns Date and Close (with Ticker, or the file named after it), "
        f"Date and one column of closes per ticker, or two header rows Price and Ticker; got {found or 'no columns'!r}."
    )

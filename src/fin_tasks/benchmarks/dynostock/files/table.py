"""One file of prices or earnings reports as a table with our columns, whatever the names and formats of the file."""

import csv
import gzip
import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import yaml
from pandas.errors import ParserWarning
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import DataError, first_problem
from fin_tasks.limited_file import ROWS_MB, read_limited, read_limited_json
from fin_tasks.settings import Settings

from ..market import DOLLARS, TABLES, with_types
from .cells import CellError, days_of, numbers_of

COLUMN_NAMES: Mapping[str, Mapping[str, Sequence[str]]] = yaml.safe_load(
    Path(__file__).with_name("columns.yaml").read_bytes()
)
"""Other names of our columns, by part."""

_UNKNOWN = (
    *("", "None", "-", "--", "null", "nan", "NaN"),
    *("N/A", "n/a", "#N/A", "#N/A N/A"),
)
"""Texts of cells without a value; NA is none of them, because a ticker has this name."""
_NEEDED = {"prices": ("date", "close"), "earnings": ("reported", "surprise")}
_DAYS = {"prices": ("date",), "earnings": ("reported", "fiscal_end")}
_HEAD_BYTES = 1 << 16
_SEPARATORS = ",;\t|"
_HEADER_ROWS = 30
"""A header stands within so many rows; exports begin with a few rows about the query."""
_PREAMBLE_TICKERS = ("ticker", "symbol", "security")


@dataclass(frozen=True)
class _Layout:
    """How the cells of a text file are arranged."""

    separator: str
    header_row: int
    names: Sequence[str]
    """Our names of the columns, or the file's own, plainly written."""
    ticker: str = ""
    """What the rows above the header say."""


class _AlphaVantage(BaseModel):
    """What Alpha Vantage, the authors' files and those that we fetched say of a ticker."""

    currency: str | None = DOLLARS

    reports: Annotated[
        list[dict[str, str | float | None]],
        Field(alias="quarterlyEarnings", max_length=10_000),
    ]


def read_file(file: Path, part: str) -> pd.DataFrame:
    """Read a file of `prices` or `earnings`; raise DataError with the place of what cannot be understood."""
    try:
        if file.suffix == ".json":
            table = _alpha_vantage_table(read_limited_json(file, ROWS_MB))
        elif file.suffix == ".parquet":
            table = pd.read_parquet(file)
            table.columns = our_names(list(table.columns), part)
            table = _typed(table, part)
        else:
            table = _text_table(_content_of(file), part)
        if part == "earnings":
            table = _with_surprise(table)
        for name in _NEEDED[part]:
            if name not in table:
                expected = " and ".join(_NEEDED[part])
                raise ValueError(f"expected {expected}, got no column {name}")
        if "ticker" not in table:
            table["ticker"] = ticker_of(file)
        table["ticker"] = _tickers(table["ticker"])
        if "currency" in table:
            _check_currencies(table["currency"])
        for name in ("ticker", "date"):
            if name in table and table[name].isna().any():
                row = int(table[name].isna().to_numpy().argmax())
                raise CellError(name, int(table.index[row]), "expected one, got none")
        return with_types(table, f"{part} in files")
    except ValidationError as error:
        reason = first_problem(error)
    except CellError as error:
        raise DataError(
            f"{file}, row {error.row}, column {error.column}: {error}."
        ) from error
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        # The rest of the message may quote the file, which may hold a key.
        reason = f"{type(error).__name__}: {str(error)[:200]}"
    raise DataError(f"{file}: expected {part}, got {reason}.")


def ticker_of(file: Path) -> str:
    """Return the ticker that a file is named after, also as Stooq and the authors name theirs."""
    name = re.sub(r"^data-|(_us_d)?\.(csv|csv\.gz|txt|parquet|json)$", "", file.name)
    return name.upper()


def our_names(names: Sequence[str], part: str) -> list[str]:
    """Return the names that columns have here; a column that we do not know keeps its own."""
    plain = []
    for name in names:
        words = str(name).lower().replace("%", " percent ")
        plain.append(re.sub(r"[^a-z0-9]+", "_", words).strip("_"))
    ours = [str(name).strip() for name in names]
    for name, others in COLUMN_NAMES[part].items():
        for other in (name, *others):
            if other in plain:
                # The first of several names is the best one.
                ours[plain.index(other)] = name
                break
    return ours


def _content_of(file: Path) -> bytes:
    """Return the content of a text file without gzip's packing; raise DataError if it is too large."""
    if file.suffix != ".gz":
        return read_limited(file, ROWS_MB)
    n_bytes = max(ROWS_MB, Settings.from_environ().max_mb) << 20
    with gzip.open(file) as stream:
        content = stream.read(n_bytes + 1)
    if len(content) > n_bytes:
        raise DataError(
            f"{file}: expected at most {n_bytes >> 20:,} MB unpacked, got more. FIN_TASKS_MAX_MB raises the limit."
        )
    return content


def _text_table(content: bytes, part: str) -> pd.DataFrame:
    """Read a CSV file; errors tell the row that a spreadsheet program shows."""
    encoding = _encoding_of(content)
    head = content[:_HEAD_BYTES].decode(encoding, "ignore")
    first_names = {line.partition(",")[0] for line in head.splitlines()[:2]}
    if first_names == {"Price", "Ticker"}:
        # yfinance writes a column for each price of each ticker.
        wide = pd.read_csv(BytesIO(content), header=[0, 1], index_col=0)
        table = wide.stack("Ticker", future_stack=True)
        table = table.rename_axis(["Date", "Ticker"]).reset_index()
        table.columns = our_names(list(table.columns), part)
        return _typed(table, part)
    layout = _layout_of(head, part)
    names = our_names(layout.names, part)
    numbers = _number_columns(names, part)
    texts = {name: "str" for name in names if name not in numbers}
    rows = _cells(content, encoding, layout, names, texts)
    if not all(map(pd.api.types.is_numeric_dtype, (rows[name] for name in numbers))):
        # What a comma or a dot means is decided over all cells.
        texts = dict.fromkeys(names, "str")
        rows = _cells(content, encoding, layout, names, texts)
    labels = dict(zip(names, layout.names, strict=True))
    table = _typed(rows, part, labels, layout.separator)
    if layout.ticker and "ticker" not in table:
        table["ticker"] = layout.ticker
    return table


def _encoding_of(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _layout_of(head: str, part: str) -> _Layout:
    """Find the separator and the row of names in the first lines of a file."""
    day = _NEEDED[part][0]
    partner = {"prices": {"close"}, "earnings": {"surprise", "eps"}}[part]
    ticker = ""
    fallback: _Layout | None = None
    for row, line in enumerate(head.splitlines()[:_HEADER_ROWS]):
        separator = max(_SEPARATORS, key=line.count)
        cells = next(csv.reader([line], delimiter=separator), [])
        names = set(our_names(cells, part))
        if day in names:
            layout = _Layout(separator, row, cells, ticker)
            if names & partner:
                return layout
            fallback = fallback or layout
        elif len(cells) > 1 and cells[0].strip().lower() in _PREAMBLE_TICKERS:
            ticker = cells[1]
    if fallback is None:
        expected = " and ".join(_NEEDED[part])
        raise ValueError(f"no row with the names of the columns; expected {expected}")
    return fallback


def _cells(
    content: bytes,
    encoding: str,
    layout: _Layout,
    names: Sequence[str],
    types: dict[str, str],
) -> pd.DataFrame:
    """Read the rows below the header, numbered as a spreadsheet program numbers them."""
    try:
        with warnings.catch_warnings(action="error", category=ParserWarning):
            rows = pd.read_csv(
                BytesIO(content),
                encoding=encoding,
                sep=layout.separator,
                skiprows=layout.header_row + 1,
                header=None,
                names=list(names),
                index_col=False,
                dtype=types,
                keep_default_na=False,
                na_values=list(_UNKNOWN),
                skip_blank_lines=False,
                low_memory=False,
            )
    except ParserWarning as warning:
        raise ValueError("a row has more cells than the header") from warning
    rows.index += layout.header_row + 2
    return rows.dropna(how="all")


def _number_columns(names: Sequence[str], part: str) -> list[str]:
    """Return the columns of numbers: all but the days if each stock has a column of closes."""
    if part == "prices" and _is_wide(names):
        return [name for name in names if name not in ("date", "")]
    known = TABLES[f"{part} in files"]
    return [name for name in names if known.get(name) == "float64"]


def _is_wide(names: Sequence[str]) -> bool:
    """Whether a table of prices has a column of closes for each stock. LOW and OPEN are stocks, too."""
    has_own_names = {"ticker", "close", "adj_close", "volume"} & set(names)
    return not has_own_names and not {"open", "high", "low"} <= set(names)


def _typed(
    table: pd.DataFrame,
    part: str,
    labels: dict[str, str] | None = None,
    separator: str = ",",
) -> pd.DataFrame:
    """Read the texts of days and numbers; a column of closes for each stock becomes a row for each stock and day.

    Args:
        table: The cells, with our names.
        part: `prices` or `earnings`.
        labels: The file's own names of columns, which errors show.
        separator: What stands between the cells of the file.
    """
    names = list(table.columns)
    numbers = _number_columns(names, part)
    days = {}
    for name in _DAYS[part]:
        if name in names and not pd.api.types.is_datetime64_any_dtype(table[name]):
            days[name] = table[name]
    texts = {}
    for name in numbers:
        if not pd.api.types.is_numeric_dtype(table[name]):
            texts[name] = table[name]
    try:
        table = table.assign(**days_of(days), **numbers_of(texts, separator))
    except CellError as error:
        label = (labels or {}).get(error.column, error.column)
        row = int(table.index[error.row])
        raise CellError(label, row, str(error)) from error
    if part == "prices" and _is_wide(names):
        table = table.melt("date", numbers, var_name="ticker", value_name="close")
    return table


def _tickers(names: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return tickers without what Bloomberg and Stooq add to American stocks."""
    tickers = names.astype("string").str.strip().str.upper()
    tickers = tickers.str.replace(r" EQUITY$", "", regex=True)
    return tickers.str.replace(r"(?<=\S)[ .]US$", "", regex=True)


def _check_currencies(codes: "pd.Series[Any]") -> None:
    is_odd = codes.notna() & ~codes.astype("string").str.fullmatch("[A-Za-z]{3}")
    for row, code in codes[is_odd.fillna(False)].items():
        problem = f"expected a code such as EUR, got {code!r:.80}"
        raise CellError("currency", int(str(row)), problem)


def _with_surprise(reports: pd.DataFrame) -> pd.DataFrame:
    """Add the surprises that follow from EPS and estimate, in dollars and in percent of the estimate."""
    if not {"eps", "estimate"} <= set(reports.columns):
        return reports
    figures = reports[["eps", "estimate"]].astype(float)
    surprise = (figures["eps"] - figures["estimate"]).round(6)
    estimate = figures["estimate"].abs()
    percentage = 100 * surprise / estimate.where(estimate > 0)
    known = pd.DataFrame({"surprise": surprise, "surprise_percentage": percentage})
    for name in known:
        reports[name] = reports.get(name, known[name]).fillna(known[name].round(4))
    return reports


def _alpha_vantage_table(content: bytes) -> pd.DataFrame:
    answer = _AlphaVantage.model_validate_json(content)
    names = {**TABLES["alpha_vantage"], "reportTime": "report_time"}
    table = pd.DataFrame(answer.reports, columns=list(names)).rename(columns=names)
    table = with_types(table.mask(table.isin(_UNKNOWN)), "earnings")
    return table.drop(columns="ticker").assign(currency=answer.currency)

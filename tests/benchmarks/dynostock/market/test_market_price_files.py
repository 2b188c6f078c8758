"""Files of prices in every layout, read into one long table."""

import gzip
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.market.price_files import FIGURES, read_price_file, ticker_of_name
from fin_tasks.benchmarks.dynostock.market.price_rows import typed
from fin_tasks.errors import DataError

HEADINGS = {
    "open": "Open",
    "high": "High",
    "low": "Low",
    "close": "Close",
    "volume": "Volume",
    "adj_close": "Adj Close",
}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def long_table() -> pd.DataFrame:
    days = pd.to_datetime(["2024-01-02", "2024-01-03", "2024-01-04"])
    table = pd.DataFrame({"ticker": ["AAPL"] * 3 + ["LOW"] * 3, "date": [*days, *days]})
    numbers = np.random.default_rng(7).random((6, len(FIGURES))) * 1000
    table[list(FIGURES)] = numbers
    table.loc[3, list(FIGURES)] = np.nan  # LOW is not listed yet
    return table


def read(path: Path) -> pd.DataFrame:
    table, defects = typed(read_price_file(path), path.name)
    assert defects == []
    return table.sort_values(["ticker", "date"], ignore_index=True)


def wide(table: pd.DataFrame, order: tuple[str, str]) -> pd.DataFrame:
    renamed = table.rename(columns=HEADINGS)
    frame = renamed.pivot(index="date", columns="ticker", values=list(HEADINGS.values()))
    frame.columns = frame.columns.set_names(["Price", "Ticker"])
    frame.index = frame.index.set_names("Date")
    return frame.reorder_levels(order, axis=1).sort_index(axis=1)


@pytest.mark.parametrize("order", [("Price", "Ticker"), ("Ticker", "Price")])
@pytest.mark.parametrize("packed", [False, True])
def test_yfinances_wide_download_with_either_level_first(tmp_path: Path, order: tuple[str, str], packed: bool) -> None:
    text = wide(long_table(), order).to_csv()
    assert text.splitlines()[2].startswith("Date,,")
    path = tmp_path / "prices.csv"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    pd.testing.assert_frame_equal(read(path), long_table(), check_exact=True, check_dtype=False)


def test_a_wide_file_without_the_row_that_names_the_index(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", ",Close,Close\n,AAPL,LOW\n2024-01-02,1,2\n")
    assert read(path)["close"].tolist() == [1, 2]


def test_a_wide_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.parquet"
    wide(long_table(), ("Price", "Ticker")).to_parquet(path)
    pd.testing.assert_frame_equal(read(path), long_table(), check_exact=True, check_dtype=False)


@pytest.mark.parametrize("order", [("Price", "Ticker"), ("Ticker", "Price")])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("kind", ["csv", "csv without index", "parquet"])
def test_a_wide_table_after_reset_index(
    tmp_path: Path, order: tuple[str, str], level: int, names: bool, kind: str
) -> None:
    frame = wide(long_table(), order).reset_index(col_level=level)
    if not names:
        frame.columns = frame.columns.set_names([None, None])
    path = tmp_path / "prices"
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=kind == "csv")
    pd.testing.assert_frame_equal(read(path), long_table(), check_exact=True, check_dtype=False)


def test_blank_headers_that_pandas_named(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "Price,Date,Close\nTicker,Unnamed: 1_level_1,DATE\n0,2024-01-02,7\n")
    assert read(path).values.tolist() == [["DATE", pd.Timestamp("2024-01-02"), 7]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_two_headers_without_a_close_are_named_as_two_headers(tmp_path: Path, kind: str) -> None:
    path, frame = tmp_path / "p", wide(long_table(), ("Price", "Ticker"))[["Adj Close"]]
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path)
    with pytest.raises(DataError, match=r"two header rows.*Close among them.*got 'Adj Close' and 'AAPL, LOW'"):
        read_price_file(path)


@pytest.mark.parametrize("case", [str.upper, str.lower, str.title])
def test_long_files_in_any_letter_case(tmp_path: Path, case: Callable[[str], str]) -> None:
    table = long_table()
    path = tmp_path / "long.csv"
    table.rename(columns=lambda name: case(name.replace("_", " "))).to_csv(path, index=False)
    pd.testing.assert_frame_equal(read(path), table, check_exact=True, check_dtype=False)


def test_one_ticker_per_file_is_named_after_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "brk-b.csv", "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-02,1,3,1,2,2,100\n")
    assert read(path)[["ticker", "close"]].values.tolist() == [["BRK-B", 2.0]]
    assert ticker_of_name(Path("MSFT.parquet")) == "MSFT"


def test_wide_closes_may_hold_tickers_named_like_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "closes.csv", "Date,LOW,NA,OPEN\n2024-01-02,1,2,\n2024-01-03,1.5,,3\n")
    table = read(path)
    assert table["ticker"].unique().tolist() == ["LOW", "NA", "OPEN"]
    assert table["close"].isna().sum() == 2
    assert "low" not in table


def test_a_ticker_called_na_in_a_long_file(tmp_path: Path) -> None:
    path = write(tmp_path, "long.csv", "ticker,date,close\nNA,2024-01-02,1\nTRUE,2024-01-02,2\n")
    assert read(path)["ticker"].tolist() == ["NA", "TRUE"]


def test_blank_lines_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path, "AAPL.csv", "\ufeff\n\nDate,Close\n\n2024-01-02,7\n\n")
    assert read(path)["close"].tolist() == [7]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.csv", b"", "empty file"),
        ("a.csv", b"name,age\nBob,3\n", "name, age"),
        ("a.csv", b"Date,Adj Close\n2024-01-02,3\n", "Adj Close"),
        ("a.csv", b"ticker,date\nAAPL,2024-01-02\n", "ticker, date"),
        ("a.csv", b"Date,AAPL,aapl\n2024-01-02,1,2\n", "aapl twice"),
        ("a.csv", b",Close,Close\n,AAPL,AAPL\n2024-01-02,1,2\n", "AAPL close twice"),
        ("a.csv", b"Date,Close\n2024-01-02,1,2,3\n", "cannot be read"),
        ("a.csv", b"\xff\xfe\x00", "cannot be read"),
        ("a.csv.gz", b"\x1f\x8b\x08broken", "cannot be read"),
        ("a.parquet", b"PAR1 and no more", "cannot be read"),
    ],
)
def test_what_is_no_table_of_prices_is_said_to_be_none(tmp_path: Path, name: str, content: bytes, found: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"expected") as error:
        read_price_file(path)
    assert found in str(error.value)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a readable file"):
        read_price_file(tmp_path / "none.csv")


def test_dates_and_nothing_else_are_no_prices(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "Date,AAPL\nyesterday,1\n")
    with pytest.raises(DataError, match="got none in 1 rows"):
        typed(read_price_file(path), path.name)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=8))
def test_numbers_come_back_to_the_last_bit(closes: list[float]) -> None:
    days = pd.date_range("2024-01-01", periods=len(closes))
    text = io.StringIO()
    pd.DataFrame({"Date": days, "Close": closes}).to_csv(text, index=False)
    folder = Path(tempfile.mkdtemp())
    path = write(folder, "A.csv", text.getvalue())
    assert read_price_file(path)["close"].tolist() == closes
    path.unlink()
    folder.rmdir()

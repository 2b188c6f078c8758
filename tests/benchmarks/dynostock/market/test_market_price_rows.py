"""Rows of prices: what is odd is named, and no row goes in silence."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.market.price_rows import checked, days_of, one_row_per_day, typed
from fin_tasks.data.tables import Defect

MONDAY = "2024-01-08"


def rows(*cells: tuple[Any, ...], columns: str = "ticker date close") -> pd.DataFrame:
    return pd.DataFrame(list(cells), columns=columns.split())


def candles(*cells: tuple[Any, ...]) -> pd.DataFrame:
    table = rows(*cells, columns="ticker date open high low close volume")
    return table.assign(date=pd.to_datetime(table["date"]).astype("datetime64[ns]"))


def kinds(defects: list[Defect]) -> dict[str, int]:
    return dict(Counter(defect.kind for defect in defects))


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("2024-01-31", "2024-01-31"),
        (" 2024-01-31 ", "2024-01-31"),
        ("20240131", "2024-01-31"),
        ("2024-01-31 00:00:00", "2024-01-31"),
        ("2024-01-31T23:30:00-05:00", "2024-01-31"),
        ("2024-01-31 00:30:00+09:00", "2024-01-31"),
        (pd.Timestamp("2024-01-31 23:30", tz="America/New_York"), "2024-01-31"),
        ("2024-02-30", None),
        ("31.01.2024", None),
        ("2024-1-3", "2024-01-03"),
        ("2024-01-311", None),
        ("0001-01-01", None),
        ("1899-12-31", None),
        ("2100-01-01", None),
        ("", None),
        (None, None),
    ],
)
def test_days(cell: Any, day: str | None) -> None:
    found = days_of(pd.Series([cell, "2024-06-03"], dtype=object))
    assert str(found.dtype) == "datetime64[ns]"
    assert found.iloc[1] == pd.Timestamp("2024-06-03")
    assert pd.isna(found.iloc[0]) if day is None else found.iloc[0] == pd.Timestamp(day)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC", None])
def test_a_column_of_times_keeps_the_day_of_its_own_zone(zone: str | None) -> None:
    stamps = pd.Series(pd.to_datetime(["2024-01-31 00:00", "2024-03-10 23:59"]).tz_localize(zone))
    assert days_of(stamps).dt.strftime("%Y-%m-%d").tolist() == ["2024-01-31", "2024-03-10"]


@given(st.dates(pd.Timestamp("1900-01-01").date(), pd.Timestamp("2099-12-31").date()), st.sampled_from(["", "T", " "]))
def test_any_day_comes_back(day: Any, separator: str) -> None:
    text = day.isoformat() + (f"{separator}04:00:00+01:00" if separator else "")
    assert days_of(pd.Series([text])).iloc[0].date() == day


def test_cells_that_are_no_numbers_are_named_with_ticker_day_and_column() -> None:
    table, defects = typed(rows(("AAPL", MONDAY, "n/a?"), ("AAPL", "2024-01-09", "1e999"), ("a", MONDAY, "3.5")), "f")
    assert table["close"].isna().tolist() == [True, True, False]
    assert defects[0] == Defect("not-a-number", f"AAPL {MONDAY}", "close: expected a number, got 'n/a?'")
    assert defects[1].row_id == "AAPL 2024-01-09"
    assert table["ticker"].tolist() == ["AAPL", "AAPL", "A"]


def test_rows_without_a_ticker_or_a_day_are_left_out_by_name() -> None:
    raw = rows(("AAPL", MONDAY, 1.0), ("../../etc", MONDAY, 1.0), (None, MONDAY, 1.0), ("AAPL", "soon", 1.0))
    table, defects = typed(raw, "f.csv")
    assert len(table) == 1
    assert kinds(defects) == {"bad-ticker": 2, "bad-date": 1}
    assert any("'../../ETC'" in defect.detail for defect in defects)
    assert defects[-1] == Defect("bad-date", "f.csv AAPL", "row 4 left out: expected a day as 2024-01-31, got 'soon'")


def test_rows_that_come_twice() -> None:
    a, b = (pd.Timestamp(day) for day in (MONDAY, "2024-01-09"))
    table = rows(("B", a, 1.0), ("A", b, 5.0), ("A", a, np.nan), ("A", a, np.nan), ("A", b, 6.0), ("A", b, 5.5))
    unique, defects = one_row_per_day(table)
    assert unique.values.tolist()[1:] == [["A", b, 5.5], ["B", a, 1.0]]
    assert [(d.kind, d.row_id) for d in defects] == [
        ("duplicate-day", f"A {MONDAY}"),
        ("conflicting-day", "A 2024-01-09"),
    ]


def test_prices_that_cannot_be_become_unknown_and_the_row_stays() -> None:
    table, defects = checked(
        candles(
            ("A", "2024-01-08", 1, 3, 1, 2, 10),
            ("A", "2024-01-09", 1, 3, -1, 0, 10),
            ("A", "2024-01-10", 1, 1, 3, 2, -5),
            ("A", "2024-01-11", 2, 3, 1, 2, 0),
        )
    )
    assert kinds(defects) == {
        "impossible-figure": 3,
        "high-below-low": 1,
        "no-volume": 1,
        "no-price": 1,
        "no-candle": 1,
    }
    assert len(table) == 4
    assert table["close"].isna().tolist() == [False, True, False, False]
    assert table[["open", "high", "low"]].iloc[2].isna().all()
    assert table["volume"].iloc[2:].isna().tolist() == [True, False]


def test_a_long_absence_is_one_defect_per_run_and_ticker() -> None:
    days = [f"2024-01-{day:02}" for day in (8, 9, 10, 11)]
    closes = {"A": [None, None, 1, None], "B": [None, 1, 1, 1]}
    table = candles(*((t, day, c, c, c, c, 1) for t in "AB" for day, c in zip(days, closes[t], strict=True)))
    found, defects = checked(table)
    assert len(found) == 8
    assert [d.row_id for d in defects if d.kind == "no-price"] == [
        "A 2024-01-08 to 2024-01-09 (2 days)",
        "A 2024-01-11",
        "B 2024-01-08",
    ]


def test_a_weekend_is_named_and_kept() -> None:
    found, defects = checked(candles(("A", "2024-01-06", 1, 1, 1, 1, 1)))
    assert kinds(defects) == {"weekend": 1}
    assert len(found) == 1

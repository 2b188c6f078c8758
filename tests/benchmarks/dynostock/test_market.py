"""Prices and reports read from files, and as they were seen on a day."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.benchmarks.dynostock.market import (
    TABLES,
    Market,
    sample_market,
)
from fin_tasks.errors import DataError

LONG = """Ticker,Date,Open,High,Low,Close,Volume,Adj Close
NA,2024-01-02,9,11,8,10,100,10
NA,2024-01-03 00:00:00-05:00,9,11,8,,100,
B,2024-01-02,20,22,19,21,5,21
"""
REPORT = {
    "fiscalDateEnding": "2023-12-31",
    "reportedDate": "2024-01-02",
    "reportedEPS": "1.5",
    "estimatedEPS": "None",
}


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    rows = "NA,2023-12-31,2024-01-02,1,1,1,1\nB,,2024-01-03,1,None,,-\n"
    return written(
        tmp_path / "reports.csv", ",".join(list(TABLES["earnings"])[:-2]) + "\n" + rows
    )


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def closes(market: Market) -> list[tuple[Any, ...]]:
    known = market.prices.dropna(subset=["close"])
    return [
        *zip(known["ticker"], known["date"].astype(str), known["close"], strict=True)
    ]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_the_layouts_of_prices(tmp_path: Path, reports: Path, ending: str) -> None:
    table = pd.read_csv(
        written(tmp_path / "x.csv", LONG), keep_default_na=False, na_values=[""]
    )
    table["Date"] = table["Date"].str[:10]
    one = table[table["Ticker"] == "B"].drop(columns="Ticker")
    wide = table.pivot(columns="Ticker", index="Date")["Close"].reset_index()
    for name, layout in (("long", table), ("closes", wide), ("B", one)):
        path = tmp_path / f"{name}{ending}"
        layout.to_parquet(path) if ending == ".parquet" else layout.to_csv(
            path, index=False
        )
        expected = [("B", "2024-01-02", 21), ("NA", "2024-01-02", 10)]
        assert (
            closes(read_market(path, reports)) == expected[: 1 if name == "B" else 2]
        ), name


YFINANCE = """Price,Close,Close,Low,Low
Ticker,B,NA,B,NA
Date,,,,
2024-01-02,21.0,10.0,19.0,8.0
2024-01-03,,11.0,,9.0
"""


@pytest.mark.parametrize("first", ["Price", "Ticker"])
def test_prices_as_yfinance_writes_them(
    tmp_path: Path, reports: Path, first: str
) -> None:
    """`group_by="ticker"` changes the order of the two rows of headers."""
    prices, tickers, *rows = YFINANCE.splitlines()
    heads = [prices, tickers] if first == "Price" else [tickers, prices]
    path = written(tmp_path / "p.csv", "\n".join([*heads, *rows]) + "\n")
    market = read_market(path, reports)
    assert closes(market) == [
        ("B", "2024-01-02", 21),
        ("NA", "2024-01-02", 10),
        ("NA", "2024-01-03", 11),
    ]
    assert market.prices["low"].dropna().tolist() == [19, 8, 9]


def test_reports_of_alpha_vantage_and_of_tables(tmp_path: Path, reports: Path) -> None:
    prices, folder = written(tmp_path / "prices.csv", LONG), tmp_path / "eps"
    folder.mkdir()
    later = {"reportedDate": "2024-02-02", "surprise": "-", "surprisePercentage": "3.5"}
    rows = [
        REPORT | later,
        REPORT | {"reportTime": "pre-market"},
        REPORT | {"reportedDate": "None"},
    ]
    written(folder / "data-B.json", json.dumps({"quarterlyEarnings": rows}))
    market = read_market(prices, folder)
    (row,) = market.reports.to_dict("records")
    assert (row["ticker"], row["reported"]) == ("B", pd.Timestamp("2024-01-02"))
    assert row["report_time"] == "pre-market"
    assert row["eps"] == 1.5 and pd.isna(row["estimate"]) and pd.isna(row["surprise"])
    table = read_market(prices, reports).reports
    assert table["eps"].tolist() == [1, 1] and table["surprise"].isna().tolist() == [
        True,
        False,
    ]
    assert table["fiscal_end"].isna().tolist() == [True, False]
    assert read_market(prices, reports, tickers=["b"]).tickers == ("B",)
    with pytest.raises(DataError, match="prices: expected rows of AMZN"):
        read_market(prices, reports, tickers=["AMZN", "B"])


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (
            "prices.csv",
            LONG + "B,2024-01-02,1,1,1,1,1,1\n",
            "one price row per day, got two",
        ),
        ("prices.parquet", "no Parquet", "ArrowInvalid"),
        (
            "reports.json",
            '{"Information": "your key K3Y: 25 a day"}',
            "quarterlyEarnings: Field required",
        ),
    ],
)
def test_a_file_that_cannot_be_used(
    tmp_path: Path, reports: Path, name: str, text: str, found: str
) -> None:
    other, path = written(tmp_path / "good.csv", LONG), written(tmp_path / name, text)
    with pytest.raises(DataError, match=found):
        read_market(*((path, reports) if name.startswith("prices") else (other, path)))


def test_prices_of_zero_are_unknown(tmp_path: Path, reports: Path) -> None:
    market = read_market(
        written(tmp_path / "prices.csv", LONG + "B,2024-01-04,1,2,0,1.5,9,1.5\n"),
        reports,
    )
    own = market.excerpt("B", date(2024, 1, 4), date(2024, 1, 4)).prices
    assert own.isna().sum().to_dict() == {
        "open": 0,
        "high": 0,
        "low": 1,
        "close": 0,
        "volume": 0,
    }


def test_figures_per_share_are_those_of_the_last_day_too(tmp_path: Path) -> None:
    head, days = (
        "ticker,date,close,splits_after\n",
        ("2020-01-02,10,6", "2020-03-02,10,3", "2020-06-01,10,3"),
    )
    prices = written(tmp_path / "p.csv", head + "".join(f"B,{row}\n" for row in days))
    rows = "B,,2020-01-02,1,2,-1,-50\nB,,2020-05-29,1,2,-1,-50\n"  # the source knew of the first split only
    market = read_market(
        prices,
        written(
            tmp_path / "e.csv", ",".join(list(TABLES["earnings"])[:-2]) + "\n" + rows
        ),
    )
    for end, factor in ((date(2020, 1, 2), 2.0), (date(2020, 6, 1), 1.0)):
        told = market.excerpt("B", date(2020, 1, 1), end).reports.iloc[0]
        assert told[["eps", "estimate", "surprise"]].tolist() == [
            factor,
            2 * factor,
            -factor,
        ]
        assert told["surprise_percentage"] == -50
    filed = market.excerpt("B", date(2020, 1, 1), date(2020, 1, 2)).filed
    assert filed["eps"].tolist() == [1]


def test_the_sample() -> None:
    market = sample_market()
    assert market.tickers == ("AAPL", "IBM", "MSFT")
    early = market.excerpt("AAPL", date(2000, 6, 15), date(2000, 6, 20)).prices
    assert early["close"].iloc[-1] == 101.25 and not early.isna().any(axis=None), (
        "as it was seen then"
    )
    report = market.excerpt("AAPL", date(2010, 10, 1), date(2010, 10, 30)).reports
    assert report["eps"].tolist() == [4.62], (
        "4.64 a share, before the splits of 2014 and 2020"
    )

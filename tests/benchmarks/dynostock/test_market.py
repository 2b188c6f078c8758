"""Prices and reports read from files, and as they were seen on a day."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.benchmarks.dynostock.market import TABLES, Market, sample_market
from fin_tasks.errors import DataError

LONG = """Ticker,Date,Open,High,Low,Close,Volume,Adj Close
NA,2024-01-02,9,11,8,10,100,10
NA,2024-01-03 00:00:00-05:00,9,11,8,,100,
B,2024-01-02,20,22,19,21,5,21
"""
REPORT_HEAD = ",".join(list(TABLES["earnings"])[:-2]) + "\n"
REPORT = {
    "fiscalDateEnding": "2023-12-31",
    "reportedDate": "2024-01-02",
    "reportedEPS": "1.5",
    "estimatedEPS": "None",
}


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    rows = "NA,2023-12-31,2024-01-02,1,1,1,1\nB,,2024-01-03,1,None,,-\n"
    return written(tmp_path / "reports.csv", REPORT_HEAD + rows)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def closes(market: Market) -> list[tuple[Any, ...]]:
    known = market.prices.dropna(subset=["close"])
    days = known["date"].astype(str)
    return list(zip(known["ticker"], days, known["close"], strict=True))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_the_layouts_of_prices(tmp_path: Path, reports: Path, ending: str) -> None:
    file = written(tmp_path / "x.csv", LONG)
    table = pd.read_csv(file, keep_default_na=False, na_values=[""])
    table["Date"] = table["Date"].str[:10]
    one = table[table["Ticker"] == "B"].drop(columns="Ticker")
    wide = table.pivot(columns="Ticker", index="Date")["Close"].reset_index()
    of_b = ("B", "2024-01-02", 21)
    both = [of_b, ("NA", "2024-01-02", 10)]
    layouts = {"long": (table, both), "closes": (wide, both), "B": (one, [of_b])}
    for name, (layout, expected) in layouts.items():
        path = tmp_path / f"{name}{ending}"
        if ending == ".parquet":
            layout.to_parquet(path)
        else:
            layout.to_csv(path, index=False)
        assert closes(read_market(path, reports)) == expected, name


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
    prices = written(tmp_path / "prices.csv", LONG)
    folder = tmp_path / "eps"
    folder.mkdir()
    after_the_prices = REPORT | {"reportedDate": "2024-02-02", "surprise": "-"}
    before_the_bell = REPORT | {"reportTime": "pre-market"}
    without_a_day = REPORT | {"reportedDate": "None"}
    rows = [after_the_prices, before_the_bell, without_a_day]
    written(folder / "data-B.json", json.dumps({"quarterlyEarnings": rows}))
    (row,) = read_market(prices, folder).reports.to_dict("records")
    assert (row["ticker"], row["reported"]) == ("B", pd.Timestamp("2024-01-02"))
    assert (row["report_time"], row["eps"]) == ("pre-market", 1.5)
    assert pd.isna(row["estimate"])
    assert pd.isna(row["surprise"])
    table = read_market(prices, reports).reports
    assert table["eps"].tolist() == [1, 1]
    assert table["surprise"].isna().tolist() == [True, False]
    assert table["fiscal_end"].isna().tolist() == [True, False]
    assert read_market(prices, reports, tickers=["b"]).tickers == ("B",)
    with pytest.raises(DataError, match="prices: expected rows of AMZN"):
        read_market(prices, reports, tickers=["AMZN", "B"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "prices.csv",
            f"{LONG}B,2024-01-02,1,1,1,1,1,1\n",
            "one price row per day, got",
        ),
        ("prices.parquet", "no Parquet", "ArrowInvalid"),
        ("reports.json", '{"Information": "K3Y"}', "quarterlyEarnings: Field required"),
    ],
)
def test_a_file_that_cannot_be_used(
    tmp_path: Path, reports: Path, name: str, text: str, message: str
) -> None:
    prices = written(tmp_path / "good.csv", LONG)
    bad = written(tmp_path / name, text)
    files = (bad, reports) if name.startswith("prices") else (prices, bad)
    with pytest.raises(DataError, match=message):
        read_market(*files)


def test_prices_of_zero_are_unknown(tmp_path: Path, reports: Path) -> None:
    text = f"{LONG}B,2024-01-04,1,2,0,1.5,9,1.5\n"
    market = read_market(written(tmp_path / "prices.csv", text), reports)
    (day,) = market.excerpt("B", date(2024, 1, 4), date(2024, 1, 4)).prices.itertuples()
    assert pd.isna(day.low)
    assert (day.open, day.high, day.close, day.volume) == (1, 2, 1.5, 9)


def test_figures_per_share_are_those_of_the_last_day_too(tmp_path: Path) -> None:
    head = "ticker,date,close,splits_after\n"
    rows = "B,2020-01-02,10,6\nB,2020-03-02,10,3\nB,2020-06-01,10,3\n"
    prices = written(tmp_path / "p.csv", head + rows)
    # The source of the reports knew only of the first split.
    rows = "B,,2020-01-02,1,2,-1,-50\nB,,2020-05-29,1,2,-1,-50\n"
    market = read_market(prices, written(tmp_path / "e.csv", REPORT_HEAD + rows))
    for end, factor in ((date(2020, 1, 2), 2.0), (date(2020, 6, 1), 1.0)):
        report = market.excerpt("B", date(2020, 1, 1), end).reports.iloc[0]
        figures = report[["eps", "estimate", "surprise"]]
        assert figures.tolist() == [factor, 2 * factor, -factor]
        assert report["surprise_percentage"] == -50
    filed = market.excerpt("B", date(2020, 1, 1), date(2020, 1, 2)).filed
    assert filed["eps"].tolist() == [1]


def test_the_sample() -> None:
    market = sample_market()
    assert market.tickers == ("AAPL", "IBM", "MSFT")
    early = market.excerpt("AAPL", date(2000, 6, 15), date(2000, 6, 20)).prices
    assert early["close"].iloc[-1] == 101.25  # as it was seen then
    assert not early.isna().any(axis=None)
    # 4.64 a share, before the splits of 2014 and 2020.
    reports = market.excerpt("AAPL", date(2010, 10, 1), date(2010, 10, 30)).reports
    assert reports["eps"].tolist() == [4.62]

"""A market from files and folders: what is read, and what is said of it."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from market_server import earnings

from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.data.schema import ids_by_kind
from fin_tasks.errors import ConfigError, DataError

REAL = Path(__file__).parents[5] / "shared" / "data" / "dynostock"
real = pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not beside the checkout")

WIDE = """Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume
Ticker,AAPL,NEWCO,AAPL,NEWCO,AAPL,NEWCO,AAPL,NEWCO,AAPL,NEWCO
Date,,,,,,,,,,
2024-02-01,10,,11,,9,,10,,100,
2024-02-02,11,20,12,21,10,19,11,20,100,50
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prices.csv").write_text(WIDE, encoding="utf-8")
    reports = tmp_path / "eps"
    reports.mkdir()
    for ticker in ("AAPL", "NEWCO"):
        text = earnings(ticker, ("2023-12-31", "2024-02-01", "2.18", "2.1")).body
        (reports / f"data-{ticker}.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_upstreams_two_kinds_of_file(folder: Path) -> None:
    market = load_market(folder / "prices.csv", folder / "eps")
    assert market.has_candles
    assert market.tickers == ("AAPL", "NEWCO")
    assert len(market.prices) == 4, "a day before the listing stays, without figures"
    assert market.prices["close"].isna().tolist() == [False, False, True, False]
    assert ids_by_kind(market.defects) == {"no-price": ("NEWCO 2024-02-01",)}
    assert market.facts["defects"] == {"no-price": 1}


def test_the_facts_name_every_file_with_its_hash(folder: Path) -> None:
    market = load_market(folder / "prices.csv", folder / "eps")
    sha256 = hashlib.sha256(WIDE.encode()).hexdigest()
    assert market.facts["prices"] == {
        "files": {"prices.csv": sha256},
        "rows": 4,
        "tickers": 2,
        "first": "2024-02-01",
        "last": "2024-02-02",
        "adjust": "auto",
        "adjusted": {},
    }
    files = market.facts["earnings"]["files"]
    assert sorted(files) == ["data-AAPL.json", "data-NEWCO.json"]
    listing = "".join(f"{value}  {name}\n" for name, value in sorted(files.items()))
    assert market.facts["earnings"]["sha256"] == hashlib.sha256(listing.encode()).hexdigest()
    assert json.loads(json.dumps(market.facts)) == market.facts


def test_a_folder_of_one_file_per_ticker(folder: Path) -> None:
    prices = folder / "per_ticker"
    prices.mkdir()
    (prices / "AAPL.csv").write_text("Date,Open,High,Low,Close,Volume\n2024-02-01,1,3,1,2,9\n", encoding="utf-8")
    (prices / "NEWCO.csv").write_text("Date,Close\n2024-02-01,5\n", encoding="utf-8")
    (prices / "notes.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (prices / "README.txt").write_text("hello", encoding="utf-8")
    market = load_market(prices, folder / "eps")
    assert market.prices["close"].tolist() == [2, 5]
    assert market.prices["low"].isna().tolist() == [False, True]
    assert ids_by_kind(market.defects) == {"no-candle": ("NEWCO 2024-02-01",), "unusable-file": ("notes.csv",)}
    assert sorted(market.facts["prices"]["files"]) == ["AAPL.csv", "NEWCO.csv"]


def test_closes_alone_are_no_candles(folder: Path) -> None:
    (folder / "closes.csv").write_text("Date,AAPL\n2024-02-01,1\n", encoding="utf-8")
    market = load_market(folder / "closes.csv", folder / "eps")
    assert not market.has_candles
    assert list(market.prices.columns) == ["ticker", "date", "close"]


def test_a_low_without_a_volume_still_makes_whole_candles(folder: Path) -> None:
    (folder / "AAPL.csv").write_text("Date,High,Low,Close\n2024-02-01,3,1,2\n", encoding="utf-8")
    market = load_market(folder / "AAPL.csv", folder / "eps")
    assert market.prices[["open", "volume"]].isna().all(axis=None)


def test_adjustment_is_recorded_per_ticker(folder: Path) -> None:
    rows = "Ticker,Date,Close,Adj Close\nAAPL,2024-02-01,100,50\nAAPL,2024-02-02,50,50\n"
    (folder / "split.csv").write_text(rows, encoding="utf-8")
    market = load_market(folder / "split.csv", folder / "eps")
    assert market.facts["prices"]["adjusted"] == {"AAPL": ["2024-02-02"]}
    assert market.prices["close"].tolist() == [50, 50]
    plain = load_market(folder / "split.csv", folder / "eps", adjust="none")
    assert plain.prices["close"].tolist() == [100, 50]
    with pytest.raises(ConfigError, match="adjust"):
        load_market(folder / "split.csv", folder / "eps", adjust="always")


def test_the_same_quarter_in_two_files(folder: Path) -> None:
    again = earnings("AAPL", ("2023-12-31", "2024-02-05", "9", "2.1")).body
    (folder / "eps" / "zz.json").write_text(again, encoding="utf-8")
    market = load_market(folder / "prices.csv", folder / "eps")
    assert market.reports["eps"].tolist() == [2.18, 2.18]
    assert ids_by_kind(market.defects)["duplicate-report"] == ("AAPL 2023-12-31",)


def test_a_rate_limit_answer_saved_as_a_file_is_named(folder: Path) -> None:
    (folder / "eps" / "data-MSFT.json").write_text('{"Note": "5 calls per minute"}', encoding="utf-8")
    market = load_market(folder / "prices.csv", folder / "eps")
    (defect,) = (defect for defect in market.defects if defect.kind == "unusable-file")
    assert defect.row_id == "data-MSFT.json"
    assert "5 calls per minute" in defect.detail


def test_places_without_anything_usable(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="prices: expected a file or a folder"):
        load_market(tmp_path / "nowhere", folder / "eps")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="found 0, none usable"):
        load_market(folder / "prices.csv", empty)
    (empty / "AAPL.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="quarterlyEarnings"):
        load_market(folder / "prices.csv", empty)


@real
def test_the_real_long_file_is_split_adjusted() -> None:
    market = load_market(REAL / "prices" / "ohlcv_4_tickers_2000_2013.csv.gz", REAL / "eps_history")
    # Apple split 2:1 on these two days, Microsoft on this one; IBM did not
    assert market.facts["prices"]["adjusted"] == {"AAPL": ["2000-06-21", "2005-02-28"], "MSFT": ["2003-02-18"]}
    assert market.defects == ()
    close = market.prices.set_index(["ticker", "date"])["close"]
    steps = np.log(close).groupby("ticker").diff().abs()
    assert steps["IBM"].max() < 0.2
    assert steps["MSFT"].max() < 0.2


@real
def test_the_real_closes_and_earnings() -> None:
    market = load_market(REAL / "prices" / "adjclose_20_tickers_1990_2022.csv.gz", REAL / "eps_history")
    assert not market.has_candles
    assert len(market.prices) == 8313 * 20
    assert len(market.reports) == 3178
    assert market.reports["surprise"].isna().sum() == 22
    assert market.defects == ()
    first = market.prices.iloc[0]
    assert (first["ticker"], first["date"], first["close"]) == ("AAPL", pd.Timestamp("1990-01-02"), 0.264)

"""A market from files and folders: what is read, and what is said of it."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from market_server import earnings

from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.benchmarks.dynostock.market.tables import Market
from fin_tasks.benchmarks.dynostock.windows import find_windows
from fin_tasks.data.tables import ids_by_kind
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
    assert ids_by_kind(market.defects) == {"unusable-file": ("notes.csv",)}, "a ticker of closes only lacks no candle"
    assert market.facts["prices"]["closes_only"] == ["NEWCO"]
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


def test_a_day_without_a_candle_is_named_where_the_ticker_has_others(folder: Path) -> None:
    (folder / "AAPL.csv").write_text("Date,High,Low,Close\n2024-02-01,3,1,2\n2024-02-02,,,2\n", encoding="utf-8")
    market = load_market(folder / "AAPL.csv", folder / "eps")
    assert ids_by_kind(market.defects) == {"no-candle": ("AAPL 2024-02-02",)}
    assert "closes_only" not in market.facts["prices"]


def test_columns_of_candles_that_nobody_filled_are_none(folder: Path) -> None:
    (folder / "AAPL.csv").write_text("Date,High,Low,Close\n2024-02-01,,,2\n", encoding="utf-8")
    assert not load_market(folder / "AAPL.csv", folder / "eps").has_candles


def closes_of(market: Market, ticker: str = "AAPL") -> list[float]:
    return market.prices.loc[market.prices["ticker"] == ticker, "close"].tolist()


def folder_of(folder: Path, **files: str) -> Path:
    place = folder / "several"
    place.mkdir()
    for name, text in files.items():
        (place / f"{name}.csv").write_text(text, encoding="utf-8")
    return place


def test_of_files_that_contradict_each_other_the_longer_one_is_taken_and_the_other_named(folder: Path) -> None:
    prices = folder_of(
        folder,
        closes="Date,AAPL,NEWCO\n2024-02-01,1,9\n2024-02-02,1.5,9\n2024-02-05,2,9\n",
        candles="Ticker,Date,High,Low,Close,Adj Close\nAAPL,2024-02-02,4,2,3,1.4\nAAPL,2024-02-05,9,1,2,2\n"
        "MSFT,2024-02-02,4,2,3,3\n",
    )
    market = load_market(prices, folder / "eps")
    assert closes_of(market) == [1, 1.5, 2], "nothing is adjusted by another file"
    assert market.facts["prices"]["adjusted"] == {}
    assert market.facts["prices"]["closes_only"] == ["AAPL", "NEWCO"]
    assert market.prices.loc[market.prices["ticker"] == "MSFT", "low"].tolist() == [2]
    (defect,) = market.defects
    assert (defect.kind, defect.row_id) == ("other-file", "AAPL candles.csv")
    assert "2 of its 2 days are in closes.csv too" in defect.detail


def test_contradicting_files_of_one_kind_are_named_with_a_day_and_both_figures(folder: Path) -> None:
    prices = folder_of(
        folder, a="Date,AAPL\n2024-02-01,1\n2024-02-02,2\n", b="Date,AAPL\n2024-02-02,2.5\n2024-02-05,3\n2024-02-06,4\n"
    )
    market = load_market(prices, folder / "eps")
    assert closes_of(market) == [2.5, 3, 4]
    (defect,) = market.defects
    assert (defect.kind, defect.row_id) == ("other-file", "AAPL a.csv")
    assert "close of 2024-02-02 is 2 here, 2.5 there" in defect.detail


def test_files_that_agree_are_put_together_and_said_to_be(folder: Path) -> None:
    prices = folder_of(
        folder,
        a="Date,AAPL\n2024-02-01,1\n2024-02-02,2\n",
        b="Date,AAPL\n2024-02-02,2.0000001\n2024-02-05,3\n2024-02-06,4\n",
    )
    market = load_market(prices, folder / "eps")
    assert closes_of(market) == [1, 2.0000001, 3, 4]
    assert ids_by_kind(market.defects) == {"repeated-in-file": ("AAPL a.csv",)}


def test_candles_and_equal_closes_of_as_many_days_are_the_candles(folder: Path) -> None:
    prices = folder_of(folder, a="Date,AAPL\n2024-02-01,2\n", b="Ticker,Date,High,Low,Close\nAAPL,2024-02-01,3,1,2\n")
    market = load_market(prices, folder / "eps")
    assert market.prices["low"].tolist() == [1]
    assert ids_by_kind(market.defects) == {"other-file": ("AAPL a.csv",)}


def test_files_of_other_days_are_put_together_and_adjusted_as_one(folder: Path) -> None:
    head = "Ticker,Date,Close,Adj Close\n"
    prices = folder_of(
        folder,
        a="Date,AAPL\n2024-01-31,40\n",
        b=head + "AAPL,2024-02-01,100,50\n",
        c=head + "AAPL,2024-02-02,50,50\n",
    )
    market = load_market(prices, folder / "eps")
    # the split shows only where the two files meet; the file without adjusted closes is as it should be
    assert closes_of(market) == [40, 50, 50]
    assert market.facts["prices"]["adjusted"] == {"AAPL": ["2024-02-02"]}
    assert market.defects == ()


def test_a_row_without_figures_hides_no_close_of_another_file(folder: Path) -> None:
    prices = folder_of(
        folder, a="Date,AAPL,NEWCO\n2024-02-01,1,7\n", b="Date,AAPL,NEWCO\n2024-02-01,,7\n2024-02-02,2,\n"
    )
    market = load_market(prices, folder / "eps")
    assert closes_of(market) == [1, 2]
    assert [np.isnan(close) for close in closes_of(market, "NEWCO")] == [False, True]


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
    assert str(folder) not in defect.detail
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


@real
def test_the_real_folder_holds_closes_of_some_and_candles_of_others() -> None:
    alone = load_market(REAL / "prices" / "adjclose_20_tickers_1990_2022.csv.gz", REAL / "eps_history")
    both = load_market(REAL / "prices", REAL / "eps_history")
    assert both.has_candles
    # Apple and Microsoft are in both files, with other figures
    assert ids_by_kind(both.defects) == {
        "other-file": ("AAPL ohlcv_4_tickers_2000_2013.csv.gz", "MSFT ohlcv_4_tickers_2000_2013.csv.gz")
    }
    assert both.facts["prices"]["adjusted"] == {}
    names = set(alone.prices["ticker"])
    assert both.facts["prices"]["closes_only"] == sorted(names)
    same = both.prices[both.prices["ticker"].isin(names)]
    pd.testing.assert_frame_equal(same[["ticker", "date", "close"]].reset_index(drop=True), alone.prices)
    assert not both.prices.loc[both.prices["ticker"] == "IBM", "low"].isna().any()


@real
def test_the_real_folder_gives_the_windows_of_the_closes_alone() -> None:
    alone = load_market(REAL / "prices" / "adjclose_20_tickers_1990_2022.csv.gz", REAL / "eps_history")
    both = load_market(REAL / "prices", REAL / "eps_history")
    wanted, found = (
        find_windows(market, biases=["recency", "authority"], windows=[4, 12]).table for market in (alone, both)
    )
    assert len(wanted) > 100
    found = found[found["ticker"].isin(alone.tickers)].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, wanted)

"""`fin-tasks fetch dynostock`, with yfinance itself and all servers on the loopback interface."""

import dataclasses
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from market_server import TRICKLE, MarketServer, chart, earnings_page, serving
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock import fetch as fetching
from fin_tasks.benchmarks.dynostock import sources
from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.cli import app
from fin_tasks.data import locate as locating
from fin_tasks.data.locate import Pin, load_pins
from fin_tasks.errors import ConfigError, FetchError

yfinance = pytest.importorskip("yfinance")
pytestmark = pytest.mark.filterwarnings("ignore")  # of yfinance about pandas
KEY = "K3Y-OF-OURS"
LIMIT = {"Information": f"We have detected your API key as {KEY}: 25 requests per day."}


def earnings(symbol: str) -> dict[str, Any]:
    row = {
        "fiscalDateEnding": "2023-12-31",
        "reportedDate": "2024-01-03",
        "reportTime": "post-market",
        "reportedEPS": "2.1",
        "estimatedEPS": "2",
        "surprise": "0.1",
        "surprisePercentage": "None",
    }
    return {"symbol": symbol, "quarterlyEarnings": [row]}


@pytest.fixture
def server(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[MarketServer]:
    from curl_cffi.requests import Session
    from yfinance import data

    with serving() as server:
        request_elsewhere = Session.request

        def request(
            self: Any, method: str, url: str, *more: Any, **options: Any
        ) -> Any:
            parts = urlsplit(url)
            assert parts.netloc.endswith("yahoo.com")
            url = f"{server.yahoo}{parts.path}?{parts.query}"
            return request_elsewhere(self, method, url, *more, **options)

        monkeypatch.setattr(Session, "request", request)
        yfinance.set_tz_cache_location(str(tmp_path / "yfinance"))
        data.SingletonMeta._instances.clear()
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        for name in ("FIN_TASKS_ALPHA_VANTAGE", "FIN_TASKS_GITHUB_RAW"):
            monkeypatch.setenv(name, server.url)
        for name in ("FIN_TASKS_OFFLINE", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ALPHAVANTAGE_API_KEY", KEY)
        closes = {"2024-01-02": 10.0, "2024-01-04": 11.0}
        for name in "AB":
            server.answers[f"/v8/finance/chart/{name}"] = chart(name, closes)
            server.answers[f"/query?{name}"] = earnings(name)
        yield server
        data.SingletonMeta._instances.clear()


def fetch(tickers: str, out: Path, *more: str) -> Any:
    command = ["fetch", "dynostock", f"--out={out}"]
    command += ["--start=2024-01-01", "--end=2024-01-31", *more]
    if tickers:
        command += ["--tickers", tickers]
    return CliRunner().invoke(app, command)


def test_what_is_there_is_not_fetched_again(
    server: MarketServer, tmp_path: Path
) -> None:
    splits = {"2024-01-03": 2, "2024-02-02": 5}
    closes = {"2024-01-02": 10.0, "2024-01-03": None, "2024-01-04": 11.0}
    closes["2024-02-02"] = 12.0
    server.answers["/v8/finance/chart/A"] = chart("A", closes, splits)
    done = fetch("a, A,B", tmp_path / "m")
    assert done.exit_code == 0, done.output
    market = read_market(tmp_path / "m", tmp_path / "m")
    assert (market.tickers, market.facts["basis"]) == (("A", "B"), "split-adjusted")
    rows = market.prices[market.prices["ticker"] == "A"]
    assert rows["close"].tolist() == [10.0, 11.0]
    # Splits count after --end, since Yahoo's prices hold them, and on a day without a close.
    assert rows["splits_after"].tolist() == [10.0, 5.0]
    assert market.reports["report_time"].tolist() == ["post-market"] * 2
    server.asked.clear()
    assert "2 tickers were asked for" in fetch("A,B", tmp_path / "m").output
    assert server.asked == []
    other = fetch("A", tmp_path / "m", "--start", "2020-01-01")
    assert isinstance(other.exception, ConfigError)
    assert "2024-01-01" in str(other.exception)


def test_failures_are_listed_and_the_quota_stops(
    server: MarketServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.answers["/query?A"] = {"Error Message": "Invalid API call."}
    server.answers["/query?B"] = [500, LIMIT]
    done = fetch("A,GONE,B", tmp_path / "m")
    assert done.exit_code == 1
    assert "3 tickers were asked for" in done.output
    assert "GONE: Yahoo" in done.output
    assert "A: Alpha Vantage knows no earnings of A" in done.output
    assert "B: Alpha Vantage: We have detected" in done.output
    assert server.asked.count("/query?B") == 2, "a server that fails is asked again"
    server.answers["/query?B"] = earnings("B.X")
    server.asked.clear()
    again = fetch("A,GONE,B", tmp_path / "m")
    asked_again = [path for path in server.asked if "query" in path]
    assert asked_again == ["/query?A", "/query?B"]
    assert read_market(tmp_path / "m", tmp_path / "m", tickers=["B"]).tickers == ("B",)
    assert KEY not in done.output + again.output + caplog.text
    for path in tmp_path.rglob("*.*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_a_source_that_is_down_stops_and_names_no_key(
    server: MarketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_ALPHA_VANTAGE", "http://127.0.0.1:9")
    done = fetch("A,B", tmp_path / "m")
    assert "Alpha Vantage: expected JSON" in done.output
    assert KEY not in done.output
    server.answers["/v8/finance/chart/A"] = 429
    monkeypatch.setattr(fetching, "BATCH_SIZE", 1)
    assert "Yahoo gave none of 1 tickers" in fetch("A,B", tmp_path / "n").output
    assert not (tmp_path / "n" / "prices").exists()


def test_without_a_connection_one_sentence_comes_soon(
    server: MarketServer, tmp_path: Path
) -> None:
    server.yahoo = "http://127.0.0.1:9"
    started = time.monotonic()
    done = fetch(",".join(f"T{number}" for number in range(60)), tmp_path / "m")
    assert time.monotonic() - started < 10
    assert isinstance(done.exception, FetchError)
    message = str(done.exception)
    assert message.startswith("Yahoo: no connection to https://query2.finance.yahoo")
    assert "\n" not in message
    assert "listed" not in done.output


def test_a_trickling_source_is_left_in_time(
    server: MarketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # yfinance first asks for a ticker's time zone, four times for 10 s if need be, and keeps it.
    fetch("A,B", tmp_path / "zones")
    monkeypatch.setattr(sources, "YAHOO_SECONDS", 0.3)
    monkeypatch.setattr(sources, "ALPHA_VANTAGE_SECONDS", 0.1)
    server.answers["/query?A"] = TRICKLE
    server.answers["/v8/finance/chart/B"] = TRICKLE
    started = time.monotonic()
    assert "B: Yahoo gave no prices" in fetch("A,B", tmp_path / "m").output
    assert "Alpha Vantage: expected JSON" in fetch("A", tmp_path / "m").output
    assert time.monotonic() - started < 15


def test_a_flooding_source_is_cut(
    server: MarketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "YAHOO_BYTES", 10_000)
    server.answers["/v8/finance/chart/B"] = "x" * 20_000
    assert "B: Yahoo gave no prices" in fetch("A,B", tmp_path / "m").output


def test_the_authors_reports(
    server: MarketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps(earnings("A"))
    path = "data/eps_history/data-A.json"
    pins = load_pins("dynostock")
    pin = Pin(path, len(content), hashlib.sha256(content.encode()).hexdigest())
    server.answers[f"/{pins.repo}/{pins.revision}/{path}"] = content
    own_pins = dataclasses.replace(pins, files=(pin,))
    for module in (locating, fetching):
        monkeypatch.setattr(module, "load_pins", lambda *_: own_pins)
    monkeypatch.delenv("ALPHAVANTAGE_API_KEY")
    # By default, the tickers are those of the authors' reports.
    assert "1 tickers were asked for" in fetch("", tmp_path / "m").output
    assert "B: the authors have no earnings of B" in fetch("A,B", tmp_path / "m").output
    market = read_market(tmp_path / "m", tmp_path / "m")
    assert market.facts["earnings"]["source"] == f"upstream@{pins.revision}"


def test_a_name_that_is_no_ticker_becomes_no_file(
    server: MarketServer, tmp_path: Path
) -> None:
    done = fetch(f"../../B,/tmp/C,..,{'D' * 40},A", tmp_path / "m")
    assert done.output.count("expected a ticker, such as BRK-B.") == 4
    files = {path.name for path in tmp_path.rglob("*.*") if path.is_file()}
    assert files == {"manifest.json", "A.parquet", "A.json"}


def test_reports_of_yahoo(server: MarketServer, tmp_path: Path) -> None:
    rows = [
        ("May 2, 2024 at 4 PM EDT", "1.4", "-"),
        ("January 25, 2024 at 5 PM EST", "2.1", "2.18"),
        ("January 25, 2024 at 6 PM EST", "2.1", "2.18"),
        ("January 4, 2024 at 7 AM EST", "1.5", "1.45"),
    ]
    server.answers["/calendar/earnings?A"] = earnings_page("A", rows)
    server.answers["/calendar/earnings?B"] = "<html>No table</html>"
    done = fetch("A,B", tmp_path / "m", "--earnings", "yahoo")
    assert done.exit_code == 1
    assert "B: Yahoo knows no earnings of B" in done.output
    assert "A:" not in done.output
    market = read_market(tmp_path / "m", tmp_path / "m", tickers=["A"])
    assert market.facts["earnings"]["source"] == "yahoo"
    assert "currency" not in market.facts  # dollars
    reports = market.reports
    assert reports["reported"].dt.strftime("%m-%d").tolist() == ["01-04", "01-25"]
    assert reports["surprise"].tolist() == [-0.05, 0.08]
    assert reports["report_time"].tolist() == ["pre-market", "post-market"]
    assert reports["fiscal_end"].isna().all()


def test_offline_no_key_and_no_yfinance(
    server: MarketServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yfinance", None)
    assert "pip install yfinance" in str(fetch("A", tmp_path / "m").exception)
    monkeypatch.delenv("ALPHAVANTAGE_API_KEY")
    without_key = fetch("A", tmp_path / "n", "--earnings", "alpha-vantage")
    assert "ALPHAVANTAGE_API_KEY" in str(without_key.exception)
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    assert isinstance(fetch("A", tmp_path / "n").exception, FetchError)

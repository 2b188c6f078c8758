"""`fin-tasks fetch dynostock`, with the network on the loopback interface."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from market_server import KEY, Answer, MarketServer, as_json, earnings
from test_market_constituents import PAGE
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.market import upstream, yahoo
from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.benchmarks.dynostock.market.upstream import UpstreamReports
from fin_tasks.cli import app
from fin_tasks.data import fetch as fetching
from fin_tasks.data.fetch import Pin, load_pins
from fin_tasks.errors import ConfigError, FetchError, FinTasksError
from fin_tasks.settings import Settings


def no_prices_of_gone(
    self: yahoo.Yahoo, tickers: Sequence[str], start: date, end: date
) -> Mapping[str, pd.DataFrame | yahoo.Refusal]:
    days = pd.bdate_range(start, end)
    figures = dict.fromkeys(("open", "high", "low", "close", "volume", "adj_close"), 10.0)
    found = {ticker: pd.DataFrame({"ticker": ticker, "date": days, **figures}) for ticker in tickers}
    return {**found, **({"GONE": yahoo.Refusal("delisted \x1b[31m")} if "GONE" in tickers else {})}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: MarketServer) -> None:
    for name in ("FIN_TASKS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_ALPHA_VANTAGE", server.url)
    monkeypatch.setenv("FIN_TASKS_WIKIPEDIA", server.url)
    monkeypatch.setenv("FIN_TASKS_GITHUB_RAW", server.url)
    monkeypatch.setenv("ALPHAVANTAGE_API_KEY", KEY)
    monkeypatch.setattr(yahoo.Yahoo, "prices", no_prices_of_gone)


def fetch(*arguments: str, out: Path) -> Any:
    given = ["--start", "2024-01-02", "--end", "2024-01-31", "--out", str(out), "--per-minute", "100000", *arguments]
    return CliRunner().invoke(app, ["fetch", "dynostock", *given])


def test_a_run_that_brings_everything(server: MarketServer, tmp_path: Path) -> None:
    server.says("/query", earnings("AAPL", ("2023-12-31", "2024-01-15", "2.18", "2.1")))
    done = fetch("--tickers", "aapl,AAPL", out=tmp_path / "m")
    assert done.exit_code == 0, done.output
    assert "prices: 1 fetched, 0 already there, 0 failed, 0 left" in done.output
    market = load_market(tmp_path / "m", tmp_path / "m")
    assert market.tickers == ("AAPL",)
    assert market.facts["earnings"]["manifest"]["source"]["earnings"] == "alpha-vantage"
    assert all(KEY not in path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file())
    again = fetch("--tickers", "AAPL", out=tmp_path / "m")
    assert "earnings: 0 fetched, 1 already there" in again.output
    assert server.times("/query") == 1


def test_a_failed_ticker_and_a_daily_limit_end_with_status_1_and_what_to_do(
    server: MarketServer, tmp_path: Path
) -> None:
    limit = {"Information": f"We have detected your API key as {KEY}: 25 requests per day."}
    server.says("/query", earnings("A", ("2023-12-31", "2024-01-15", "2", "1")), as_json(limit))
    names = tmp_path / "names.txt"
    names.write_text("A\nGONE, B\nC\n", encoding="utf-8")
    done = fetch("--tickers", str(names), out=tmp_path / "m")
    assert done.exit_code == 1
    assert "prices: 3 fetched, 0 already there, 1 failed, 0 left" in done.output
    assert "earnings: 1 fetched, 0 already there, 0 failed, 2 left" in done.output
    assert "GONE prices: delisted \\x1b[31m" in done.output
    assert "25 requests per day" in done.output
    assert "Run the same command again" in done.output
    assert KEY not in done.output


def test_the_s_and_p_500_where_no_tickers_are_named(server: MarketServer, tmp_path: Path) -> None:
    server.says("/wiki/List_of_S%26P_500_companies", Answer(PAGE))
    server.says("/query", earnings("X", ("2023-12-31", "2024-01-15", "2", "1")))
    assert fetch(out=tmp_path / "m").exit_code == 0
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text("utf-8"))
    assert sorted(manifest["tickers"]) == ["BRK-B", "MMM", "NA"]
    assert manifest["constituents"]["n"] == 3
    assert load_market(tmp_path / "m", tmp_path / "m").tickers == ("BRK-B", "MMM", "NA")


@pytest.mark.parametrize(
    ("arguments", "kind", "found"),
    [
        (["--tickers", "../x"], ConfigError, "got '../X'"),
        (["--tickers", ","], ConfigError, "got nothing"),
        (["--tickers", "A", "--start", "01/02/2024"], ConfigError, "--start: expected a day"),
        (["--tickers", "A", "--start", "2025-01-01"], ConfigError, "--start before --end"),
        (["--tickers", "A", "--earnings", "crystal-ball"], ConfigError, "got 'crystal-ball'"),
    ],
)
def test_options_that_mean_nothing(tmp_path: Path, arguments: list[str], kind: type[FinTasksError], found: str) -> None:
    done = fetch(*arguments, out=tmp_path / "m")
    assert isinstance(done.exception, kind)
    assert found in str(done.exception)
    assert not (tmp_path / "m").exists()


def test_offline_refuses_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, server: MarketServer, tmp_path: Path
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    done = fetch(out=tmp_path / "m")
    assert isinstance(done.exception, FetchError)
    assert "switched off" in str(done.exception)
    assert server.asked == []


def test_an_offline_hub_is_no_offline_market_but_for_the_authors_files(
    monkeypatch: pytest.MonkeyPatch, server: MarketServer, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    refused = fetch("--tickers", "AAPL", "--earnings", "upstream", out=tmp_path / "m")
    assert isinstance(refused.exception, FetchError)
    assert "Unset HF_HUB_OFFLINE" in str(refused.exception)
    assert not (tmp_path / "m").exists()
    server.says("/query", earnings("AAPL", ("2023-12-31", "2024-01-15", "2.18", "2.1")))
    done = fetch("--tickers", "AAPL", out=tmp_path / "m")
    assert done.exit_code == 0, done.output


def test_auto_takes_yahoo_without_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ALPHAVANTAGE_API_KEY")

    def nothing(self: yahoo.Yahoo, ticker: str) -> pd.DataFrame:
        raise FetchError(f"none of {ticker}")

    monkeypatch.setattr(yahoo.Yahoo, "reports", nothing)
    done = fetch("--tickers", "A", out=tmp_path / "m")
    assert "A earnings: none of A" in done.output
    named = fetch("--tickers", "A", "--earnings", "alpha-vantage", out=tmp_path / "m")
    assert isinstance(named.exception, ConfigError)


def test_the_authors_history(server: MarketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = earnings("AAPL", ("2023-12-31", "2024-01-15", "2.18", "2.1"))
    content = answer.body.encode()
    path = "data/eps_history/data-AAPL.json"
    pins = load_pins("dynostock")
    pin = Pin(path, len(content), hashlib.sha256(content).hexdigest())
    server.says(f"/{pins.repo}/{pins.revision}/{path}", answer)
    for module in (fetching, upstream):
        monkeypatch.setattr(module, "load_pins", lambda name: dataclasses.replace(pins, files=(pin,)))
    reports = UpstreamReports(settings=Settings.from_environ())
    assert reports.name == "mydcxiao/vlm_behavioral_fin@051d103314df48ccf1dbf46f1d80bd92544df50a"
    assert reports.reports("AAPL")["eps"].tolist() == ["2.18"]
    with pytest.raises(FetchError, match="no earnings history of ZZZ"):
        reports.reports("ZZZ")

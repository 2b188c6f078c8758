"""The real yfinance against Yahoo's answers on the loopback interface."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pytest
from market_server import Answer, MarketServer, as_json, chart, no_such_stock

from fin_tasks.benchmarks.dynostock.market.patience import LimitError, Pace, Patience
from fin_tasks.benchmarks.dynostock.market.yahoo import Refusal, Yahoo
from fin_tasks.errors import ConfigError, FetchError

yfinance = pytest.importorskip("yfinance")

CHART = "/v8/finance/chart/"
FIRST, LAST = date(2024, 1, 1), date(2024, 1, 10)
EARNINGS_PAGE = """<html><body><table><thead><tr><th>Symbol</th><th>Company</th><th>Earnings Date</th>
<th>EPS Estimate</th><th>Reported EPS</th><th>Surprise (%)</th></tr></thead><tbody>
<tr><td>AAPL</td><td>Apple</td><td>January 29, 2099 at 4 PM EST</td><td>2.5</td><td>-</td><td>-</td></tr>
<tr><td>AAPL</td><td>Apple</td><td>February 1, 2024 at 11 PM EST</td><td>2.10</td><td>2.18</td><td>+3.89</td></tr>
<tr><td>AAPL</td><td>Apple</td><td>November 2, 2023 at 4 PM EDT</td><td>1.39</td><td>1.46</td><td>+5.04</td></tr>
<tr><td>AAPL</td><td>Apple</td><td>August 3, 2023 at 4 PM EDT</td><td>-</td><td>1.26</td><td>-</td></tr>
<tr><td>AAPL</td><td>Apple</td><td>May 4, 2023 at 4 PM EDT</td><td>-0.50</td><td>-0.75</td><td>-50</td></tr>
</tbody></table></body></html>"""


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def yahoo(server: MarketServer, tmp_path: Path, slept: list[float]) -> Iterator[Yahoo]:
    """Only the host changes: yfinance's own session class sends its own requests, cookie and crumb included."""
    from curl_cffi.requests import Session
    from yfinance import data

    class Loopback(Session):
        def request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
            parts = urlsplit(url)
            assert parts.netloc.endswith("yahoo.com")
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            return super().request(method, server.url + path, *args, **options)

    server.says("/", Answer("<html></html>"))
    server.says("/consent", Answer("<html></html>"))
    server.says("/v1/test/getcrumb", Answer("crumb"))
    patience = Patience(attempts=3, timeout=5, sleep=slept.append, chance=lambda: 0.0)
    pace = Pace(per_minute=60, sleep=lambda seconds: None)
    data.SingletonMeta._instances.clear()
    yield Yahoo(cache=tmp_path / "yfinance", patience=patience, pace=pace, session=Loopback())
    data.SingletonMeta._instances.clear()


def table_of(answer: "pd.DataFrame | Refusal") -> pd.DataFrame:
    assert not isinstance(answer, Refusal), answer
    return answer


def days_of(answer: "pd.DataFrame | Refusal") -> list[str]:
    return [f"{day:%Y-%m-%d}" for day in table_of(answer)["date"]]


def test_a_batch_each_ticker_with_its_own_days(server: MarketServer, yahoo: Yahoo) -> None:
    split = {"2024-01-04": (2, 1)}
    server.says(CHART + "AAPL", chart("AAPL", [("2024-01-02", 50.0), ("2024-01-04", 51.0)], splits=split))
    server.says(CHART + "MSFT", chart("MSFT", [("2024-01-04", 11.0), ("2024-01-05", 12.0)]))
    found = yahoo.prices(["AAPL", "MSFT"], FIRST, LAST)
    assert days_of(found["AAPL"]) == ["2024-01-02", "2024-01-04"]
    assert days_of(found["MSFT"]) == ["2024-01-04", "2024-01-05"]
    table = table_of(found["AAPL"])
    assert list(table.columns) == ["ticker", "date", "open", "high", "low", "close", "volume", "adj_close"]
    assert table["close"].tolist() == [50.0, 51.0], "as Yahoo gives it: adjusted for splits, not for dividends"
    assert table["adj_close"].tolist() == [25.0, 25.5]
    asked = next(query for path, query in server.asked if path == CHART + "AAPL" and "period1" in query)
    assert pd.Timestamp(int(asked["period2"]), unit="s", tz="America/New_York").date() == date(2024, 1, 11)


def test_a_day_without_figures_stays_inside_and_goes_at_the_edges(server: MarketServer, yahoo: Yahoo) -> None:
    rows = [("2024-01-02", None), ("2024-01-03", 1.0), ("2024-01-04", None), ("2024-01-05", 2.0), ("2024-01-08", None)]
    server.says(CHART + "AAPL", chart("AAPL", rows))
    table = table_of(yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"])
    assert table["close"].isna().tolist() == [False, True, False]


def test_a_day_that_comes_twice_is_one_row(server: MarketServer, yahoo: Yahoo) -> None:
    server.says(CHART + "AAPL", chart("AAPL", [("2024-01-03", 1.0), ("2024-01-04", 2.0), ("2024-01-04", 3.0)]))
    assert days_of(yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"]) == ["2024-01-03", "2024-01-04"]


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Europe/London", "America/New_York"])
def test_days_are_those_of_the_exchange(server: MarketServer, yahoo: Yahoo, zone: str) -> None:
    server.says(CHART + "X.X", chart("X.X", [("2024-01-04", 1.0), ("2024-01-05", 2.0)], zone=zone))
    assert days_of(yahoo.prices(["X.X"], FIRST, LAST)["X.X"]) == ["2024-01-04", "2024-01-05"]


def test_a_delisted_stock_is_told_once_and_the_others_come(
    server: MarketServer, yahoo: Yahoo, slept: list[float]
) -> None:
    server.says(CHART + "GONE", no_such_stock())
    server.says(CHART + "AAPL", chart("AAPL", [("2024-01-03", 1.0)]))
    found = yahoo.prices(["AAPL", "GONE"], FIRST, LAST)
    assert days_of(found["AAPL"]) == ["2024-01-03"]
    assert isinstance(gone := found["GONE"], Refusal)
    assert "no such stock" in gone.reason or "delisted" in gone.reason
    assert slept == []


def test_an_empty_answer_that_yfinance_says_nothing_about_is_tried_again(
    server: MarketServer, yahoo: Yahoo, slept: list[float]
) -> None:
    server.says(CHART + "AAPL", chart("AAPL", []), chart("AAPL", []), chart("AAPL", [("2024-01-03", 1.0)]))
    assert days_of(yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"]) == ["2024-01-03"]
    server.says(CHART + "EMPTY", chart("EMPTY", []))
    slept.clear()
    assert yahoo.prices(["EMPTY"], FIRST, LAST) == {"EMPTY": Refusal("Yahoo returned no rows")}
    assert slept == [2, 4]


def test_a_yfinance_without_a_configuration(
    monkeypatch: pytest.MonkeyPatch, server: MarketServer, yahoo: Yahoo
) -> None:
    monkeypatch.delattr(yfinance, "config")
    server.says(CHART + "AAPL", chart("AAPL", [("2024-01-03", 1.0)]))
    assert days_of(yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"]) == ["2024-01-03"]


def test_calls_are_spaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clock, asked = [100.0], []

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    class Nothing:
        def __init__(self, *_: Any, **__: Any) -> None:
            asked.append(clock[0])

        def get_earnings_dates(self, **_: Any) -> None:
            return None

    monkeypatch.setattr(yfinance, "Ticker", Nothing)
    monkeypatch.setattr(yfinance, "download", Nothing)
    default = Yahoo(cache=tmp_path).pace.per_minute
    spaced = Yahoo(cache=tmp_path, pace=Pace(per_minute=default, sleep=sleep, now=lambda: clock[0]))
    for ticker in ("A", "B", "C"):
        with pytest.raises(FetchError, match="knows no past earnings"):
            spaced.reports(ticker)
    with pytest.raises(AttributeError):
        spaced.prices(["A"], FIRST, LAST)
    assert asked == [100.0, 101.0, 102.0, 103.0]


def test_a_server_error_is_tried_again_although_yfinance_remembers_it(
    server: MarketServer, yahoo: Yahoo, slept: list[float]
) -> None:
    bad = Answer("oops", 500)
    server.says(CHART + "AAPL", bad, bad, bad, bad, chart("AAPL", [("2024-01-03", 1.0)]))
    assert days_of(yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"]) == ["2024-01-03"]
    assert slept == [2, 4]


def test_a_rate_limit_that_stays_is_said_to_be_one(server: MarketServer, yahoo: Yahoo, slept: list[float]) -> None:
    server.says(CHART + "AAPL", Answer("Too Many Requests", 429))
    answer = yahoo.prices(["AAPL"], FIRST, LAST)["AAPL"]
    assert isinstance(answer, Refusal)
    assert answer.limited
    assert slept == [2, 4]


def test_a_batch_that_yfinance_cannot_put_together_is_taken_apart(
    monkeypatch: pytest.MonkeyPatch, server: MarketServer, yahoo: Yahoo
) -> None:
    download: Callable[..., Any] = yfinance.download

    def one_only(tickers: list[str], **options: Any) -> Any:
        if len(tickers) > 1:
            raise ValueError("cannot reindex on an axis with duplicate labels")
        return download(tickers, **options)

    monkeypatch.setattr(yfinance, "download", one_only)
    for ticker in ("AAPL", "MSFT"):
        server.says(CHART + ticker, chart(ticker, [("2024-01-03", 1.0)]))
    found = yahoo.prices(["AAPL", "MSFT"], FIRST, LAST)
    assert days_of(found["AAPL"]) == days_of(found["MSFT"]) == ["2024-01-03"]


def test_an_error_of_a_single_ticker_is_its_reason(monkeypatch: pytest.MonkeyPatch, yahoo: Yahoo) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("meta")

    monkeypatch.setattr(yfinance, "download", broken)
    assert yahoo.prices(["AAPL"], FIRST, LAST) == {"AAPL": Refusal("KeyError: 'meta'")}


def test_earnings_dates_of_the_exchange_without_those_to_come(server: MarketServer, yahoo: Yahoo) -> None:
    server.says("/calendar/earnings", Answer(EARNINGS_PAGE))
    table = yahoo.reports("AAPL")
    days = [f"{day:%Y-%m-%d}" for day in table["reported"]]
    assert days == ["2023-05-04", "2023-08-03", "2023-11-02", "2024-02-01"]
    assert table["eps"].tolist() == [-0.75, 1.26, 1.46, 2.18]
    assert table["surprise"].tolist()[2:] == [0.07, 0.08]
    assert table["surprise"].iloc[0] == -0.25
    assert table["surprise_percentage"].iloc[0] == -50.0
    assert table[["estimate", "surprise", "surprise_percentage"]].iloc[1].isna().all()
    assert table["fiscal_end"].isna().all()


def test_no_earnings_and_no_answer(server: MarketServer, yahoo: Yahoo, slept: list[float]) -> None:
    server.says("/calendar/earnings", Answer("<html>none</html>"))
    with pytest.raises(FetchError, match="knows no past earnings of AAPL"):
        yahoo.reports("AAPL")
    assert slept == []
    server.says("/calendar/earnings", Answer("Too Many Requests", 429))
    with pytest.raises(LimitError, match="in 3 tries: YFRateLimitError"):
        yahoo.reports("AAPL")


def test_yfinance_prints_nothing(
    server: MarketServer, yahoo: Yahoo, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    server.says(CHART + "EMPTY", as_json({"chart": {"result": None, "error": None}}))
    yahoo.prices(["EMPTY"], FIRST, LAST)
    printed = capfd.readouterr()
    assert "EMPTY" not in printed.out + printed.err
    assert not [record for record in caplog.records if record.name == "yfinance"]


def test_without_yfinance_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yfinance", None)
    with pytest.raises(ConfigError, match=r"pip install 'fin-tasks\[market\]'"):
        Yahoo().prices(["AAPL"], FIRST, LAST)

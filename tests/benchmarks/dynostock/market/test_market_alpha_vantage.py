"""Alpha Vantage's answers, the good ones and the others."""

from typing import Any

import pytest
from market_server import KEY, Answer, MarketServer, as_json, earnings

from fin_tasks.benchmarks.dynostock.market.alpha_vantage import AlphaVantage
from fin_tasks.benchmarks.dynostock.market.patience import LimitError, Pace, Patience
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.settings import Settings

PER_MINUTE = {"Note": "Our standard API call frequency is 5 calls per minute and 500 calls per day."}
PER_DAY = {"Information": f"We have detected your API key as {KEY} and our standard rate limit is 25 requests per day."}
SPREAD = {"Information": "Please spread out your free API requests more sparingly (1 request per second)."}
DEMO = {"Information": "The **demo** API key is for demo purposes only."}
INVALID = {"Error Message": "Invalid API call. Please retry or visit the documentation."}
BAD_KEY = {"Error Message": "the parameter apikey is invalid or missing."}
GOOD = earnings("AAPL", ("2023-12-31", "2024-02-01", "2.18", "2.1"))


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def source(server: MarketServer, slept: list[float]) -> AlphaVantage:
    patience = Patience(attempts=3, timeout=5, sleep=slept.append, chance=lambda: 0.0)
    return AlphaVantage(url=server.url, key=KEY, patience=patience, pace=Pace(per_minute=1e9, sleep=slept.append))


def test_reports_come_as_text(server: MarketServer, source: AlphaVantage) -> None:
    server.says("/query", GOOD)
    table = source.reports("AAPL")
    assert table.iloc[0].tolist() == ["AAPL", "2023-12-31", "2024-02-01", "2.18", "2.1", "0.08", "1.5"]
    assert server.asked == [("/query", {"function": "EARNINGS", "symbol": "AAPL", "apikey": KEY})]


@pytest.mark.parametrize("refusal", [PER_MINUTE, SPREAD])
def test_a_brief_limit_is_waited_out(
    server: MarketServer, source: AlphaVantage, slept: list[float], refusal: Any
) -> None:
    server.says("/query", as_json(refusal), GOOD)
    assert len(source.reports("AAPL")) == 1
    assert 2.0 in slept


@pytest.mark.parametrize(("refusal", "requests"), [(PER_MINUTE, 3), (SPREAD, 3), (PER_DAY, 1), (DEMO, 1), (BAD_KEY, 1)])
def test_a_lasting_limit_stops_the_run(server: MarketServer, source: AlphaVantage, refusal: Any, requests: int) -> None:
    server.says("/query", as_json(refusal))
    with pytest.raises(LimitError, match="gives no more"):
        source.reports("AAPL")
    assert server.times("/query") == requests


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (as_json(INVALID), "refuses AAPL: Invalid API call"),
        (as_json({}), "knows no earnings of AAPL"),
        (earnings("AAPL"), "knows no earnings of AAPL"),
        (as_json([1]), "quarterlyEarnings"),
        (Answer("<html>maintenance</html>"), "expected JSON"),
        (Answer(status=403), "status 403"),
    ],
)
def test_a_ticker_without_reports_is_no_end(
    server: MarketServer, source: AlphaVantage, answer: Answer, found: str
) -> None:
    server.says("/query", answer)
    with pytest.raises(FetchError, match=found) as error:
        source.reports("AAPL")
    assert not isinstance(error.value, LimitError)


@pytest.mark.parametrize("answer", [as_json(PER_DAY), Answer(f"no JSON {KEY}"), as_json([KEY]), Answer(status=500)])
def test_the_key_is_in_no_message(server: MarketServer, source: AlphaVantage, answer: Answer) -> None:
    server.says("/query", answer)
    with pytest.raises(FetchError) as error:
        source.reports("AAPL")
    assert KEY not in str(error.value)
    assert KEY not in repr(source)


def test_a_key_is_needed() -> None:
    with pytest.raises(ConfigError, match="ALPHAVANTAGE_API_KEY"):
        AlphaVantage.of(Settings.from_environ({}), per_minute=5)
    source = AlphaVantage.of(Settings.from_environ({"ALPHAVANTAGE_API_KEY": KEY}), per_minute=75)
    assert (source.key, source.url, source.pace.per_minute) == (KEY, "https://www.alphavantage.co", 75)

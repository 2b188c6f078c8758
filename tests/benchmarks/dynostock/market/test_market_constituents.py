"""The S&P 500's list."""

import pytest
from market_server import Answer, MarketServer

from fin_tasks.benchmarks.dynostock.market.constituents import fetch_constituents, parse_constituents
from fin_tasks.benchmarks.dynostock.market.patience import Patience
from fin_tasks.errors import FetchError
from fin_tasks.settings import Settings

PAGE = """<html><body><table><tr><th>Year</th></tr><tr><td>1957</td></tr></table>
<table class="wikitable sortable" id="constituents"><tbody>
<tr><th>Symbol</th><th>Security</th><th>GICS Sector</th><th>CIK</th></tr>
<tr><td><a href="https://www.nyse.com/quote/XNYS:MMM">MMM</a></td><td>3M</td><td>Industrials</td><td>0000066740</td></tr>
<tr><td><a>BRK.B</a>
</td><td>Berkshire Hathaway</td><td>Financials</td><td>1</td></tr>
<tr><td>MMM</td><td>3M again</td><td>x</td><td>2</td></tr>
<tr><td>NA</td><td>A stock whose ticker reads like nothing</td><td>x</td><td>3</td></tr>
</tbody></table></body></html>"""


def test_the_table_among_others() -> None:
    assert parse_constituents(PAGE) == ("MMM", "BRK-B", "NA")


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<html><p>nothing</p></html>", "without tables"),
        ("", "without tables"),
        ("<table><tr><th>Name</th></tr><tr><td>3M</td></tr></table>", "column Symbol"),
        (PAGE.replace(">MMM<", ">../x<"), "'--/X'"),
    ],
)
def test_another_page_is_an_error_that_says_what_to_do(page: str, found: str) -> None:
    with pytest.raises(FetchError, match="--tickers FILE") as error:
        parse_constituents(page)
    assert found in str(error.value)


def test_the_list_comes_with_its_source_and_day(server: MarketServer) -> None:
    server.says("/wiki/List_of_S%26P_500_companies", Answer(status=503), Answer(PAGE))
    settings = Settings.from_environ({"FIN_TASKS_WIKIPEDIA": server.url})
    found = fetch_constituents(settings, patience=Patience(sleep=lambda _: None))
    assert found.tickers == ("MMM", "BRK-B", "NA")
    assert found.facts["source"] == server.url + "/wiki/List_of_S%26P_500_companies"
    assert found.facts["n"] == 3
    assert len(found.facts["retrieved"]) == 10

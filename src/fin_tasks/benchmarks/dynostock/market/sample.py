"""A real market that needs no network: stocks from 2000 to 2013 with their earnings reports."""

from functools import lru_cache
from pathlib import Path

from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.benchmarks.dynostock.market.tables import Market
from fin_tasks.resources import stock_prices_file

__all__ = ["sample_market"]


@lru_cache(maxsize=1)
def sample_market() -> Market:
    """Return the daily prices of AAPL, GOOG, IBM and MSFT, 2000-03-01 to 2013-03-01, with their earnings reports.

    The prices are those of the package `bokeh-sampledata`, adjusted for splits; the earnings per share are facts kept
    beside this benchmark, including reports before and after the days with prices, as in any other market. The history
    that the paper used knows no report of GOOG before 2014, so GOOG (and FB, also in that file) has prices only.

    Raises:
        ConfigError: `bokeh-sampledata` is not installed.
        DataError: Its file is another one than ours was made for.
    """
    earnings = Path(__file__).parent.parent / "sample" / "earnings.csv"
    prices = stock_prices_file()
    return load_market(prices, earnings)

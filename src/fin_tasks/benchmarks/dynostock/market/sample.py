"""A real market that needs no network: stocks from 2000 to 2013 with their earnings reports."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.benchmarks.dynostock.market.tables import Market
from fin_tasks.data.checksums import digest
from fin_tasks.errors import ConfigError, DataError

__all__ = ["sample_market"]

_SHA256 = "5abadf99b2d394f920120a27de6f0df129859d71d4cfb0bf661bcc99446ab1fd"


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
    prices = _installed_file()
    if (found := digest(prices)).sha256 != _SHA256:
        raise DataError(
            f"{prices}: expected sha256 {_SHA256}, got {found}. Reinstall bokeh-sampledata, or give files of your own."
        )
    return load_market(prices, earnings)


def _installed_file() -> Path:
    # the package's own modules would read the file into a dictionary when imported
    spec = find_spec("bokeh_sampledata")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / "_data" / "stocks.csv.gz").is_file():
            return path
    raise ConfigError(
        "sample market: expected the package bokeh-sampledata with its stocks.csv.gz, found none. "
        "Install it: pip install 'bokeh-sampledata>=2026.1'"
    )

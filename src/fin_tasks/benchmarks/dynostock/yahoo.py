"""Daily prices from Yahoo by yfinance, within limits of time and size."""

import logging
from collections.abc import Sequence
from datetime import date
from typing import Any

import pandas as pd

from fin_tasks.errors import ConfigError, FetchError

SECONDS = 30.0
"""Time for a whole answer."""
MAX_BYTES = 32 << 20
"""Size of one answer; 25 years of one ticker have a megabyte."""
CONNECTION_SECONDS = 5.0
"""Time for the first answer."""

_ADDRESS = "https://query2.finance.yahoo.com"


def check_connection() -> None:
    """Raise FetchError if Yahoo cannot be reached, ConfigError if yfinance is not installed."""
    _yfinance()
    try:
        _session().get(_ADDRESS, timeout=CONNECTION_SECONDS)  # any answer will do
    except Exception as error:  # the session raises its own errors and those of curl
        reason = str(error).partition(". See ")[0]
        raise FetchError(f"Yahoo: no connection to {_ADDRESS} ({reason}).") from error


def download(
    tickers: Sequence[str],
    start: date,
    end: date,
) -> dict[str, pd.DataFrame]:
    """Return the prices from `start` to `end` of the tickers that Yahoo knows."""
    yfinance = _yfinance()
    # Our own messages name the tickers that failed.
    logging.getLogger("yfinance").setLevel(logging.CRITICAL)
    yfinance.config.network.retries = 3
    try:
        # Until today, because the table must hold all splits for which Yahoo adjusts the prices.
        frame = yfinance.download(
            list(tickers),
            start=f"{start}",
            auto_adjust=False,
            actions=True,
            group_by="ticker",
            progress=False,
            session=_session(),
            timeout=SECONDS,
        )
    except Exception as error:  # yfinance raises whatever its libraries do
        raise FetchError(f"Yahoo: expected prices, got {error!r}.") from error
    tables = {}
    for ticker in frame.columns.unique(0):
        table = frame[ticker].dropna(subset=["Close"])
        if table.empty:
            continue
        days = table.index.tz_localize(None).normalize()
        ratios = table["Stock Splits"].replace(0.0, 1.0)
        until_today = ratios[::-1].cumprod()[::-1]
        table = table.assign(
            ticker=ticker, date=days, splits_after=until_today / ratios
        )
        tables[ticker] = table[days <= pd.Timestamp(end)]
    return tables


def _yfinance() -> Any:
    try:
        import yfinance
    except ImportError as error:
        raise ConfigError(
            "prices: expected yfinance, found none. Run `pip install 'fin-tasks[market]'`."
        ) from error
    return yfinance


def _session() -> Any:
    from curl_cffi import CurlOpt, requests

    return requests.Session(
        impersonate="chrome", curl_options={CurlOpt.MAXFILESIZE_LARGE: MAX_BYTES}
    )

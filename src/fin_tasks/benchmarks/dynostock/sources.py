"""The sources of market data: daily prices and earnings reports of Yahoo by yfinance, reports of Alpha Vantage.

All are asked within limits of time and size.
"""

import json
import logging
import time
from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode

import httpx2
import pandas as pd

from fin_tasks.errors import ConfigError, FetchError, FinTasksError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, pieces_of

from .files.splits import splits_after
from .market import DOLLARS

YAHOO_SECONDS = 30.0
"""Time for a whole answer."""
YAHOO_BYTES = 32 << 20
"""Size of one answer; 25 years of one ticker have a megabyte."""
CONNECTION_SECONDS = 5.0
"""Time for Yahoo's first answer."""
YAHOO_REPORTS = 100
"""Yahoo gives no more, which is 25 years of quarters; of many companies it has fewer."""
ALPHA_VANTAGE_SECONDS = 30.0
"""Time of one attempt."""
PAUSE = 1.2
"""Seconds before a request to Alpha Vantage, because the free plan allows one a second."""

_OPENING_HOUR = 10  # of the exchange in New York; Yahoo's page has whole hours
_CLOSING_HOUR = 16
_ALPHA_VANTAGE_ATTEMPTS = 4
_ALPHA_VANTAGE_BYTES = 8 << 20
_YAHOO = "https://query2.finance.yahoo.com"
_REFUSALS = ("Error Message", "Note", "Information")
"""Where Alpha Vantage says why it gives no earnings."""


class LimitError(FetchError):
    """Alpha Vantage refuses all further requests for now."""


def check_yahoo() -> None:
    """Raise FetchError if Yahoo cannot be reached, ConfigError if yfinance is not installed."""
    _yfinance()
    try:
        _session().get(_YAHOO, timeout=CONNECTION_SECONDS)  # any answer will do
    except Exception as error:  # the session raises its own errors and those of curl
        reason = str(error).partition(". See ")[0]
        raise FetchError(f"Yahoo: no connection to {_YAHOO} ({reason}).") from error


def prices_of(
    tickers: Sequence[str], start: date, end: date
) -> dict[str, pd.DataFrame]:
    """Return Yahoo's prices from `start` to `end` of the tickers that Yahoo knows."""
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
            timeout=YAHOO_SECONDS,
        )
    except Exception as error:  # yfinance raises whatever its libraries do
        raise FetchError(f"Yahoo: expected prices, got {error!r}.") from error
    tables = {}
    for ticker in frame.columns.unique(0):
        table = frame[ticker]
        if table["Close"].isna().all():
            continue
        # A split may stand on a day without a close.
        until_today = splits_after(table["Stock Splits"])
        table = table.assign(ticker=ticker, splits_after=until_today)
        table = table.dropna(subset=["Close"])
        days = table.index.tz_localize(None).normalize()
        table = table.assign(date=days)
        tables[ticker] = table[days <= pd.Timestamp(end)]
    return tables


def yahoo_earnings_of(ticker: str) -> dict[str, Any]:
    """Return Yahoo's past reports of a ticker as Alpha Vantage would write them; raise FetchError if there are none."""
    try:
        asked = _yfinance().Ticker(ticker, session=_session())
        table = asked.get_earnings_dates(limit=YAHOO_REPORTS)
    except FinTasksError:
        raise
    except Exception as error:  # yfinance raises whatever its libraries do
        raise FetchError(f"Yahoo: expected earnings, got {error!r:.200}.") from error
    if table is None or table["Reported EPS"].isna().all():
        raise FetchError(f"Yahoo knows no earnings of {ticker}.")
    reports: dict[str, dict[str, Any]] = {}
    for moment, row in table.dropna(subset="Reported EPS").iterrows():
        day = f"{moment:%Y-%m-%d}"
        report = {
            "reportedDate": day,
            "reportedEPS": str(row["Reported EPS"]),
            "estimatedEPS": str(row["EPS Estimate"]),
            "reportTime": _report_time(moment),
        }
        # Yahoo lists the call about a report as well.
        reports.setdefault(day, report)
    # Tickers of other exchanges than those of the United States have a point.
    currency = None if "." in ticker else DOLLARS
    return {
        "symbol": ticker,
        "currency": currency,
        "quarterlyEarnings": list(reports.values()),
    }


def _report_time(moment: pd.Timestamp) -> str | None:
    if moment.hour < _OPENING_HOUR:
        return "pre-market"
    return "post-market" if moment.hour >= _CLOSING_HOUR else None


def _yfinance() -> Any:
    try:
        import yfinance
    except ImportError as error:
        raise ConfigError(
            "prices: expected yfinance, found none. Run `pip install yfinance`."
        ) from error
    return yfinance


def _session() -> Any:
    from curl_cffi import CurlOpt, requests

    return requests.Session(
        impersonate="chrome", curl_options={CurlOpt.MAXFILESIZE_LARGE: YAHOO_BYTES}
    )


def earnings_of(
    ticker: str, client: httpx2.Client, settings: Settings
) -> dict[str, Any]:
    """Return Alpha Vantage's answer about a ticker.

    Raises:
        LimitError: Further requests would fail too.
        FetchError: Alpha Vantage has no earnings of this ticker.
    """
    key = str(settings.alpha_vantage_key)
    url = f"{settings.alpha_vantage}/query"
    query = {"function": "EARNINGS", "symbol": ticker, "apikey": key}
    try:
        content = _read(client, f"{url}?{urlencode(query)}")
        answer = dict(json.loads(content))
        refusal = " ".join(str(answer[name]) for name in _REFUSALS if name in answer)
    except (WebError, ValueError, TypeError, RecursionError) as error:
        answer = {}
        refusal = f"expected JSON from {url}, got {error!r}"
    refusal = refusal.replace(key, "(your key)")
    is_about_ticker = "Error Message" in answer and "apikey" not in refusal
    if refusal and not is_about_ticker:
        raise LimitError(f"Alpha Vantage: {refusal}")
    if not answer.get("quarterlyEarnings"):
        raise FetchError(f"Alpha Vantage knows no earnings of {ticker}. {refusal}")
    return answer


def _read(client: httpx2.Client, url: str) -> bytes:
    """Return what an address serves; a server that fails is asked again."""
    limits = Limits(seconds=ALPHA_VANTAGE_SECONDS, n_bytes=_ALPHA_VANTAGE_BYTES)
    n_failed = 0
    while True:
        time.sleep(PAUSE)
        try:
            return b"".join(pieces_of(client, url, limits))
        except WebError as error:
            n_failed += 1
            if not error.may_pass or n_failed == _ALPHA_VANTAGE_ATTEMPTS:
                raise

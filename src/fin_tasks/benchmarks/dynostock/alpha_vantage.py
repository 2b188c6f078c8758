"""Earnings reports from Alpha Vantage."""

import json
import time
from typing import Any
from urllib.parse import urlencode

import httpx2

from fin_tasks.errors import FetchError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, pieces_of

SECONDS = 30.0
"""Time of one attempt."""
PAUSE = 1.2
"""Seconds before a request, because the free plan allows one a second."""

_ATTEMPTS = 4
_MAX_BYTES = 8 << 20
_REFUSALS = ("Error Message", "Note", "Information")


class LimitError(FetchError):
    """Alpha Vantage refuses all further requests for now."""


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
    limits = Limits(seconds=SECONDS, n_bytes=_MAX_BYTES)
    n_failed = 0
    while True:
        time.sleep(PAUSE)
        try:
            return b"".join(pieces_of(client, url, limits))
        except WebError as error:
            n_failed += 1
            if error.pause is None or n_failed == _ATTEMPTS:
                raise

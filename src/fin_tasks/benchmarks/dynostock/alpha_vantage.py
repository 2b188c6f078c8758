"""Earnings reports from Alpha Vantage."""

import json
import time
from typing import Any
from urllib.parse import urlencode

from fin_tasks.errors import FetchError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

SECONDS = 30.0
"""Time of one attempt."""
PAUSE = 1.2
"""Seconds before a request, because the free plan allows one a second."""

_REFUSALS = ("Error Message", "Note", "Information")


class LimitError(FetchError):
    """Alpha Vantage refuses all further requests for now."""


def earnings_of(
    ticker: str,
    web: Web,
    settings: Settings,
) -> dict[str, Any]:
    """Return Alpha Vantage's answer about a ticker.

    Raises:
        LimitError: Further requests would fail too.
        FetchError: Alpha Vantage has no earnings of this ticker.
    """
    time.sleep(PAUSE)
    key = str(settings.alpha_vantage_key)
    url = f"{settings.alpha_vantage}/query"
    query = {"function": "EARNINGS", "symbol": ticker, "apikey": key}
    limits = Limits(seconds=SECONDS, n_bytes=8 << 20, retries=4)
    try:
        request = Request(url=f"{url}?{urlencode(query)}")
        answer = dict(json.loads(web.send(request, limits).result()))
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

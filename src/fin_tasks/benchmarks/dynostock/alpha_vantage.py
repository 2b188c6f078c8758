"""Earnings reports from Alpha Vantage."""

import json
from typing import TYPE_CHECKING, Any

from fin_tasks.errors import FetchError, WebError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.web import Web

SECONDS = 30.0
"""Time of one attempt."""

_MAX_BYTES = 8 << 20
_RETRIES = 4
_REFUSALS = ("Error Message", "Note", "Information")


class LimitError(FetchError):
    """The source answers no more for now."""


def earnings_of(ticker: str, web: "Web", settings: Settings) -> dict[str, Any]:
    """Return Alpha Vantage's answer about a ticker.

    Raises:
        LimitError: No further ticker would be answered.
        FetchError: There are no earnings of this ticker.
    """
    answer = _ask(ticker, web, settings)
    texts = [str(answer[name]) for name in _REFUSALS if name in answer]
    refusal = " ".join(texts).replace(str(settings.alpha_vantage_key), "(your key)")
    is_about_ticker = "Error Message" in answer and "apikey" not in refusal
    if refusal and not is_about_ticker:
        raise LimitError(f"Alpha Vantage: {refusal}")
    if refusal or not answer.get("quarterlyEarnings"):
        raise FetchError(f"Alpha Vantage knows no earnings of {ticker}. {refusal}".strip())
    return answer


def _ask(ticker: str, web: "Web", settings: Settings) -> dict[str, Any]:
    from fin_tasks.web import Limits, Request

    address = f"{settings.alpha_vantage}/query"
    query = {
        "function": "EARNINGS",
        "symbol": ticker,
        "apikey": str(settings.alpha_vantage_key),
    }
    limits = Limits(seconds=SECONDS, n_bytes=_MAX_BYTES, retries=_RETRIES)
    try:
        answer = json.loads(web.send(Request(url=address, query=query), limits).result())
    except (WebError, ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        reason = reason.replace(str(settings.alpha_vantage_key), "(your key)")
        raise LimitError(f"Alpha Vantage: expected JSON from {address}, got {reason}.") from None
    if not isinstance(answer, dict):
        raise LimitError(f"Alpha Vantage: expected a JSON object from {address}, got another.")
    return answer

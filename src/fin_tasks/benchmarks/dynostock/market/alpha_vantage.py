"""Quarterly earnings reports from Alpha Vantage's `EARNINGS` function."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.patience import LimitError, Pace, Patience, ask
from fin_tasks.benchmarks.dynostock.market.report_files import refusal_in, reports_of_answer
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

__all__ = ["FREE_REQUESTS_PER_MINUTE", "AlphaVantage"]

FREE_REQUESTS_PER_MINUTE = 5.0
"""What the service grants without payment."""

_BRIEF_LIMIT = re.compile(r"per (minute|second)|sparingly", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class AlphaVantage:
    """A source of earnings reports.

    The key goes to the service's own address and nowhere else; the service likes to quote it in its answers, so it is
    taken out of every message.

    Attributes:
        url: Base address.
        key: The API key.
        patience: How often to try.
        pace: How fast to ask.
    """

    url: str
    key: str = field(repr=False)
    patience: Patience = field(default_factory=Patience)
    pace: Pace = field(default_factory=lambda: Pace(per_minute=FREE_REQUESTS_PER_MINUTE))

    name = "alpha-vantage"

    @classmethod
    def of(cls, settings: Settings, *, per_minute: float, patience: Patience | None = None) -> "AlphaVantage":
        """Make the source the settings describe.

        Raises:
            ConfigError: There is no key.
        """
        if not settings.alpha_vantage_key:
            raise ConfigError(
                "earnings from Alpha Vantage: expected a key in ALPHAVANTAGE_API_KEY, found none. Get one at "
                "https://www.alphavantage.co/support/#api-key, or use --earnings yahoo, which needs none."
            )
        patience = patience or Patience()
        pace = Pace(per_minute=per_minute, sleep=patience.sleep)
        return cls(url=settings.alpha_vantage, key=settings.alpha_vantage_key, patience=patience, pace=pace)

    def reports(self, ticker: str) -> pd.DataFrame:
        """Return a ticker's reports, cells as text as the service gives them.

        Raises:
            FetchError: The service knows none, or gives no proper answer.
            LimitError: The service gives no more for today, or to this key.
        """
        answer: Any = None
        for failures in range(1, self.patience.attempts + 1):
            answer = self._ask(ticker)
            refusal = self._hidden(refusal_in(answer))
            if not refusal:
                break
            if "Error Message" in answer and "apikey" not in refusal.lower():
                raise FetchError(f"Alpha Vantage refuses {ticker}: {refusal}")
            if failures == self.patience.attempts or not _BRIEF_LIMIT.search(refusal):
                raise LimitError(f"Alpha Vantage gives no more: {refusal}")
            self.patience.pause(failures)
        if answer == {}:
            raise FetchError(f"Alpha Vantage knows no earnings of {ticker}")
        try:
            table = reports_of_answer(answer, name="Alpha Vantage", ticker=ticker)
        except DataError as error:
            raise FetchError(self._hidden(str(error))) from None
        if table.empty:
            raise FetchError(f"Alpha Vantage knows no earnings of {ticker}")
        # it may answer for a name of its own; ours joins the prices
        return table.assign(ticker=ticker)

    def _ask(self, ticker: str) -> Any:
        query = {"function": "EARNINGS", "symbol": ticker, "apikey": self.key}
        text = ask(
            f"{self.url}/query",
            subject=f"earnings of {ticker}",
            patience=self.patience,
            pace=self.pace,
            query=query,
        )
        try:
            return json.loads(text)
        except ValueError:
            found = self._hidden(text[:80])
            raise FetchError(f"earnings of {ticker}: expected JSON from {self.url}, got {found!r}") from None

    def _hidden(self, text: str) -> str:
        return text.replace(self.key, "(the key)")

"""Daily prices and, without a key, earnings reports from Yahoo Finance through yfinance."""

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.patience import LimitError, Pace, Patience
from fin_tasks.errors import ConfigError, FetchError

__all__ = ["Refusal", "Yahoo"]

_COLUMNS = {
    "Open": "open",
    "High": "high",
    "Low": "low",
    "Close": "close",
    "Volume": "volume",
    "Adj Close": "adj_close",
}
_RATE_LIMIT = re.compile(r"YFRateLimitError|Too Many Requests|status_code = 429")
# yfinance's words for a stock that Yahoo does not have, as opposed to one that did not come this time
_NOT_THERE = re.compile(r"delisted|No data found|no price data|no timezone|Not Found|doesn't exist", re.IGNORECASE)
_MOST_REPORTS = 100
# Yahoo publishes no limit: slow enough not to stand out, and the S&P 500 still takes minutes
_CALLS_PER_MINUTE = 60.0


@dataclass(frozen=True)
class Refusal:
    """Why a ticker did not come.

    Attributes:
        reason: In yfinance's words.
        limited: Whether Yahoo said that we ask too much.
    """

    reason: str
    limited: bool = False


@dataclass(frozen=True, kw_only=True)
class Yahoo:
    """A source of prices and earnings reports.

    Attributes:
        cache: Folder for what yfinance keeps about exchanges and cookies; its own choice where None.
        patience: How often to try.
        pace: How far apart calls of yfinance are; one fetches a batch of prices, or a page of the earnings calendar.
        session: What yfinance sends its requests with; its own where None.
    """

    cache: Path | None = None
    patience: Patience = field(default_factory=lambda: Patience(first_wait=5.0))
    pace: Pace = field(default_factory=lambda: Pace(per_minute=_CALLS_PER_MINUTE))
    session: Any = field(default=None, repr=False)

    name = "yahoo"

    def prices(self, tickers: Sequence[str], start: date, end: date) -> dict[str, pd.DataFrame | Refusal]:
        """Fetch the daily prices of a batch, both days included.

        Close is adjusted for splits and not for dividends, as Yahoo gives it. Days without a price inside a ticker's
        range stay as rows without figures.

        Returns:
            For every ticker its table (`ticker`, `date`, `open`, `high`, `low`, `close`, `volume`, `adj_close`), or why
            it did not come after all tries.

        Raises:
            ConfigError: yfinance is not installed.
        """
        found: dict[str, pd.DataFrame | Refusal] = {}
        waiting = list(tickers)
        for failures in range(1, self.patience.attempts + 1):
            found |= self._download(waiting, start, end)
            waiting = [ticker for ticker in waiting if _may_come(found[ticker])]
            if not waiting or failures == self.patience.attempts:
                break
            self.patience.pause(failures)
        return found

    def reports(self, ticker: str) -> pd.DataFrame:
        """Fetch a ticker's earnings reports; days are those of the exchange.

        Yahoo tells no quarter's end, so `fiscal_end` is unknown. The surprise is reported less estimated EPS, both as
        Yahoo gives them (split-adjusted), to four decimals; its percentage is of the estimate's size.

        Raises:
            FetchError: There are none, or they did not come after all tries.
            LimitError: Yahoo still refuses for asking too much.
        """
        yfinance = self._yfinance()
        reason = ""
        for failures in range(1, self.patience.attempts + 1):
            self.pace.wait()
            _forget_answers(yfinance)
            try:
                with _quiet():
                    raw = yfinance.Ticker(ticker, session=self.session).get_earnings_dates(limit=_MOST_REPORTS)
            except Exception as error:  # noqa: BLE001 - whatever the many parts of yfinance raise
                reason = _named(error)
            else:
                table = _reports_of(raw, ticker)
                if table.empty:
                    raise FetchError(f"Yahoo knows no past earnings of {ticker}")
                return table
            if failures < self.patience.attempts:
                self.patience.pause(failures)
        kind = LimitError if _RATE_LIMIT.search(reason) else FetchError
        raise kind(f"Yahoo gave no earnings of {ticker} in {self.patience.attempts} tries: {reason}")

    def _download(self, tickers: Sequence[str], start: date, end: date) -> dict[str, pd.DataFrame | Refusal]:
        """One request for a batch; where yfinance cannot put the batch together, one for each of its tickers."""
        yfinance = self._yfinance()
        self.pace.wait()
        _forget_answers(yfinance)
        try:
            with _quiet() as messages, _errors_shown(yfinance):
                frame = yfinance.download(
                    list(tickers),
                    start=start.isoformat(),
                    end=(end + timedelta(days=1)).isoformat(),  # yfinance leaves the end out
                    auto_adjust=False,
                    actions=False,
                    keepna=True,
                    group_by="ticker",
                    threads=False,
                    progress=False,
                    timeout=self.patience.timeout,
                    session=self.session,
                )
        except Exception as error:  # noqa: BLE001 - see above
            if len(tickers) > 1:
                return {t: answer for ticker in tickers for t, answer in self._download([ticker], start, end).items()}
            return {tickers[0]: _refusal(_named(error))}
        return {ticker: _prices_of(frame, ticker, messages) for ticker in tickers}

    def _yfinance(self) -> Any:
        try:
            import yfinance
        except ImportError as error:
            raise ConfigError(
                "market data: expected the package yfinance, found none. Install it: pip install 'fin-tasks[market]'"
            ) from error
        if self.cache is not None:
            self.cache.mkdir(parents=True, exist_ok=True)
            yfinance.set_tz_cache_location(str(self.cache))
        return yfinance


def _may_come(answer: "pd.DataFrame | Refusal") -> bool:
    return isinstance(answer, Refusal) and (answer.limited or not _NOT_THERE.search(answer.reason))


def _prices_of(frame: Any, ticker: str, messages: Sequence[str]) -> "pd.DataFrame | Refusal":
    if frame is None or ticker not in frame.columns.get_level_values(0):
        return _refusal(_about(ticker, messages))
    columns = frame[ticker].rename(columns=_COLUMNS)
    columns = columns[[name for name in _COLUMNS.values() if name in columns]]
    # a day without prices comes with a volume of 0
    days = columns.drop(columns="volume", errors="ignore").dropna(how="all").index
    if not len(days) or "close" not in columns:
        return _refusal(_about(ticker, messages))
    # the batch has the days of all its tickers: those before and after this one's own are not its
    own = columns.loc[days[0] : days[-1]]
    index = own.index.tz_localize(None) if own.index.tz is not None else own.index
    table = own.reset_index(drop=True).astype("float64").rename_axis(columns=None)
    table.insert(0, "date", index.normalize().astype("datetime64[ns]"))
    table.insert(0, "ticker", ticker)
    return table


def _reports_of(raw: Any, ticker: str) -> pd.DataFrame:
    """Bring yfinance's table of earnings dates into our columns; dates to come are no reports."""
    if raw is None or not len(raw):
        return pd.DataFrame()
    now = datetime.now(timezone.utc)
    stamps = raw.index
    past = stamps <= (now if stamps.tz is not None else now.replace(tzinfo=None))
    days = (stamps.tz_localize(None) if stamps.tz is not None else stamps).normalize().astype("datetime64[ns]")
    eps, estimate = (
        pd.to_numeric(raw[name], errors="coerce").to_numpy("float64") for name in ("Reported EPS", "EPS Estimate")
    )
    surprise = (eps - estimate).round(4)
    table = pd.DataFrame(
        {
            "ticker": ticker,
            "fiscal_end": pd.Series(pd.NaT, index=range(len(raw)), dtype="datetime64[ns]"),
            "reported": days,
            "eps": eps,
            "estimate": estimate,
            "surprise": surprise,
        }
    )
    size = table["estimate"].abs()
    table["surprise_percentage"] = (100 * table["surprise"] / size.where(size > 0)).round(4)
    return table[past].sort_values("reported", kind="stable", ignore_index=True)


def _about(ticker: str, messages: Sequence[str]) -> str:
    """What yfinance logged about a ticker: lines such as `['AAPL', 'MSFT']: reason`."""
    for message in messages:
        names, _, reason = message.partition("]: ")
        if f"'{ticker}'" in names:
            return reason
    return next((message for message in messages if message.startswith(f"${ticker}: ")), "Yahoo returned no rows")


def _refusal(reason: str) -> Refusal:
    words = " ".join(reason.split())
    if "Not Found" in words:
        words = f"Yahoo has no such stock, or no longer: {words}"
    return Refusal(words, limited=bool(_RATE_LIMIT.search(reason)))


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Collect what yfinance logs instead of printing it, and keep its quarrels with newer pandas to itself."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    log, collector = logging.getLogger("yfinance"), Collector(logging.ERROR)
    propagated = log.propagate
    log.addHandler(collector)
    log.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield messages
    finally:
        log.removeHandler(collector)
        log.propagate = propagated


@contextmanager
def _errors_shown(yfinance: Any) -> Iterator[None]:
    """Let a failed request be told apart from a stock that does not exist: by default both are "possibly delisted"."""
    # part of its interface since 1.0 only
    debug = getattr(getattr(yfinance, "config", None), "debug", None)
    hidden = getattr(debug, "hide_exceptions", None)
    if debug is None or hidden is None:
        yield
        return
    debug.hide_exceptions = False
    try:
        yield
    finally:
        debug.hide_exceptions = hidden


def _forget_answers(yfinance: Any) -> None:
    """Empty yfinance's memory of answers, which holds failed ones too: another try would only see them again."""
    data = getattr(getattr(yfinance, "data", None), "YfData", None)
    clear = getattr(getattr(data, "cache_get", None), "cache_clear", None)
    if clear is not None:
        clear()

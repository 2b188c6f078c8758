"""Fill a folder with prices of Yahoo and earnings reports of Alpha Vantage or the authors' repository.

The folder holds `prices/AAPL.parquet`, `earnings/AAPL.json` and `manifest.json`. A file that is there is kept, so a run
may stop at any time, and the same command goes on.
"""

import io
import json
import logging
import re
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import requests
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential
from tqdm import tqdm

import fin_tasks
from fin_tasks.benchmarks.dynostock.market import TICKER
from fin_tasks.data.fetch import load_pins, locate, write_file
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.settings import Settings

__all__ = ["EARNINGS", "Fetched", "fetch_market", "sp500"]

EARNINGS = ("alpha-vantage", "upstream")
_BATCH = 25
_COLUMNS = {name: name.lower().replace(" ", "_") for name in ("Open", "High", "Low", "Close", "Volume", "Adj Close")}


class _LimitError(FetchError):
    """The source answers no more for now."""


class _BusyError(_LimitError):
    """The source may answer in a minute."""


_retry: Callable[[Callable[..., Any]], Callable[..., Any]] = retry(
    retry=retry_if_exception_type(_BusyError),
    stop=stop_after_attempt(5),
    wait=wait_exponential(multiplier=5, max=60),
    reraise=True,
)


@dataclass
class Fetched:
    """How many files came, why tickers failed, and a sentence for each source that was not asked any further."""

    new: dict[str, int] = field(default_factory=lambda: {"prices": 0, "earnings": 0})
    failed: dict[str, dict[str, str]] = field(default_factory=lambda: {"prices": {}, "earnings": {}})
    stopped: list[str] = field(default_factory=list)


def sp500(settings: Settings) -> tuple[str, ...]:
    """Return the tickers of the S&P 500 as Wikipedia lists them today, spelled as Yahoo does (BRK-B)."""
    advice = "Name the tickers yourself: --tickers FILE."
    page = _retry(_get)(f"{settings.wikipedia}/wiki/List_of_S%26P_500_companies", "Wikipedia")
    try:
        tables = pd.read_html(io.StringIO(page), flavor="lxml", keep_default_na=False)
    except ImportError as error:
        raise ConfigError(f"S&P 500: expected lxml. Run `pip install 'fin-tasks[market]'`. {advice}") from error
    except (ValueError, SyntaxError) as error:
        raise FetchError(f"S&P 500: expected a table on the page, found none. {advice}") from error
    column = next((table["Symbol"] for table in tables if "Symbol" in table), pd.Series(dtype=object))
    tickers = tuple(dict.fromkeys(str(cell).strip().upper().replace(".", "-") for cell in column))
    if not tickers or not all(map(TICKER.fullmatch, tickers)):
        raise FetchError(f"S&P 500: expected tickers in a column Symbol, found {tickers[:3]}. {advice}")
    return tickers


def fetch_market(
    folder: Path,
    tickers: Sequence[str],
    *,
    start: date,
    end: date | None = None,
    earnings: str | None = None,
    per_minute: float = 5,
    settings: Settings,
) -> Fetched:
    """Fetch what the folder lacks; tickers that failed in the last run are tried last.

    Args:
        folder: Where to.
        tickers: As Yahoo spells them.
        start: First day of prices.
        end: Last day; by default that of the folder, or yesterday for a new one.
        earnings: One of `EARNINGS`; by default Alpha Vantage if there is a key.
        per_minute: Requests a minute to Alpha Vantage.
        settings: The environment.
    """
    if settings.offline_markets:
        raise FetchError("market data: downloads are switched off. Unset FIN_TASKS_OFFLINE.")
    earnings = earnings or EARNINGS[0 if settings.alpha_vantage_key else 1]
    if earnings not in EARNINGS:
        raise ConfigError(f"earnings: expected {' or '.join(EARNINGS)}, got {earnings!r}.")
    if earnings == "alpha-vantage" and not settings.alpha_vantage_key:
        raise ConfigError(
            "earnings: expected a key in ALPHAVANTAGE_API_KEY, found none. Get one at "
            "https://www.alphavantage.co/support/#api-key, or take the authors' reports: --earnings upstream."
        )
    path = folder / "manifest.json"
    before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    yesterday = datetime.now(timezone.utc).date() - timedelta(days=1)  # a price of today is not final
    end = end or date.fromisoformat(before.get("end", f"{yesterday}"))
    if start > end:
        raise ConfigError(f"market data: expected --start before --end, got {start} and {end}.")
    pins = load_pins("dynostock")
    source = earnings if earnings == "alpha-vantage" else f"{pins.repo}@{pins.revision}"
    plan = {"prices": "yahoo", "earnings": source, "start": f"{start}", "end": f"{end}"}
    if other := {name: before.get(name) for name in plan if before and before.get(name) != plan[name]}:
        wanted = {name: plan[name] for name in other}
        raise ConfigError(f"{folder}: expected a folder with {wanted}, found {other}. Choose another with --out.")
    done, last = Fetched(), before.get("failed", {"prices": {}, "earnings": {}})
    try:
        _fetch_prices(done, folder, _missing(folder / "prices", tickers, last["prices"]), start, end)
        priced = [ticker for ticker in tickers if (folder / "prices" / f"{ticker}.parquet").is_file()]
        missing = _missing(folder / "earnings", priced, last["earnings"])
        if earnings == "upstream":
            _fetch_reports(done, folder, missing, _upstream(missing, settings), 0)
        else:
            _fetch_reports(done, folder, missing, lambda ticker: _alpha_vantage(ticker, settings), 60 / per_minute)
    finally:
        failed = {part: {**last[part], **done.failed[part]} for part in last}
        failed = {part: {t: failed[part][t] for t in _missing(folder / part, failed[part], ())} for part in failed}
        facts = {**plan, "tickers": sorted({*before.get("tickers", ()), *tickers}), "failed": failed}
        write_file(path, json.dumps({**facts, "basis": "split-adjusted"}, indent=1).encode())
    return done


def _missing(folder: Path, tickers: Iterable[str], failed: Container[str]) -> list[str]:
    there = {path.name.rpartition(".")[0] for path in folder.glob("*")}
    return sorted((ticker for ticker in tickers if ticker not in there), key=lambda ticker: ticker in failed)


def _fetch_prices(done: Fetched, folder: Path, tickers: Sequence[str], start: date, end: date) -> None:
    with tqdm(total=len(tickers), desc="Prices", unit="ticker", disable=None) as bar:
        for first in range(0, len(tickers), _BATCH):
            batch = tickers[first : first + _BATCH]
            frame, messages = _download(batch, start)
            for ticker in batch:
                table = _prices_of(frame, ticker, end)
                if len(table):
                    write_file(folder / "prices" / f"{ticker}.parquet", table.to_parquet(index=False))
                    done.new["prices"] += 1
                else:
                    reason = next((text for text in messages if f"'{ticker}'" in text), "Yahoo gave no prices")
                    done.failed["prices"][ticker] = reason.rpartition("]: ")[2]
            bar.update(len(batch))
            if any(re.search("rate ?limit|too many requests", text, re.IGNORECASE) for text in messages):
                done.stopped.append("Yahoo answers no more for now. Run the same command again in an hour.")
                return


def _download(tickers: Sequence[str], start: date) -> tuple[pd.DataFrame, list[str]]:
    """Return yfinance's table from `start` until now, which holds all later splits, and what it logged."""
    try:
        import yfinance
    except ImportError as error:
        raise ConfigError("prices: expected yfinance, found none. Run `pip install 'fin-tasks[market]'`.") from error
    messages: list[str] = []
    log, handler = logging.getLogger("yfinance"), logging.Handler(logging.ERROR)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    log.propagate = False
    yfinance.config.network.retries = 3
    try:
        frame = yfinance.download(
            list(tickers),
            start=f"{start}",
            auto_adjust=False,
            actions=True,
            group_by="ticker",
            progress=False,
            timeout=30,
        )
    except Exception as error:  # noqa: BLE001 - yfinance raises whatever its libraries do
        frame, messages = pd.DataFrame(), [f"{type(error).__name__}: {error}"]
    finally:
        log.removeHandler(handler)
        log.propagate = True
    return frame, messages


def _prices_of(frame: pd.DataFrame, ticker: str, end: date) -> pd.DataFrame:
    if ticker not in frame.columns.get_level_values(0) or "Close" not in frame[ticker]:
        return pd.DataFrame()
    own = frame[ticker].dropna(subset=["Close"])
    ratio = own["Stock Splits"].where(own["Stock Splits"] > 0, 1.0) if "Stock Splits" in own else 1.0 + 0 * own["Close"]
    own = own.assign(splits_after=ratio[::-1].cumprod()[::-1] / ratio).rename(columns=_COLUMNS)
    own.insert(0, "date", own.index.tz_localize(None).normalize())
    own.insert(0, "ticker", ticker)
    columns = ["ticker", "date", *_COLUMNS.values(), "splits_after"]
    return own.loc[own["date"] <= pd.Timestamp(end), columns].reset_index(drop=True)


def _fetch_reports(
    done: Fetched, folder: Path, tickers: Sequence[str], reports_of: Callable[[str], dict[str, Any]], pause: float
) -> None:
    for i, ticker in enumerate(tqdm(tickers, desc="Earnings", unit="ticker", disable=None)):
        time.sleep(pause if i else 0)
        try:
            answer = reports_of(ticker)
        except FetchError as error:
            done.failed["earnings"][ticker] = str(error)
            if isinstance(error, _LimitError):
                done.stopped.append(f"{error} {len(tickers) - i} tickers are left. Run the command again tomorrow.")
                return
        else:
            # the source may spell the ticker in its own way
            content = json.dumps({**answer, "symbol": ticker}, indent=1)
            write_file(folder / "earnings" / f"{ticker}.json", content.encode())
            done.new["earnings"] += 1


@_retry
def _alpha_vantage(ticker: str, settings: Settings) -> dict[str, Any]:
    key = str(settings.alpha_vantage_key)
    query = {"function": "EARNINGS", "symbol": ticker, "apikey": key}
    text = _get(f"{settings.alpha_vantage}/query", "Alpha Vantage", query)
    try:
        answer = json.loads(text)
        refusal = next((answer[name] for name in ("Error Message", "Note", "Information") if name in answer), "")
    except (ValueError, TypeError):
        raise FetchError("Alpha Vantage: expected JSON, got something else.") from None
    refusal = str(refusal).replace(key, "(your key)")
    if re.search("per (minute|second)|sparingly", refusal):
        raise _BusyError(f"Alpha Vantage: {refusal}")
    if refusal and ("Error Message" not in answer or "apikey" in refusal):
        raise _LimitError(f"Alpha Vantage: {refusal}")
    if refusal or not answer.get("quarterlyEarnings"):
        raise FetchError(f"Alpha Vantage knows no earnings of {ticker}. {refusal}".strip())
    return dict(answer)


def _upstream(tickers: Sequence[str], settings: Settings) -> Callable[[str], dict[str, Any]]:
    paths = {ticker: f"data/eps_history/data-{ticker}.json" for ticker in tickers}
    pinned = {pin.path for pin in load_pins("dynostock").files}
    wanted = [path for path in paths.values() if path in pinned]
    files = locate("dynostock", wanted, source="upstream", settings=settings).files if wanted else {}

    def reports_of(ticker: str) -> dict[str, Any]:
        if paths[ticker] not in files:
            raise FetchError(f"the authors have no earnings of {ticker}")
        return dict(json.loads(files[paths[ticker]].read_text(encoding="utf-8")))

    return reports_of


def _get(url: str, what: str, query: dict[str, str] | None = None) -> str:
    """Return the text of a page; no message holds the query, which may hold a key, and no redirect is followed."""
    agent = {"User-Agent": f"fin-tasks/{fin_tasks.__version__}"}
    try:
        reply = requests.get(url, params=query, headers=agent, timeout=30, allow_redirects=False)
    except requests.RequestException as error:
        raise _BusyError(f"{what}: expected an answer from {url}, got {type(error).__name__}.") from None
    if reply.status_code != 200:
        kind = _BusyError if reply.status_code in (408, 429, 500, 502, 503, 504) else FetchError
        raise kind(f"{what}: expected an answer from {url}, got status {reply.status_code}.")
    return reply.text

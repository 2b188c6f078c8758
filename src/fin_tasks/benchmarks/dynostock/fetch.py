"""Fill a folder with prices of Yahoo and earnings reports of Alpha Vantage or the authors; existing files are kept."""

import json
import re
import time
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import requests
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_exponential
from tqdm import tqdm

from fin_tasks.data.files import write_file
from fin_tasks.data.locate import locate
from fin_tasks.data.pins import load_pins
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.settings import Settings

_BATCH = 25  # tickers that Yahoo is asked about at once
_PAUSE = 1.2  # seconds between requests; Alpha Vantage's free plan allows one a second
_REPORTS = re.compile(r"data/eps_history/data-(.+)\.json")
_COLUMNS = {
    name: name.lower().replace(" ", "_")
    for name in ("Open", "High", "Low", "Close", "Volume", "Adj Close")
}


class _LimitError(FetchError): ...  # the source answers no more for now


def recorded_tickers() -> list[str]:
    """Return the companies of the S&P 500 whose earnings the authors' repository holds."""
    return [
        match[1] for pin in load_pins("dynostock").files if (match := _REPORTS.fullmatch(pin.path))
    ]


def fetch_market(
    folder: Path,
    tickers: Sequence[str],
    *,
    start: date,
    end: date | None = None,
    earnings: str | None = None,
    settings: Settings,
) -> list[str]:
    """Fetch the files that the folder lacks; return a sentence for each ticker that failed and source that stopped.

    The last day is by default that of the folder, or yesterday for a new one. `earnings` is `alpha-vantage` (the
    default if there is a key) or `upstream`.
    """
    if settings.offline:
        raise FetchError(
            "market data: downloads are switched off. Unset FIN_TASKS_OFFLINE and HF_HUB_OFFLINE."
        )
    source = earnings or ("alpha-vantage" if settings.alpha_vantage_key else "upstream")
    if source != "upstream" and not settings.alpha_vantage_key:
        raise ConfigError(
            "earnings: expected ALPHAVANTAGE_API_KEY, a key of https://www.alphavantage.co, got none."
        )
    manifest, prices, reports = folder / "manifest.json", folder / "prices", folder / "earnings"
    before = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    yesterday = datetime.now(timezone.utc).date() - timedelta(
        days=1
    )  # a price of today is not final
    end = end or date.fromisoformat(before.get("end", f"{yesterday}"))
    if start > end:
        raise ConfigError(f"market data: expected --start before --end, got {start} and {end}.")
    named = source if source == "alpha-vantage" else f"upstream@{load_pins('dynostock').revision}"
    plan = {
        "prices": "yahoo",
        "earnings": named,
        "start": f"{start}",
        "end": f"{end}",
        "basis": "split-adjusted",
    }
    if before not in ({}, plan):
        raise ConfigError(
            f"{folder}: expected a folder fetched with {plan}, got {before}. Choose another with --out."
        )
    write_file(manifest, json.dumps(plan, indent=1).encode())
    missing = [name for name in tickers if not (prices / f"{name}.parquet").is_file()]
    problems = _fetch_prices(prices, missing, start, end)
    priced = [name for name in tickers if (prices / f"{name}.parquet").is_file()]
    missing = [name for name in priced if not (reports / f"{name}.json").is_file()]
    return problems + _fetch_reports(reports, missing, source, settings)


def _fetch_prices(folder: Path, tickers: Sequence[str], start: date, end: date) -> list[str]:
    problems: list[str] = []
    for first in tqdm(range(0, len(tickers), _BATCH), desc="Prices", unit="batch", disable=None):
        batch = tickers[first : first + _BATCH]
        frame = _download(batch, start)
        tables = {ticker: _prices_of(frame, ticker, end) for ticker in batch}
        for ticker, table in tables.items():
            if len(table):
                write_file(folder / f"{ticker}.parquet", table.to_parquet(index=False))
            else:
                problems.append(f"{ticker}: Yahoo gave no prices. Is it listed under this name?")
        if not any(map(len, tables.values())):
            return [
                *problems,
                f"Yahoo gave none of {len(batch)} tickers. Run the same command again in an hour.",
            ]
    return problems


def _download(tickers: Sequence[str], start: date) -> pd.DataFrame:
    """Return yfinance's table from `start` until today, since today's prices hold all later splits."""
    try:
        import yfinance

        yfinance.config.network.retries = 3
        options = {"auto_adjust": False, "actions": True, "group_by": "ticker", "progress": False}
        return yfinance.download(list(tickers), start=f"{start}", **options)
    except ImportError as error:
        raise ConfigError(
            "prices: expected yfinance, found none. Run `pip install 'fin-tasks[market]'`."
        ) from error
    except Exception as error:  # yfinance raises whatever its libraries do
        raise FetchError(
            f"Yahoo: expected prices, but yfinance failed ({error}). Run the command again."
        ) from error


def _prices_of(frame: pd.DataFrame, ticker: str, end: date) -> pd.DataFrame:
    own = frame.get(ticker, pd.DataFrame(columns=["Close"])).dropna(subset=["Close"])
    if own.empty:
        return own
    ratio = own["Stock Splits"].where(own["Stock Splits"] > 0, 1.0)
    days = own.index.tz_localize(None).normalize()
    table = own.assign(ticker=ticker, date=days, splits_after=ratio[::-1].cumprod()[::-1] / ratio)
    table = table.rename(columns=_COLUMNS)[["ticker", "date", *_COLUMNS.values(), "splits_after"]]
    return table[days <= pd.Timestamp(end)].reset_index(drop=True)


def _fetch_reports(
    folder: Path, tickers: Sequence[str], source: str, settings: Settings
) -> list[str]:
    problems: list[str] = []
    names = {
        ticker: f"data/eps_history/data-{ticker}.json" for ticker in tickers if source == "upstream"
    }
    pinned = [pin.path for pin in load_pins("dynostock").files if pin.path in names.values()]
    files = locate("dynostock", pinned, source="upstream", settings=settings).files
    for i, ticker in enumerate(tqdm(tickers, desc="Earnings", unit="ticker", disable=None)):
        try:
            if source == "alpha-vantage":
                time.sleep(_PAUSE if i else 0)
                answer = _alpha_vantage(ticker, settings)
            elif names[ticker] in files:
                answer = json.loads(files[names[ticker]].read_text(encoding="utf-8"))
            else:
                raise FetchError(f"the authors have no earnings of {ticker}")
        except _LimitError as error:
            return [
                *problems,
                f"{error} {len(tickers) - i} tickers are left. Run the command again later.",
            ]
        except FetchError as error:
            problems.append(f"{ticker}: {error}")
        else:  # the source may spell the ticker in its own way
            write_file(
                folder / f"{ticker}.json",
                json.dumps({**answer, "symbol": ticker}, indent=1).encode(),
            )
    return problems


def _alpha_vantage(ticker: str, settings: Settings) -> dict[str, Any]:
    key, address = str(settings.alpha_vantage_key), f"{settings.alpha_vantage}/query"
    try:
        answer: dict[str, Any] = _ask(
            address, {"function": "EARNINGS", "symbol": ticker, "apikey": key}
        )
    except requests.RequestException as error:  # its text may hold the query with the key
        raise _LimitError(
            f"Alpha Vantage: expected JSON from {address}, got {type(error).__name__}."
        ) from None
    refusal = " ".join(
        str(answer.get(name, "")) for name in ("Error Message", "Note", "Information")
    ).strip()
    refusal = refusal.replace(key, "(your key)")
    if refusal and ("Error Message" not in answer or "apikey" in refusal):
        raise _LimitError(f"Alpha Vantage: {refusal}")
    if refusal or not answer.get("quarterlyEarnings"):
        raise FetchError(f"Alpha Vantage knows no earnings of {ticker}. {refusal}".strip())
    return answer


@retry(
    retry=retry_if_exception_type(requests.RequestException),
    stop=stop_after_attempt(5),
    wait=wait_exponential(5, 60),
    reraise=True,
)
def _ask(address: str, query: dict[str, str]) -> Any:
    reply = requests.get(
        address, query, headers={"User-Agent": "fin-tasks"}, timeout=30, allow_redirects=False
    )
    reply.raise_for_status()
    return reply.json()

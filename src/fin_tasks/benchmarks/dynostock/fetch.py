"""Fill a folder with prices and earnings reports; files that are there are kept."""

import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tqdm import tqdm

from fin_tasks.benchmarks.dynostock import alpha_vantage, yahoo
from fin_tasks.data.files import write_file
from fin_tasks.data.locate import locate
from fin_tasks.data.pins import load_pins
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.settings import Settings

BATCH = 25
"""Number of tickers that Yahoo is asked about at once."""
PAUSE = 1.2
"""Seconds between requests to Alpha Vantage, whose free plan allows one a second."""

_REPORTS = re.compile(r"data/eps_history/data-(.+)\.json")


def recorded_tickers() -> list[str]:
    """Return the companies of the S&P 500 whose earnings the authors' repository holds."""
    matches = [_REPORTS.fullmatch(pin.path) for pin in load_pins("dynostock").files]
    return [match[1] for match in matches if match]


def fetch_market(
    folder: Path,
    tickers: Sequence[str],
    *,
    start: date,
    end: date | None = None,
    earnings: str | None = None,
    settings: Settings,
) -> list[str]:
    """Fetch the files that the folder lacks.

    Args:
        folder: A new folder, or one that was fetched with the same options.
        tickers: Names of the stocks.
        start: First day of prices.
        end: Last day, by default that of the folder, or yesterday for a new one.
        earnings: `alpha-vantage` (the default if there is a key) or `upstream`.
        settings: Key and addresses.

    Returns:
        A sentence for each ticker that failed and each source that stopped.
    """
    if settings.offline:
        remedy = "Unset FIN_TASKS_OFFLINE and HF_HUB_OFFLINE."
        raise FetchError(f"market data: downloads are switched off. {remedy}")
    source = earnings or ("alpha-vantage" if settings.alpha_vantage_key else "upstream")
    if source == "alpha-vantage" and not settings.alpha_vantage_key:
        expected = "ALPHAVANTAGE_API_KEY, a key of https://www.alphavantage.co"
        raise ConfigError(f"earnings: expected {expected}, got none.")
    last = _agree_with_folder(
        folder,
        source,
        start,
        end,
    )
    prices = folder / "prices"
    reports = folder / "earnings"
    unpriced = [ticker for ticker in tickers if not _price_file(prices, ticker).is_file()]
    problems = _fetch_prices(
        prices,
        unpriced,
        start,
        last,
    )
    priced = [ticker for ticker in tickers if _price_file(prices, ticker).is_file()]
    unreported = [ticker for ticker in priced if not _report_file(reports, ticker).is_file()]
    if source == "alpha-vantage":
        problems += _fetch_reports(reports, unreported, settings)
    else:
        problems += _copy_reports(reports, unreported, settings)
    return problems


def _agree_with_folder(
    folder: Path,
    source: str,
    start: date,
    end: date | None,
) -> date:
    """Write the folder's manifest, or check that it is the same; return the last day of prices."""
    manifest = folder / "manifest.json"
    before: dict[str, str] = {}
    if manifest.is_file():
        before = json.loads(manifest.read_text(encoding="utf-8"))
    if end is None:
        # A price of today is not final.
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        end = date.fromisoformat(before.get("end", f"{yesterday}"))
    if start > end:
        raise ConfigError(f"market data: expected --start before --end, got {start} and {end}.")
    if source == "upstream":
        source = f"upstream@{load_pins('dynostock').revision}"
    plan = {
        "prices": "yahoo",
        "earnings": source,
        "start": f"{start}",
        "end": f"{end}",
        "basis": "split-adjusted",
    }
    if before not in ({}, plan):
        problem = f"expected a folder fetched with {plan}, got {before}"
        raise ConfigError(f"{folder}: {problem}. Choose another with --out.")
    write_file(manifest, json.dumps(plan, indent=1).encode())
    return end


def _price_file(folder: Path, ticker: str) -> Path:
    return folder / f"{ticker}.parquet"


def _report_file(folder: Path, ticker: str) -> Path:
    return folder / f"{ticker}.json"


def _fetch_prices(
    folder: Path,
    tickers: Sequence[str],
    start: date,
    end: date,
) -> list[str]:
    problems: list[str] = []
    beginnings = range(0, len(tickers), BATCH)
    for beginning in tqdm(
        beginnings,
        desc="Prices",
        unit="batch",
        disable=None,
    ):
        batch = tickers[beginning : beginning + BATCH]
        yahoo.check_connection()
        tables = yahoo.download(batch, start, end)
        unknown = [ticker for ticker in batch if tables[ticker].empty]
        if len(unknown) == len(batch):
            remedy = "Run the same command again in an hour."
            return [*problems, f"Yahoo gave none of {len(batch)} tickers. {remedy}"]
        for ticker in unknown:
            problems.append(f"{ticker}: Yahoo gave no prices. Is it listed under this name?")
        for ticker, table in tables.items():
            if not table.empty:
                write_file(_price_file(folder, ticker), table.to_parquet(index=False))
    return problems


def _fetch_reports(folder: Path, tickers: Sequence[str], settings: Settings) -> list[str]:
    from fin_tasks.web import Web

    problems: list[str] = []
    with Web() as web:
        for number, ticker in enumerate(_with_progress(tickers)):
            time.sleep(PAUSE if number else 0)
            try:
                answer = alpha_vantage.earnings_of(ticker, web, settings)
            except alpha_vantage.LimitError as error:
                n_left = len(tickers) - number
                remedy = f"{n_left} tickers are left. Run the command again later."
                return [*problems, f"{error} {remedy}"]
            except FetchError as error:
                problems.append(f"{ticker}: {error}")
            else:
                _write_report(folder, ticker, answer)
    return problems


def _copy_reports(folder: Path, tickers: Sequence[str], settings: Settings) -> list[str]:
    """Take reports from the authors' repository."""
    name_by_ticker = {ticker: f"data/eps_history/data-{ticker}.json" for ticker in tickers}
    published = {pin.path for pin in load_pins("dynostock").files}
    names = [name for name in name_by_ticker.values() if name in published]
    files = locate(
        "dynostock",
        names,
        source="upstream",
        settings=settings,
    ).files
    problems = []
    for ticker in _with_progress(tickers):
        file = files.get(name_by_ticker[ticker])
        if file is None:
            problems.append(f"{ticker}: the authors have no earnings of {ticker}")
        else:
            answer = json.loads(file.read_text(encoding="utf-8"))
            _write_report(folder, ticker, answer)
    return problems


def _with_progress(tickers: Sequence[str]) -> "tqdm[str]":
    return tqdm(
        tickers,
        desc="Earnings",
        unit="ticker",
        disable=None,
    )


def _write_report(folder: Path, ticker: str, answer: dict[str, Any]) -> None:
    # The source may spell the ticker in its own way.
    report = {**answer, "symbol": ticker}
    write_file(_report_file(folder, ticker), json.dumps(report, indent=1).encode())

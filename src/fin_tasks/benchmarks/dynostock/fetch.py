"""Fill a folder with prices and earnings reports; files that are there are kept."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from tqdm import tqdm

from fin_tasks.data.locate import load_pins, locate, write_file
from fin_tasks.errors import ConfigError, FetchError
from fin_tasks.settings import Settings

from . import sources

BATCH_SIZE = 25
"""Number of tickers that Yahoo is asked about at once."""

# A ticker becomes the name of a file.
_TICKER = re.compile(r"[\w^][\w.^=&-]{0,30}", re.ASCII)
_REPORTS = "data/eps_history/data-{}.json"


def recorded_tickers() -> list[str]:
    """Return the companies of the S&P 500 whose earnings the authors' repository holds."""
    paths = [Path(pin.path) for pin in load_pins("dynostock").files]
    reports = [path for path in paths if path.match(_REPORTS.format("*"))]
    return [path.stem.removeprefix("data-") for path in reports]


def fetch_market(
    folder: Path,
    tickers: Sequence[str],
    *,
    start: date,
    end: date | None = None,
    earnings: str | None = None,
    settings: Settings,
) -> list[str]:
    """Fetch the files of prices and earnings that the folder lacks.

    Args:
        folder: A new folder, or one that was fetched with the same options.
        tickers: Names of the stocks.
        start: First day of prices.
        end: Last day, by default that of the folder, or yesterday for a new one.
        earnings: `alpha-vantage` (the default if there is a key), `yahoo` or `upstream`.
        settings: Key and addresses.

    Returns:
        A sentence for each ticker that failed and each source that stopped.
    """
    if settings.offline:
        raise FetchError(
            "market data: downloads are switched off. Unset FIN_TASKS_OFFLINE and HF_HUB_OFFLINE."
        )
    source = earnings or ("alpha-vantage" if settings.alpha_vantage_key else "upstream")
    if source == "alpha-vantage" and not settings.alpha_vantage_key:
        raise ConfigError(
            "earnings: expected ALPHAVANTAGE_API_KEY, a key of https://www.alphavantage.co, got none."
        )
    problems = []
    for name in tickers:
        if not _TICKER.fullmatch(name):
            problems.append(f"{name!r:.40}: expected a ticker, such as BRK-B.")
    tickers = [name for name in tickers if _TICKER.fullmatch(name)]
    last = _agree_with_folder(folder, source, start, end)
    unpriced = _missing(folder / "prices", tickers, ".parquet")
    problems += _fetch_prices(folder / "prices", unpriced, start, last)
    still_unpriced = _missing(folder / "prices", tickers, ".parquet")
    priced = [ticker for ticker in tickers if ticker not in still_unpriced]
    unreported = _missing(folder / "earnings", priced, ".json")
    reports_of: Callable[[str], dict[str, Any]]
    if source == "upstream":
        names = [_REPORTS.format(ticker) for ticker in unreported]
        files = locate(
            "dynostock", names, source=source, settings=settings, optional=True
        ).files
        reports_of = partial(_published_reports_of, files=files)
        return problems + _fetch_reports(folder / "earnings", unreported, reports_of)
    if source == "yahoo":
        reports_of = sources.yahoo_earnings_of
        return problems + _fetch_reports(folder / "earnings", unreported, reports_of)
    with httpx2.Client(timeout=sources.ALPHA_VANTAGE_SECONDS) as client:
        reports_of = partial(sources.earnings_of, client=client, settings=settings)
        return problems + _fetch_reports(folder / "earnings", unreported, reports_of)


def _agree_with_folder(
    folder: Path,
    source: str,
    start: date,
    end: date | None,
) -> date:
    """Write the manifest of a new folder, or check that an old one is the same; return the last day of prices."""
    manifest = folder / "manifest.json"
    old_plan = {}
    if manifest.is_file():
        old_plan = json.loads(manifest.read_bytes())
    if end is None:
        # Today's prices are not final.
        yesterday = datetime.now(UTC).date() - timedelta(days=1)
        end = date.fromisoformat(old_plan.get("end", f"{yesterday}"))
    if source == "upstream":
        source = f"upstream@{load_pins('dynostock').revision}"
    plan = {
        "prices": "yahoo",
        "earnings": source,
        "start": f"{start}",
        "end": f"{end}",
        "basis": "split-adjusted",
    }
    if old_plan not in ({}, plan):
        raise ConfigError(
            f"{folder}: expected a folder fetched with {plan}, got {old_plan}. "
            "Choose another with --out."
        )
    write_file(manifest, json.dumps(plan, indent=1).encode())
    return end


def _missing(
    folder: Path,
    tickers: Sequence[str],
    ending: str,
) -> list[str]:
    return [
        ticker for ticker in tickers if not (folder / f"{ticker}{ending}").is_file()
    ]


def _fetch_prices(
    folder: Path,
    tickers: Sequence[str],
    start: date,
    end: date,
) -> list[str]:
    problems: list[str] = []
    starts = range(0, len(tickers), BATCH_SIZE)
    for first in tqdm(
        starts,
        "Prices",
        unit="batch",
        disable=None,
    ):
        batch = tickers[first : first + BATCH_SIZE]
        sources.check_yahoo()
        tables = sources.prices_of(batch, start, end)
        if not tables:
            return [
                *problems,
                f"Yahoo gave none of {len(batch)} tickers. Try again in an hour.",
            ]
        for ticker in batch:
            if ticker in tables:
                content = tables[ticker].to_parquet(index=False)
                write_file(folder / f"{ticker}.parquet", content)
            else:
                problems.append(f"{ticker}: Yahoo gave no prices. Is it its name?")
    return problems


def _fetch_reports(
    folder: Path,
    tickers: Sequence[str],
    reports_of: Callable[[str], dict[str, Any]],
) -> list[str]:
    problems: list[str] = []
    for ticker in tqdm(
        tickers,
        "Earnings",
        unit="ticker",
        disable=None,
    ):
        try:
            # The source may spell the ticker in its own way.
            answer = {**reports_of(ticker), "symbol": ticker}
        except sources.LimitError as error:
            return [*problems, f"{ticker}: {error} Run the command again later."]
        except FetchError as error:
            problems.append(f"{ticker}: {error}")
        else:
            write_file(folder / f"{ticker}.json", json.dumps(answer, indent=1).encode())
    return problems


def _published_reports_of(ticker: str, files: Mapping[str, Path]) -> dict[str, Any]:
    file = files.get(_REPORTS.format(ticker))
    if file is None:
        raise FetchError(f"the authors have no earnings of {ticker}")
    return dict(json.loads(file.read_bytes()))

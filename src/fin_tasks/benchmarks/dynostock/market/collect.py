"""Fill a folder with prices and earnings reports, ticker by ticker, going on where an earlier run stopped."""

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import Any, Protocol

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.fetched import FetchedFolder, Part
from fin_tasks.benchmarks.dynostock.market.patience import LimitError
from fin_tasks.benchmarks.dynostock.market.yahoo import Refusal
from fin_tasks.errors import ConfigError, FetchError

__all__ = ["Failure", "Plan", "PriceSource", "ReportSource", "Summary", "collect"]

_PACKAGES = ("fin-tasks", "yfinance", "pandas", "pyarrow", "numpy")


class PriceSource(Protocol):
    """Where daily prices come from."""

    @property
    def name(self) -> str:
        """For the manifest."""

    def prices(self, tickers: Sequence[str], start: date, end: date) -> Mapping[str, pd.DataFrame | Refusal]:
        """Return a table or a reason for every ticker."""


class ReportSource(Protocol):
    """Where earnings reports come from."""

    @property
    def name(self) -> str:
        """For the manifest."""

    def reports(self, ticker: str) -> pd.DataFrame:
        """Return a table, or raise `FetchError`; `LimitError` where no other ticker would come either."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to fetch.

    Attributes:
        tickers: Each once.
        start: First day of prices.
        end: Last day of prices.
        constituents: Where the tickers come from, for the manifest.
        batch: Tickers per request for prices.
    """

    tickers: tuple[str, ...]
    start: date
    end: date
    constituents: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 25

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise ConfigError(f"fetch: expected --start before --end, got {self.start} and {self.end}.")
        if not self.tickers:
            raise ConfigError("fetch: expected at least one ticker, got none.")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A ticker's part that did not come, and why."""

    ticker: str
    part: Part
    reason: str


@dataclass(kw_only=True)
class Summary:
    """What a run did.

    Attributes:
        fetched: Tables that came, by part.
        kept: Tables that were there already, by part.
        failures: What was tried and did not come.
        left: Tickers that were not tried, by part, because a limit was reached.
        stopped: What limit that was, one reason per part that stopped.
    """

    fetched: dict[Part, int] = field(default_factory=lambda: {"prices": 0, "earnings": 0})
    kept: dict[Part, int] = field(default_factory=lambda: {"prices": 0, "earnings": 0})
    failures: list[Failure] = field(default_factory=list)
    left: dict[Part, list[str]] = field(default_factory=lambda: {"prices": [], "earnings": []})
    stopped: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return not self.failures and not any(self.left.values())


def collect(
    plan: Plan,
    folder: FetchedFolder,
    *,
    prices: PriceSource,
    reports: ReportSource,
    on_done: Callable[[Part, int], None] = lambda part, done: None,
) -> Summary:
    """Fetch what the folder lacks of a plan.

    A ticker's prices are there when the last try brought them from this source over at least the plan's range; a grown
    range is fetched whole, as splits rescale the past. Its reports are there when they came from this source and,
    unless the source never changes, no earlier than the plan's last day. What was never tried comes first, what failed
    the last time comes last. Reports are fetched for tickers that have prices.

    Args:
        plan: What to fetch.
        folder: Where to.
        prices: Source of prices.
        reports: Source of reports.
        on_done: Told, after each ticker, how many of a part are settled.

    Raises:
        FetchError: Another run is filling the folder.
        DataError: The folder cannot be written.
    """
    summary = Summary()
    with folder.locked():
        folder.save(
            source={"prices": prices.name, "earnings": reports.name},
            start=plan.start.isoformat(),
            end=plan.end.isoformat(),
            updated=_now(),
            packages=_versions(),
            constituents=dict(plan.constituents),
        )
        _collect_prices(plan, folder, prices, summary, on_done)
        _collect_reports(plan, folder, reports, summary, on_done)
        folder.save(updated=_now())
    return summary


def _collect_prices(
    plan: Plan, folder: FetchedFolder, source: PriceSource, summary: Summary, on_done: Callable[[Part, int], None]
) -> None:
    missing = [ticker for ticker in plan.tickers if not _has_prices(folder, ticker, plan, source.name)]
    settled = summary.kept["prices"] = len(plan.tickers) - len(missing)
    on_done("prices", settled)
    for start, end, tickers in _batches(plan, folder, missing):
        if summary.stopped:
            summary.left["prices"] += tickers
            continue
        for ticker, answer in source.prices(tickers, start, end).items():
            if isinstance(answer, Refusal):
                folder.fail("prices", ticker, answer.reason, tried=_now())
                summary.failures.append(Failure(ticker=ticker, part="prices", reason=answer.reason))
                if answer.limited and not summary.stopped:
                    summary.stopped.append(f"{source.name}: {answer.reason}")
            else:
                asked = {"source": source.name, "start": start.isoformat(), "end": end.isoformat()}
                days = {"first": f"{answer['date'].min():%Y-%m-%d}", "last": f"{answer['date'].max():%Y-%m-%d}"}
                folder.store("prices", ticker, answer, {**asked, **days, "retrieved": _now()})
                summary.fetched["prices"] += 1
            settled += 1
            on_done("prices", settled)


def _collect_reports(
    plan: Plan, folder: FetchedFolder, source: ReportSource, summary: Summary, on_done: Callable[[Part, int], None]
) -> None:
    wanted = [ticker for ticker in plan.tickers if folder.file("prices", ticker).is_file()]
    missing = [ticker for ticker in wanted if not _has_reports(folder, ticker, plan, source.name)]
    settled = summary.kept["earnings"] = len(wanted) - len(missing)
    on_done("earnings", settled)
    ordered = _new_first(folder, "earnings", missing)
    for i, ticker in enumerate(ordered):
        try:
            table = source.reports(ticker)
        except LimitError as error:
            summary.stopped.append(str(error))
            summary.left["earnings"] = ordered[i:]
            return
        except FetchError as error:
            folder.fail("earnings", ticker, str(error), tried=_now())
            summary.failures.append(Failure(ticker=ticker, part="earnings", reason=str(error)))
        else:
            folder.store("earnings", ticker, table, {"source": source.name, "retrieved": _now()})
            summary.fetched["earnings"] += 1
        settled += 1
        on_done("earnings", settled)


def _has_prices(folder: FetchedFolder, ticker: str, plan: Plan, source: str) -> bool:
    entry = folder.entry("prices", ticker)
    return (
        entry.get("source") == source
        and entry["start"] <= plan.start.isoformat()
        and entry["end"] >= plan.end.isoformat()
        and folder.has("prices", ticker)
    )


def _has_reports(folder: FetchedFolder, ticker: str, plan: Plan, source: str) -> bool:
    entry = folder.entry("earnings", ticker)
    # a source named with its revision never changes
    recent = "@" in source or str(entry.get("retrieved", ""))[:10] >= plan.end.isoformat()
    return entry.get("source") == source and recent and folder.has("earnings", ticker)


def _batches(plan: Plan, folder: FetchedFolder, missing: list[str]) -> Iterator[tuple[date, date, list[str]]]:
    """Tickers to ask for together: of one exchange, so that no other exchange's holidays look like missing days.

    A range that was fetched before never shrinks.
    """
    groups: dict[tuple[date, date, str], list[str]] = {}
    for ticker in _new_first(folder, "prices", missing):
        entry = folder.entry("prices", ticker)
        start = min(plan.start, date.fromisoformat(entry["start"])) if "start" in entry else plan.start
        end = max(plan.end, date.fromisoformat(entry["end"])) if "end" in entry else plan.end
        exchange = ticker.partition(".")[2]
        groups.setdefault((start, end, exchange), []).append(ticker)
    for (start, end, _), tickers in groups.items():
        for i in range(0, len(tickers), plan.batch):
            yield start, end, tickers[i : i + plan.batch]


def _new_first(folder: FetchedFolder, part: Part, tickers: list[str]) -> list[str]:
    """Never tried, then out of date, then failed: what fails every time must not use up what a day grants.

    Of the failed ones the longest ago comes first.
    """

    def turn(ticker: str) -> tuple[int, str]:
        entry = folder.entry(part, ticker)
        return (2, str(entry.get("tried"))) if entry.get("state") == "failed" else (int(bool(entry)), "")

    return sorted(tickers, key=turn)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions

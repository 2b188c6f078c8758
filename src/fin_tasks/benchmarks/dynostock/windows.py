"""Find the windows whose past could mislead a forecaster, in all tickers at once.

The rules are those of Xiao, Lin and Chiu (2024), section 3; docs/windows.md has them in full. Arrays of days count from
1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.runs import AFTER, Prices, Reports, Runs, day_numbers
from fin_tasks.benchmarks.dynostock.wording import AUTHORITIES
from fin_tasks.errors import ConfigError, DataError

__all__ = [
    *("BIASES", "REASONS", "SHARE", "WINDOWS", "WINDOW_COLUMNS", "BiasType", "Count", "Found", "Window"),
    "authority_of",
    *("find_windows", "frame_of", "past_movements", "plain_window", "shown_prices"),
    *("strict_timing", "table_of", "typed", "window_id", "windows_of"),
]

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
SHARE = Fraction(4, 5)
"""Minimum share of past reports that moved the same way, as in the paper."""
REASONS: Mapping[str, str] = {
    "unknown-surprise": "a report's surprise is not known",
    "missing-prices": "a trading day has no candle of this ticker",
    "reports-too-close": "the newest report has another one on its day or less than 8 days before it",
    "unknown-movement": "there is no close on one side of a report",
    "truth-pending": "the prices end less than 8 days after the newest report",
}
"""Why a window is dropped, in the order of the checks."""

_FATES = ("found", "unbiased", *REASONS)
_LARGEST = 400  # reports: a century

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Window:
    """A window over one ticker's history up to an earnings report; movements are 1 (up) and 0 (down).

    Attributes:
        window: Number of reports.
        start: First day shown, 30 days before the oldest report.
        end: Last day shown, the day of the newest report.
        signal: Movement that the biased statement suggests; None for plain windows.
        truth: Movement after the newest report; None if not known yet (plain windows only).
        outcome: `Meet` or `Miss`, of the newest report, as are fiscal_end, eps (dollars per share) and what follows.
        n_same: Older reports with the same outcome; for authority without those of a draw.
        n_contrary: Those of `n_same` that moved contrary to the signal; for plain windows those that moved up.
        authority: Name of the figure that makes the statement, for authority windows.
    """

    id: str
    bias_type: BiasType
    window: int
    ticker: str
    start: date
    end: date
    signal: int | None
    truth: int | None
    outcome: Literal["Meet", "Miss"]
    n_same: int
    n_contrary: int
    fiscal_end: date
    eps: float
    estimate: float
    surprise: float
    surprise_percentage: float
    authority: str = ""


WINDOW_COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(Window))
_DATES, _MOVES = ("start", "end", "fiscal_end"), ("signal", "truth")
_FIGURES = ("ticker", "fiscal_end", "eps", "estimate", "surprise", "surprise_percentage")


@dataclass(frozen=True)
class Count:
    """What became of the candidates of one bias and size: `found` + `unbiased` + those dropped, by reason."""

    bias_type: str
    window: int
    candidates: int
    found: int
    unbiased: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Found:
    """A table of windows (`WINDOW_COLUMNS`) by bias, size, ticker and end, and counts by bias and size."""

    table: pd.DataFrame
    counts: tuple[Count, ...] = ()


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Set the column order and types of a table of windows."""
    types: dict[str, Any] = dict.fromkeys(WINDOW_COLUMNS, "float64")
    types |= dict.fromkeys(("id", "bias_type", "ticker", "outcome", "authority"), object)
    types |= dict.fromkeys(("window", "n_same", "n_contrary"), "int64")
    types |= dict.fromkeys(_DATES, "datetime64[ns]") | dict.fromkeys(_MOVES, "Int8")
    return table[list(WINDOW_COLUMNS)].astype(types).reset_index(drop=True)


def frame_of(windows: Iterable[Window]) -> pd.DataFrame:
    """Put windows into a table, in their order."""
    rows = [[getattr(window, name) for name in WINDOW_COLUMNS] for window in windows]
    return typed(pd.DataFrame(rows, columns=list(WINDOW_COLUMNS), dtype=object))


def windows_of(table: pd.DataFrame) -> list[Window]:
    """Read a table of windows back, in its order."""
    columns: dict[str, list[Any]] = {name: table[name].tolist() for name in WINDOW_COLUMNS}
    columns |= {name: [stamp.date() for stamp in columns[name]] for name in _DATES}
    columns |= {name: [None if pd.isna(value) else int(value) for value in columns[name]] for name in _MOVES}
    return [Window(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def window_id(bias: str, size: int, ticker: str, end: str) -> str:
    """Name a window by its bias, size, ticker and last day, as `recency-w04-IBM-2010-04-19`."""
    return f"{bias}-w{size:02d}-{ticker}-{end}"


def find_windows(
    market: Market,
    *,
    biases: Iterable[str] = BIASES,
    windows: Iterable[int] = WINDOWS,
    seed: int = 42,
    share: Fraction = SHARE,
) -> Found:
    """Find every window of the given biases and sizes.

    Only tickers with prices and reports, and reports between the first and last trading day, count. `share` is above
    1/2. The seed and a window's id alone decide which authority makes its statement.
    """
    chosen, sizes = sorted(set(biases)), sorted(set(windows))
    if not chosen or not set(chosen) <= set(BIASES):
        raise ConfigError(f"biases: expected some of {', '.join(BIASES)}, got {', '.join(chosen) or 'none'}.")
    if not sizes or not 2 <= sizes[0] <= sizes[-1] <= _LARGEST:
        raise ConfigError(f"windows: expected sizes from 2 to {_LARGEST} reports, such as 4, got {sizes}.")
    if not Fraction(1, 2) < share <= 1:
        raise ConfigError(f"share: expected more than 0.5 and at most 1 (paper: 0.8), got {float(share)}.")
    reports = Reports(market)
    runs = {size: Runs(reports, size) for size in sizes}
    counts, parts = [], []
    for bias in chosen:
        for size, run in runs.items():
            lead = _recency(run, share) if bias == "recency" else _authority(run, share)
            fates = np.select([applies for _, applies in _drops(run, lead)], [fate for fate, _ in _drops(run, lead)], 0)
            numbers = np.bincount(fates, minlength=len(_FATES)).tolist()
            dropped = {reason: n for reason, n in zip(REASONS, numbers[2:], strict=True) if n}
            counts.append(Count(bias, size, len(fates), found=numbers[0], unbiased=numbers[1], dropped=dropped))
            part = pd.DataFrame({"row": run.rows[:, 0], "start": run.start, "signal": lead.signal, "truth": run.truth})
            part = part.assign(bias_type=bias, window=size, n_same=lead.n_same, n_contrary=lead.n_contrary)
            parts.append(part[fates == 0])
    return Found(table_of(reports, pd.concat(parts), seed), tuple(counts))


def plain_window(market: Market, ticker: str, start: date, end: date) -> Window:
    """Make a window of one's own, without a biased statement, about the 8 days after `end`.

    Its statistics use prices up to `end` only. The truth is None if the prices end less than 8 days after it.
    """
    if start > end:
        raise ConfigError(f"{ticker}: expected a start before the end, got {start} to {end}.")
    shown_prices(market, ticker, start, end)
    shown = market.reports_between(ticker, start, end)
    if shown.empty or np.isnan(shown["surprise"].iloc[-1]):
        year = timedelta(days=366)
        near = market.reports_between(ticker, start - year, end + year)["reported"]
        raise DataError(
            f"{ticker}: expected an earnings report with a known surprise as the newest one from {start} to {end}, got "
            f"none. Choose other days. Reports near: {', '.join(f'{day:%Y-%m-%d}' for day in near) or 'none'}."
        )
    prices = Prices(market)
    code = int(prices.tickers.get_loc(ticker))
    days = np.append(day_numbers(shown["reported"]), (end - date(1970, 1, 1)).days)
    moves = prices.movements(np.full(len(days), code), days)
    newest, is_meet = shown.iloc[-1], shown["surprise"].to_numpy() >= 0
    same = (is_meet == is_meet[-1]) & shown["surprise"].notna().to_numpy() & (moves[:-1] >= 0)
    same = (same & (days[:-1] <= days[-1] - AFTER))[:-1]
    figures: dict[str, Any] = {name: float(newest[name]) for name in _FIGURES[2:]}
    is_known = moves[-1] >= 0 and days[-1] + AFTER <= prices.calendar[-1]
    return Window(
        id=window_id("plain", len(shown), ticker, end.isoformat()),
        bias_type="plain",
        window=len(shown),
        ticker=ticker,
        start=start,
        end=end,
        signal=None,
        truth=int(moves[-1]) if is_known else None,
        outcome="Meet" if is_meet[-1] else "Miss",
        n_same=int(same.sum()),
        n_contrary=int((same & (moves[:-2] == 1)).sum()),
        fiscal_end=newest["fiscal_end"].date(),
        **figures,
    )


def shown_prices(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    """Return `Market.history`; an error says which prices there are if there is no close on these days."""
    prices = market.history(ticker, start, end)
    if prices["close"].notna().any():
        return prices
    days = market.prices.loc[market.prices["ticker"] == ticker, "date"]
    if days.empty:
        names = sorted(market.prices["ticker"].unique())
        some = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        raise DataError(f"ticker: expected one with prices, got {ticker!r}. There are {some or 'none at all'}.")
    first, last = days.min().date(), days.max().date()
    where = "none of these days has a price" if first <= end and start <= last else "found none"
    raise DataError(
        f"{ticker}: expected prices from {start} to {end}, {where}. There are prices from {first} to {last}. "
        "Choose other days or fetch them."
    )


def past_movements(market: Market, window: Window) -> list[tuple[date, int | None]]:
    """Return the days of the older reports with the newest one's outcome, and how the price moved after each."""
    older = market.reports_between(window.ticker, window.start, window.end).tail(window.window).iloc[:-1]
    same = older[(older["surprise"] >= 0) if window.outcome == "Meet" else (older["surprise"] < 0)]
    shown = market.history(window.ticker, window.start, window.end).reset_index().assign(ticker=window.ticker)
    moves = Prices(Market.of(shown, older)).movements(
        np.zeros(len(same), dtype=np.int64), day_numbers(same["reported"])
    )
    return [(day.date(), None if move < 0 else int(move)) for day, move in zip(same["reported"], moves, strict=True)]


def strict_timing(market: Market) -> Market:
    """Move reports before the opening bell to the day before, so that the reaction falls into the days after."""
    reports = market.reports
    if not len(reports) or (unknown := int(reports["report_time"].isna().sum())):
        raise ConfigError(
            f"timing strict: expected the time of day (report_time) of all {len(reports)} reports, got none of "
            f"{unknown if len(reports) else 0}. Use --timing paper, or data that name it, as Alpha Vantage's do."
        )
    early = reports["report_time"].str.lower().str.startswith("pre").to_numpy()
    days = reports["reported"] - pd.to_timedelta(early.astype(int), "D")
    return Market.of(market.prices, reports.assign(reported=days), facts=market.facts, defects=market.defects)


@dataclass(frozen=True, eq=False)
class _Lead:
    """Where the past of each run leads: whether the rule can hold by the outcomes alone, whether it does, and how."""

    is_candidate: _Bools
    is_biased: _Bools
    signal: npt.NDArray[np.int8]
    n_same: _Ints
    n_contrary: _Ints


def _drops(runs: Runs, lead: _Lead) -> list[tuple[int, _Bools]]:
    """Return places in `_FATES` and to which runs they apply; the first that applies counts."""
    unknown = (runs.past & (runs.past_moves < 0)).any(axis=1)
    fates = [*zip(REASONS, runs.flaws, strict=False), ("unbiased", ~lead.is_candidate)]
    fates += [("unknown-movement", unknown), ("unbiased", ~lead.is_biased), ("truth-pending", runs.is_pending)]
    return [(_FATES.index(fate), applies) for fate, applies in [*fates, ("unknown-movement", runs.truth < 0)]]


def _recency(runs: Runs, share: Fraction) -> _Lead:
    """The latest similar report moved one way, and most similar ones moved the other."""
    n_same = runs.past.sum(axis=1)
    latest = runs.past.argmax(axis=1)
    signal = np.take_along_axis(runs.past_moves, latest[:, None], axis=1)[:, 0]
    n_contrary = (runs.past & (runs.past_moves != signal[:, None])).sum(axis=1)
    is_biased = (n_same > 0) & _reaches(n_contrary, n_same, min(share, Fraction(runs.size - 2, runs.size - 1)))
    return _Lead(n_same > 0, is_biased, signal, n_same, n_contrary)


def _authority(runs: Runs, share: Fraction) -> _Lead:
    """Most older reports have the same outcome, most of those moved one way, and the authority says the other."""
    n_same = runs.past.sum(axis=1)
    ups = (runs.past & (runs.past_moves == 1)).sum(axis=1)
    downs = n_same - ups
    n_contrary, others = np.maximum(ups, downs), np.full_like(n_same, runs.size - 1)
    is_typical = _reaches(n_same, others, min(share, Fraction(runs.size - 2, runs.size - 1)))
    is_biased = is_typical & (ups != downs) & _reaches(n_contrary, n_same, share)
    return _Lead(is_typical, is_biased, (downs > ups).astype(np.int8), n_same, n_contrary)


def _reaches(part: _Ints, whole: _Ints, share: Fraction) -> _Bools:
    """Whether part / whole >= share, in whole numbers so that rounding cannot miss the threshold."""
    return np.asarray(share.denominator * part >= share.numerator * whole)


def table_of(reports: Reports, parts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Complete rows of windows, whose `row` is the newest report."""
    newest = reports.table.iloc[parts["row"].astype(int)].reset_index(drop=True)
    table = parts.reset_index(drop=True).assign(**{name: newest[name] for name in _FIGURES}, end=newest["reported"])
    places = zip(
        table["bias_type"], table["window"], table["ticker"], table["end"].dt.strftime("%Y-%m-%d"), strict=True
    )
    table["id"] = pd.Series([window_id(*place) for place in places], dtype=object)
    table["start"] = table["start"].to_numpy(dtype="int64").astype("datetime64[D]").astype("datetime64[ns]")
    table["outcome"] = np.where(table["surprise"].to_numpy(dtype="float64") >= 0, "Meet", "Miss")
    named = zip(table["id"], table["bias_type"] == "authority", strict=True)
    table["authority"] = pd.Series([authority_of(name, seed) if speaks else "" for name, speaks in named], dtype=object)
    return typed(table)


def authority_of(window: str, seed: int = 42) -> str:
    """Choose the authority of a window, given by its id, by a hash, so that the choice depends on no other window."""
    names, digest = list(AUTHORITIES), hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]

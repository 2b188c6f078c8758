"""Find the windows whose past could mislead a forecaster, in all tickers at once.

The rules are those of Xiao, Lin and Chiu (2024), section 3; docs/market.md has them in full. Arrays of days count from
1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.errors import ConfigError, DataError

__all__ = [
    "AFTER",
    "AUTHORITIES",
    "BIASES",
    "REASONS",
    "SHARE",
    "WINDOWS",
    "WINDOW_COLUMNS",
    "BiasType",
    "Found",
    "Reports",
]
__all__ += [
    "Runs",
    "Window",
    "find_windows",
    "frame_of",
    "own_window",
    "past_movements",
    "shown_prices",
    "strict_timing",
]
__all__ += ["table_of", "typed", "window_id", "windows_of"]

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
AUTHORITIES: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
)["authorities"]
"""Name of each figure of authority to its `role` and `standing`, in the authors' order."""
AFTER = 8
"""Days after a report whose mean close is compared with as many days up to it."""

_BEFORE = 30  # days shown before the oldest report
_STRIDE = 1 << 32  # more days than between any two dates of a ticker
_LARGEST = 400  # reports: a century
_EPOCH = date(1970, 1, 1)
_DATES, _MOVES = ("start", "end", "fiscal_end"), ("signal", "truth")
_FIGURES = ("ticker", "fiscal_end", "eps", "estimate", "surprise", "surprise_percentage")

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Window:
    """`window` reports of one ticker, from 30 days before the oldest (`start`) to the day of the newest (`end`).

    Movements are 1 (up) and 0 (down). `signal` is what the biased statement suggests, None for plain windows; `truth`
    what followed the newest report, None if not known yet. `outcome` and the figures (dollars per share, as in the
    files) are the newest report's. `n_same` older reports had its outcome, and after `n_contrary` of them the price
    moved contrary to the signal; in plain windows, up. `authority` makes the statement of an authority window.
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


@dataclass(frozen=True, eq=False)
class Found:
    """A table of windows (`WINDOW_COLUMNS`), and for each bias and size what became of its candidates.

    Counts are JSON values: bias_type, window, candidates, found, unbiased, and dropped by reason.
    """

    table: pd.DataFrame
    counts: tuple[dict[str, Any], ...] = ()


class Reports:
    """The reports that count, and the movements after them."""

    def __init__(self, market: Market) -> None:
        prices, table = _Prices(market), market.reports
        days = _day_numbers(table["reported"])
        first, last = (prices.calendar[0], prices.calendar[-1]) if len(prices.calendar) else (1, 0)
        counts = table["ticker"].isin(prices.tickers).to_numpy() & (days >= first) & (days <= last)
        self.table, self.day, self.last_day = table[counts].reset_index(drop=True), days[counts], last
        self.ticker = prices.tickers.get_indexer(self.table["ticker"]).astype(np.int64)
        self.is_known = self.table["surprise"].notna().to_numpy()
        self.is_meet = self.table["surprise"].to_numpy() >= 0
        self.movement = prices.movements(self.ticker, self.day)
        self.gaps_before = prices.gaps(self.ticker, self.day - _BEFORE - 1)
        self.gaps_until = prices.gaps(self.ticker, self.day)


class Runs:
    """Every run of `size` consecutive reports of one ticker, newest first: the candidates."""

    def __init__(self, reports: Reports, size: int) -> None:
        newest = np.arange(size - 1, len(reports.day))
        newest = newest[reports.ticker[newest] == reports.ticker[newest - size + 1]]
        self.size, self.newest, rows = size, newest, newest[:, None] - np.arange(size)
        oldest, end, is_meet = rows[:, -1], reports.day[newest], reports.is_meet[rows]
        self.start = reports.day[oldest] - _BEFORE
        self.past, self.past_moves = is_meet[:, 1:] == is_meet[:, :1], reports.movement[rows[:, 1:]]
        self.truth = reports.movement[newest]
        unknown = ~reports.is_known[rows].all(axis=1)
        lacks_prices = reports.gaps_until[newest] > reports.gaps_before[oldest]
        # the movement after a report this close would tell of days after the window's end
        twin = np.append((np.diff(reports.ticker) == 0) & (np.diff(reports.day) == 0), False)
        is_crowded = (end - reports.day[rows[:, 1]] < AFTER) | twin[newest]
        self.flaws = dict(zip(REASONS, (unknown, lacks_prices, is_crowded), strict=False))
        self.is_pending = end + AFTER > reports.last_day


def find_windows(
    market: Market,
    *,
    biases: Iterable[str] = BIASES,
    windows: Iterable[int] = WINDOWS,
    seed: int = 42,
    share: Fraction = SHARE,
) -> Found:
    """Find every window of the given biases and sizes, in order of bias, size, ticker and end.

    Only tickers with prices and reports, and reports between the first and last trading day, count. The seed and a
    window's id alone decide which authority makes its statement.
    """
    chosen, sizes = sorted(set(biases)), sorted(set(windows))
    if not chosen or not set(chosen) <= set(BIASES):
        raise ConfigError(f"biases: expected some of {', '.join(BIASES)}, got {', '.join(chosen) or 'none'}.")
    if not sizes or not 2 <= sizes[0] <= sizes[-1] <= _LARGEST or not Fraction(1, 2) < share <= 1:
        least = "and a share above 0.5 (paper: 0.8)"
        raise ConfigError(f"windows: expected sizes from 2 to {_LARGEST} {least}, got {sizes} and {float(share)}.")
    reports = Reports(market)
    runs = {size: Runs(reports, size) for size in sizes}
    counts, parts = [], []
    for bias in chosen:
        for size, run in runs.items():
            is_candidate, is_biased, lead = _lead(run, bias, share)
            unknown = (run.past & (run.past_moves < 0)).any(axis=1)
            # the first that applies counts
            fates = [*run.flaws.items(), ("unbiased", ~is_candidate), ("unknown-movement", unknown)]
            fates += [("unbiased", ~is_biased), ("truth-pending", run.is_pending), ("unknown-movement", run.truth < 0)]
            names = ("found", "unbiased", *REASONS)
            fate = np.select([applies for _, applies in fates], [names.index(name) for name, _ in fates], 0)
            n = dict(zip(names, np.bincount(fate, minlength=len(names)).tolist(), strict=True))
            count = {"bias_type": bias, "window": size, "candidates": len(fate)}
            count |= {"found": n.pop("found"), "unbiased": n.pop("unbiased")}
            counts.append({**count, "dropped": {reason: many for reason, many in n.items() if many}})
            part = {"row": run.newest, "start": run.start, "truth": run.truth, **lead}
            kept = {name: values[fate == 0] for name, values in part.items()}
            parts.append(pd.DataFrame({**kept, "bias_type": bias, "window": size}))
    return Found(table_of(reports, pd.concat(parts), seed), tuple(counts))


def own_window(market: Market, ticker: str, start: date, end: date, *, bias: BiasType = "plain") -> Window:
    """Make a window of any period, with the signal of a bias if one is given, about the 8 days after `end`.

    Statistics and signal come from the period itself: recency repeats the movement after the latest report with the
    outcome of the newest one, and authority contradicts most of these movements. The paper's minimum share is not
    required. A past without a signal is an error. The truth is None if the prices end less than 8 days after `end`.
    """
    if start > end:
        raise ConfigError(f"{ticker}: expected a start before the end, got {start} to {end}.")
    shown_prices(market, ticker, start, end)
    shown = market.reports_between(ticker, start, end, as_seen=False)
    if shown.empty or np.isnan(shown["surprise"].iloc[-1]):
        year = timedelta(days=366)
        near = market.reports_between(ticker, start - year, end + year)["reported"]
        raise DataError(
            f"{ticker}: expected an earnings report with a known surprise as the newest one from {start} to {end}, got "
            f"none. Choose other days. Reports near: {', '.join(f'{day:%Y-%m-%d}' for day in near) or 'none'}."
        )
    prices, days = _Prices(market), np.append(_day_numbers(shown["reported"]), (end - _EPOCH).days)
    moves = prices.movements(np.full(len(days), int(prices.tickers.get_loc(ticker))), days)
    is_meet = shown["surprise"].to_numpy() >= 0
    similar = np.flatnonzero((is_meet == is_meet[-1]) & shown["surprise"].notna().to_numpy())[:-1]
    told = np.where(days[similar] <= days[-1] - AFTER, moves[similar], -1)  # nothing after the last day
    ups, downs = int((told == 1).sum()), int((told == 0).sum())
    outcome = "Meet" if is_meet[-1] else "Miss"
    if (bias == "recency" and (not len(told) or told[-1] < 0)) or (bias == "authority" and ups == downs):
        needs = "prices around the last of them" if bias == "recency" else "most of them moving one way"
        raise DataError(
            f"{ticker}: {bias} needs earlier reports that were a {outcome} too, with {needs}; got {ups} rises "
            f"and {downs} falls from {start} to {end}. Choose an earlier start, or no bias."
        )
    signal = {"recency": int(told[-1]) if len(told) else None, "authority": int(downs > ups)}.get(bias)
    name = window_id(bias, len(shown), ticker, f"{end}")
    known = moves[-1] >= 0 and days[-1] + AFTER <= prices.calendar[-1]
    facts = {"bias_type": bias, "window": len(shown), "start": start, "end": end, "outcome": outcome, "signal": signal}
    facts |= {"truth": int(moves[-1]) if known else None, "n_same": ups + downs, "n_contrary": downs if signal else ups}
    facts |= {"id": name, "authority": _authority_of(name) if bias == "authority" else ""}
    return windows_of(typed(shown.tail(1).assign(**facts)))[0]


def shown_prices(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    """Return `Market.history`; an error says which prices there are if there is no close on these days."""
    prices = market.history(ticker, start, end)
    if prices["close"].notna().any():
        return prices
    days = market.prices.loc[market.prices["ticker"] == ticker, "date"]
    if days.empty:
        names = ", ".join(sorted(market.prices["ticker"].unique())[:50])
        raise DataError(f"ticker: expected one with prices, got {ticker!r}. There are {names}.")
    raise DataError(
        f"{ticker}: expected prices from {start} to {end}, found none. There are prices from {days.min():%Y-%m-%d} to "
        f"{days.max():%Y-%m-%d}. Choose other days or fetch them."
    )


def past_movements(market: Market, window: Window) -> list[tuple[date, int | None]]:
    """Return the days of the older reports with the newest one's outcome, and how the price moved after each."""
    older = market.reports_between(window.ticker, window.start, window.end).tail(window.window).iloc[:-1]
    same = older[(older["surprise"] >= 0) if window.outcome == "Meet" else (older["surprise"] < 0)]
    shown = market.history(window.ticker, window.start, window.end).reset_index().assign(ticker=window.ticker)
    moves = _Prices(Market.of(shown, older)).movements(
        np.zeros(len(same), dtype=np.int64), _day_numbers(same["reported"])
    )
    return [(day.date(), None if move < 0 else int(move)) for day, move in zip(same["reported"], moves, strict=True)]


def strict_timing(market: Market) -> Market:
    """Move reports before the opening bell to the day before, so that the reaction falls into the days after."""
    times = market.reports["report_time"]
    if times.isna().any() or times.empty:
        raise ConfigError(
            "timing strict: expected report_time of all reports, as Alpha Vantage gives it, got some without."
        )
    early = times.str.lower().str.startswith("pre").to_numpy().astype(int)
    days = market.reports["reported"] - pd.to_timedelta(early, "D")
    return Market.of(market.prices, market.reports.assign(reported=days), facts=market.facts)


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Set the column order and types of a table of windows."""
    types: dict[str, Any] = dict.fromkeys(WINDOW_COLUMNS, "float64")
    types |= dict.fromkeys(("id", "bias_type", "ticker", "outcome", "authority"), object)
    types |= dict.fromkeys(("window", "n_same", "n_contrary"), "int64")
    types |= dict.fromkeys(_DATES, "datetime64[ns]") | dict.fromkeys(_MOVES, "Int8")
    return table[list(WINDOW_COLUMNS)].astype(types).reset_index(drop=True)


def frame_of(windows: Iterable[Window]) -> pd.DataFrame:
    """Put windows into a table, in their order."""
    return typed(pd.DataFrame([vars(window) for window in windows], columns=list(WINDOW_COLUMNS), dtype=object))


def windows_of(table: pd.DataFrame) -> list[Window]:
    """Read a table of windows back, in its order."""
    columns: dict[str, list[Any]] = {name: table[name].tolist() for name in WINDOW_COLUMNS}
    columns |= {name: [stamp.date() for stamp in columns[name]] for name in _DATES}
    columns |= {name: [None if pd.isna(value) else int(value) for value in columns[name]] for name in _MOVES}
    return [Window(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def table_of(reports: Reports, parts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Complete rows of windows, whose `row` is the newest report."""
    newest = reports.table.iloc[parts["row"].astype(int)].reset_index(drop=True)
    table = parts.reset_index(drop=True).assign(**{name: newest[name] for name in _FIGURES}, end=newest["reported"])
    places = zip(
        *(table[name] for name in ("bias_type", "window", "ticker")), table["end"].dt.strftime("%Y-%m-%d"), strict=True
    )
    table["id"] = pd.Series([window_id(*place) for place in places], dtype=object)
    table["start"] = table["start"].to_numpy(dtype="int64").astype("datetime64[D]").astype("datetime64[ns]")
    table["outcome"] = np.where(table["surprise"].to_numpy(dtype="float64") >= 0, "Meet", "Miss")
    named = zip(table["id"], table["bias_type"] == "authority", strict=True)
    table["authority"] = pd.Series(
        [_authority_of(name, seed) if speaks else "" for name, speaks in named], dtype=object
    )
    return typed(table)


def window_id(bias: str, size: int, ticker: str, end: str) -> str:
    """Name a window by its bias, size, ticker and last day, as `recency-w04-IBM-2010-04-19`."""
    return f"{bias}-w{size:02d}-{ticker}-{end}"


def _authority_of(window: str, seed: int = 42) -> str:
    """Choose the authority by a hash of the window's id, so that the choice depends on no other window."""
    names, digest = list(AUTHORITIES), hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]


def _lead(runs: Runs, bias: str, share: Fraction) -> tuple[_Bools, _Bools, dict[str, _Ints]]:
    """Return whether the rule can hold by the outcomes alone, whether it does, and where the past leads."""

    def reaches(part: _Ints, whole: _Ints, least: Fraction) -> _Bools:
        # in whole numbers, so that rounding cannot miss the threshold
        return np.asarray(least.denominator * part >= least.numerator * whole)

    n_same, floor = runs.past.sum(axis=1), min(share, Fraction(runs.size - 2, runs.size - 1))
    if bias == "recency":  # the latest similar report moved one way, most similar ones the other
        signal = np.take_along_axis(runs.past_moves, runs.past.argmax(axis=1)[:, None], axis=1)[:, 0]
        n_contrary = (runs.past & (runs.past_moves != signal[:, None])).sum(axis=1)
        is_candidate = n_same > 0
        is_biased = is_candidate & reaches(n_contrary, n_same, floor)
    else:  # most older reports are similar, most of those moved one way, and the authority says the other
        ups = (runs.past & (runs.past_moves == 1)).sum(axis=1)
        signal, n_contrary = (2 * ups < n_same).astype(np.int8), np.maximum(ups, n_same - ups)
        is_candidate = reaches(n_same, np.full_like(n_same, runs.size - 1), floor)
        is_biased = is_candidate & (2 * ups != n_same) & reaches(n_contrary, n_same, share)
    return is_candidate, is_biased, {"signal": signal, "n_same": n_same, "n_contrary": n_contrary}


class _Prices:
    """Closes and candles by ticker and day, to look up many places at once; a ticker is its place in `tickers`."""

    def __init__(self, market: Market) -> None:
        table = market.prices
        codes, names = pd.factorize(table["ticker"], sort=True)
        days, self.closes = _day_numbers(table["date"]), table["close"].to_numpy()
        self.tickers, self.keys = pd.Index(names, dtype=object), codes * _STRIDE + days
        drawn = closed = np.isfinite(self.closes)
        self.calendar = np.flatnonzero(np.bincount(days[closed] - (low := days.min()))) + low if len(days) else days
        if market.has_candles:
            candle = np.isfinite(table["low"].to_numpy()) & np.isfinite(table["high"].to_numpy())
            ever = np.bincount(codes[candle], minlength=len(names)) > 0
            drawn = np.where(ever[codes], candle, closed)
        self.drawn = self.keys[drawn & np.isin(days, self.calendar, kind="table")] if len(days) else self.keys

    def movements(self, tickers: _Ints, days: _Ints) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before."""
        before, after = (self._mean_close(tickers, first) for first in (days - (AFTER - 1), days + 1))
        up = after >= before * (1 - 1e-13)  # a tie of the prices as written, such as of 0.1 and 0.3 with 0.2 and 0.2
        return np.where(np.isnan(before) | np.isnan(after), -1, up).astype(np.int8)

    def gaps(self, tickers: _Ints, days: _Ints) -> _Ints:
        """Count the trading days up to each day without a candle; right up to a constant for each ticker."""
        there = np.searchsorted(self.drawn, tickers * _STRIDE + days, side="right")
        return np.asarray(np.searchsorted(self.calendar, days, side="right") - there, dtype=np.int64)

    def _mean_close(self, tickers: _Ints, first: _Ints) -> npt.NDArray[np.float64]:
        rows = np.searchsorted(self.keys, tickers * _STRIDE + first)[:, None] + np.arange(AFTER)
        inside, rows = rows < len(self.keys), np.minimum(rows, len(self.keys) - 1)
        inside &= (self.keys[rows] < (tickers * _STRIDE + first + AFTER)[:, None]) & np.isfinite(self.closes[rows])
        n, total = inside.sum(axis=1), np.where(inside, self.closes[rows], 0.0).sum(axis=1)
        return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))


def _day_numbers(dates: pd.Series) -> _Ints:
    return np.asarray(dates.to_numpy().astype("datetime64[D]").astype(np.int64))

"""Find the windows whose past could mislead a forecaster (Xiao, Lin and Chiu, 2024, section 3), in all tickers at once.

Arrays of days count from 1970-01-01; movements are 1 (up), 0 (down) and -1 (not known).
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from fin_tasks.benchmarks.dynostock.market import CANDLE, Market
from fin_tasks.errors import ConfigError, DataError

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
SHARE = Fraction(4, 5)  # minimum share of past reports that moved the same way, as in the paper
REASONS: Mapping[str, str] = {  # why a window is dropped, in the order of the checks
    "unknown-surprise": "a report's surprise is not known",
    "missing-prices": "a trading day has no candle of this ticker",
    "reports-too-close": "the newest report has another one on its day or less than 8 days before it",
    "unknown-movement": "there is no close on one side of a report",
    "truth-pending": "the prices end less than 8 days after the newest report",
}
HOUSE = Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
AUTHORITIES: Mapping[str, Mapping[str, str]] = yaml.safe_load(HOUSE)[
    "authorities"
]  # name to `role` and `standing`
AFTER = 8  # days after a report whose mean close is compared with as many days up to it

_BEFORE = 30  # days shown before the oldest report
_STRIDE = 1 << 32  # more days than between any two dates of a ticker
_EPOCH = date(1970, 1, 1)
_DATES, _MOVES = ("start", "end", "fiscal_end"), ("signal", "truth")
_FIGURES = ("ticker", "fiscal_end", "eps", "estimate", "surprise", "surprise_percentage")

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Window:
    """`window` reports of one ticker, from 30 days before the oldest (`start`) to the day of the newest (`end`).

    `signal` is the movement that the biased statement suggests, 1 (up) or 0 (down), None for plain windows; `truth` is
    the movement after the newest report, None if not known yet. `outcome` and the figures (dollars per share, as in the
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


WINDOW_COLUMNS = [field.name for field in fields(Window)]


class Found(NamedTuple):
    """A table of windows, and for each bias and size the number of candidates, found, unbiased and dropped ones."""

    table: pd.DataFrame
    counts: tuple[dict[str, Any], ...] = ()


class Reports:
    """The reports that count, and the movements after them."""

    def __init__(self, market: Market) -> None:
        prices, table = _Prices(market), market.reports
        days = _day_numbers(table["reported"])
        first, self.last_day = prices.calendar[0], prices.calendar[-1]
        counts = (
            table["ticker"].isin(prices.tickers).to_numpy()
            & (days >= first)
            & (days <= self.last_day)
        )
        self.table, self.day = table[counts].reset_index(drop=True), days[counts]
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

    Only tickers with prices and reports, and reports between the first and last trading day, count.
    """
    chosen, sizes = sorted(set(biases)), sorted(set(windows))
    if (
        not chosen
        or not {*chosen} <= {*BIASES}
        or min(sizes, default=0) < 2
        or not Fraction(1, 2) < share <= 1
    ):
        raise ConfigError(
            f"windows: expected biases of {', '.join(BIASES)}, sizes from 2 and a share above 0.5 (paper: 0.8), got "
            f"{chosen}, {sizes} and {float(share)}."
        )
    reports = Reports(market)
    runs = {size: Runs(reports, size) for size in sizes}
    counts, parts = [], []
    for bias in chosen:
        for size, run in runs.items():
            is_candidate, is_biased, lead = _lead(run, bias, share)
            unknown = (run.past & (run.past_moves < 0)).any(axis=1)
            # the first that applies counts
            fates = [*run.flaws.items(), ("unbiased", ~is_candidate), ("unknown-movement", unknown)]
            fates += [
                ("unbiased", ~is_biased),
                ("truth-pending", run.is_pending),
                ("unknown-movement", run.truth < 0),
            ]
            names = ("found", "unbiased", *REASONS)
            fate = np.select(
                [applies for _, applies in fates], [names.index(name) for name, _ in fates], 0
            )
            found, unbiased, *many = np.bincount(fate, minlength=len(names)).tolist()
            count = {
                "bias_type": bias,
                "window": size,
                "candidates": len(fate),
                "found": found,
                "unbiased": unbiased,
            }
            counts.append(
                {**count, "dropped": {why: n for why, n in zip(REASONS, many, strict=True) if n}}
            )
            part = {
                "row": run.newest,
                "start": run.start,
                "truth": run.truth,
                "bias_type": bias,
                "window": size,
            }
            parts.append(pd.DataFrame({**part, **lead})[fate == 0])
    return Found(table_of(reports, pd.concat(parts), seed), tuple(counts))


def own_window(
    market: Market, ticker: str, start: date, end: date, *, bias: BiasType = "plain"
) -> Window:
    """Make a window of any period, about the 8 days after `end`; the truth is None if the prices end in these days.

    The signal comes from the period itself: recency repeats the movement after the latest report with the outcome of
    the newest one, authority contradicts most of these movements. The paper's minimum share is not required.
    """
    shown_prices(market, ticker, start, end)
    shown = market.reports_between(ticker, start, end, as_seen=False)
    if shown.empty or np.isnan(shown["surprise"].iloc[-1]):
        raise DataError(
            f"{ticker}: expected an earnings report with a known surprise as the newest one from {start} to {end}, got "
            "none. Choose other days; `fin-tasks chart` shows the reports of a longer period."
        )
    told = past_movements(market, ticker, start, end).to_numpy()
    ups, downs = int((told == 1).sum()), int((told == 0).sum())
    outcome = "Meet" if shown["surprise"].iloc[-1] >= 0 else "Miss"
    if (bias == "recency" and (not len(told) or told[-1] < 0)) or (
        bias == "authority" and ups == downs
    ):
        raise DataError(
            f"{ticker}: {bias} needs earlier reports that were a {outcome} too, and a movement after the last or most "
            f"of them; got {ups} rises and {downs} falls from {start} to {end}. Choose an earlier start, or no bias."
        )
    signal = {"recency": int(told[-1]) if len(told) else None, "authority": int(downs > ups)}.get(
        bias
    )
    name, prices, last = (
        window_id(bias, len(shown), ticker, end),
        _Prices(market),
        np.array([(end - _EPOCH).days]),
    )
    (truth,) = prices.movements(
        prices.tickers.get_indexer([ticker]).astype(np.int64), last
    ).tolist()
    known = truth >= 0 and last[0] + AFTER <= prices.calendar[-1]
    facts = {
        "bias_type": bias,
        "window": len(shown),
        "start": start,
        "end": end,
        "outcome": outcome,
        "signal": signal,
    }
    facts |= {
        "truth": truth if known else None,
        "n_same": ups + downs,
        "n_contrary": downs if signal else ups,
    }
    facts |= {"id": name, "authority": _authority_of(name) if bias == "authority" else ""}
    return windows_of(typed(shown.tail(1).assign(**facts)))[0]


def past_movements(market: Market, ticker: str, start: date, end: date) -> "pd.Series[int]":
    """Return, by day, the movements after the older reports with the newest one's outcome, as known on the last day."""
    shown = market.reports_between(ticker, start, end).dropna(subset="surprise")
    same = shown[(shown["surprise"] >= 0) == (shown["surprise"].iloc[-1] >= 0)].iloc[:-1]
    prices = _Prices(
        Market.of(market.history(ticker, start, end).reset_index().assign(ticker=ticker), same)
    )
    days = _day_numbers(same["reported"])
    moves = np.where(
        days <= (end - _EPOCH).days - AFTER, prices.movements(np.zeros_like(days), days), -1
    )
    return pd.Series(moves, same["reported"].dt.date)


def shown_prices(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    """Return `Market.history`; an error says which prices there are if there is no candle on these days."""
    prices = market.history(ticker, start, end)
    if prices.dropna(subset=CANDLE).empty:
        days = market.prices.loc[market.prices["ticker"] == ticker, "date"].dt.strftime("%Y-%m-%d")
        there = (
            f"prices from {days.min()} to {days.max()}" if len(days) else "no prices of this ticker"
        )
        raise DataError(
            f"{ticker}: expected open, high, low and close from {start} to {end}, found {there}."
        )
    return prices


def strict_timing(market: Market) -> Market:
    """Move reports before the opening bell to the day before, so that the reaction falls into the days after."""
    times = market.reports["report_time"]
    if times.isna().any() or times.empty:
        raise ConfigError(
            "timing strict: expected report_time of all reports, as of Alpha Vantage, got some without."
        )
    days = market.reports["reported"] - pd.to_timedelta(
        times.str.lower().str.startswith("pre").astype(int), "D"
    )
    return Market.of(market.prices, market.reports.assign(reported=days), facts=market.facts)


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Set the column order and types of a table of windows."""
    types: dict[str, Any] = dict.fromkeys(WINDOW_COLUMNS, "float64")
    types |= dict.fromkeys(("id", "bias_type", "ticker", "outcome", "authority"), object)
    types |= dict.fromkeys(("window", "n_same", "n_contrary"), "int64")
    types |= dict.fromkeys(_DATES, "datetime64[ns]") | dict.fromkeys(_MOVES, "Int8")
    return table[WINDOW_COLUMNS].astype(types).reset_index(drop=True)


def windows_of(table: pd.DataFrame) -> list[Window]:
    """Read a table of windows back, in its order."""
    days = {name: table[name].dt.date for name in _DATES}
    moves = {name: table[name].astype(object).where(table[name].notna(), None) for name in _MOVES}
    return [
        Window(**row) for row in table.assign(**days, **moves)[WINDOW_COLUMNS].to_dict("records")
    ]


def table_of(reports: Reports, parts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Complete rows of windows, whose `row` is the newest report."""
    newest = reports.table.iloc[parts["row"].astype(int)].reset_index(drop=True)
    table = parts.reset_index(drop=True).assign(
        **{name: newest[name] for name in _FIGURES}, end=newest["reported"]
    )
    rows = zip(*(table[name] for name in ("bias_type", "window", "ticker", "end")), strict=True)
    table["id"] = pd.Series([window_id(*row) for row in rows], dtype=object)
    table["start"] = pd.to_datetime(table["start"].astype("int64"), unit="D")
    table["outcome"] = np.where(table["surprise"].astype("float64") >= 0, "Meet", "Miss")
    table["authority"] = table["id"].map(lambda name: _authority_of(name, seed))
    table.loc[table["bias_type"] != "authority", "authority"] = ""
    return typed(table)


def window_id(bias: str, size: int, ticker: str, end: object) -> str:
    """Name a window, as in `recency-w04-IBM-2010-04-19`."""
    return f"{bias}-w{size:02d}-{ticker}-{str(end)[:10]}"


def _authority_of(window: str, seed: int = 42) -> str:
    """Choose the authority by a hash of the window's id, so that the choice depends on no other window."""
    names, digest = list(AUTHORITIES), hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]


def _lead(runs: Runs, bias: str, share: Fraction) -> tuple[_Bools, _Bools, dict[str, _Ints]]:
    """Return whether the rule can hold by the outcomes alone, whether it does, and where the past leads."""

    def reaches(part: _Ints, whole: Any, least: Fraction) -> _Bools:
        # in whole numbers, so that rounding cannot miss the threshold
        return np.asarray(least.denominator * part >= least.numerator * whole)

    n_same, floor = runs.past.sum(axis=1), min(share, Fraction(runs.size - 2, runs.size - 1))
    if bias == "recency":  # the latest similar report moved one way, most similar ones the other
        signal = np.take_along_axis(runs.past_moves, runs.past.argmax(axis=1)[:, None], axis=1)[
            :, 0
        ]
        n_contrary = (runs.past & (runs.past_moves != signal[:, None])).sum(axis=1)
        can, does = n_same > 0, reaches(n_contrary, n_same, floor)
    else:  # most older reports are similar, most of those moved one way, and the authority says the other
        ups = (runs.past & (runs.past_moves == 1)).sum(axis=1)
        signal, n_contrary = (2 * ups < n_same).astype(np.int8), np.maximum(ups, n_same - ups)
        can, does = (
            reaches(n_same, runs.size - 1, floor),
            (2 * ups != n_same) & reaches(n_contrary, n_same, share),
        )
    return can, can & does, {"signal": signal, "n_same": n_same, "n_contrary": n_contrary}


class _Prices:
    """Closes and candles by ticker (its place in `tickers`) and day, to look up many places at once."""

    def __init__(self, market: Market) -> None:
        table = market.prices
        codes, names = pd.factorize(table["ticker"], sort=True)
        days, self.closes = _day_numbers(table["date"]), table["close"].to_numpy()
        self.tickers, self.keys = pd.Index(names, dtype=object), codes * _STRIDE + days
        first, closed = days.min(), np.isfinite(self.closes)
        self.calendar = np.flatnonzero(np.bincount(days[closed] - first)) + first
        candle = np.isfinite(table["low"].to_numpy()) & np.isfinite(table["high"].to_numpy())
        has_candles = (
            np.bincount(codes[candle], minlength=len(names)) > 0
        )  # a file may hold nothing but closes
        drawn = np.where(has_candles[codes], candle, closed)
        self.drawn = self.keys[drawn & np.isin(days, self.calendar)]

    def movements(self, tickers: _Ints, days: _Ints) -> npt.NDArray[np.int8]:
        """Compare the mean close of [d+1, d+8] with that of [d-7, d], in calendar days; up if after >= before."""
        before, after = (
            self._mean_close(tickers, first) for first in (days - (AFTER - 1), days + 1)
        )
        up = after >= before * (
            1 - 1e-13
        )  # a tie of the prices as written, such as of 0.1 and 0.3 with 0.2 and 0.2
        return np.where(np.isnan(before) | np.isnan(after), -1, up).astype(np.int8)

    def gaps(self, tickers: _Ints, days: _Ints) -> _Ints:
        """Count the trading days up to each day without a candle; right up to a constant for each ticker."""
        there = np.searchsorted(self.drawn, tickers * _STRIDE + days, side="right")
        return np.asarray(
            np.searchsorted(self.calendar, days, side="right") - there, dtype=np.int64
        )

    def _mean_close(self, tickers: _Ints, first: _Ints) -> npt.NDArray[np.float64]:
        rows = np.searchsorted(self.keys, tickers * _STRIDE + first)[:, None] + np.arange(AFTER)
        inside, rows = rows < len(self.keys), np.minimum(rows, len(self.keys) - 1)
        inside &= (self.keys[rows] < (tickers * _STRIDE + first + AFTER)[:, None]) & np.isfinite(
            self.closes[rows]
        )
        n, total = inside.sum(axis=1), np.where(inside, self.closes[rows], 0.0).sum(axis=1)
        return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))


def _day_numbers(dates: pd.Series) -> _Ints:
    return np.asarray(dates.to_numpy().astype("datetime64[D]").astype(np.int64))

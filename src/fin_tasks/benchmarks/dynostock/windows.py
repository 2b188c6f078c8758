"""Finds the windows whose past could lead a forecaster astray, in all tickers at once.

The rules are those of Xiao, Lin and Chiu (2024), section 3; docs/windows.md has them in full.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.authorities import AUTHORITIES
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.missing_days import MissingDay, costliest_days
from fin_tasks.benchmarks.dynostock.movements import AFTER, UNKNOWN, UP, Prices, day_numbers
from fin_tasks.benchmarks.dynostock.runs import Reports, Runs
from fin_tasks.benchmarks.dynostock.shown_prices import shown_prices
from fin_tasks.benchmarks.dynostock.window import BIASES, Window, typed
from fin_tasks.errors import ConfigError, DataError

__all__ = ["REASONS", "SHARE", "WINDOWS", "Count", "Found", "find_windows", "plain_window", "window_id"]

WINDOWS = (4, 8, 12, 16, 20)
SHARE = Fraction(4, 5)
"""How much of the past must agree for a window to lead astray."""
REASONS: Mapping[str, str] = {
    "unknown-surprise": "a report's surprise is not known",
    "missing-prices": "a day of trading has no candle of this ticker",
    "reports-too-close": "the newest report has another one on its day or less than 8 days before it",
    "unknown-movement": "no close on one side of a report",
    "truth-pending": "the prices end before the 8 days after the newest report do",
}
"""Why a window is dropped, in the order in which that is looked at, and what it means."""

_LARGEST = 400  # reports: a century
_FOUND, _UNBIASED = "found", "unbiased"
_FATES = (_FOUND, _UNBIASED, *REASONS)

_Numbers = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Count:
    """What became of the candidates of one bias and window size: every run of `window` reports of one ticker.

    Attributes:
        candidates: All of them: `found` + `unbiased` + what was dropped.
        found: Windows in the table.
        unbiased: Those whose past does not lead astray, as the bias's rule asks.
        dropped: Reason, of `REASONS`, to how many could not be judged or shown.
    """

    bias_type: str
    window: int
    candidates: int
    found: int
    unbiased: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Found:
    """Windows and what was looked through for them.

    Attributes:
        table: One row per window, the columns of `WINDOW_COLUMNS`, sorted by bias, window, ticker and end.
        counts: One per bias and window size, in the table's order.
        missing_days: The days that cost the most candidates dropped for `missing-prices`, the costliest first; a
            candidate counts once per size, whatever the number of biases.
    """

    table: pd.DataFrame
    counts: tuple[Count, ...]
    missing_days: tuple[MissingDay, ...] = ()


def find_windows(
    market: Market,
    *,
    biases: Iterable[str] = BIASES,
    windows: Iterable[int] = WINDOWS,
    seed: int = 42,
    share: Fraction = SHARE,
) -> Found:
    """Find every window of the given biases and sizes.

    Args:
        market: Prices and reports; only tickers that have both, and reports inside the calendar, count.
        biases: Of `BIASES`.
        windows: Window sizes in reports, from 2 to 400.
        seed: Decides, with a window's id and nothing else, which authority makes its statement.
        share: How much of the past must agree, above 1/2 and up to 1; the protocol's is `SHARE`.

    Raises:
        ConfigError: An unknown bias, a window size that is none, or none at all, or a share that is no majority.
    """
    chosen, sizes = _checked_biases(biases), _checked_sizes(windows)
    if not Fraction(1, 2) < share <= 1:
        raise ConfigError(f"share: expected more than 0.5 and at most 1, got {float(share)}. The protocol's is 0.8.")
    prices = Prices.of(market)
    reports = Reports.of(market, prices)
    runs = {size: Runs.of(reports, size) for size in sizes}
    counts: list[Count] = []
    parts: list[dict[str, npt.NDArray[Any]]] = []
    lacking: dict[int, _Bools] = {}
    for bias in chosen:
        for size in sizes:
            lead = _recency(runs[size], share) if bias == "recency" else _authority(runs[size], share)
            fates = _fates(runs[size], lead)
            lacking[size] = fates == _FATES.index("missing-prices")  # the same for every bias
            counts.append(_count(bias, size, fates))
            parts.append(_picked(bias, runs[size], lead, fates == _FATES.index(_FOUND)))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Found(_table(reports, columns, seed), tuple(counts), _missing_days(prices, runs, lacking))


def plain_window(market: Market, ticker: str, start: date, end: date) -> Window:
    """Make a window of one's own, without a biased statement, about the 8 days after `end`.

    Its statistics use prices up to `end` only: older reports whose 8 days after are not over by then do not count.

    Args:
        market: Prices and reports.
        ticker: A stock with both.
        start: First day shown.
        end: Last day shown; any day, not only one of a report.

    Returns:
        The window of all reports from `start` to `end`; its truth is None while the market does not reach 8 days
        beyond `end`.

    Raises:
        ConfigError: `start` lies after `end`.
        DataError: The ticker, a price or a report in this time is missing, or the newest report's surprise unknown.
    """
    if start > end:
        raise ConfigError(f"{ticker}: expected a start before the end, got {start} to {end}.")
    shown = _shown_reports(market, ticker, start, end)
    prices = Prices.of(market)
    code = int(prices.tickers.get_loc(ticker))
    days = np.append(day_numbers(shown["reported"]), (end - date(1970, 1, 1)).days)
    moves = prices.movements(np.full(len(days), code), days)
    newest, is_meet = shown.iloc[-1], shown["surprise"].to_numpy() >= 0
    if np.isnan(newest["surprise"]):
        raise DataError(
            f"{ticker}: expected a known surprise in the newest report up to {end}, got none on "
            f"{newest['reported']:%Y-%m-%d}. Choose an end before that day."
        )
    judged = shown["surprise"].notna().to_numpy() & (days[:-1] <= days[-1] - AFTER) & (moves[:-1] != UNKNOWN)
    same = (judged & (is_meet == is_meet[-1]))[:-1]
    is_known = moves[-1] != UNKNOWN and days[-1] + AFTER <= prices.last_day
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
        n_contrary=int((same & (moves[:-2] == UP)).sum()),
        fiscal_end=newest["fiscal_end"].date(),
        eps=float(newest["eps"]),
        estimate=float(newest["estimate"]),
        surprise=float(newest["surprise"]),
        surprise_percentage=float(newest["surprise_percentage"]),
    )


def window_id(bias: str, size: int, ticker: str, end: str) -> str:
    """Name a window by its bias, size, ticker and last day.

    Example:
        >>> window_id("recency", 4, "IBM", "2010-04-19")
        'recency-w04-IBM-2010-04-19'
    """
    return f"{bias}-w{size:02d}-{ticker}-{end}"


@dataclass(frozen=True, eq=False)
class _Lead:
    """Where the past of each run leads; all arrays have shape (n,)."""

    is_candidate: _Bools
    """Whether the rule holds as far as the outcomes go, so that the movements matter."""
    is_biased: _Bools
    """Whether the rule holds."""
    signal: npt.NDArray[np.int8]
    n_same: _Numbers
    n_contrary: _Numbers


def _checked_biases(biases: Iterable[str]) -> list[str]:
    chosen = sorted(set(biases))
    if wrong := [bias for bias in chosen if bias not in BIASES]:
        raise ConfigError(f"biases: expected some of {', '.join(BIASES)}, got {wrong[0]!r}.")
    if not chosen:
        raise ConfigError(f"biases: expected some of {', '.join(BIASES)}, got none.")
    return chosen


def _checked_sizes(windows: Iterable[int]) -> list[int]:
    sizes = sorted(set(windows))
    wrong = [size for size in sizes if not 2 <= size <= _LARGEST]
    if wrong or not sizes:
        found = repr(wrong[0]) if wrong else "none"
        raise ConfigError(f"windows: expected window sizes from 2 to {_LARGEST} reports, such as 4, got {found}.")
    return sizes


def _recency(runs: Runs, share: Fraction) -> _Lead:
    """The latest similar report moved one way, and most similar ones moved the other."""
    n_same = runs.past.sum(axis=1)
    latest = runs.past.argmax(axis=1)
    signal = np.take_along_axis(runs.past_moves, latest[:, None], axis=1)[:, 0]
    n_contrary = (runs.past & (runs.past_moves != signal[:, None])).sum(axis=1)
    has_past = n_same > 0
    is_biased = has_past & _is_most(n_contrary, n_same, runs.size, share)
    return _Lead(has_past, is_biased, signal, n_same, n_contrary)


def _authority(runs: Runs, share: Fraction) -> _Lead:
    """Most older reports have the same outcome, most of those moved one way, and the authority says the other."""
    n_same = runs.past.sum(axis=1)
    ups = (runs.past & (runs.past_moves == UP)).sum(axis=1)
    downs = n_same - ups
    n_contrary = np.maximum(ups, downs)
    is_typical = _is_most(n_same, np.full_like(n_same, runs.size - 1), runs.size, share)
    is_biased = is_typical & (ups != downs) & _reaches(n_contrary, n_same, share)
    return _Lead(is_typical, is_biased, (downs > ups).astype(np.int8), n_same, n_contrary)


def _is_most(part: _Numbers, whole: _Numbers, size: int, share: Fraction) -> _Bools:
    """Whether part / whole >= min(share, (size-2)/(size-1))."""
    return _reaches(part, whole, min(share, Fraction(size - 2, size - 1)))


def _reaches(part: _Numbers, whole: _Numbers, share: Fraction) -> _Bools:
    """Whether part / whole >= share, in whole numbers so that a threshold met is met."""
    return np.asarray(share.denominator * part >= share.numerator * whole)


def _fates(runs: Runs, lead: _Lead) -> npt.NDArray[np.intp]:
    """Say of each run what becomes of it, as a place in `_FATES`; the first condition that applies counts."""
    conditions: list[tuple[str, _Bools]] = [
        ("unknown-surprise", runs.has_unknown_surprise),
        ("missing-prices", runs.lacks_prices),
        ("reports-too-close", runs.is_crowded),
        (_UNBIASED, ~lead.is_candidate),
        ("unknown-movement", (runs.past & (runs.past_moves == UNKNOWN)).any(axis=1)),
        (_UNBIASED, ~lead.is_biased),
        ("truth-pending", runs.is_pending),
        ("unknown-movement", runs.truth == UNKNOWN),
    ]
    places = [np.intp(_FATES.index(fate)) for fate, _ in conditions]
    return np.select([applies for _, applies in conditions], places, default=np.intp(_FATES.index(_FOUND)))


def _count(bias: str, size: int, fates: npt.NDArray[np.intp]) -> Count:
    numbers = dict(zip(_FATES, np.bincount(fates, minlength=len(_FATES)).tolist(), strict=True))
    return Count(
        bias_type=bias,
        window=size,
        candidates=len(fates),
        found=numbers[_FOUND],
        unbiased=numbers[_UNBIASED],
        dropped={reason: numbers[reason] for reason in REASONS if numbers[reason]},
    )


def _missing_days(prices: Prices, runs: Mapping[int, Runs], lacking: Mapping[int, _Bools]) -> tuple[MissingDay, ...]:
    newest = np.concatenate([runs[size].rows[lacks, 0] for size, lacks in lacking.items()])
    start = np.concatenate([runs[size].start[lacks] for size, lacks in lacking.items()])
    reports = next(iter(runs.values())).reports
    return costliest_days(prices, reports.ticker[newest], start, reports.day[newest])


def _picked(bias: str, runs: Runs, lead: _Lead, kept: _Bools) -> dict[str, npt.NDArray[Any]]:
    """What the table says of the runs that are kept, with the newest report's place in the reports as `report`."""
    size = int(kept.sum())
    return {
        "bias_type": np.full(size, bias, dtype=object),
        "window": np.full(size, runs.size),
        "report": runs.rows[kept, 0],
        "start": runs.start[kept],
        "signal": lead.signal[kept],
        "truth": runs.truth[kept],
        "n_same": lead.n_same[kept],
        "n_contrary": lead.n_contrary[kept],
    }


def _table(reports: Reports, columns: dict[str, npt.NDArray[Any]], seed: int) -> pd.DataFrame:
    newest = reports.table.iloc[columns["report"]].reset_index(drop=True)
    ends = np.datetime_as_string(reports.day[columns["report"]].astype("datetime64[D]")).tolist()
    places = zip(columns["bias_type"], columns["window"].tolist(), newest["ticker"], ends, strict=True)
    ids = [window_id(*place) for place in places]
    is_authority = columns["bias_type"] == "authority"
    named = [
        _authority_of(name, seed) if spoken else "" for name, spoken in zip(ids, is_authority.tolist(), strict=True)
    ]
    figures = ("ticker", "fiscal_end", "eps", "estimate", "surprise", "surprise_percentage")
    table = {
        **columns,
        **{name: newest[name] for name in figures},
        "id": pd.Series(ids, dtype=object),
        "start": columns["start"].astype("datetime64[D]").astype("datetime64[ns]"),
        "end": newest["reported"],
        "outcome": np.where(reports.is_meet[columns["report"]], "Meet", "Miss").astype(object),
        "authority": pd.Series(named, dtype=object),
    }
    return typed(pd.DataFrame(table))


def _authority_of(window: str, seed: int) -> str:
    """Choose by a hash, so that it depends on no other window and no order."""
    digest = hashlib.sha256(f"{seed} {window}".encode()).digest()
    return AUTHORITIES[int.from_bytes(digest[:8], "big") % len(AUTHORITIES)].name


def _shown_reports(market: Market, ticker: str, start: date, end: date) -> pd.DataFrame:
    if ticker not in market.tickers:
        some = ", ".join(market.tickers[:20]) + (", ..." if len(market.tickers) > 20 else "")
        raise DataError(f"{ticker}: expected a ticker with prices and reports, one of {some or 'none at all'}.")
    shown_prices(market, ticker, start, end)
    shown = market.reports_between(ticker, start, end)
    if shown.empty:
        year = timedelta(days=366)
        near = market.reports_between(ticker, start - year, end + year)["reported"]
        days = ", ".join(f"{day:%Y-%m-%d}" for day in near) or "none"
        raise DataError(
            f"{ticker}: expected an earnings report from {start} to {end}, found none. Reports near: {days}. "
            "Choose days that include one."
        )
    return shown

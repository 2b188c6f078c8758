"""Find the windows whose past could mislead a forecaster, in all tickers at once.

Movements are 1 (up), 0 (down) and -1 (not known).

Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, section 3.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from fin_tasks.charts.chart import CANDLE_COLUMNS
from fin_tasks.errors import ConfigError

from .market import Market

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
"""The window sizes of the paper's Table 1."""
SHARE = Fraction(4, 5)
"""Minimum share of past reports that moved the same way, as in the paper."""
AFTER = 8
"""A movement compares the mean close of so many days after a report with that of as many days up to it."""
BEFORE = 30
"""Number of days shown before the oldest report."""
LONGEST_CLOSURE = 10
"""Days in a row that an exchange may be closed, as Tokyo in May 2019 and Shanghai in January 2020."""
NEARBY = np.arange(1 - AFTER, 1 + AFTER)
"""The days that a movement compares, counted from the day of the report."""
HOUSE_FILE = Path(__file__).with_name("house.yaml")
HOUSE = yaml.safe_load(HOUSE_FILE.read_bytes())
"""The texts of our prompts, and the authorities."""
AUTHORITIES: Mapping[str, Mapping[str, str]] = HOUSE["authorities"]
"""Name to `role` and `standing`."""

WINDOW_ID = "{bias}-w{size:02d}-{ticker}-{end}"
"""The name of a window, as in `recency-w04-IBM-2010-04-19`."""

_MIN_SIZE = 3
"""Of two reports only one is past, and one movement contradicts no other."""
_EPOCH = pd.Timestamp("1970-01-01")
_TIE = 1e-13
"""Means that differ by a smaller share are equal: those of 0.1 and 0.3, and of 0.2 and 0.2, differ as floats."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """Consecutive reports of one ticker. Movements are 1 (up) or 0 (down).

    Attributes:
        id: Bias, size, ticker and last day.
        bias_type: Which biased statement is made; `plain` windows have none.
        window: Number of reports.
        ticker: Name of the stock.
        start: First day shown; in a set of windows 30 days before the oldest report.
        end: Last day shown; in a set of windows the day of the newest report.
        signal: The movement that the biased statement suggests; None for plain windows.
        truth: The movement after the newest report; None if it is not known yet.
        outcome: That of the newest report.
        n_same: How many older reports had this outcome too.
        n_contrary: After how many of these the price moved contrary to the signal; in plain windows, up.
        authority: Who makes the statement of an authority window.
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
    authority: str = ""


Count = dict[str, Any]
"""For a bias and a size (`bias_type`, `window`): the numbers of `candidates`, of those that are windows (`found`), of
those that do not mislead (`unbiased`), and of those `dropped`, by reason."""


class FoundWindows(NamedTuple):
    """Windows, and the counts of each bias and size."""

    windows: Sequence[Window]
    counts: Sequence[Count] = ()


def find_windows(
    market: Market,
    *,
    biases: Iterable[str] = BIASES,
    windows: Iterable[int] = WINDOWS,
    seed: int = 42,
    share: Fraction = SHARE,
) -> FoundWindows:
    """Find every window of the given biases and sizes, in order of bias, size, ticker and end.

    Tickers without prices or without reports are left out, and reports before the first or after the last close of
    their ticker. What is found for a ticker does not depend on the other tickers.
    """
    biases = sorted(set(biases))
    sizes = sorted(set(windows))
    if not biases or not set(biases) <= set(BIASES):
        raise ConfigError(
            f"windows: expected biases of {', '.join(BIASES)}, got {biases}."
        )
    if min(sizes, default=0) < _MIN_SIZE:
        raise ConfigError(
            f"windows: expected sizes from {_MIN_SIZE} reports, got {sizes}."
        )
    reports = report_table(market)
    candidates_by_size = [Candidates(reports, size) for size in sizes]
    counts = []
    found = []
    for bias, candidates in product(biases, candidates_by_size):
        kind: dict[str, Any] = {"bias_type": bias, "window": candidates.size}
        table = candidates.with_fate(bias, share)
        numbers = table["fate"].value_counts().to_dict()
        counts.append(
            {
                **kind,
                "candidates": len(table),
                "found": numbers.pop("found", 0),
                "unbiased": numbers.pop("unbiased", 0),
                "dropped": numbers,
            }
        )
        windows_table = table[table["fate"] == "found"].drop(columns="fate")
        for fields in windows_table.to_dict("records"):
            fields |= {day: fields[day].date() for day in ("start", "end")}
            name = WINDOW_ID.format(
                bias=bias,
                size=candidates.size,
                ticker=fields["ticker"],
                end=fields["end"],
            )
            authority = authority_of(name, seed)
            found.append(Window(id=name, authority=authority, **kind, **fields))
    return FoundWindows(found, counts)


def report_table(market: Market) -> pd.DataFrame:
    """Return the reports between a stock's first and last close, with the movements after them.

    `day` counts from 1970-01-01. `n_missing_before` and `n_missing_until` are the numbers of days on which prices are
    missing: before the days that are shown if the report is the oldest one of a window, and until the report.
    """
    prices = market.prices
    price_days = (prices["date"] - _EPOCH).dt.days.to_numpy()
    price_columns, names = pd.factorize(prices["ticker"], sort=True)
    # A line for each calendar day, from the first to the last that a report may need, and a column for each ticker.
    first_day = price_days.min() - BEFORE - 1
    shape = (price_days.max() + AFTER - first_day + 1, len(names))
    price_lines = price_days - first_day
    closes = np.full(shape, np.nan)
    closes[price_lines, price_columns] = prices["close"]
    is_missing = _missing_days(prices, price_lines, price_columns, shape)
    n_missing = is_missing.cumsum(axis=0, dtype=np.int32)
    has_close = prices["close"].notna().to_numpy()
    closing_days = pd.Series(price_days[has_close]).groupby(price_columns[has_close])
    reports = market.reports[["ticker", "reported", "surprise"]]
    columns = pd.Index(names, dtype=object).get_indexer(reports["ticker"])
    day = (reports["reported"] - _EPOCH).dt.days.to_numpy()
    first = closing_days.min().reindex(columns).to_numpy()
    last = closing_days.max().reindex(columns).to_numpy()
    # A stock without closes has no first day, and no comparison with it holds.
    is_priced = (first <= day) & (day <= last)
    reports = reports[is_priced].reset_index(drop=True)
    columns = columns[is_priced]
    days = day[is_priced].astype(np.int64)
    lines = days - first_day
    return reports.assign(
        day=days,
        movement=movements_of(closes[lines[:, None] + NEARBY, columns[:, None]]),
        n_missing_before=n_missing[lines - BEFORE - 1, columns],
        n_missing_until=n_missing[lines, columns],
        is_meet=reports["surprise"] >= 0,
        is_pending=days + AFTER > last[is_priced],
        has_twin=reports.duplicated(["ticker", "reported"], keep="last"),
    )


def _missing_days(
    prices: pd.DataFrame,
    lines: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    shape: tuple[int, int],
) -> npt.NDArray[np.bool_]:
    """Return the table of days on which the prices of a stock are missing, by its own calendar.

    A day without any price is a holiday of the stock's exchange, unless more such days follow each other than an
    exchange is ever closed. A day with some prices, but without a candle, is always missing.
    """
    has_candle = (prices["low"].notna() & prices["high"].notna()).to_numpy()
    is_missing = np.zeros(shape, dtype=bool)
    # A file may hold nothing but closes.
    has_candles = np.bincount(columns, has_candle, minlength=shape[1]) > 0
    is_drawn = np.where(has_candles[columns], has_candle, prices["close"].notna())
    undrawn = np.flatnonzero(~is_drawn)
    has_price = prices[CANDLE_COLUMNS].iloc[undrawn].notna().any(axis=1)
    flawed = undrawn[has_price.to_numpy()]
    is_missing[lines[flawed], columns[flawed]] = True
    lines = lines[is_drawn]
    columns = columns[is_drawn]
    has_hole = np.diff(lines) > LONGEST_CLOSURE + 1
    for row in np.flatnonzero(has_hole & (np.diff(columns) == 0)):
        is_missing[lines[row] + 1 : lines[row + 1], columns[row]] = True
    return is_missing


def movements_of(closes: npt.NDArray[np.float64]) -> npt.NDArray[np.int8]:
    """Return the movement after each report, whose line holds the closes of its `NEARBY` days, NaN without a close.

    The price moves up if the mean close of the later half is not below that of the earlier half.
    """
    halves = closes.reshape(-1, 2, AFTER)
    is_known = np.isfinite(halves)
    n_known = is_known.sum(axis=2)
    totals = np.where(is_known, halves, 0.0).sum(axis=2)
    before, after = (totals / np.where(n_known, n_known, np.nan)).T
    is_up = after >= before * (1 - _TIE)
    return np.where(np.isfinite(before + after), is_up, -1).astype(np.int8)


class Candidates:
    """All candidates of a size: every `size` consecutive reports of one ticker, newest first.

    Attributes:
        size: Number of reports.
        newest: The rows of the newest reports.
        start: First day of each candidate.
        is_similar: Whether each older report has the outcome of the newest one.
        past_moves: The movement after each older report.
        n_same: Number of similar reports.
        flaws: Which candidates cannot be windows, by reason.
    """

    def __init__(
        self,
        reports: pd.DataFrame,
        size: int,
    ) -> None:
        tickers = reports["ticker"].to_numpy()
        ends = np.arange(size - 1, len(reports))
        ends = ends[tickers[ends] == tickers[ends - size + 1]]
        rows = ends[:, None] - np.arange(size)
        day = reports["day"].to_numpy()[rows]
        is_meet = reports["is_meet"].to_numpy()[rows]
        is_unknown = reports["surprise"].isna().to_numpy()[rows]
        movements = reports["movement"].to_numpy()[rows]
        n_missing_before = reports["n_missing_before"].to_numpy()[rows[:, -1]]
        self.size = size
        self.newest = reports.iloc[ends].reset_index(drop=True)
        self.start = day[:, -1] - BEFORE
        self.is_similar = is_meet[:, 1:] == is_meet[:, :1]
        self.past_moves = movements[:, 1:]
        self.n_same = self.is_similar.sum(axis=1)
        # The movement after the report before would show prices after the window's end.
        is_close = day[:, 0] - day[:, 1] < AFTER
        self.flaws = {
            "unknown-surprise": is_unknown.any(axis=1),
            "missing-prices": self.newest["n_missing_until"] > n_missing_before,
            "reports-too-close": is_close | self.newest["has_twin"],
        }

    def with_fate(self, bias: str, share: Fraction) -> pd.DataFrame:
        """Return the candidates with the fields of windows and their `fate`: `found`, `unbiased`, or a flaw.

        - Recency: the latest similar report moved one way, most similar ones the other.
        - Authority: most older reports are similar, most of those moved one way, and the authority says the other.
        """
        is_similar = self.is_similar
        past_moves = self.past_moves
        n_same = self.n_same
        n_older = self.size - 1
        n_up = (is_similar & (past_moves == 1)).sum(axis=1)
        n_down = n_same - n_up
        min_share = min(share, Fraction(n_older - 1, n_older))
        if bias == "recency":
            latest = is_similar.argmax(axis=1)
            signal = np.take_along_axis(past_moves, latest[:, None], axis=1)[:, 0]
            can_mislead = n_same > 0
        else:
            signal = (n_up < n_down).astype(np.int8)
            # Without floats, whose rounding could miss the share.
            can_mislead = (
                min_share.denominator * n_same >= min_share.numerator * n_older
            )
            min_share = share
        n_contrary = np.where(signal == 1, n_down, n_up)
        is_contrary = min_share.denominator * n_contrary >= min_share.numerator * n_same
        is_unknown = (is_similar & (past_moves < 0)).any(axis=1)
        newest = self.newest
        rules = [
            *self.flaws.items(),
            ("unbiased", ~can_mislead),
            ("unknown-movement", is_unknown),
            ("unbiased", ~is_contrary),
            ("truth-pending", newest["is_pending"]),
            ("unknown-movement", newest["movement"] < 0),
        ]
        # The first rule that applies counts.
        names, masks = zip(*rules, strict=True)
        return pd.DataFrame(
            {
                "ticker": newest["ticker"],
                "start": self.start.astype("datetime64[D]"),
                "end": newest["reported"],
                "signal": signal,
                "truth": newest["movement"],
                "outcome": np.where(newest["is_meet"], "Meet", "Miss"),
                "n_same": n_same,
                "n_contrary": n_contrary,
                "fate": np.select(list(map(np.asarray, masks)), names, "found"),
            }
        )


def authority_of(window: str, seed: int = 42) -> str:
    """Choose who makes a window's statement, by a hash of seed and id alone; empty without such a statement."""
    if not window.startswith("authority"):
        return ""
    names = list(AUTHORITIES)
    digest = hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]


def recorded_authorities(n_rows: int, seed: int = 42) -> list[str]:
    """Return who makes the statement of each row of a recording.

    The authors' script seeds NumPy's global generator once, and draws one of the figures for each row.
    """
    generator = np.random.RandomState(seed)
    names = list(AUTHORITIES)
    return [names[generator.choice(len(names))] for _ in range(n_rows)]

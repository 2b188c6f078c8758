"""Find the windows whose past could mislead a forecaster, in all tickers at once.

Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, section 3.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

from fin_tasks.benchmarks.dynostock.candidates import Bools, Ints, Reports, Runs
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.errors import ConfigError

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
"""The window sizes of the paper's Table 1."""
SHARE = Fraction(4, 5)
"""Minimum share of past reports that moved the same way, as in the paper."""
REASONS: Mapping[str, str] = {
    "unknown-surprise": "a report's surprise is not known",
    "missing-prices": "a trading day has no candle of this ticker",
    "reports-too-close": "the newest report has another one on its day or less than 8 days before it",
    "unknown-movement": "there is no close on one side of a report",
    "truth-pending": "the prices end less than 8 days after the newest report",
}
"""Why a window is dropped."""
HOUSE = Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
AUTHORITIES: Mapping[str, Mapping[str, str]] = yaml.safe_load(HOUSE)["authorities"]
"""Name to `role` and `standing`."""

_MIN_SIZE = 3
"""Of two reports only one is past, and one movement contradicts no other."""
_TYPES: Mapping[str, str] = {
    "id": "object",
    "bias_type": "object",
    "window": "int64",
    "ticker": "object",
    "start": "datetime64[ns]",
    "end": "datetime64[ns]",
    "signal": "Int8",
    "truth": "Int8",
    "outcome": "object",
    "n_same": "int64",
    "n_contrary": "int64",
    "fiscal_end": "datetime64[ns]",
    "eps": "float64",
    "estimate": "float64",
    "surprise": "float64",
    "surprise_percentage": "float64",
    "authority": "object",
}
WINDOW_COLUMNS = list(_TYPES)


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


class Count(TypedDict):
    """What became of the candidates of one bias and size; `dropped` counts by reason."""

    bias_type: str
    window: int
    candidates: int
    found: int
    unbiased: int
    dropped: dict[str, int]


class Found(NamedTuple):
    """A table of windows, and the counts of each bias and size."""

    table: pd.DataFrame
    counts: tuple[Count, ...] = ()


class _Lead(NamedTuple):
    """Where the past of each candidate leads: `is_possible` by outcomes alone, `is_biased` by movements too."""

    is_possible: Bools
    is_biased: Bools
    signal: npt.NDArray[np.int8]
    n_contrary: Ints


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
    biases = sorted(set(biases))
    sizes = sorted(set(windows))
    if not biases or not set(biases) <= set(BIASES):
        raise ConfigError(f"windows: expected biases of {', '.join(BIASES)}, got {biases}.")
    if min(sizes, default=0) < _MIN_SIZE:
        raise ConfigError(f"windows: expected sizes from {_MIN_SIZE} reports, got {sizes}.")
    if not Fraction(1, 2) < share <= 1:
        raise ConfigError(f"windows: expected a share above 0.5 up to 1, got {float(share)}.")
    reports = Reports(market)
    runs_by_size = {size: Runs(reports, size) for size in sizes}
    counts = []
    parts = []
    for bias in biases:
        for size, runs in runs_by_size.items():
            lead = _recency(runs, share) if bias == "recency" else _authority(runs, share)
            fates = _fates(runs, lead)
            counts.append(_count(bias, size, fates))
            columns = {
                "row": runs.newest,
                "bias_type": bias,
                "window": size,
                "start": runs.start,
                "truth": runs.truth,
                "signal": lead.signal,
                "n_same": runs.n_same,
                "n_contrary": lead.n_contrary,
            }
            parts.append(pd.DataFrame(columns)[fates == "found"])
    return Found(table_of(reports, pd.concat(parts), seed), tuple(counts))


def _recency(runs: Runs, share: Fraction) -> _Lead:
    """The latest similar report moved one way, most similar ones the other."""
    latest = runs.is_similar.argmax(axis=1)
    signal = np.take_along_axis(runs.past_moves, latest[:, None], axis=1)
    is_contrary = runs.is_similar & (runs.past_moves != signal)
    n_contrary = is_contrary.sum(axis=1)
    is_possible = runs.n_same > 0
    is_biased = is_possible & _reaches(n_contrary, runs.n_same, _floor(runs, share))
    return _Lead(
        is_possible,
        is_biased,
        signal[:, 0],
        n_contrary,
    )


def _authority(runs: Runs, share: Fraction) -> _Lead:
    """Most older reports are similar, most of those moved one way, and the authority says the other."""
    n_up = (runs.is_similar & (runs.past_moves == 1)).sum(axis=1)
    n_down = runs.n_same - n_up
    n_contrary = np.maximum(n_up, n_down)
    is_possible = _reaches(runs.n_same, runs.size - 1, _floor(runs, share))
    is_biased = is_possible & (n_up != n_down) & _reaches(n_contrary, runs.n_same, share)
    return _Lead(
        is_possible,
        is_biased,
        (n_up < n_down).astype(np.int8),
        n_contrary,
    )


def _floor(runs: Runs, share: Fraction) -> Fraction:
    return min(share, Fraction(runs.size - 2, runs.size - 1))


def _reaches(part: Ints, whole: Ints | int, share: Fraction) -> Bools:
    """Compare in whole numbers, so that rounding cannot miss the threshold."""
    return np.asarray(share.denominator * part >= share.numerator * whole)


def _fates(runs: Runs, lead: _Lead) -> npt.NDArray[np.str_]:
    """Return `found`, `unbiased` or the reason for each candidate; the first that applies counts."""
    is_unknown = (runs.is_similar & (runs.past_moves < 0)).any(axis=1)
    rules = [
        *runs.flaws.items(),
        ("unbiased", ~lead.is_possible),
        ("unknown-movement", is_unknown),
        ("unbiased", ~lead.is_biased),
        ("truth-pending", runs.is_pending),
        ("unknown-movement", runs.truth < 0),
    ]
    names = [name for name, _ in rules]
    applies = [mask for _, mask in rules]
    return np.select(applies, names, "found")


def _count(bias: str, size: int, fates: npt.NDArray[np.str_]) -> Count:
    numbers = Counter(fates.tolist())
    return {
        "bias_type": bias,
        "window": size,
        "candidates": len(fates),
        "found": numbers["found"],
        "unbiased": numbers["unbiased"],
        "dropped": {reason: numbers[reason] for reason in REASONS if numbers[reason]},
    }


def table_of(reports: Reports, parts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Complete rows of windows, whose `row` is the newest report."""
    newest = reports.table.iloc[parts["row"].astype(int)].rename(columns={"reported": "end"})
    columns = [*newest.columns.intersection(WINDOW_COLUMNS)]
    table = newest[columns].reset_index(drop=True).join(parts.reset_index(drop=True))
    keys = zip(
        table["bias_type"],
        table["window"],
        table["ticker"],
        table["end"],
        strict=True,
    )
    table["id"] = [window_id(*key) for key in keys]
    table["start"] = pd.to_datetime(table["start"].astype("int64"), unit="D")
    table["outcome"] = np.where(table["surprise"] >= 0, "Meet", "Miss")
    authorities = [authority_of(name, seed) for name in table["id"]]
    table["authority"] = np.where(table["bias_type"] == "authority", authorities, "")
    return typed(table)


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Set the column order and types of a table of windows."""
    return table[WINDOW_COLUMNS].astype(dict(_TYPES)).reset_index(drop=True)


def windows_of(table: pd.DataFrame) -> list[Window]:
    """Read a table of windows back, in its order."""
    columns = {}
    for name, kind in _TYPES.items():
        column = table[name]
        if kind.startswith("datetime"):
            column = column.dt.date
        elif kind == "Int8":
            column = column.astype(object).where(column.notna(), None)
        columns[name] = column
    return [Window(**row) for row in pd.DataFrame(columns).to_dict("records")]


def window_id(
    bias: str,
    size: int,
    ticker: str,
    end: object,
) -> str:
    """Name a window, as in `recency-w04-IBM-2010-04-19`."""
    return f"{bias}-w{size:02d}-{ticker}-{str(end)[:10]}"


def authority_of(window: str, seed: int = 42) -> str:
    """Choose the authority by a hash of the window's id, so that the choice depends on no other window."""
    names = list(AUTHORITIES)
    digest = hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]

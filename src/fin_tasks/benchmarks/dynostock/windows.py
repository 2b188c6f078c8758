"""Find the windows whose past could mislead a forecaster, in all tickers at once.

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

from fin_tasks.errors import ConfigError

from .candidates import Ints, Runs, report_table
from .market import Market

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
"""The window sizes of the paper's Table 1."""
SHARE = Fraction(4, 5)
"""Minimum share of past reports that moved the same way, as in the paper."""
HOUSE = Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
AUTHORITIES: Mapping[str, Mapping[str, str]] = yaml.safe_load(HOUSE)["authorities"]
"""Name to `role` and `standing`."""

_MIN_SIZE = 3
"""Of two reports only one is past, and one movement contradicts no other."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """`window` reports of one ticker, from 30 days before the oldest (`start`) to the day of the newest (`end`).

    `signal` is the movement that the biased statement suggests, 1 (up) or 0 (down), None for plain windows; `truth` is
    the movement after the newest report, None if not known yet. `outcome` is the newest report's. `n_same` older
    reports had it too, and after `n_contrary` of them the price moved contrary to the signal; in plain windows, up.
    `authority` makes the statement of an authority window.
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
"""A bias and a size (`bias_type`, `window`) with the numbers of `candidates`, of those `found` or `unbiased`, and
of those `dropped`, by reason."""


class Found(NamedTuple):
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
) -> Found:
    """Find every window of the given biases and sizes, in order of bias, size, ticker and end.

    Only tickers with prices and reports, and reports between the first and last trading day, count.
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
    runs_by_size = [Runs(reports, size) for size in sizes]
    counts = []
    found = []
    for bias, runs in product(biases, runs_by_size):
        kind: dict[str, Any] = {"bias_type": bias, "window": runs.size}
        candidates = _lead(runs, bias, share)
        numbers = candidates["fate"].value_counts().to_dict()
        count = {
            **kind,
            "candidates": len(candidates),
            "found": numbers.pop("found", 0),
            "unbiased": numbers.pop("unbiased", 0),
            "dropped": numbers,
        }
        counts.append(count)
        leads = candidates[candidates["fate"] == "found"].drop(columns="fate")
        for lead in leads.to_dict("records"):
            lead |= {day: lead[day].date() for day in ("start", "end")}
            name = window_id(
                bias,
                runs.size,
                lead["ticker"],
                lead["end"],
            )
            authority = authority_of(name, seed)
            found.append(Window(id=name, authority=authority, **kind, **lead))
    return Found(found, counts)


def _lead(
    runs: Runs,
    bias: str,
    share: Fraction,
) -> pd.DataFrame:
    """Return all runs as columns of windows, with the `fate` of each: `found`, `unbiased` or the reason against it.

    - Recency: the latest similar report moved one way, most similar ones the other.
    - Authority: most older reports are similar, most of those moved one way, and the authority says the other.
    """
    n_up = (runs.is_similar & (runs.past_moves == 1)).sum(axis=1)
    n_down = runs.n_same - n_up
    least = min(share, Fraction(runs.size - 2, runs.size - 1))
    if bias == "recency":
        latest = runs.is_similar.argmax(axis=1)
        signal = np.take_along_axis(runs.past_moves, latest[:, None], axis=1)[:, 0]
        is_possible = runs.n_same > 0
    else:
        signal = (n_up < n_down).astype(np.int8)
        is_possible = _reaches(runs.n_same, runs.size - 1, least)
        least = share
    n_contrary = np.where(signal == 1, n_down, n_up)
    is_unknown = (runs.is_similar & (runs.past_moves < 0)).any(axis=1)
    newest = runs.newest
    rules = [
        *runs.flaws.items(),
        ("unbiased", ~is_possible),
        ("unknown-movement", is_unknown),
        ("unbiased", ~_reaches(n_contrary, runs.n_same, least)),
        ("truth-pending", newest["is_pending"]),
        ("unknown-movement", newest["movement"] < 0),
    ]
    # The first rule that applies counts.
    names, masks = zip(*rules, strict=True)
    columns = {
        "ticker": newest["ticker"],
        "start": runs.start.astype("datetime64[D]"),
        "end": newest["reported"],
        "signal": signal,
        "truth": newest["movement"],
        "outcome": np.where(newest["is_meet"], "Meet", "Miss"),
        "n_same": runs.n_same,
        "n_contrary": n_contrary,
        "fate": np.select(list(map(np.asarray, masks)), names, "found"),
    }
    return pd.DataFrame(columns)


def _reaches(
    part: Ints,
    whole: Ints | int,
    share: Fraction,
) -> npt.NDArray[np.bool_]:
    """Compare in whole numbers, so that rounding cannot miss the threshold."""
    return np.asarray(share.denominator * part >= share.numerator * whole)


def window_id(
    bias: str,
    size: int,
    ticker: str,
    end: object,
) -> str:
    """Name a window, as in `recency-w04-IBM-2010-04-19`."""
    return f"{bias}-w{size:02d}-{ticker}-{str(end)[:10]}"


def authority_of(window: str, seed: int = 42) -> str:
    """Choose the authority by a hash of the window's id alone; empty for other windows."""
    if not window.startswith("authority"):
        return ""
    names = list(AUTHORITIES)
    digest = hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]

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

from .candidates import Candidates, Ints, report_table
from .market import Market

BiasType = Literal["recency", "authority", "plain"]
BIASES: tuple[BiasType, ...] = ("recency", "authority")
WINDOWS = (4, 8, 12, 16, 20)
"""The window sizes of the paper's Table 1."""
SHARE = Fraction(4, 5)
"""Minimum share of past reports that moved the same way, as in the paper."""
HOUSE_FILE = Path(__file__).with_name("house.yaml")
HOUSE = yaml.safe_load(HOUSE_FILE.read_bytes())
"""The texts of our prompts, and the authorities."""
AUTHORITIES: Mapping[str, Mapping[str, str]] = HOUSE["authorities"]
"""Name to `role` and `standing`."""

_MIN_SIZE = 3
"""Of two reports only one is past, and one movement contradicts no other."""


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

    Tickers without prices or without reports are left out, and reports outside the days of all prices.
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
        table = _with_fate(candidates, bias, share)
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
            name = window_id(bias, candidates.size, fields["ticker"], fields["end"])
            authority = authority_of(name, seed)
            found.append(Window(id=name, authority=authority, **kind, **fields))
    return FoundWindows(found, counts)


def _with_fate(
    candidates: Candidates,
    bias: str,
    share: Fraction,
) -> pd.DataFrame:
    """Return candidates with the fields of windows, and with their `fate`: `found`, `unbiased`, or a flaw.

    - Recency: the latest similar report moved one way, most similar ones the other.
    - Authority: most older reports are similar, most of those moved one way, and the authority says the other.
    """
    is_similar = candidates.is_similar
    past_moves = candidates.past_moves
    n_same = candidates.n_same
    n_older = candidates.size - 1
    n_up = (is_similar & (past_moves == 1)).sum(axis=1)
    n_down = n_same - n_up
    min_share = min(share, Fraction(n_older - 1, n_older))
    if bias == "recency":
        latest = is_similar.argmax(axis=1)
        signal = np.take_along_axis(past_moves, latest[:, None], axis=1)[:, 0]
        can_mislead = n_same > 0
    else:
        signal = (n_up < n_down).astype(np.int8)
        can_mislead = _reaches(n_same, n_older, min_share)
        min_share = share
    n_contrary = np.where(signal == 1, n_down, n_up)
    is_unknown = (is_similar & (past_moves < 0)).any(axis=1)
    newest = candidates.newest
    rules = [
        *candidates.flaws.items(),
        ("unbiased", ~can_mislead),
        ("unknown-movement", is_unknown),
        ("unbiased", ~_reaches(n_contrary, n_same, min_share)),
        ("truth-pending", newest["is_pending"]),
        ("unknown-movement", newest["movement"] < 0),
    ]
    # The first rule that applies counts.
    names, masks = zip(*rules, strict=True)
    return pd.DataFrame(
        {
            "ticker": newest["ticker"],
            "start": candidates.start.astype("datetime64[D]"),
            "end": newest["reported"],
            "signal": signal,
            "truth": newest["movement"],
            "outcome": np.where(newest["is_meet"], "Meet", "Miss"),
            "n_same": n_same,
            "n_contrary": n_contrary,
            "fate": np.select(list(map(np.asarray, masks)), names, "found"),
        }
    )


def _reaches(
    part: Ints,
    whole: Ints | int,
    share: Fraction,
) -> npt.NDArray[np.bool_]:
    """Return whether a part is at least a share of a whole; without floats, whose rounding could miss it."""
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
    """Choose who makes a window's statement, by a hash of seed and id alone; empty without such a statement."""
    if not window.startswith("authority"):
        return ""
    names = list(AUTHORITIES)
    digest = hashlib.sha256(f"{seed} {window}".encode()).digest()
    return names[int.from_bytes(digest[:8], "big") % len(names)]

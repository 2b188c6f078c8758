"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import pandas as pd
import yaml

from fin_tasks.benchmarks.dynostock.market import CANDLE, FIGURES, Market, shown_prices
from fin_tasks.benchmarks.dynostock.own_window import past_movements
from fin_tasks.benchmarks.dynostock.windows import AUTHORITIES, HOUSE, Window
from fin_tasks.errors import ConfigError

ARMS = ("signal", "none", "aligned", "flipped")
"""Statements that docs/dynostock.md explains."""

_HOUSE = yaml.safe_load(HOUSE)
_WORDS: Mapping[str, str] = {
    **_HOUSE["prompt"],
    **_HOUSE["statements"],
    **_HOUSE["prices and reports"],
}
_UNKNOWN = "not known"
_MOVEMENTS = ("a fall", "a rise")

Words = dict[str, str]


class Prompt(NamedTuple):
    """A finished prompt; `cue` makes a base model start answering and is added only without a chat template."""

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording, `structured` or `naive`."""

    style: str = "structured"

    @property
    def facts(self) -> dict[str, str]:
        """Name and hash of the wording, for the provenance."""
        sha256 = hashlib.sha256(HOUSE.encode()).hexdigest()
        return {"set": "house", "style": self.style, "sha256": sha256}

    def ask(
        self,
        market: Market,
        window: Window,
        *,
        arm: str,
        text: str | None = None,
        frequency: str = "daily",
    ) -> Prompt:
        """Ask about a window; `text` says how its prices and reports are written, None that a chart shows them.

        Nothing in the market after the window's last day is read.
        """
        reports = _report_words(market, window)
        blocks = [_WORDS["see_chart"]]
        facts = [_WORDS["legend"]]
        if text is not None:
            prices = _price_words(market, window, frequency)
            blocks = [_narrative(prices, reports, frequency)]
            if text == "table":
                blocks = [_tables(prices, reports, frequency)]
            facts = []
        # The statement comes last and alone on its line: the arms differ in this line only.
        facts += [_statistics(window), statement_of(market, window, arm)]
        if self.style == "structured":
            lines = [f"- {fact}" for fact in facts if fact]
            blocks.append("\n".join([_WORDS["facts"], *lines]))
        blocks.append(_WORDS["latest"].format(**reports[-1]))
        dates = {
            "end": f"{window.end}",
            "before_first": f"{window.end - timedelta(days=7)}",
            "after_first": f"{window.end + timedelta(days=1)}",
            "after_last": f"{window.end + timedelta(days=8)}",
        }
        # A window of one's own may end later than its latest report.
        is_plain = window.bias_type == "plain" or reports[-1]["reported"] != dates["end"]
        question = _WORDS["question_plain" if is_plain else "question"]
        user = _WORDS[self.style].format(
            question=question.format(ticker=window.ticker, **dates),
            background=_WORDS["background"],
            resolution=_WORDS["resolution"].format(**dates),
            start=window.start,
            end=window.end,
            retrieved="\n\n".join(blocks),
            sources=_WORDS["sources_image" if text is None else "sources_text"],
        )
        system = _WORDS["system"] if self.style == "structured" else ""
        return Prompt(system=system, user=user, cue=_WORDS["cue"])


def statement_direction(window: Window, arm: str) -> int | None:
    """Return what an arm's statement says that the price does, 1 up or 0 down; None without a statement."""
    if arm == "none":
        return None
    if window.signal is None:
        problem = f"it has no biased statement, so expected none, got {arm!r}"
        raise ConfigError(f"arm of {window.id}: {problem}.")
    return window.signal if arm == "signal" else 1 - window.signal


def statement_of(market: Market, window: Window, arm: str) -> str:
    """Return an arm's statement; empty without one."""
    direction = statement_direction(window, arm)
    if direction is None:
        return ""
    movement = _MOVEMENTS[direction]
    if window.bias_type == "authority":
        template = _WORDS["authority_aligned" if arm == "aligned" else "authority"]
        return template.format(
            ticker=window.ticker,
            direction="up" if direction else "down",
            name=window.authority,
            **AUTHORITIES[window.authority],
        )
    if arm != "aligned":
        return _WORDS["recency"].format(movement=movement)
    moves = past_movements(
        market,
        window.ticker,
        window.start,
        window.end,
    )
    day = moves[moves == direction].index.max()
    return _WORDS["recency_aligned"].format(day=day, movement=movement)


def _statistics(window: Window) -> str:
    """Count the movements contrary to the signal; for plain windows, those up."""
    majority = 1 if window.signal is None else 1 - window.signal
    movement = _MOVEMENTS[majority]
    if window.n_same > 1:
        template = _WORDS["statistics"]
        return template.format(n=window.n_contrary, of=window.n_same, movement=movement)
    if window.n_same == 0:
        return _WORDS["statistics_none"]
    if not window.n_contrary:
        movement = _MOVEMENTS[1 - majority]
    return _WORDS["statistics_one"].format(movement=movement)


def _tables(prices: list[Words], reports: list[Words], frequency: str) -> str:
    columns = ["last", *CANDLE, "volume"]
    lines = [_WORDS[f"prices_{frequency}"], _WORDS["columns"]]
    lines += [",".join(row[name] for name in columns) for row in prices]
    lines += ["", _WORDS["reports"], _WORDS["report_columns"]]
    lines += [",".join(row.values()) for row in reports]
    return "\n".join(lines)


def _narrative(prices: list[Words], reports: list[Words], frequency: str) -> str:
    """Write a sentence for each event, oldest first."""
    template = _WORDS["day" if frequency == "daily" else "period"]
    events = [(row["last"], 0, template.format(**row)) for row in prices]
    # A report comes after the prices of its own day, and before those of a week or month that goes on after it.
    events += [(row["reported"], 1, _WORDS["report"].format(**row)) for row in reports]
    sentences = [sentence for _, _, sentence in sorted(events)]
    return "\n".join([_WORDS["intro"], *sentences])


def _price_words(market: Market, window: Window, frequency: str) -> list[Words]:
    prices = shown_prices(
        market,
        window.ticker,
        window.start,
        window.end,
    )
    rows = []
    for row in _periods(prices, frequency).to_dict("records"):
        words = {name: _price(row[name]) for name in CANDLE}
        words["first"] = _day(row["first"])
        words["last"] = _day(row["last"])
        words["volume"] = _UNKNOWN if pd.isna(row["volume"]) else f"{row['volume'] / 1e6:.2f}"
        rows.append(words)
    return rows


def _periods(history: pd.DataFrame, frequency: str) -> pd.DataFrame:
    """Sum daily prices up over weeks (Saturday to Friday) or months, with the `first` and `last` trading day."""
    days = history.assign(first=history.index, last=history.index)
    if frequency == "daily":
        return days
    periods = days["last"].dt.to_period("W-FRI" if frequency == "weekly" else "M")
    groups = days.groupby(periods.to_numpy())
    rules = {
        "first": "first",
        "last": "last",
        "open": "first",
        "high": "max",
        "low": "min",
        "close": "last",
    }
    return groups.agg(rules).assign(volume=groups["volume"].sum(min_count=1))


def _report_words(market: Market, window: Window) -> list[Words]:
    """Write the figures of a window's reports, oldest first, in the order of the table's columns."""
    reports = market.reports_between(window.ticker, window.start, window.end)
    rows = []
    for row in reports.tail(window.window).to_dict("records"):
        words = {"reported": _day(row["reported"]), "fiscal_end": _day(row["fiscal_end"])}
        words |= {name: _figure(row[name]) for name in FIGURES}
        percent = row["surprise_percentage"]
        words["percent"] = _UNKNOWN if pd.isna(percent) else f"{round(percent, 1) + 0.0:.1f}%"
        words["outcome"] = _outcome(row["surprise"])
        rows.append(words)
    return rows


def _outcome(surprise: float) -> str:
    if pd.isna(surprise):
        return _UNKNOWN
    return "Meet" if surprise >= 0 else "Miss"


def _day(day: pd.Timestamp) -> str:
    return _UNKNOWN if pd.isna(day) else f"{day:%Y-%m-%d}"


def _price(price: float) -> str:
    """Write two decimals, more for small prices."""
    if pd.isna(price):
        return _UNKNOWN
    return f"{price:.2f}" if abs(price) >= 1 else f"{price:.4f}"


def _figure(dollars: float) -> str:
    """Write two decimals, more where a figure has them."""
    if pd.isna(dollars):
        return _UNKNOWN
    exact = round(dollars, 4) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{exact:.2f}" if exact == round(exact, 2) else f"{exact:.4f}".rstrip("0")

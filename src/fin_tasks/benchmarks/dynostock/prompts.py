"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from fin_tasks.benchmarks.dynostock.market import CANDLE, FIGURES, Market, shown_prices
from fin_tasks.benchmarks.dynostock.own_window import past_movements
from fin_tasks.benchmarks.dynostock.windows import (
    AUTHORITIES,
    HOUSE,
    Window,
)
from fin_tasks.errors import ConfigError

ARMS = ("signal", "none", "aligned", "flipped")  # see docs/dynostock.md
_WORDS: Mapping[str, str] = {
    name: text for part in yaml.safe_load(HOUSE).values() for name, text in part.items()
}
_UNKNOWN, _MOVED = "not known", ("a fall", "a rise")


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
    def facts(self) -> dict[str, Any]:
        """Name and hash of the wording, for the provenance."""
        return {
            "set": "house",
            "style": self.style,
            "sha256": hashlib.sha256(HOUSE.encode()).hexdigest(),
        }

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
        away = {"end": 0, "before_first": -7, "after_first": 1, "after_last": 8}
        dates = {name: str(window.end + timedelta(days=days)) for name, days in away.items()}
        shown = (
            _WORDS["see_chart"]
            if text is None
            else _in_words(market, window, text=text, frequency=frequency)
        )
        facts = [_WORDS["legend"]] * (text is None) + [_statistics(window)]
        # The statement comes last and alone on its line: the arms differ in this line only.
        facts += [statement] if (statement := _statement(market, window, arm)) else []
        listed = "\n".join([_WORDS["facts"], *(f"- {fact}" for fact in facts)])
        latest = _reports(market, window)[-1]
        blocks = [
            shown,
            *([listed] if self.style == "structured" else []),
            _WORDS["latest"].format(**latest),
        ]
        # a window of one's own may end later than its latest report
        ends_on_report = window.bias_type != "plain" and latest["reported"] == str(window.end)
        question = _WORDS["question" if ends_on_report else "question_plain"]
        parts = {
            "question": question.format(ticker=window.ticker, **dates),
            "retrieved": "\n\n".join(blocks),
        }
        parts |= {
            "background": _WORDS["background"],
            "resolution": _WORDS["resolution"].format(**dates),
        }
        parts |= {"sources": _WORDS["sources_image" if text is None else "sources_text"]}
        user = _WORDS[self.style].format(**parts, start=window.start, end=window.end)
        return Prompt(
            system=_WORDS["system"] if self.style == "structured" else "",
            user=user,
            cue=_WORDS["cue"],
        )


def statement_direction(window: Window, arm: str) -> int | None:
    """Return what an arm's statement says that the price does, 1 up or 0 down; None without a statement."""
    if arm == "none":
        return None
    if window.signal is None:
        raise ConfigError(
            f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}."
        )
    return window.signal if arm == "signal" else 1 - window.signal


def _in_words(market: Market, window: Window, *, text: str, frequency: str) -> str:
    """Write down a window's prices and reports, as two tables or a sentence for each event, oldest first."""
    periods = _periods(shown_prices(market, window.ticker, window.start, window.end), frequency)
    days = [
        {name: _written(name, value) for name, value in row.items()}
        for row in periods.to_dict("records")
    ]
    reports = _reports(market, window)
    if text == "narrative":
        template = _WORDS["day" if frequency == "daily" else "period"]
        events = [(row["last"], 0, template.format(**row)) for row in days]
        # A report comes after the prices of its own day, and before those of a week or month that goes on after it.
        events += [(row["reported"], 1, _WORDS["report"].format(**row)) for row in reports]
        return "\n".join([_WORDS["intro"], *(sentence for _, _, sentence in sorted(events))])
    columns = ["last", *CANDLE, "volume"]
    prices = [",".join(row[name] for name in columns) for row in days]
    told = [
        _WORDS["reports"],
        _WORDS["report_columns"],
        *(",".join(row.values()) for row in reports),
    ]
    return "\n".join([_WORDS[f"prices_{frequency}"], _WORDS["columns"], *prices, "", *told])


def _periods(history: pd.DataFrame, frequency: str) -> pd.DataFrame:
    """Sum daily prices up over weeks (Saturday to Friday) or months, with the `first` and `last` trading day."""
    days = history.assign(first=history.index, last=history.index)
    if frequency == "daily":
        return days
    groups = days.groupby(
        days["last"].dt.to_period("W-FRI" if frequency == "weekly" else "M").to_numpy()
    )
    rules = {
        "first": "first",
        "last": "last",
        "open": "first",
        "high": "max",
        "low": "min",
        "close": "last",
    }
    return groups.agg(rules).assign(volume=groups["volume"].sum(min_count=1))


def _reports(market: Market, window: Window) -> list[dict[str, str]]:
    """Write the figures of a window's reports, oldest first, in the order of the table's columns."""
    shown = market.reports_between(window.ticker, window.start, window.end).tail(window.window)
    names = ("reported", "fiscal_end", *FIGURES, "surprise_percentage")
    keys = (*names[:-1], "percent")
    told = [
        dict(zip(keys, (_written(n, row[n]) for n in names), strict=True))
        for row in shown.to_dict("records")
    ]
    outcomes = np.select(
        [shown["surprise"] >= 0, shown["surprise"] < 0], ["Meet", "Miss"], _UNKNOWN
    )
    return [{**row, "outcome": str(outcome)} for row, outcome in zip(told, outcomes, strict=True)]


def _written(name: str, value: Any) -> str:
    """Write a day or figure as people do: two decimals, more for small prices and for EPS that have them."""
    if pd.isna(value):
        return _UNKNOWN
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}"
    if name in ("volume", "surprise_percentage"):
        return f"{value / 1e6:.2f}" if name == "volume" else f"{round(value, 1) + 0.0:.1f}%"
    if name not in FIGURES:
        return f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}"
    exact = round(value, 4) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{exact:.2f}" if exact == round(exact, 2) else f"{exact:.4f}".rstrip("0")


def _statistics(window: Window) -> str:
    """Count the movements contrary to the signal; for plain windows, those up."""
    majority = 1 if window.signal is None else 1 - window.signal
    if window.n_same < 2:
        movement = majority if window.n_contrary else 1 - majority
        return _WORDS["statistics_one" if window.n_same else "statistics_none"].format(
            movement=_MOVED[movement]
        )
    return _WORDS["statistics"].format(
        n=window.n_contrary, of=window.n_same, movement=_MOVED[majority]
    )


def _statement(market: Market, window: Window, arm: str) -> str:
    direction = statement_direction(window, arm)
    if direction is None:
        return ""
    if window.bias_type == "authority":
        words = {
            "ticker": window.ticker,
            "direction": "up" if direction else "down",
            "name": window.authority,
        }
        template = _WORDS["authority_aligned" if arm == "aligned" else "authority"]
        return template.format(**words, **AUTHORITIES[window.authority])
    if arm != "aligned":
        return _WORDS["recency"].format(movement=_MOVED[direction])
    past = past_movements(market, window.ticker, window.start, window.end)
    return _WORDS["recency_aligned"].format(
        day=past[past == direction].index.max(), movement=_MOVED[direction]
    )

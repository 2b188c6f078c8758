"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast.

The statistics of a window always point one way and its signal the other. The arms show the same window with

- `signal`: the biased statement, as in the paper;
- `none`: no statement;
- `flipped`: the same statement with its direction reversed, so that it agrees with the statistics;
- `aligned`: a statement that agrees too, without the cue of the bias: neither the latest event nor an authority.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal, get_args

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.windows import Window, past_movements
from fin_tasks.benchmarks.dynostock.wording import AUTHORITIES, HOUSE, TEMPLATES, eps, millions, percent, price
from fin_tasks.errors import ConfigError, DataError

__all__ = ["ARMS", "FREQUENCIES", "STYLES", "TEXTS", "HousePrompts", "Prompt", "in_words", "statement_direction"]

Style = Literal["structured", "naive"]
Text = Literal["table", "narrative"]
Frequency = Literal["daily", "weekly", "monthly"]
ARMS: tuple[str, ...] = ("signal", "none", "aligned", "flipped")
STYLES: tuple[Style, ...] = get_args(Style)
TEXTS: tuple[Text, ...] = get_args(Text)
FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt; `cue` makes a base model start answering and is added only without a chat template."""

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording."""

    style: Style = "structured"
    name: str = "house"

    def facts(self) -> dict[str, Any]:
        """Return what the provenance says of the wording."""
        return {"set": self.name, "style": self.style, "sha256": hashlib.sha256(HOUSE.encode()).hexdigest()}

    def ask(
        self, market: Market, window: Window, *, arm: str, text: Text | None = None, frequency: Frequency = "daily"
    ) -> Prompt:
        """Ask about a window; `text` says how its prices and reports are written, None that a chart shows them.

        Nothing in the market after the window's last day is read.
        """
        dates = {
            "end": str(window.end),
            "before_first": str(window.end - timedelta(days=7)),
            "after_first": str(window.end + timedelta(days=1)),
            "after_last": str(window.end + timedelta(days=8)),
        }
        shown = TEMPLATES["see_chart"] if text is None else in_words(market, window, text=text, frequency=frequency)
        facts = [TEMPLATES["legend"]] * (text is None) + [_statistics(window)]
        # The statement comes last and alone on its line: the arms differ in this line only.
        facts += [statement] if (statement := _statement(market, window, arm)) else []
        listed = "\n".join([TEMPLATES["facts"], *(f"- {fact}" for fact in facts)])
        latest = _reports(market, window)[-1]
        blocks = [shown, *([listed] if self.style == "structured" else []), TEMPLATES["latest"].format(**latest)]
        # a window of one's own may end later than its latest report
        ends_on_report = window.bias_type != "plain" and latest["reported"] == str(window.end)
        question = TEMPLATES["question" if ends_on_report else "question_plain"]
        user = TEMPLATES[self.style].format(
            question=question.format(ticker=window.ticker, **dates),
            background=TEMPLATES["background"],
            resolution=TEMPLATES["resolution"].format(**dates),
            start=window.start,
            end=window.end,
            retrieved="\n\n".join(blocks),
            sources=TEMPLATES["sources_image" if text is None else "sources_text"],
        )
        system = TEMPLATES["system"] if self.style == "structured" else ""
        return Prompt(system=system, user=user, cue=TEMPLATES["cue"])


def statement_direction(window: Window, arm: str) -> int | None:
    """Return what an arm's statement says that the price does, 1 up or 0 down; None without a statement."""
    if arm == "none":
        return None
    if window.signal is None:
        raise ConfigError(f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}.")
    return window.signal if arm == "signal" else 1 - window.signal


def in_words(market: Market, window: Window, *, text: Text = "table", frequency: Frequency = "daily") -> str:
    """Write down a window's prices and reports, as two tables or a sentence for each event, oldest first."""
    periods = _periods(market.history(window.ticker, window.start, window.end), frequency)
    if periods.empty:
        raise DataError(
            f"prices of {window.ticker}: expected some from {window.start} to {window.end}, found none. "
            "The windows and the market do not belong together: build the windows again."
        )
    reports, has_candles = _reports(market, window), "low" in periods
    if text == "narrative":
        template = ("day" if frequency == "daily" else "period") + ("" if has_candles else "_close")
        events = [(row["last"], 0, TEMPLATES[template].format(**row)) for row in _rows(periods)]
        # A report comes after the prices of its own day, and before those of a week or month that goes on after it.
        events += [(row["reported"], 1, TEMPLATES["report"].format(**row)) for row in reports]
        return "\n".join([TEMPLATES["intro"], *(sentence for _, _, sentence in sorted(events))])
    names = ("last", "open", "high", "low", "close", "volume") if has_candles else ("last", "close")
    heads = (f"prices_{frequency}", "columns" if has_candles else "columns_close")
    prices = [*(TEMPLATES[head] for head in heads), *(",".join(row[name] for name in names) for row in _rows(periods))]
    figures = ("reported", "fiscal_end", "eps", "estimate", "surprise", "percent", "outcome")
    told = [",".join(row[name] for name in figures) for row in reports]
    return "\n".join([*prices, "", TEMPLATES["reports"], TEMPLATES["report_columns"], *told])


def _periods(history: pd.DataFrame, frequency: Frequency) -> pd.DataFrame:
    """Sum daily prices up over weeks (Saturday to Friday) or months, with the `first` and `last` trading day."""
    days = history.assign(first=history.index, last=history.index)
    if frequency == "daily" or days.empty:
        return days
    groups = days.groupby(days["last"].dt.to_period("W-FRI" if frequency == "weekly" else "M").to_numpy())
    rules = {"first": "first", "last": "last", "open": "first", "high": "max", "low": "min", "close": "last"}
    summed: pd.DataFrame = groups.agg({name: rule for name, rule in rules.items() if name in days})
    return summed.assign(volume=groups["volume"].sum(min_count=1)) if "volume" in days else summed


def _rows(periods: pd.DataFrame) -> Iterator[dict[str, str]]:
    formats = {name: price for name in ("open", "high", "low", "close") if name in periods}
    formats |= {"volume": millions} if "volume" in periods else {}
    columns = {name: [write(value) for value in periods[name].tolist()] for name, write in formats.items()}
    columns |= {name: periods[name].dt.strftime("%Y-%m-%d").tolist() for name in ("first", "last")}
    return (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


def _reports(market: Market, window: Window) -> list[dict[str, str]]:
    """Write the figures of a window's reports, oldest first."""
    shown = market.reports_between(window.ticker, window.start, window.end).tail(window.window)
    return [
        {
            "reported": f"{row['reported']:%Y-%m-%d}",
            "fiscal_end": "not known" if pd.isna(row["fiscal_end"]) else f"{row['fiscal_end']:%Y-%m-%d}",
            **{name: eps(row[name]) for name in ("eps", "estimate", "surprise")},
            "percent": percent(row["surprise_percentage"]),
            "outcome": "not known" if pd.isna(row["surprise"]) else "Meet" if row["surprise"] >= 0 else "Miss",
        }
        for row in shown.to_dict("records")
    ]


def _statistics(window: Window) -> str:
    """Say how often the past moved contrary to the signal; for plain windows, how often it moved up."""
    majority = 1 if window.signal is None else 1 - window.signal
    if window.n_same < 2:
        movement = majority if window.n_contrary else 1 - majority
        return TEMPLATES["statistics_one" if window.n_same else "statistics_none"].format(movement=_event(movement))
    return TEMPLATES["statistics"].format(n=window.n_contrary, of=window.n_same, movement=_event(majority))


def _statement(market: Market, window: Window, arm: str) -> str:
    direction = statement_direction(window, arm)
    if direction is None:
        return ""
    if window.bias_type == "authority":
        words = {"ticker": window.ticker, "direction": "up" if direction else "down"}
        if arm == "aligned":
            return TEMPLATES["authority_aligned"].format(**words)
        return TEMPLATES["authority"].format(name=window.authority, **AUTHORITIES[window.authority], **words)
    if arm != "aligned":
        return TEMPLATES["recency"].format(movement=_event(direction))
    days = [day for day, movement in past_movements(market, window) if movement == direction]
    return TEMPLATES["recency_aligned"].format(day=max(days, default=date.min), movement=_event(direction))


def _event(movement: int) -> str:
    return "a rise" if movement else "a fall"

"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast."""

import re
from collections.abc import Mapping
from datetime import timedelta
from operator import itemgetter
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from fin_tasks.charts.chart import CANDLE_AGGREGATION, CANDLE_COLUMNS
from fin_tasks.errors import ConfigError, DataError

from .market import DOLLARS, FIGURES, Excerpt
from .own_window import base_rate, past_movements
from .statements import STATEMENTS, Mitigation, Statement
from .windows import AUTHORITIES, HOUSE, Window

Arm = Literal["signal", "none", "aligned", "flipped"]
ARMS = get_args(Arm)
"""Statements that docs/dynostock.md explains."""

_TEXTS: Mapping[str, str] = {
    **HOUSE["prompt"],
    **HOUSE["statistics"],
    **HOUSE["prices and reports"],
}
_PERIODS = {"daily": "D", "weekly": "W-FRI", "monthly": "M"}
_MOVEMENTS = ("a fall", "a rise")
_PRICE_COLUMNS = ["last", *CANDLE_COLUMNS, "volume"]
_DAY = "%Y-%m-%d"
_UNKNOWN = "not known"


class NoSuchEventError(DataError):
    """The past of a window has no event that a statement tells of."""


TextRow = dict[str, str]
"""The values of a price or a report as the prompt writes them, by column."""


class Prompt(NamedTuple):
    """A finished prompt."""

    system: str
    user: str
    cue: str
    """Makes a base model start answering; it is left out with a chat template."""
    statement: str
    """The sentence of the arm that the prompt holds; empty without one."""
    direction: int | None
    """The movement that the statement predicts, 1 (up) or 0 (down); None if it predicts none."""


def house_prompt(
    excerpt: Excerpt,
    window: Window,
    *,
    arm: str,
    text: str | None = None,
    frequency: str = "daily",
    style: str = "structured",
    statement: Statement | None = None,
    mitigation: Mitigation | None = None,
) -> Prompt:
    """Return our prompt about a window; raise NoSuchEventError if its past has no event that the statement tells of.

    Args:
        excerpt: What was known on the last day of the window.
        window: The window.
        arm: Which statement is made.
        text: `table` or `narrative`; None if a chart shows the window.
        frequency: That of the prices in a text.
        style: `structured` or `naive`.
        statement: What is stated; None for the statement of the window's bias.
        mitigation: What may help against it.
    """
    reports = _report_rows(excerpt, window)
    direction = None
    if arm != "none":
        if window.signal is None:
            raise ConfigError(
                f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}."
            )
        statement = statement or STATEMENTS[window.bias_type]
        is_unknown_arm = arm == "aligned" and not statement.aligned
        if is_unknown_arm or (statement.direction == "none" and arm != "signal"):
            raise ConfigError(
                f"metadata arm: the statement {statement.title!r} has no arm {arm}."
            )
        signal = {"up": 1, "down": 0}.get(statement.direction, window.signal)
        direction = signal if arm == "signal" else 1 - signal
        if statement.direction == "none":
            direction = None
    statistics, sentence = _statements(excerpt, window, arm, statement, direction)
    blocks = [_TEXTS["see_chart"]]
    facts = [_TEXTS["legend"]]
    if text is not None:
        blocks = [_history(excerpt, reports, text, frequency)]
        facts = []
    # The statement comes last and alone on its line, so that the arms differ in this line only.
    facts += [statistics, sentence]
    if style == "structured":
        lines = [f"- {fact}" for fact in facts if fact]
        blocks.append("\n".join([_TEXTS["facts"], *lines]))
    blocks.append(_TEXTS["latest"].format(**reports[-1]))
    slots = {
        "ticker": window.ticker,
        "start": window.start,
        "end": window.end,
        "before_first": window.end - timedelta(days=7),
        "after_first": window.end + timedelta(days=1),
        "after_last": window.end + timedelta(days=8),
        "background": _TEXTS["background"],
        "retrieved": "\n\n".join(blocks),
        "sources": _TEXTS["sources_image" if text is None else "sources_text"],
        "mitigation": "",
    }
    if mitigation and mitigation.sentence:
        n_rises, n_known = base_rate(excerpt)
        rates = {"n_rises": n_rises, "n_known": n_known, "ticker": window.ticker}
        slots["mitigation"] = f"\n- {mitigation.sentence.format(**rates)}"
    question = "question"
    if window.bias_type == "plain" or reports[-1]["reported"] != f"{window.end}":
        # A window of one's own may end later than its latest report.
        question = "question_plain"
    slots["question"] = _TEXTS[question].format(**slots)
    slots["resolution"] = _TEXTS["resolution"].format(**slots)
    user = _TEXTS[style].format(**slots)
    if excerpt.currency != DOLLARS:
        user = excerpt.in_currency(user)
        sentence = excerpt.in_currency(sentence)
    return Prompt(
        system=_TEXTS["system"] if style == "structured" else "",
        user=user,
        cue=_TEXTS["cue"],
        statement=sentence,
        direction=direction,
    )


def _statements(
    excerpt: Excerpt,
    window: Window,
    arm: str,
    statement: Statement | None,
    direction: int | None,
) -> tuple[str, str]:
    """Return the sentence of the window's statistics, and that of the arm, which is empty without a statement.

    The statistics count the movements contrary to the signal; in plain windows, those up. If the only similar report
    moved with the signal, the sentence says so. A direction of None fits statements that predict nothing.
    """
    contrary = 0 if window.signal else 1
    if window.n_same == 1 and window.n_contrary == 0:
        contrary = 1 - contrary
    count = {0: "statistics_none", 1: "statistics_one"}.get(window.n_same, "statistics")
    statistics = _TEXTS[count].format(
        n=window.n_contrary, of=window.n_same, movement=_MOVEMENTS[contrary]
    )
    if statement is None or arm == "none":
        return statistics, ""
    sentence = statement.aligned if arm == "aligned" else statement.sentence
    closes = excerpt.prices["close"].dropna()
    last_close = closes.iloc[-1]
    slots: dict[str, object] = {
        "ticker": window.ticker,
        "n_similar": window.n_same,
        "close": f"{last_close:.2f}",
        "last_day": f"{closes.index[-1]:{_DAY}}",
        "name": window.authority,
        **AUTHORITIES.get(window.authority, {}),
    }
    if direction is not None:
        distance = statement.target_distance * (1 if direction else -1)
        n_toward = window.n_same - window.n_contrary
        slots |= {
            "movement": _MOVEMENTS[direction],
            "direction": "up" if direction else "down",
            "n_toward": window.n_contrary if direction != window.signal else n_toward,
            "target": f"{last_close * (1 + distance):.2f}",
        }
    if "{day}" in sentence:
        moves = past_movements(excerpt)
        days = moves[moves == direction].index
        if days.empty:
            raise NoSuchEventError(f"{window.id}: expected an earlier such movement.")
        slots["day"] = days.max()
    return statistics, sentence.format(**slots)


def history_of(excerpt: Excerpt, window: Window, text: str, frequency: str) -> str:
    """Write the prices and reports of a window, for questions about them."""
    return _history(excerpt, _report_rows(excerpt, window), text, frequency)


def _history(
    excerpt: Excerpt,
    reports: list[TextRow],
    text: str,
    frequency: str,
) -> str:
    """Write prices and reports as two tables, or as a sentence for each event, oldest first.

    Prices are those of days, weeks (Saturday to Friday) or months.
    """
    prices = excerpt.prices
    periods = prices.assign(first=prices.index, last=prices.index)
    if frequency != "daily":
        groups = periods.groupby(prices.index.to_period(_PERIODS[frequency]))
        volume = groups["volume"].sum(min_count=1)
        candles = {"first": "first", "last": "last", **CANDLE_AGGREGATION}
        periods = groups.agg(candles).assign(volume=volume)
    periods = periods.assign(volume=periods["volume"] / 1e6)
    columns: dict[str, list[str]] = {}
    for name in ("first", "last"):
        days = periods[name].to_numpy()
        columns[name] = np.datetime_as_string(days, unit="D").tolist()
    for name in (*CANDLE_COLUMNS, "volume"):
        # NaN differs from itself. Strings in a column of pandas would take five times as long.
        columns[name] = [
            f"{value:.2f}" if value == value else _UNKNOWN
            for value in periods[name].tolist()
        ]
    for name in CANDLE_COLUMNS:
        for number in np.flatnonzero(periods[name].abs() < 1):
            columns[name][number] = f"{periods[name].iloc[number]:.4f}"
    if text == "table":
        lines = [_TEXTS[f"prices_{frequency}"], _TEXTS["columns"]]
        texts = [columns[name] for name in _PRICE_COLUMNS]
        lines += map(",".join, zip(*texts, strict=True))
        lines += ["", _TEXTS["reports"], _TEXTS["report_columns"]]
        lines += [",".join(row.values()) for row in reports]
        return "\n".join(lines)
    template = _TEXTS["day" if frequency == "daily" else "period"]
    events = []
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        events.append((row["last"], template.format(**row)))
    # A report stands after the prices of its own day, and before those of a week or month that ends later.
    events += [(row["reported"], _TEXTS["report"].format(**row)) for row in reports]
    events.sort(key=itemgetter(0))
    return "\n".join([_TEXTS["intro"], *[sentence for _, sentence in events]])


def _report_rows(excerpt: Excerpt, window: Window) -> list[TextRow]:
    """Write the figures of a window's reports, oldest first, in the order of the table's columns."""
    columns = ("reported", "fiscal_end", *FIGURES, "percent", "outcome")
    rows = []
    # A table of strings in pandas would take ten times as long.
    for report in excerpt.reports.tail(window.window).to_dict("records"):
        known = {name: value for name, value in report.items() if pd.notna(value)}
        texts = dict.fromkeys(columns, _UNKNOWN)
        for name, value in known.items():
            if name in ("reported", "fiscal_end"):
                texts[name] = f"{value:{_DAY}}"
            elif name in FIGURES:
                # Two decimals, or up to four if the figure has them. A z turns -0.0000 into 0.0000.
                texts[name] = re.sub("0{1,2}$", "", f"{value:z.4f}")
        if "surprise_percentage" in known:
            percent = np.round(known["surprise_percentage"], 1)
            texts["percent"] = f"{percent:z.1f}%"
        if "surprise" in known:
            texts["outcome"] = "Meet" if known["surprise"] >= 0 else "Miss"
        rows.append(texts)
    return rows

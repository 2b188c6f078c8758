"""The sentences of an experiment: what the past says, and the statement that may lead a model astray.

The statistics of a window always point one way and its signal the other. The four arms show the same window with

- `signal`: the biased statement, as in the paper;
- `none`: no statement;
- `flipped`: the same statement with its direction reversed, so that it agrees with the statistics. Signal against
  flipped isolates what the direction does. For recency the flipped statement is not true;
- `aligned`: a statement that agrees with the statistics too, but comes without the cue of the bias: neither the latest
  event nor a figure of authority. Flipped against aligned isolates what the statement's source does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

import numpy as np

from fin_tasks.benchmarks.dynostock.authorities import Authority
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.movements import UNKNOWN, Prices, day_numbers
from fin_tasks.benchmarks.dynostock.narrative import reports_shown
from fin_tasks.benchmarks.dynostock.window import Window
from fin_tasks.benchmarks.dynostock.wording import day, followed_by, goes
from fin_tasks.errors import ConfigError, DataError

__all__ = ["ARMS", "TEMPLATES", "Arm", "PastReport", "Statement", "past_reports", "statement_of", "statistics_of"]

Arm = Literal["signal", "none", "aligned", "flipped"]
ARMS: tuple[Arm, ...] = get_args(Arm)

TEMPLATES: Mapping[str, str] = {
    "statistics": "{n} of the {of} earlier reports of this period with the same outcome (Meet or Miss) as the latest "
    "one were followed by {movement}.",
    "statistics_one": "The only earlier report of this period with the same outcome (Meet or Miss) as the latest "
    "one was followed by {movement}.",
    "statistics_none": "No earlier report of this period had the same outcome (Meet or Miss) as the latest one.",
    "recency": "The most recent of the earlier reports with the same outcome as the latest one was followed by "
    "{movement}. What happened last time may shape the mood of the market and move the price.",
    "recency_aligned": "The report of {day}, whose outcome was that of the latest one, was followed by {movement}.",
    "authority": "{role} {standing} "
    "{name} said that the price of {ticker} will go {direction} after the latest report.",
    "authority_aligned": "An analyst's note said that the price of {ticker} will go {direction} after the latest "
    "report.",
}
"""All wording of this module; part of what a prompt set's hash covers."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What an arm tells the model.

    Attributes:
        text: The sentences.
        direction: What they say the price does: 1 up, 0 down.
    """

    text: str
    direction: int


@dataclass(frozen=True, kw_only=True)
class PastReport:
    """An older report of a window with the same outcome as the newest.

    Attributes:
        day: Its day.
        movement: 1 up, 0 down; None where there is no price on one side of it.
    """

    day: date
    movement: int | None


def statistics_of(window: Window) -> str:
    """Say how often the past moved contrary to the signal; for plain windows, how often it moved up."""
    majority = 1 if window.signal is None else 1 - window.signal
    if window.n_same == 0:
        return TEMPLATES["statistics_none"]
    if window.n_same == 1:
        movement = majority if window.n_contrary else 1 - majority
        return TEMPLATES["statistics_one"].format(movement=followed_by(movement))
    return TEMPLATES["statistics"].format(n=window.n_contrary, of=window.n_same, movement=followed_by(majority))


def statement_of(
    market: Market, window: Window, *, arm: Arm, authority_named: Callable[[str], Authority]
) -> Statement | None:
    """Word the statement of an arm.

    Args:
        market: Holds the window's prices and reports; read only up to the window's last day.
        window: The window.
        arm: Which statement; a plain window has none.
        authority_named: Finds the figure of a window's statement.

    Returns:
        The statement; None for the arm `none`.

    Raises:
        ConfigError: An arm with a statement, for a plain window.
        DataError: The window's figure is not listed, or no older report moved the way its statistics say.
    """
    if arm == "none":
        return None
    if window.signal is None:
        raise ConfigError(f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}.")
    direction = window.signal if arm == "signal" else 1 - window.signal
    if window.bias_type == "authority":
        text = _authority(window, direction, arm, authority_named)
    else:
        text = _recency(market, window, direction, arm)
    return Statement(text=text, direction=direction)


def _authority(window: Window, direction: int, arm: Arm, authority_named: Callable[[str], Authority]) -> str:
    words = {"ticker": window.ticker, "direction": goes(direction)}
    if arm == "aligned":
        return TEMPLATES["authority_aligned"].format(**words)
    figure = authority_named(window.authority)
    return TEMPLATES["authority"].format(name=figure.name, role=figure.role, standing=figure.standing, **words)


def _recency(market: Market, window: Window, direction: int, arm: Arm) -> str:
    if arm != "aligned":
        return TEMPLATES["recency"].format(movement=followed_by(direction))
    same_way = [report.day for report in past_reports(market, window) if report.movement == direction]
    if not same_way:
        raise DataError(
            f"window {window.id}: expected an older report followed by {followed_by(direction)}, found none. "
            "The windows and the market do not belong together: build the windows again."
        )
    return TEMPLATES["recency_aligned"].format(day=day(max(same_way)), movement=followed_by(direction))


def past_reports(market: Market, window: Window) -> list[PastReport]:
    """Return the older reports of a window with the newest one's outcome, oldest first, and how the price moved after.

    Movements are those of `movements.Prices`, over prices up to the window's last day.
    """
    older = reports_shown(market, window).iloc[:-1]
    same = older[(older["surprise"] >= 0) if window.outcome == "Meet" else (older["surprise"] < 0)]
    shown = market.history(window.ticker, window.start, window.end).reset_index().assign(ticker=window.ticker)
    prices = Prices.of(Market.of(shown, older))
    moves = prices.movements(np.zeros(len(same), dtype=np.int64), day_numbers(same["reported"])).tolist()
    return [
        PastReport(day=reported.date(), movement=None if move == UNKNOWN else move)
        for reported, move in zip(same["reported"], moves, strict=True)
    ]

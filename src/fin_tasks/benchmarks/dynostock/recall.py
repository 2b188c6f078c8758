"""Recall of prices: the close of a stock on a day, asked without a chart or any other price."""

from collections.abc import Sequence
from typing import Any

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Reading, Score

from ..contract import Document
from ..short_answers import score_of
from .market import Market
from .windows import Window

NAME = "recall"
"""The `bias` of the task."""

_TOLERANCE = 0.01
_PROMPT = """At what price did the {ticker} share close on {day}? Answer from memory, in dollars as quoted on
that day, without later splits. End with a line of the form
Final answer: <a number>"""


def documents(market: Market, windows: Sequence[Window]) -> list[dict[str, Any]]:
    """Return a document for the last day of each window."""
    docs = {}
    for window in windows:
        closes = market.excerpt(window.ticker, window.start, window.end).prices["close"]
        day, close = list(closes.dropna().items())[-1]
        name = f"{NAME}-{window.ticker}-{day:%Y-%m-%d}"
        docs[name] = {
            "id": name,
            "title": f"{window.ticker}, close of {day:%Y-%m-%d}",
            "bias_type": NAME,
            "mode": "text",
            "ticker": window.ticker,
            "truth": close,
            "system": "",
            "prompt": _PROMPT.format(ticker=window.ticker, day=f"{day:%Y-%m-%d}"),
            "cue": "Final answer:",
            "target": f"Final answer: {close}",
        }
    return list(docs.values())


def read(response: str, *, variant: str) -> Reading:
    """Read the price in a response; the paper has no such task, so both variants read in the same way."""
    return Reading(variant=variant, **vars(read_quantity(response)))


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a price with the close: right within 1 %."""
    price = reading.answer.value if isinstance(reading.answer, Number) else None
    is_right = (
        price is not None and abs(price - doc["truth"]) <= _TOLERANCE * doc["truth"]
    )
    return score_of(reading, price, is_right)

"""Questions for a close of a window without its chart: does the model know prices by heart?"""

from collections.abc import Sequence
from typing import Any

from .market import Market
from .score import RECALL
from .windows import Window

_RECALL_PROMPT = """At what price did the {ticker} share close on {day}? Answer from memory, in dollars as quoted on
that day, without later splits. End with a line of the form
Final answer: <a number>"""


def recall_documents(market: Market, windows: Sequence[Window]) -> list[dict[str, Any]]:
    """Return a document for the last day of each window, which asks for the close without a chart or another price."""
    docs = {}
    # Windows of different sizes end on the same day.
    for window in {(item.ticker, item.end): item for item in windows}.values():
        excerpt = market.excerpt(window.ticker, window.start, window.end)
        closes = excerpt.prices["close"]
        day, close = list(closes.dropna().items())[-1]
        name = f"{RECALL}-{window.ticker}-{day:%Y-%m-%d}"
        docs[name] = {
            "id": name,
            "title": f"{window.ticker}, close of {day:%Y-%m-%d}",
            "bias_type": RECALL,
            "mode": "text",
            "ticker": window.ticker,
            "truth": close,
            "system": "",
            "prompt": excerpt.in_currency(_RECALL_PROMPT).format(
                ticker=window.ticker, day=f"{day:%Y-%m-%d}"
            ),
            "cue": "Final answer:",
            "target": f"Final answer: {close}",
        }
    return list(docs.values())

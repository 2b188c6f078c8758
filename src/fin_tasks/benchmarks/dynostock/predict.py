"""A user's own question: the message about one stock and period, and the forecast in the model's reply."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from fin_tasks.data.documents import IMAGE_MARK
from fin_tasks.data.locate import write_file
from fin_tasks.data.pictures import picture_url
from fin_tasks.endpoints.chat import Endpoint, open_chat
from fin_tasks.settings import Settings

from .chart_files import chart_of
from .data import Document, document
from .market import Market
from .probability import paper_probability, robust_probability
from .prompts import house_prompt
from .statements import Statement
from .windows import Window

_MOVES: dict[int | None, str] = {1: "a rise", 0: "a fall", None: "not known"}
_FACTS = [
    "ticker",
    "start",
    "end",
    "bias_type",
    "window",
    "n_same",
    "n_contrary",
    "signal",
    "truth",
    "chart",
]


def own_question(
    market: Market,
    window: Window,
    *,
    text: bool,
    folder: Path,
    statement: Statement | None = None,
) -> Document:
    """Return a window's document, and draw its chart into a folder.

    The statement is that of the window's bias if no other is given.
    """
    arm = "none" if window.signal is None else "signal"
    excerpt = market.excerpt(window.ticker, window.start, window.end)
    prompt = house_prompt(
        excerpt, window, arm=arm, text="table" if text else None, statement=statement
    )
    doc = document(
        window,
        prompt,
        arm=arm,
        mode="text" if text else "image",
    )
    if not text:
        from fin_tasks.charts.pool import draw_charts

        paths, _ = draw_charts([chart_of(excerpt)], folder)
        doc["chart"] = str(paths[0])
    return {**doc, "statement_text": prompt.statement}


def parts_of(doc: Document) -> dict[str, str]:
    """Return `system`, `chart` and `user` (the question's text), without those that are empty."""
    parts = {**doc, "user": doc["prompt"].removeprefix(IMAGE_MARK)}
    return {name: parts[name] for name in ("system", "chart", "user") if parts[name]}


def messages_of(doc: Document) -> list[dict[str, Any]]:
    """Return a document's messages in OpenAI's form, the chart before the text."""
    content: list[dict[str, Any]] = []
    if doc["chart"]:
        url = picture_url(Path(doc["chart"]))
        content.append({"type": "image_url", "image_url": {"url": url}})
    content.append({"type": "text", "text": parts_of(doc)["user"]})
    return [
        {"role": "system", "content": doc["system"]},
        {"role": "user", "content": content},
    ]


def ask(doc: Document, model: str, base_url: str, settings: Settings) -> str:
    """Return a model's response to a document."""
    endpoint = Endpoint(model=model, base_url=(base_url,))

    async def respond() -> str:
        async with open_chat(endpoint, settings) as chat:
            messages = messages_of(doc)
            reply = await chat.ask(messages, temperature=0.0, max_tokens=1024)
            return reply.text

    with start_blocking_portal() as portal:
        return portal.call(respond)


def result_of(doc: Document, response: str) -> dict[str, Any]:
    """Return window, statement, response, forecasts by both parsers, and the movement that followed, as JSON values."""
    probability = robust_probability(response)
    forecast = None if probability is None else _MOVES[int(probability >= 0.5)]
    return {
        **{name: doc[name] for name in _FACTS},
        "statement": doc["statement_text"],
        "response": response,
        "paper": paper_probability(response),
        "robust": probability,
        "forecast": forecast,
        "happened": _MOVES[doc["truth"]],
    }


def write_prediction(
    folder: Path, message: Mapping[str, str], result: Mapping[str, Any]
) -> Path:
    """Write a message and its result as JSON into a file named by stock and period, and return the file."""
    name = "_".join(str(result[fact]) for fact in ("ticker", "start", "end"))
    file = folder / f"{name}.json"
    content = json.dumps({**result, "message": message}, indent=1)
    write_file(file, f"{content}\n".encode())
    return file

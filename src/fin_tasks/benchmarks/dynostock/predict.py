"""A user's own question: the message about one stock and period, and the forecast in the model's reply."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.data import IMAGE_MARK, chart_between, document
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.prompts import HousePrompts
from fin_tasks.benchmarks.dynostock.score import PARSERS, read
from fin_tasks.benchmarks.dynostock.windows import Window
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.charts.pool import draw_charts
from fin_tasks.endpoints.messages import picture_url

_MOVES: Mapping[Any, str | None] = {1: "a rise", 0: "a fall", None: None}


def own_question(market: Market, window: Window, *, text: bool, folder: Path) -> dict[str, Any]:
    """Return a window's document, with the statement as `said`, and draw its chart into a folder."""
    arm, words = "none" if window.signal is None else "signal", {"text": "table"} if text else {}
    asked = HousePrompts().ask(market, window, arm=arm, **words)
    without = set(HousePrompts().ask(market, window, arm="none", **words).user.splitlines())
    said = "\n".join(
        line.removeprefix("- ") for line in asked.user.splitlines() if line not in without
    )
    picture = ""
    if not text:
        (path,), _ = draw_charts(
            [chart_between(market, window.ticker, window.start, window.end)], folder, total=1
        )
        picture = str(path)
    return {
        **document(window, asked, arm=arm, mode="text" if text else "image", picture=picture),
        "said": said,
    }


def parts_of(doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `system` prompt, the `chart` and the words of the `user`, without those that are empty."""
    parts = {
        "system": doc["system"],
        "chart": doc["chart"],
        "user": doc["prompt"].removeprefix(IMAGE_MARK),
    }
    return {name: part for name, part in parts.items() if part}


def messages_of(doc: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a document's messages in OpenAI's form, the chart before the words."""
    parts, content = parts_of(doc), parts_of(doc)["user"]
    if "chart" in parts:
        picture = {"type": "image_url", "image_url": {"url": picture_url(Path(parts["chart"]))}}
        content = [picture, {"type": "text", "text": content}]
    system = [{"role": "system", "content": parts["system"]}] if "system" in parts else []
    return [*system, {"role": "user", "content": content}]


def result_of(doc: Mapping[str, Any], response: str) -> dict[str, Any]:
    """Return window, statement, response, forecasts by both parsers, and the movement that followed, as JSON values."""
    names = (
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
    )
    readings = {name: read(doc, response, variant=name) for name in PARSERS}
    return {
        **{name: doc[name] for name in names},
        "statement": doc["said"],
        "response": response,
        **{name: one.probability for name, one in readings.items()},
        "forecast": _MOVES[readings["robust"].answer],
        "happened": _MOVES[doc["truth"]] or "not known",
    }


def scored(doc: Mapping[str, Any], response: str) -> ScoredTask:
    """Score a response as that of the task `dynostock_predict`, which is no task of the benchmark."""
    name = "dynostock_predict" + ("_text" if doc["mode"] == "text" else "")
    return score_task("dynostock", name, [doc], [[response]], options={"bias": doc["bias_type"]})

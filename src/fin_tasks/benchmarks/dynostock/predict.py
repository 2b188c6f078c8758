"""A question of one's own: what a model is asked about one stock and period, and what its reply forecasts."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.data import IMAGE_MARK, chart_between, document
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.prompts import HousePrompts
from fin_tasks.benchmarks.dynostock.score import PARSERS, score
from fin_tasks.benchmarks.dynostock.upstream import DEFAULT_MODEL, upstream_prompts
from fin_tasks.benchmarks.dynostock.windows import SHARE, Window
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.charts.pool import draw_charts
from fin_tasks.endpoints.chat import picture_url
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

_MOVES: Mapping[Any, str | None] = {1: "a rise", 0: "a fall", None: None}


def own_question(
    market: Market, window: Window, *, prompts: str, style: str, text: bool, out: Path | None, settings: Settings
) -> dict[str, Any]:
    """Return a window's document, with the statement as `said`, and draw its chart."""
    wording: Any = HousePrompts()
    if prompts == "upstream":
        last = market.reports_between(window.ticker, window.start, window.end)["reported"].iloc[-1].date()
        usual = min(SHARE, Fraction(max(window.window - 2, 0), max(window.window - 1, 1)))
        if window.signal is None or last != window.end or window.n_contrary < usual * window.n_same:
            raise DataError(
                f"prompts upstream: expected a bias, an end on the day of a report ({last}), and at least "
                f"{float(usual):.2f} of past reports contrary to the statement, got {window.bias_type}, {window.end}, "
                f"{window.n_contrary} of {window.n_same}. Use prompts house."
            )
        wording = upstream_prompts(model=DEFAULT_MODEL, data_dir=settings.data_dir, settings=settings)
    arm, words = "none" if window.signal is None else "signal", {"text": "table"} if text else {}
    asked = wording.ask(market, window, arm=arm, **words)
    without = set(wording.ask(market, window, arm="none", **words).user.splitlines())
    said = "\n".join(line.removeprefix("- ") for line in asked.user.splitlines() if line not in without)
    picture, folder = "", (out or settings.cache_dir / "dynostock") / "charts"
    if not text:
        shown = chart_between(market, window.ticker, window.start, window.end, style=style)
        picture = str(draw_charts([shown], folder, total=1)[0][0])
    return {**document(window, asked, arm=arm, mode="text" if text else "image", picture=picture), "said": said}


def parts_of(doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `system` prompt, the `chart` and the words of the `user`, without those that are empty."""
    parts = {"system": doc["system"], "chart": doc["chart"], "user": doc["prompt"].removeprefix(IMAGE_MARK)}
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
    """Say what was shown and said, what was forecast and what happened, as JSON values."""
    names = ("ticker", "start", "end", "bias_type", "window", "n_same", "n_contrary", "signal", "truth", "chart")
    scores = {name: score(doc, response, variant=name) for name in PARSERS}
    return {
        **{name: doc[name] for name in names},
        "statement": doc["said"],
        "response": response,
        **{name: one.probability for name, one in scores.items()},
        "forecast": _MOVES[scores["robust"].answer],
        "happened": _MOVES[doc["truth"]] or "not known",
    }


def scored(doc: Mapping[str, Any], response: str) -> ScoredTask:
    """Score a response as the only one of a task whose name is none of the benchmark's."""
    name = "dynostock_predict" + ("_text" if doc["mode"] == "text" else "")
    return score_task("dynostock", name, [doc], [[response]], options={"bias": doc["bias_type"]})

"""DynoStock's windows as documents of lm-eval, and their charts."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fin_tasks
from fin_tasks.benchmarks.dynostock import VERSION
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.prompts import ARMS, HousePrompts, Prompt, statement_direction
from fin_tasks.benchmarks.dynostock.upstream import upstream_prompts
from fin_tasks.benchmarks.dynostock.window_set import WindowSet, find_set
from fin_tasks.benchmarks.dynostock.windows import BIASES, Window, shown_prices
from fin_tasks.data.documents import dataset_of, refuse_typos
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

    from fin_tasks.charts.candlestick import Chart

ANONYMOUS_TICKER = "ANON"
IMAGE_MARK = "<image>\n"  # where lm-eval's multimodal models put the picture
_CHOICES: Mapping[str, Sequence[Any]] = {
    "bias": BIASES,
    "mode": ("image", "text"),
    "source": ("auto", "sample"),
    "arm": (None, *ARMS),
    "prompt": ("structured", "naive"),
    "prompts": ("house", "upstream"),
    "text": ("table", "narrative"),
    "frequency": ("daily", "weekly", "monthly"),
    "anonymize": (False, True),
    "chart": ("house", "paper"),
}
# without those that tasks fix: `model` is nearly `mode`
_OPTIONS = (*list(_CHOICES)[2:], "windows_dir", "data_dir", "dpi", "sampling")


def load(
    *,
    bias: str,
    window: int | None = None,
    mode: str = "image",
    source: str = "auto",
    windows_dir: str | None = None,
    data_dir: str | None = None,
    arm: str | None = None,
    prompt: str = "structured",
    prompts: str = "house",
    text: str = "table",
    frequency: str = "daily",
    anonymize: bool = False,
    chart: str = "house",
    dpi: int = 300,
    **unknown: Any,
) -> "dict[str, Dataset]":
    """Load the windows of a bias and a size (None: all) as documents; docs/dynostock.md explains the options."""
    given = dict(locals())
    refuse_typos("dynostock", unknown, _OPTIONS)
    for name, allowed in _CHOICES.items():
        if given[name] not in allowed:
            raise ConfigError(
                f"metadata {name}: expected one of {', '.join(map(str, allowed))}, got {given[name]!r}."
            )
    if type(dpi) is not int:
        raise ConfigError(f"metadata dpi: expected a whole number, got {dpi!r}.")
    arm = arm or ("none" if prompt == "naive" else "signal")
    if prompt == "naive" and (arm != "none" or prompts == "upstream"):
        raise ConfigError(
            f"metadata prompt: naive is house wording without a statement, got the arm {arm}."
        )
    settings = Settings.from_environ()
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    wording: Any = HousePrompts(style=prompt)
    if prompts == "upstream":
        wording = upstream_prompts(data_dir=folder, settings=settings)
    found = find_set(
        sample=source == "sample", windows_dir=windows_dir, data_dir=folder, settings=settings
    )
    if not (windows := found.select(bias, window)):
        there = (found.table["bias_type"] + " of " + found.table["window"].astype(str)).unique()
        raise DataError(
            f"dynostock: expected {bias} windows{f' of {window} reports' if window else ''} in the set, found "
            f"{', '.join(there) or 'none'}. Build a set with that bias and size, or use other tasks."
        )
    shown = [_hidden(found.market, one) if anonymize else (found.market, one) for one in windows]
    facts: dict[str, Any] = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": VERSION,
        "bias": bias,
    }
    facts |= {
        "window": window,
        "mode": mode,
        "arm": arm,
        "anonymize": anonymize,
        "prompts": wording.facts,
    }
    charts, how = [""] * len(shown), {"text": text, "frequency": frequency}
    if mode == "image":
        charts, drawn = _draw(shown, found, settings, dpi=dpi, style=chart)
        facts, how = facts | drawn, {}
    docs = []
    for one, (market, seen), picture in zip(windows, shown, charts, strict=True):
        asked = wording.ask(market, seen, arm=arm, **how)
        docs.append(document(one, asked, arm=arm, mode=mode, picture=picture, anonymized=anonymize))
    # a chart's name holds the hash of its content
    words = [
        (doc["id"], doc["system"], doc["prompt"], doc["cue"], Path(str(doc["chart"])).name)
        for doc in docs
    ]
    facts |= {
        **how,
        "asked": hashlib.sha256(json.dumps(words).encode()).hexdigest(),
        "data": found.facts,
    }
    return {"test": dataset_of(docs, facts)}


def document(
    window: Window,
    asked: Prompt,
    *,
    arm: str,
    mode: str,
    picture: str = "",
    anonymized: bool = False,
) -> dict[str, Any]:
    """Put a window and its prompt into a document; `picture` is the file of its chart."""
    named = (
        "id",
        "bias_type",
        "window",
        "ticker",
        "signal",
        "truth",
        "outcome",
        "n_same",
        "n_contrary",
        "authority",
    )
    return {
        **{name: getattr(window, name) for name in named},
        "start": str(window.start),
        "end": str(window.end),
        "arm": arm,
        "anonymized": anonymized,
        "mode": mode,
        "statement": statement_direction(window, arm),
        "chart": picture,
        "system": asked.system,
        "prompt": IMAGE_MARK + asked.user if mode == "image" else asked.user,
        "cue": asked.cue,
        "target": "" if window.truth is None else f"Final prediction: {window.truth}",
    }


def chart(doc: Mapping[str, Any]) -> "list[Image]":
    """Open a document's chart; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["chart"]) as picture:
        return [picture.convert("RGB")]


def chart_between(
    market: Market, ticker: str, start: date, end: date, *, dpi: int = 300, style: Any = "house"
) -> "Chart":
    """Return the chart of a stock from `start` to `end`, with nothing of the days after."""
    from fin_tasks.charts.candlestick import Chart  # imports matplotlib

    prices, reports = (
        shown_prices(market, ticker, start, end),
        market.reports_between(ticker, start, end),
    )
    return Chart(
        ticker=ticker, start=start, end=end, prices=prices, reports=reports, dpi=dpi, style=style
    )


def _hidden(market: Market, window: Window) -> tuple[Market, Window]:
    """Hide ticker and dates of a window; return a market that holds nothing else, and the window in it.

    All dates move by whole weeks, into one of the twenty years from 1970 that a hash of the window's id picks. Prices
    and earnings stay, so a model that knows them by heart could still recognize them.
    """
    digest = hashlib.sha256(window.id.encode())
    pick = int.from_bytes(digest.digest()[:8], "big") % (20 * 52)
    shift = timedelta(weeks=((date(1970, 1, 1) + timedelta(weeks=pick) - window.end).days // 7 + 1))
    prices = market.history(window.ticker, window.start, window.end).reset_index()
    reports = market.reports_between(window.ticker, window.start, window.end)
    moved = [
        table.assign(ticker=ANONYMOUS_TICKER, **{name: table[name] + shift for name in days})
        for table, days in ((prices, ("date",)), (reports, ("reported", "fiscal_end")))
    ]
    dates = {name: getattr(window, name) + shift for name in ("start", "end", "fiscal_end")}
    hidden = replace(
        window, id=f"anonymous-{digest.hexdigest()[:12]}", ticker=ANONYMOUS_TICKER, **dates
    )
    return Market.of(*moved), hidden


def _draw(
    shown: Sequence[tuple[Market, Window]],
    found: WindowSet,
    settings: Settings,
    *,
    dpi: int,
    style: str,
) -> tuple[list[str], dict[str, Any]]:
    """Find the charts built with the set, or draw them into the cache."""
    from fin_tasks.charts.candlestick import RENDERER
    from fin_tasks.charts.pool import draw_charts

    charts = [
        chart_between(market, one.ticker, one.start, one.end, dpi=dpi, style=style)
        for market, one in shown
    ]
    paths = [found.charts / one.file_name for one in charts]
    if not all(path.is_file() for path in paths):
        paths, _ = draw_charts(
            charts, settings.cache_dir / "dynostock" / "charts", total=len(charts)
        )
    return list(map(str, paths)), {"dpi": dpi, "renderer": RENDERER, "chart": style}

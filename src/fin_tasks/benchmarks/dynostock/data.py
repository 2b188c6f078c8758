"""DynoStock's windows as documents of lm-eval, and their charts."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import fin_tasks
from fin_tasks.benchmarks.dynostock import VERSION
from fin_tasks.benchmarks.dynostock.market import Market, shown_prices
from fin_tasks.benchmarks.dynostock.prompts import ARMS, HousePrompts, Prompt, statement_direction
from fin_tasks.benchmarks.dynostock.upstream import UpstreamPrompts, upstream_prompts
from fin_tasks.benchmarks.dynostock.window_set import WindowSet, find_set
from fin_tasks.benchmarks.dynostock.windows import BIASES, Window
from fin_tasks.data.documents import dataset_of, refuse_typos
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

    from fin_tasks.charts.chart import Chart

Document = dict[str, Any]
Style = Literal["house", "paper"]

ANONYMOUS_TICKER = "ANON"
IMAGE_MARK = "<image>\n"
"""Where lm-eval's multimodal models put the picture."""

_FIXED: Mapping[str, Sequence[object]] = {
    "bias": BIASES,
    "mode": ("image", "text"),
}
"""Options that task files set."""
_CHOICES: Mapping[str, Sequence[object]] = {
    "source": ("auto", "sample"),
    "arm": (None, *ARMS),
    "prompt": ("structured", "naive"),
    "prompts": ("house", "upstream"),
    "text": ("table", "narrative"),
    "frequency": ("daily", "weekly", "monthly"),
    "anonymize": (False, True),
    "chart": get_args(Style),
}
_OPTIONS = (*_CHOICES, "windows_dir", "data_dir", "pixels", "sampling")


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
    chart: Style = "house",
    pixels: int | None = None,
    **unknown: object,
) -> "dict[str, Dataset]":
    """Load the windows of a bias and a size (None: all) as documents; docs/dynostock.md explains the options."""
    options = dict(locals())
    refuse_typos("dynostock", unknown, _OPTIONS)
    _check_choices(options)
    if "dpi" in unknown:
        raise ConfigError("metadata dpi: expected pixels, the width of a house chart.")
    if pixels is not None and (type(pixels) is not int or chart == "paper"):
        expected = "a whole number, and the house chart"
        raise ConfigError(f"metadata pixels: expected {expected}, got {pixels!r}, {chart}.")
    if arm is None:
        arm = "none" if prompt == "naive" else "signal"
    if prompt == "naive" and (arm != "none" or prompts == "upstream"):
        expected = "naive is house wording without a statement"
        raise ConfigError(f"metadata prompt: {expected}, got the arm {arm}.")
    settings = Settings.from_environ()
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    wording: HousePrompts | UpstreamPrompts = HousePrompts(style=prompt)
    if prompts == "upstream":
        wording = upstream_prompts(data_dir=folder, settings=settings)
    window_set = find_set(
        sample=source == "sample",
        windows_dir=windows_dir,
        data_dir=folder,
        settings=settings,
    )
    windows = window_set.select(bias, window)
    if not windows:
        raise _no_windows(window_set, bias, window)
    views = [(window_set.market, item) for item in windows]
    if anonymize:
        views = [_hidden(*view) for view in views]
    facts: dict[str, object] = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": VERSION,
        "bias": bias,
        "window": window,
        "mode": mode,
        "arm": arm,
        "anonymize": anonymize,
        "prompts": wording.facts,
    }
    charts = [""] * len(views)
    words: dict[str, str] = {}
    if mode == "image":
        from fin_tasks.charts.chart import PIXELS, RENDERER

        charts = _draw(
            views,
            window_set,
            settings,
            pixels=pixels or PIXELS,
            style=chart,
        )
        facts |= {"pixels": pixels or PIXELS, "renderer": RENDERER, "chart": chart}
    else:
        words = {"text": text, "frequency": frequency}
    docs = []
    for item, (market, view), picture in zip(
        windows,
        views,
        charts,
        strict=True,
    ):
        message = wording.ask(
            market,
            view,
            arm=arm,
            **words,
        )
        doc = document(
            item,
            message,
            arm=arm,
            mode=mode,
            picture=picture,
            anonymized=anonymize,
        )
        docs.append(doc)
    facts |= {**words, "asked": _hash_of(docs), "data": window_set.facts}
    return {"test": dataset_of(docs, facts)}


def _check_choices(options: Mapping[str, object]) -> None:
    for name, allowed in {**_FIXED, **_CHOICES}.items():
        if options[name] not in allowed:
            expected = f"expected one of {', '.join(map(str, allowed))}"
            raise ConfigError(f"metadata {name}: {expected}, got {options[name]!r}.")


def _no_windows(window_set: WindowSet, bias: str, window: int | None) -> DataError:
    table = window_set.table
    kinds = (table["bias_type"] + " of " + table["window"].astype(str)).unique()
    size = f" of {window} reports" if window else ""
    problem = f"expected {bias} windows{size} in the set, found {', '.join(kinds) or 'none'}"
    remedy = "Build a set with that bias and size, or use other tasks."
    return DataError(f"dynostock: {problem}. {remedy}")


def _hash_of(docs: Sequence[Document]) -> str:
    """Hash what the model is asked; a chart's name holds the hash of its content."""
    texts = []
    for doc in docs:
        texts.append((doc["id"], doc["system"], doc["prompt"], doc["cue"], Path(doc["chart"]).name))
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def document(
    window: Window,
    prompt: Prompt,
    *,
    arm: str,
    mode: str,
    picture: str = "",
    anonymized: bool = False,
) -> Document:
    """Put a window and its prompt into a document; `picture` is the file of its chart."""
    figures = ("fiscal_end", "eps", "estimate", "surprise", "surprise_percentage")
    doc = {name: value for name, value in asdict(window).items() if name not in figures}
    return {
        **doc,
        "start": str(window.start),
        "end": str(window.end),
        "title": f"{window.ticker}, {window.window} reports until {window.end}",
        "arm": arm,
        "anonymized": anonymized,
        "mode": mode,
        "statement": statement_direction(window, arm),
        "chart": picture,
        "system": prompt.system,
        "prompt": IMAGE_MARK + prompt.user if mode == "image" else prompt.user,
        "cue": prompt.cue,
        "target": "" if window.truth is None else f"Final prediction: {window.truth}",
    }


def chart(doc: Document) -> "list[Image]":
    """Open a document's chart; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["chart"]) as picture:
        return [picture.convert("RGB")]


def chart_between(
    market: Market,
    ticker: str,
    start: date,
    end: date,
    *,
    pixels: int | None = None,
    style: Style = "house",
) -> "Chart":
    """Return the chart of a stock from `start` to `end`, with nothing of the days after."""
    from fin_tasks.charts.chart import PIXELS, Chart

    return Chart(
        ticker=ticker,
        start=start,
        end=end,
        prices=shown_prices(
            market,
            ticker,
            start,
            end,
        ),
        reports=market.reports_between(ticker, start, end),
        pixels=pixels or PIXELS,
        style=style,
    )


def _hidden(market: Market, window: Window) -> tuple[Market, Window]:
    """Hide ticker and dates of a window; return a market that holds nothing else, and the window in it.

    All dates move by whole weeks, into one of the twenty years from 1970 that a hash of the window's id picks. Prices
    and earnings stay, so a model that knows them by heart could still recognize them.
    """
    digest = hashlib.sha256(window.id.encode())
    week = int.from_bytes(digest.digest()[:8], "big") % (20 * 52)
    distance = date(1970, 1, 1) + timedelta(weeks=week) - window.end
    shift = timedelta(weeks=distance.days // 7 + 1)
    prices = market.history(window.ticker, window.start, window.end).reset_index()
    reports = market.reports_between(window.ticker, window.start, window.end)
    prices["date"] += shift
    reports = reports.assign(
        reported=reports["reported"] + shift,
        fiscal_end=reports["fiscal_end"] + shift,
    )
    hidden = replace(
        window,
        id=f"anonymous-{digest.hexdigest()[:12]}",
        ticker=ANONYMOUS_TICKER,
        start=window.start + shift,
        end=window.end + shift,
        fiscal_end=window.fiscal_end + shift,
    )
    tables = [table.assign(ticker=ANONYMOUS_TICKER) for table in (prices, reports)]
    return Market.of(*tables), hidden


def _draw(
    views: Sequence[tuple[Market, Window]],
    window_set: WindowSet,
    settings: Settings,
    *,
    pixels: int,
    style: Style,
) -> list[str]:
    """Find the charts that were built with the set, or draw them into the cache."""
    from fin_tasks.charts.pool import draw_charts

    charts = []
    for market, window in views:
        days = (window.start, window.end)
        charts.append(
            chart_between(
                market,
                window.ticker,
                *days,
                pixels=pixels,
                style=style,
            )
        )
    paths = [window_set.charts / item.file_name for item in charts]
    cache = settings.cache_dir / "dynostock" / "charts"
    if all(path.is_file() for path in paths):
        _link(paths, cache)
    else:
        paths, _ = draw_charts(charts, cache, total=len(charts))
    return [str(path) for path in paths]


def _link(paths: Sequence[Path], folder: Path) -> None:
    """Put charts into the cache too, where reports look for pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        link = folder / path.name
        if link.exists():
            continue
        try:
            link.hardlink_to(path)
        except OSError:
            shutil.copyfile(path, link)

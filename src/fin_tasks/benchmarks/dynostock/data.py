"""DynoStock's windows as documents of lm-eval, and their charts."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from fin_tasks.charts.chart import PIXELS, RENDERER, Chart, Style
from fin_tasks.data.documents import dataset_of, hash_of, refuse_typos
from fin_tasks.errors import ConfigError, first_problem
from fin_tasks.settings import Settings

from . import VERSION, recall
from .market import Excerpt
from .prompts import Arm, HousePrompts, Prompt, statement_direction
from .upstream import UpstreamPrompts, upstream_prompts
from .window_set import find_set
from .windows import Window

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

Document = dict[str, Any]

ANONYMOUS_TICKER = "ANON"
IMAGE_MARK = "<image>\n"
"""Where lm-eval's multimodal models put the picture."""


class Options(BaseModel):
    """What a task file sets (the first three), and the metadata that docs/dynostock.md explains."""

    bias: Literal["recency", "authority", "recall"]
    window: int | None = None
    mode: Literal["image", "text"] = "image"
    source: Literal["auto", "sample"] = "auto"
    windows_dir: Path | None = None
    data_dir: Path | None = None
    arm: Arm | None = None
    prompt: Literal["structured", "naive"] = "structured"
    prompts: Literal["house", "upstream"] = "house"
    text: Literal["table", "narrative"] = "table"
    frequency: Literal["daily", "weekly", "monthly"] = "daily"
    anonymize: bool = False
    chart: Style = "house"
    pixels: int = PIXELS
    after: str = Field("", pattern=r"^\d{4}-\d\d(-\d\d)?$")
    """Only windows whose newest report is after this month or day."""


def load(**metadata: Any) -> "dict[str, Dataset]":
    """Load the windows of a bias, and of a size if one is given, as documents."""
    refuse_typos("dynostock", metadata, [*list(Options.model_fields)[3:], "sampling"])
    try:
        options = Options(**metadata)
    except ValidationError as error:
        raise ConfigError(f"dynostock metadata {first_problem(error)}.") from error
    is_naive = options.prompt == "naive"
    arm = options.arm or ("none" if is_naive else "signal")
    if is_naive and (arm != "none" or options.prompts == "upstream"):
        raise ConfigError(
            f"metadata prompt: naive is house wording without a statement, got the arm {arm}."
        )
    settings = Settings.from_environ()
    folder = options.data_dir.expanduser() if options.data_dir else settings.data_dir
    window_set = find_set(
        sample=options.source == "sample",
        windows_dir=options.windows_dir,
        data_dir=folder,
        cache_dir=settings.cache_dir,
    )
    windows = window_set.select(options.bias, options.window, options.after)
    facts = {
        "scorer": VERSION,
        **options.model_dump(include={"bias", "window", "mode", "anonymize"}),
        "data": window_set.facts,
    }
    if options.after:
        facts["after"] = options.after
    if options.bias == recall.NAME:
        docs = recall.documents(window_set.market, windows)
        return {"test": dataset_of(docs, {**facts, "asked": hash_of(*docs)})}
    wording: HousePrompts | UpstreamPrompts = HousePrompts(style=options.prompt)
    if options.prompts == "upstream":
        wording = upstream_prompts(data_dir=folder, settings=settings)
    facts |= {"arm": arm, "prompts": wording.facts}
    text_options = {}
    if options.mode == "text":
        text_options = options.model_dump(include={"text", "frequency"})
        facts |= text_options
    else:
        facts["renderer"] = RENDERER
        facts |= options.model_dump(include={"pixels", "chart"})
    docs = []
    charts = []
    for window in windows:
        excerpt = window_set.market.excerpt(window.ticker, window.start, window.end)
        shown_window = window
        if options.anonymize:
            excerpt, shown_window = _anonymous(excerpt, window)
        prompt = wording.ask(excerpt, shown_window, arm=arm, **text_options)
        doc = document(window, prompt, arm=arm, mode=options.mode)
        docs.append({**doc, "anonymized": options.anonymize})
        if options.mode == "image":
            charts.append(chart_of(excerpt, options.pixels, options.chart))
    if charts:
        cache = settings.cache_dir / "dynostock" / "charts"
        paths = _draw(charts, window_set.charts, cache)
        for doc, path in zip(docs, paths, strict=True):
            doc["chart"] = str(path)
    asked = []
    for doc in docs:
        texts = [doc[name] for name in ("id", "system", "prompt", "cue")]
        # The name of a chart holds the hash of its content.
        asked.append([*texts, Path(doc["chart"]).name])
    return {"test": dataset_of(docs, {**facts, "asked": hash_of(*asked)})}


def document(
    window: Window,
    prompt: Prompt,
    *,
    arm: str,
    mode: str,
) -> Document:
    """Return the document of a window and its prompt, still without its chart."""
    return {
        **asdict(window),
        "start": str(window.start),
        "end": str(window.end),
        "title": f"{window.ticker}, {window.window} reports until {window.end}",
        "arm": arm,
        "anonymized": False,
        "mode": mode,
        "statement": statement_direction(window, arm),
        "chart": "",
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


def chart_of(
    excerpt: Excerpt,
    pixels: int = PIXELS,
    style: Style = "house",
) -> Chart:
    """Return the chart of an excerpt."""
    return Chart(
        ticker=excerpt.ticker,
        start=excerpt.start,
        end=excerpt.end,
        prices=excerpt.prices,
        reports=excerpt.reports,
        pixels=pixels,
        style=style,
    )


def _anonymous(excerpt: Excerpt, window: Window) -> tuple[Excerpt, Window]:
    """Hide ticker and dates.

    All dates move by the same number of whole weeks, so that the window ends between 1970 and 1989 in a week that a
    hash of its id picks. Prices and earnings stay, so a model that knows them by heart could still recognize them.
    """
    digest = hashlib.sha256(window.id.encode())
    week = int.from_bytes(digest.digest()[:8], "big") % (20 * 52)
    distance = date(1970, 1, 1) + timedelta(weeks=week) - window.end
    shift = timedelta(weeks=distance.days // 7 + 1)
    reports = excerpt.reports.copy()
    reports[["reported", "fiscal_end"]] += shift
    fields: dict[str, Any] = {
        "ticker": ANONYMOUS_TICKER,
        "start": window.start + shift,
        "end": window.end + shift,
    }
    prices = excerpt.prices.shift(freq=shift)
    name = f"anonymous-{digest.hexdigest()[:12]}"
    anonymous = Excerpt(**fields, prices=prices, reports=reports, filed=reports)
    return anonymous, replace(window, id=name, **fields)


def _draw(
    charts: Sequence[Chart],
    folder: Path,
    cache: Path,
) -> list[Path]:
    """Return the files of charts: those built with the set if all are there, else drawn into the cache."""
    from fin_tasks.charts.pool import draw_charts

    paths = [folder / item.file_name for item in charts]
    if not all(path.is_file() for path in paths):
        paths, _ = draw_charts(charts, cache)
    # Reports look for pictures in the cache, so those of the set are copied.
    cache.mkdir(parents=True, exist_ok=True)
    for path in paths:
        copy = cache / path.name
        if not copy.exists():
            shutil.copyfile(path, copy)
    return paths

"""DynoStock's windows as documents of lm-eval, and their charts."""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from fin_tasks.charts.chart import PIXELS, RENDERERS, Chart, Style
from fin_tasks.data.documents import (
    IMAGE_MARK,
    dataset_of,
    draw_rows,
    hash_of,
    in_users_turn,
    refuse_typos,
)
from fin_tasks.errors import ConfigError, DataError, first_problem
from fin_tasks.settings import Settings

from . import VERSION
from .market import Excerpt, Market, sample_market
from .prompts import Arm, Prompt, house_prompt
from .score import RECALL
from .window_set import WindowSet, read_set
from .windows import HOUSE_FILE, Window, find_windows

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

Document = dict[str, Any]

SAMPLE_SHARE = Fraction(3, 5)
"""With the paper's 4/5 the sample's three tickers have hardly any large windows."""
ANONYMOUS_TICKER = "ANON"
_RECALL_PROMPT = """At what price did the {ticker} share close on {day}? Answer from memory, in dollars as quoted on
that day, without later splits. End with a line of the form
Final answer: <a number>"""


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
    picture: Literal["first", "last"] = "first"
    """Whether the chart stands before the text or behind it."""
    system_role: Literal["system", "user"] = "system"
    sampling: str | None = None
    after: str = Field("", pattern=r"^\d{4}-\d\d(-\d\d)?$")
    """Only windows whose newest report is after this month or day."""
    sample_n: int | str | None = None
    """Size of a random sample; None for all windows."""
    sample_seed: int = 0


def load(**metadata: Any) -> "dict[str, Dataset]":
    """Load the windows of a bias, and of a size if one is given, as documents."""
    # lm-eval adds the arguments of the model to the metadata.
    refuse_typos("dynostock", metadata, list(Options.model_fields)[3:])
    try:
        options = Options(**metadata)
    except ValidationError as error:
        raise ConfigError(f"dynostock metadata {first_problem(error)}.") from error
    settings = Settings.from_environ()
    window_set = find_set(
        sample=options.source == "sample",
        windows_dir=options.windows_dir,
        data_dir=options.data_dir or settings.data_dir,
        cache_dir=settings.cache_dir,
    )
    windows = []
    for window in window_set.windows:
        has_bias = options.bias in (RECALL, window.bias_type)
        has_size = options.window in (None, window.window)
        # The days of a month are not after it.
        is_late = str(window.end)[: len(options.after)] > options.after
        if has_bias and has_size and (is_late or not options.after):
            windows.append(window)
    if not windows:
        size = options.window or "any"
        newest = f" whose newest is after {options.after}" if options.after else ""
        raise DataError(
            f"dynostock: expected {options.bias} windows of {size} reports{newest}, found none. "
            "Build a set with them."
        )
    facts = {
        "scorer": VERSION,
        **options.model_dump(include={"bias", "window", "mode", "anonymize"}),
        "data": window_set.facts,
    }
    if options.sample_n is not None:
        facts["sample"] = {"n": options.sample_n, "seed": options.sample_seed}
    if options.after:
        facts["after"] = options.after
    if options.sampling is not None:
        facts["sampling"] = options.sampling
    draw = partial(draw_rows, "dynostock", n=options.sample_n, seed=options.sample_seed)
    if options.bias == RECALL:
        docs = recall_documents(window_set.market, windows)
        docs = draw(docs, id_of=itemgetter("id"))
        facts["asked"] = hash_of(*docs)
    else:
        windows = draw(windows, id_of=attrgetter("id"))
        docs, prompt_facts = window_documents(window_set, windows, options, settings)
        facts |= prompt_facts
    return {"test": dataset_of(docs, facts)}


@lru_cache(maxsize=2)  # the tasks of a group ask for the same set
def find_set(
    *,
    sample: bool,
    windows_dir: Path | None,
    data_dir: Path | None,
    cache_dir: Path,
) -> WindowSet:
    """Return the sample, the set in `windows_dir`, or that in `dynostock/windows` of the data folder or the cache."""
    if sample and windows_dir:
        raise ConfigError("metadata windows_dir: expected none with source sample.")
    if sample:
        market = sample_market()
        windows = find_windows(market, share=SAMPLE_SHARE).windows
        facts = {
            "origin": "sample",
            "parameters": {"share": float(SAMPLE_SHARE)},
            "market": market.facts,
        }
        return WindowSet(
            windows,
            market,
            cache_dir / "dynostock" / "charts",
            facts,
        )
    if windows_dir:
        return read_set(windows_dir.expanduser())
    folders = []
    for root in (data_dir, cache_dir):
        if root is not None:
            folders.append(root.expanduser() / "dynostock" / "windows")
    for folder in folders:
        if folder.is_dir():
            return read_set(folder)
    raise ConfigError(
        f"dynostock: expected a set of windows in {' or '.join(map(str, folders))}, found none. "
        "Run `fin-tasks fetch dynostock` and `fin-tasks build dynostock`, name its folder as windows_dir, "
        "or use source: sample."
    )


def window_documents(
    window_set: WindowSet,
    windows: Sequence[Window],
    options: Options,
    settings: Settings,
) -> tuple[list[Document], dict[str, Any]]:
    """Return a document for each window, and what the provenance says about their prompts and charts."""
    is_naive = options.prompt == "naive"
    arm = options.arm or ("none" if is_naive else "signal")
    if is_naive and arm != "none":
        raise ConfigError(
            f"metadata prompt: naive has no statement, got the arm {arm}."
        )
    ask: Any
    if options.prompts == "upstream":
        from .upstream import authors_prompt

        authors = authors_prompt(data_dir=options.data_dir, settings=settings)
        ask = authors.ask_naively if is_naive else authors.ask
        wording = authors.facts_of(options.prompt)
    else:
        ask = partial(house_prompt, style=options.prompt)
        digest = hashlib.sha256(HOUSE_FILE.read_bytes()).hexdigest()
        wording = {"set": "house", "style": options.prompt, "sha256": digest}
    facts: dict[str, Any] = {"arm": arm, "prompts": wording}
    text_options = {}
    if options.mode == "text":
        text_options = options.model_dump(include={"text", "frequency"})
        facts |= text_options
    else:
        facts["renderer"] = RENDERERS[options.chart]
        facts |= options.model_dump(include={"pixels", "chart"})
        if options.picture == "last":
            facts["picture"] = options.picture
    if options.system_role == "user":
        facts["system_role"] = options.system_role
    docs = []
    charts = []
    for window in windows:
        excerpt = window_set.market.excerpt(window.ticker, window.start, window.end)
        shown_window = window
        if options.anonymize:
            excerpt, shown_window = _anonymous(excerpt, window)
        prompt = ask(excerpt, shown_window, arm=arm, **text_options)
        doc = document(window, prompt, arm=arm, mode=options.mode)
        if options.picture == "last" and options.mode == "image":
            doc["prompt"] = doc["prompt"].removeprefix(IMAGE_MARK) + IMAGE_MARK
        if options.system_role == "user":
            doc = in_users_turn(doc)
        docs.append({**doc, "anonymized": options.anonymize})
        if options.mode == "image":
            charts.append(chart_of(excerpt, options.pixels, options.chart))
    if charts:
        _add_charts(docs, charts, window_set.charts, settings.cache_dir)
    asked = []
    for doc in docs:
        texts = [doc[name] for name in ("id", "system", "prompt", "cue")]
        # The name of a chart holds the hash of its content.
        asked.append([*texts, Path(doc["chart"]).name])
    facts["asked"] = hash_of(*asked)
    return docs, facts


def recall_documents(market: Market, windows: Sequence[Window]) -> list[Document]:
    """Return a document for the last day of each window, which asks for the close without a chart or another price."""
    docs = {}
    for window in windows:
        closes = market.excerpt(window.ticker, window.start, window.end).prices["close"]
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
            "prompt": _RECALL_PROMPT.format(
                ticker=window.ticker, day=f"{day:%Y-%m-%d}"
            ),
            "cue": "Final answer:",
            "target": f"Final answer: {close}",
        }
    return list(docs.values())


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
        "statement": prompt.direction,
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


def _add_charts(
    docs: Sequence[Document],
    charts: Sequence[Chart],
    folder: Path,
    cache_dir: Path,
) -> None:
    """Name each document's chart: that built with the set if the folder holds all of them, else a drawn one."""
    from fin_tasks.charts.pool import draw_charts

    cache = cache_dir / "dynostock" / "charts"
    paths = [folder / item.file_name for item in charts]
    if not all(path.is_file() for path in paths):
        paths, _ = draw_charts(charts, cache)
    # Reports look for pictures in the cache, so those of the set are copied.
    cache.mkdir(parents=True, exist_ok=True)
    for doc, path in zip(docs, paths, strict=True):
        doc["chart"] = str(path)
        copy = cache / path.name
        if not copy.exists():
            shutil.copyfile(path, copy)

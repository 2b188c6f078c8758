"""DynoStock's windows as documents of lm-eval, and their charts."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fin_tasks.charts.chart import RENDERERS
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
from .anonymous import anonymous
from .chart_files import add_charts, chart_of
from .market import sample_market
from .options import Options
from .own_window import longer_window
from .prompts import NoSuchEventError, Prompt, house_prompt
from .reading import reading_documents
from .recall import recall_documents
from .score import CHARTS, RECALL
from .statements import ADDED, STATEMENT, STATEMENTS, Added, added_by
from .window_set import WindowSet, read_set
from .windows import HOUSE_FILE, Window, find_windows

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

Document = dict[str, Any]

SAMPLE_SHARE = Fraction(3, 5)
"""With the paper's 4/5 the sample's three tickers have hardly any large windows."""


def load(**metadata: Any) -> "dict[str, Dataset]":
    """Load the windows of a bias, and of a size if one is given, as documents."""
    # lm-eval adds the arguments of the model to the metadata.
    refuse_typos("dynostock", metadata, list(Options.model_fields)[3:])
    try:
        options = Options(**metadata)
    except ValidationError as error:
        raise ConfigError(f"dynostock metadata {first_problem(error)}.") from error
    added = Added()
    names = options.model_dump(include=set(ADDED), exclude_defaults=True)
    if options.bias == STATEMENT or names:
        added = added_by(options.bias, **names)
    wanted = added.statement.windows if added.statement else options.bias
    settings = Settings.from_environ()
    window_set = find_set(
        sample=options.source == "sample",
        windows_dir=options.windows_dir,
        data_dir=options.data_dir or settings.data_dir,
        cache_dir=settings.cache_dir,
    )
    windows = []
    for window in window_set.windows:
        has_bias = wanted in (RECALL, CHARTS, window.bias_type)
        has_size = options.window in (None, window.window)
        # The days of a month are not after it.
        is_late = str(window.end)[: len(options.after)] > options.after
        if has_bias and has_size and (is_late or not options.after):
            windows.append(window)
    if not windows:
        size = options.window or "any"
        newest = f" whose newest is after {options.after}" if options.after else ""
        raise DataError(
            f"dynostock: expected {wanted} windows of {size} reports{newest}, found none. "
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
    if options.corrections is not None:
        windows, facts["corrections"] = _kept(windows, options.corrections)
    draw = partial(draw_rows, "dynostock", n=options.sample_n, seed=options.sample_seed)
    if options.bias == RECALL:
        docs = recall_documents(window_set.market, windows)
        docs = draw(docs, id_of=itemgetter("id"))
        facts["asked"] = hash_of(*docs)
    elif options.bias == CHARTS:
        docs, more_facts = reading_documents(
            window_set, windows, options, settings, draw
        )
        facts |= more_facts
    else:
        if options.sample_n is not None:
            windows = draw(windows, id_of=attrgetter("id"))
        docs, more_facts = window_documents(
            window_set, windows, options, settings, added
        )
        facts |= more_facts
        if len(docs) < len(windows):
            facts["left_out"] = {"no event of the statement": len(windows) - len(docs)}
        if not docs:
            raise DataError(
                f"dynostock: expected a window whose past has an event that {options.statement} tells of, "
                "found none."
            )
    return {"test": dataset_of(docs, facts)}


def _kept(windows: Sequence[Window], path: Path) -> tuple[list[Window], dict[str, str]]:
    """Return the windows that a file of corrections does not exclude, and what results say of it."""
    from ..corrections import read_corrections

    corrections = read_corrections(path)
    by_id = corrections.of("dynostock")
    for correction in by_id.values():
        if not correction.exclude:
            raise DataError(
                f"{path}, dynostock {correction.id}: expected exclude: true, as a window's truth follows from "
                f"its prices, got truth {correction.truth!r:.40}. Correct the prices."
            )
    kept = [window for window in windows if window.id not in by_id]
    applied = [by_id[window.id] for window in windows if window.id in by_id]
    if not kept:
        raise DataError(f"{path}: expected a window to be left, got all excluded.")
    return kept, corrections.facts("dynostock", applied)


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
    added: Added,
) -> tuple[list[Document], dict[str, Any]]:
    """Return a document for each window, and what the provenance says about their prompts and charts."""
    arm = options.arm or ("none" if options.prompt == "naive" else "signal")
    ask, facts = _wording(options, arm, settings, added)
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
        shown_window = window
        if added.mitigation and added.mitigation.history > 1:
            factor = added.mitigation.history
            shown_window = longer_window(window_set.market, window, factor)
        excerpt = window_set.market.excerpt(
            window.ticker, shown_window.start, window.end
        )
        if options.anonymize:
            excerpt, shown_window = anonymous(excerpt, shown_window)
        try:
            prompt = ask(excerpt, shown_window, arm=arm, **text_options)
        except NoSuchEventError:
            continue
        doc = document(window, prompt, arm=arm, mode=options.mode)
        if arm != "none" and added.statement:
            given = {"up": 1, "down": 0}
            doc["signal"] = given.get(added.statement.direction, window.signal)
        if options.picture == "last" and options.mode == "image":
            doc["prompt"] = doc["prompt"].removeprefix(IMAGE_MARK) + IMAGE_MARK
        if options.system_role == "user":
            doc = in_users_turn(doc)
        docs.append({**doc, "anonymized": options.anonymize})
        if options.mode == "image":
            charts.append(chart_of(excerpt, options.pixels, options.chart))
    if charts:
        add_charts(docs, charts, window_set.charts, settings.cache_dir)
    asked = []
    for doc in docs:
        texts = [doc[name] for name in ("id", "system", "prompt", "cue")]
        # The name of a chart holds the hash of its content.
        asked.append([*texts, Path(doc["chart"]).name])
    facts["asked"] = hash_of(*asked)
    return docs, facts


def _wording(
    options: Options, arm: str, settings: Settings, added: Added
) -> tuple[Callable[..., Prompt], dict[str, Any]]:
    """Return the function that asks about an excerpt and a window, and what the provenance says of the wording."""
    is_naive = options.prompt == "naive"
    if is_naive and arm != "none":
        raise ConfigError(
            f"metadata prompt: naive has no statement, got the arm {arm}."
        )
    if added.facts and (options.prompts, options.prompt) != ("house", "structured"):
        raise ConfigError(
            "metadata statement, mitigation: expected the prompts house in the style structured, "
            f"got {options.prompts}, {options.prompt}."
        )
    ask: Callable[..., Prompt]
    if options.prompts == "upstream":
        from .upstream import authors_prompt

        authors = authors_prompt(data_dir=options.data_dir, settings=settings)
        ask = authors.ask_naively if is_naive else authors.ask
        wording = authors.facts_of(options.prompt)
    else:
        ask = partial(
            house_prompt,
            style=options.prompt,
            statement=added.statement,
            mitigation=added.mitigation,
        )
        digest = hashlib.sha256(HOUSE_FILE.read_bytes()).hexdigest()
        wording = {"set": "house", "style": options.prompt, "sha256": digest}
    facts: dict[str, Any] = {"arm": arm, "prompts": wording, **added.facts}
    if arm == "none":
        facts.pop("statement", None)
    elif options.prompts == "house" and not added.statement:
        entry = STATEMENTS[options.bias].model_dump_json()
        facts["statement"] = {"sha256": hash_of(entry)}
    return ask, facts


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

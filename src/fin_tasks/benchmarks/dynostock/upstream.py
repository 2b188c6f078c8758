"""The authors' prompt template and list of figures, read from their repository's `config/` as it is."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from fin_tasks.benchmarks.dynostock.authorities import Authority
from fin_tasks.data.fetch import locate, sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["DEFAULT_MODEL", "UpstreamConfig", "locate_config", "read_authorities", "read_template"]

DEFAULT_MODEL = "gpt-4o"
"""The entry of `prompt.json` that is used where none is named."""

SLOTS = 6
"""Question, background, resolution, start, end, retrieved information."""

_PROMPT, _CELEBRITY = "config/prompt.json", "config/celebrity.json"

# What some entries put around the text is their models' chat template and the place of the picture. The harness puts
# both where they belong for the model it runs; twice would be wrong.
_WRAPPERS = re.compile(r"\A\s*(?:\[INST\]\s*)?(?:<image>\s*|<\|image_\d+\|>\s*)?|\s*\[/INST\]\s*\Z")


@dataclass(frozen=True, kw_only=True)
class UpstreamConfig:
    """The authors' two files."""

    prompt: Path
    celebrity: Path

    def hashes(self) -> dict[str, str]:
        """Return path in the authors' repository to SHA-256."""
        return {_PROMPT: sha256_of(self.prompt), _CELEBRITY: sha256_of(self.celebrity)}


def locate_config(*, data_dir: Path | None, settings: Settings) -> UpstreamConfig:
    """Find the authors' files: in a folder of yours, else downloaded and checked against their pins.

    Args:
        data_dir: A folder with `config/`, `dynostock/config/`, or the authors' repository in `dynostock/`.
        settings: The environment.

    Raises:
        FetchError: They cannot be downloaded; the message says where to put them by hand.
        DataError: A downloaded file is not the pinned one.
    """
    if data_dir is not None:
        for root in (data_dir, data_dir / "dynostock"):
            config = UpstreamConfig(prompt=root / _PROMPT, celebrity=root / _CELEBRITY)
            if config.prompt.is_file() and config.celebrity.is_file():
                return config
    found = locate("dynostock", (_PROMPT, _CELEBRITY), source="upstream", settings=settings).files
    return UpstreamConfig(prompt=found[_PROMPT], celebrity=found[_CELEBRITY])


def read_template(path: Path, model: str = DEFAULT_MODEL) -> str:
    """Read the template of one entry, without chat markers and image marks.

    Args:
        path: The authors' `prompt.json`.
        model: Name of the entry.

    Returns:
        A text for `str.format` with six nameless fields, see `SLOTS`.

    Raises:
        ConfigError: There is no such entry.
        DataError: The file is no such JSON, or the template has not six fields.
    """
    entries = _read(path)
    if not isinstance(entries, dict):
        raise DataError(f"{path}: expected an object of prompts by model, got {type(entries).__name__}.")
    if model not in entries:
        raise ConfigError(f"metadata upstream_model: expected one of {', '.join(entries)}, got {model!r}.")
    entry = entries[model]
    text = entry.get("prompt") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        raise DataError(f"{path}, {model}: expected an object with the text 'prompt', got {entry!r:.80}.")
    try:
        fields = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise DataError(f"{path}, {model}: expected a template, got one with a lone brace ({error}).") from error
    if fields != [""] * SLOTS:
        raise DataError(f"{path}, {model}: expected {SLOTS} fields without a name, {{}}, got {fields!r}.")
    return _WRAPPERS.sub("", text)


def read_authorities(path: Path) -> tuple[Authority, ...]:
    """Read the authors' introductions of the figures.

    Raises:
        DataError: The file is not a list of objects with the texts `name`, `summary` and `impact`.
    """
    entries = _read(path)
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{path}: expected a list of figures, got {entries!r:.80}.")
    return tuple(_authority(entry, f"{path}, figure {i}") for i, entry in enumerate(entries))


def _authority(entry: Any, origin: str) -> Authority:
    keys = ("name", "summary", "impact")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in keys):
        raise DataError(f"{origin}: expected an object with the texts {', '.join(keys)}, got {entry!r:.80}.")
    return Authority(name=entry["name"], role=entry["summary"], standing=entry["impact"])


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected the authors' JSON file, could not read it: {error}.") from error

"""What models are asked when they make, check, compare and label questions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fin_tasks.data.documents import fill_fields, hash_of
from fin_tasks.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Templates:
    """Templates by purpose, with fields in braces."""

    name: str
    texts: Mapping[str, str]

    def fill(self, purpose: str, **fields: str) -> str:
        """Return a template with its fields filled in."""
        return fill_fields(self.texts[purpose], **fields)

    @property
    def sha256(self) -> str:
        """The hash of all templates."""
        return hash_of(sorted(self.texts.items()))


def load_templates(folder: Path | None = None) -> Templates:
    """Return our templates; those for making questions are the authors' if their folder is given."""
    texts = _read_yaml("prompts.yaml")
    if folder is None:
        return Templates(name="house", texts=texts)
    upstream = _read_yaml("upstream.yaml")
    for purpose, file in upstream["files"].items():
        fields = upstream["fields"]
        texts[purpose] = _read_upstream(folder / file, texts[purpose], fields)
    return Templates(name="upstream", texts=texts)


def _read_yaml(name: str) -> Any:
    text = Path(__file__).with_name(name).read_text("utf-8")
    return yaml.safe_load(text)


def _read_upstream(path: Path, ours: str, fields: Mapping[str, str]) -> str:
    """Read a template of the authors, which must have the fields that ours has."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(
            f"{path}: expected a template of the authors' construct_data/prompts, "
            f"got {error.strerror}. Name their folder."
        ) from error
    text = fill_fields(text, **fields)
    for field in re.findall(r"\{\w+\}", ours):
        if field not in text:
            raise ConfigError(
                f"{path}: expected a template with {field}, or the authors' name "
                f"of this field, got one without. Take their file."
            )
    return text

"""Prompts that make, verify and label questions: ours, or the authors', which are read at run time."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from fin_tasks.errors import ConfigError

__all__ = ["Prompts", "load_prompts"]

_FIELD = re.compile(r"\{(\w+)\}")


class Prompts(NamedTuple):
    """Templates by purpose."""

    name: str
    texts: Mapping[str, str]

    def fill(self, purpose: str, **fields: str) -> str:
        """Return a template with its fields filled in. Other words in braces, such as LaTeX's, stay."""
        return _FIELD.sub(lambda match: fields.get(match[1], match[0]), self.texts[purpose])

    def questions(self, purpose: str) -> int:
        """Count the yes-or-no questions of a template, which it calls Q1, Q2, ..."""
        return len(set(re.findall(r"\bQ\d", self.texts[purpose]))) or 1

    @property
    def sha256(self) -> str:
        """The hash of all templates."""
        return hashlib.sha256(repr(sorted(self.texts.items())).encode()).hexdigest()


def load_prompts(folder: Path | None = None, *, labels: bool = False) -> Prompts:
    """Return our prompts, or the authors' from their folder, for making questions or for labeling them."""
    known = yaml.safe_load(Path(__file__).with_name("construct_prompts.yaml").read_text(encoding="utf-8"))
    texts = {purpose: one["text"] for purpose, one in known.items() if (purpose == "math_types") is labels}
    if folder is None:
        return Prompts("house", texts)
    files = [path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob("*") if path.is_file()]
    files = [re.sub(r"\{ ?([a-z][a-z_ -]*?) ?\}", _our_field, text.replace("\\n", "\n")) for text in files]
    for purpose, own in texts.items():
        words, fields = known[purpose]["upstream"], set(_FIELD.findall(own))
        found = [text for text in files if words in " ".join(text.split()) and fields <= set(_FIELD.findall(text))]
        if len(found) != 1:
            expected = f"one file with the words {words!r} and the fields {', '.join(sorted(fields))}"
            raise ConfigError(f"{folder}: expected {expected}, got {len(found)}.")
        texts[purpose] = found[0]
    return Prompts("upstream", texts)


def _our_field(match: re.Match[str]) -> str:
    ours = {"after_class_question": "source_question", "after_class_solution": "source_answer"}
    field = re.sub(r"\W", "_", match[1])
    return f"{{{ours.get(field, field)}}}"

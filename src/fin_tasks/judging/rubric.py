"""Rubric packs: how a judge scores, as a file. `judges/README.md` says how to write one."""

import hashlib
import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fin_tasks.errors import ConfigError
from fin_tasks.resources import judges_dir

__all__ = ["LAYOUT", "Example", "Rubric", "RubricCategory", "load_rubric", "rubric_names"]

LAYOUT = 1
"""Version of what `prompt` makes of a rubric; a change of its wording or order is another one."""

_SUFFIX = ".yaml"
_LARGEST = 512 * 1024
"""Bytes of a pack."""
_LONGEST = 20_000
"""Characters of a text in it."""
_NAMES = 64
"""Characters of a name, and the most categories."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A response as it is to be scored.

    Attributes:
        question: What was asked.
        reference: The reference answer.
        response: What a model wrote.
        score: What it deserves, on the rubric's scale.
    """

    question: str
    reference: str
    response: str
    score: int


@dataclass(frozen=True, kw_only=True)
class RubricCategory:
    """How the responses of one category are scored.

    Attributes:
        name: As in the items' `category`.
        kind: How answers are graded, in a word of the pack's own; scores are averaged by it in reports.
        points: How points are given, as the judge reads it.
        requirements: How answers are to be written, as both the models and the judge read it.
        examples: Two responses with their scores.
    """

    name: str
    kind: str
    points: str
    requirements: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """A scale, and what deserves which place on it.

    Attributes:
        name: The pack's name.
        version: The pack's own version.
        language: Of all its texts, and of what is said around them; `en`, `zh`, ...
        description: What it is for, to people.
        lowest: The lowest score.
        highest: The highest score.
        parser: How replies are read: `integer`, a whole number on the scale and nothing else.
        default_model: The judge to use where nobody names one.
        max_tokens: Tokens of a reply.
        temperatures: Of the first try and of those that follow while replies cannot be read.
        categories: By their names, in the file's order.
        sha256: Of everything that decides what a judge is told, the layout of prompts included.
    """

    name: str
    version: str
    language: str
    description: str
    lowest: int
    highest: int
    parser: Literal["integer"]
    default_model: str
    max_tokens: int
    temperatures: tuple[float, ...]
    categories: Mapping[str, RubricCategory] = field(hash=False)
    sha256: str

    @property
    def label(self) -> str:
        """Name and version, as results state them."""
        return f"{self.name}@{self.version}"

    def category(self, name: str) -> RubricCategory:
        """Return a category.

        Raises:
            ConfigError: The rubric has none of this name.
        """
        if name not in self.categories:
            raise ConfigError(
                f"rubric {self.name}: expected one of its categories ({', '.join(self.categories)}), got {name!r}. "
                "Correct the rows, or add the category to the rubric."
            )
        return self.categories[name]


def rubric_names() -> tuple[str, ...]:
    """Return the names of the packs that come with fin-tasks."""
    return tuple(sorted(path.stem for path in judges_dir().glob(f"*{_SUFFIX}")))


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Read a pack.

    Args:
        name_or_path: One of `rubric_names()`, or the path of a YAML file.

    Raises:
        ConfigError: There is no such pack, or something in it cannot be used; the message names the file and the key.
    """
    raise NotImplementedError

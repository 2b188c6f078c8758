r"""The wordings around answers, a YAML file for each kind of answer and two for all.

A file names patterns, tables of named patterns, and fragments. `{_fragment}` in a pattern stands for
the fragment of that name. Patterns ignore case. Blanks and line breaks inside a pattern do not
count; `\s` is a blank. Every quantifier has an upper bound, so that no text makes a pattern slow.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

Table = Mapping[str, re.Pattern[str]]
"""Patterns by name. A reading shows the name of its pattern, so the name describes what is read."""

_FRAGMENT = re.compile(r"\{(_[a-z_]+)\}")


class Rewriting(NamedTuple):
    """A pattern, and the plainer words that take its place."""

    pattern: re.Pattern[str]
    replacement: str


def compiled(source: str) -> re.Pattern[str]:
    """Compile a pattern in the form of the YAML files."""
    return re.compile(source, re.IGNORECASE | re.VERBOSE)


@cache
def read_yaml(name: str) -> Any:
    """Return what a YAML file of this folder holds."""
    file = files(__name__) / f"{name}.yaml"
    return yaml.safe_load(file.read_text("utf-8"))


class Phrases:
    """The wordings of one YAML file. Each pattern is an attribute."""

    def __init__(
        self,
        name: str,
    ) -> None:
        self._sources = read_yaml(name)

    def __getattr__(
        self,
        name: str,
    ) -> re.Pattern[str]:
        """Compile a pattern at its first use."""
        if name not in self._sources:
            raise AttributeError(name)
        pattern = self._compile(self._sources[name])
        setattr(self, name, pattern)
        return pattern

    def table(
        self,
        name: str,
    ) -> Table:
        """Return the patterns of a table."""
        return {
            row: self._compile(source) for row, source in self._sources[name].items()
        }

    def rewritings(
        self,
        name: str,
    ) -> Mapping[str, Rewriting]:
        """Return the patterns of a table with what takes their place."""
        rows = {}
        for row, texts in self._sources[name].items():
            rows[row] = Rewriting(self._compile(texts["pattern"]), texts["replacement"])
        return rows

    def _compile(
        self,
        source: str,
    ) -> re.Pattern[str]:
        while _FRAGMENT.search(source):
            source = _FRAGMENT.sub(lambda match: self._sources[match[1]], source)
        return compiled(source)

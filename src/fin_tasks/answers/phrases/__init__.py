r"""The wordings around answers, a YAML file for each kind of answer and some for all.

A file names patterns, tables of named patterns, and fragments. `{_fragment}` in a pattern stands for
the fragment of that name. Patterns ignore case. Blanks and line breaks inside a pattern do not
count; `\s` is a blank. Every quantifier has an upper bound, so that no text makes a pattern slow.
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml

Table = Mapping[str, re.Pattern[str]]
"""Patterns by name. A reading shows the name of its pattern, so the name describes what is read."""

_FRAGMENT = re.compile(r"\{(_[a-z_]+)\}")


class Phrases:
    """The wordings of one YAML file. Each pattern is an attribute.

    Attributes:
        sources: What the file holds.
    """

    def __init__(
        self,
        name: str,
    ) -> None:
        file = files(__name__) / f"{name}.yaml"
        text = file.read_text("utf-8")
        self.sources: Mapping[str, Any] = yaml.safe_load(text)

    def __getattr__(
        self,
        name: str,
    ) -> re.Pattern[str]:
        """Compile a pattern at its first use."""
        if name not in self.sources:
            raise AttributeError(name)
        pattern = self.pattern(self.sources[name])
        setattr(self, name, pattern)
        return pattern

    def table(
        self,
        name: str,
    ) -> Table:
        """Return the patterns of a table."""
        rows = self.sources[name].items()
        return {row: self.pattern(source) for row, source in rows}

    def pattern(
        self,
        source: str,
    ) -> re.Pattern[str]:
        """Compile a pattern of the file."""
        while _FRAGMENT.search(source):
            source = _FRAGMENT.sub(lambda match: self.sources[match[1]], source)
        return re.compile(source, re.IGNORECASE | re.VERBOSE)

r"""The wordings around answers, a YAML file for each kind of answer and some for all.

A file names patterns, tables of named patterns, and fragments. `{_fragment}` in a pattern stands for
the fragment of that name. Patterns ignore case. Blanks and line breaks inside a pattern do not
count; `\s` is a blank. Every quantifier has an upper bound, so that no text makes a pattern slow.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

Table = Mapping[str, re.Pattern[str]]
"""Patterns by name. A reading shows the name of its pattern, so the name describes what is read."""

# The loader of libyaml is ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FRAGMENT = re.compile(r"\{(_[a-z_]+)\}")


class Phrases:
    """The wordings of one YAML file. Each pattern is an attribute.

    `ignore_case` is False for a file whose patterns are in lower case and read text in lower case,
    which is faster. Keyword arguments replace fragments of the file.

    Attributes:
        sources: What the file holds.
        tables: The tables of patterns, by name.
    """

    def __init__(
        self,
        name: str,
        tables: Sequence[str] = (),
        *,
        ignore_case: bool = True,
        **fragments: str,
    ) -> None:
        self._flags = re.VERBOSE | (re.IGNORECASE if ignore_case else 0)
        file = files(__name__) / f"{name}.yaml"
        text = file.read_text("utf-8")
        self.sources: Mapping[str, Any] = yaml.load(text, _LOADER)  # noqa: S506
        if fragments:
            self.sources = {**self.sources, **fragments}
        for key, source in self.sources.items():
            if isinstance(source, str) and not key.startswith("_"):
                setattr(self, key, self.pattern(source))
        self.tables: dict[str, Table] = {}
        for table in tables:
            rows = self.sources[table].items()
            self.tables[table] = {row: self.pattern(source) for row, source in rows}

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> re.Pattern[str]: ...

    def pattern(
        self,
        source: str,
    ) -> re.Pattern[str]:
        """Compile a pattern of the file."""
        while _FRAGMENT.search(source):
            source = _FRAGMENT.sub(lambda match: self.sources[match[1]], source)
        return re.compile(source, self._flags)

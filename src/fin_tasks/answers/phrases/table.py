r"""The form of the tables: each row is a name and a pattern.

Patterns ignore case. Blanks and line breaks inside a pattern do not count; `\s` is a blank. Every
quantifier has an upper bound, so that no text makes a pattern slow.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

Table = Mapping[str, re.Pattern[str]]
"""Patterns by name. The name becomes part of the rule of a reading, so it says what is read."""


class Rewriting(NamedTuple):
    """A pattern, and the plainer words that take its place."""

    pattern: re.Pattern[str]
    replacement: str


def compiled(source: str) -> re.Pattern[str]:
    """Compile a pattern in the form that all tables use."""
    return re.compile(source, re.IGNORECASE | re.VERBOSE)


def table(sources: Mapping[str, str]) -> Table:
    """Compile the patterns of a table."""
    return {name: compiled(source) for name, source in sources.items()}


def rewritings(rows: Mapping[str, tuple[str, str]]) -> Mapping[str, Rewriting]:
    """Compile the patterns of a table of rewritings."""
    return {
        name: Rewriting(compiled(source), replacement)
        for name, (source, replacement) in rows.items()
    }

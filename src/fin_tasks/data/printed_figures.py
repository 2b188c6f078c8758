"""Files of figures that papers print: CSV, one figure in a row, and no figure twice.

A benchmark declares a dataclass whose fields are the columns and says which cells are allowed; reading, checking for
repetition and asking for figures are the same for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from fin_tasks.data.schema import Record, read_csv
from fin_tasks.errors import ConfigError, DataError

__all__ = ["FigureFile", "FigureRow"]

Figure = TypeVar("Figure")


@dataclass(frozen=True)
class FigureRow:
    """A row of a file of figures, with errors that say where it stands.

    Attributes:
        path: The file.
        record: The row.
    """

    path: Path
    record: Record

    @property
    def cells(self) -> Mapping[str, str]:
        """Column to text."""
        return self.record.cells

    def error(self, column: str, expected: str) -> DataError:
        """Return what is to be raised for a cell."""
        return DataError(
            f"{self.path}, line {self.record.line}, column {column}: expected {expected}, "
            f"got {self.cells[column]!r}. Compare the line with the paper."
        )

    def check(self, allowed: Mapping[str, Sequence[str]]) -> None:
        """Check that cells hold one of the texts their column allows.

        Raises:
            DataError: One does not.
        """
        for column, texts in allowed.items():
            if self.cells[column] not in texts:
                raise self.error(column, f"one of {', '.join(filter(None, texts))}")

    def number(self, *, low: float = 0.0, high: float) -> float:
        """Return the value.

        Raises:
            DataError: It is no number from `low` to `high`.
        """
        try:
            value = float(self.cells["value"])
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise self.error("value", f"a number from {low:g} to {high:g}")
        return value


@dataclass(frozen=True, kw_only=True)
class FigureFile(Generic[Figure]):
    """A benchmark's file of printed figures.

    Attributes:
        path: The file.
        kind: Dataclass of a figure. Its fields are the columns; those before `value` say which figure it is.
        parse: Makes a figure of a row; raises `FigureRow.error` for a cell that is not sound.
    """

    path: Path
    kind: type[Figure]
    parse: Callable[[FigureRow], Figure]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column."""
        return tuple(field.name for field in fields(self.kind))  # type: ignore[arg-type]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Columns that say which figure it is, and that one can ask by."""
        return self.columns[: self.columns.index("value")]

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the file itself, read once.

        Raises:
            DataError: As `read`.
        """
        return self.read(self.path)

    def read(self, path: Path) -> tuple[Figure, ...]:
        """Read and check a file.

        Args:
            path: CSV with the fields of the kind as columns.

        Raises:
            DataError: It cannot be read, lacks a column, has cells beyond them, a cell that is not allowed there, or
                one figure twice.
        """
        lines: dict[tuple[Any, ...], int] = {}
        figures = []
        for record in read_csv(path, columns=self.columns).records:
            figure = self._figure(FigureRow(path, record))
            key = tuple(getattr(figure, name) for name in self.names)
            if key in lines:
                raise DataError(
                    f"{path}, line {record.line}: expected each figure once, got that of line {lines[key]} again "
                    f"({', '.join(filter(None, key))}). Remove one."
                )
            lines[key] = record.line
            figures.append(figure)
        return tuple(figures)

    def ask(self, wanted: Mapping[str, str]) -> tuple[Figure, ...]:
        """Return the figures of the file itself that have all of these texts, in its order; possibly none.

        Args:
            wanted: Column, one of `names`, to its text.

        Raises:
            ConfigError: A column does not exist or is none to ask by, or no figure at all has that text.
        """
        for name, value in wanted.items():
            if name not in self.names:
                raise ConfigError(
                    f"published figures: expected one of {', '.join(self.names)} to ask by, got {name!r}."
                )
            known = dict.fromkeys(getattr(figure, name) for figure in self.figures)
            if value not in known:
                raise ConfigError(f"published figures, {name}: expected one of {', '.join(known)}, got {value!r}.")
        return tuple(f for f in self.figures if all(getattr(f, name) == value for name, value in wanted.items()))

    def _figure(self, row: FigureRow) -> Figure:
        cells, surplus = len(row.cells), row.record.surplus
        if surplus:
            raise DataError(
                f"{row.path}, line {row.record.line}: expected {cells} cells, got {cells + surplus}. Fix the line."
            )
        return self.parse(row)

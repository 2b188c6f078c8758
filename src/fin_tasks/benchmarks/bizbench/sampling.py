"""The 500 questions of the XFinBench paper's comparison, as far as they can be known.

The paper (long version, D.1) draws 500 rows of the test set at random and leaves SEC-NUM out; which rows it drew is not
published. Its Table 3 tells more: of two sizes that add up to 500, only 141 and 359 make every multi-choice figure of
the models a share of the first and every figure of quantity extraction a share of the second, to the tenth of a
percent printed. So the sample has those two strata. The rows are ours: figures compare with the paper's as those of two
samples do.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Protocol

from fin_tasks.benchmarks.bizbench.row import Part, Row
from fin_tasks.errors import ConfigError

__all__ = ["CHOICE_ROWS", "PAPER_PARTS", "PAPER_ROWS", "in_no_column", "paper_sample"]

PAPER_PARTS: Mapping[str, tuple[Part, ...]] = {
    "paper_choice": ("finknow", "formulaeval"),
    "paper_quantity": ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e"),
}
"""Column of the XFinBench paper to the parts its rows come from."""

PAPER_ROWS = 500
CHOICE_ROWS = 141
"""Of `PAPER_ROWS`, inferred; the other 359 have a number as their answer."""


class _Rows(Protocol):
    @property
    def rows(self) -> tuple[Row, ...]: ...


def paper_sample(rows: _Rows, *, n: int = PAPER_ROWS, seed: int = 42) -> tuple[Row, ...]:
    """Draw the rows of the comparison.

    Rows are drawn separately from those with choices and those with a number as answer, in the paper's proportion of
    141 to 359; code rows, SEC-NUM and rows `in_no_column` are in neither. Where one of the two has too few rows, the
    other fills up.

    A row's place in the draw is the SHA-256 of seed and id, so the draw is the same on every machine and for every
    version of every library, and does not depend on the order of `rows`. A larger sample holds the smaller one of the
    same seed.

    Args:
        rows: All rows of the split.
        n: Rows to draw, at least 1; all there are, where there are fewer.
        seed: Names the draw.

    Returns:
        The rows drawn, in the order of `rows`.

    Raises:
        ConfigError: `n` is below 1.
    """
    if n < 1:
        raise ConfigError(f"bizbench sample: expected at least 1 row, got {n!r}.")
    choices = _drawn((row for row in rows.rows if row.kind == "choice"), seed)
    numbers = _drawn((row for row in rows.rows if _is_quantity(row)), seed)
    wanted = round(n * CHOICE_ROWS / PAPER_ROWS)
    n_choices = min(len(choices), max(wanted, n - len(numbers)))
    drawn = {row.id for row in (*choices[:n_choices], *numbers[: n - n_choices])}
    return tuple(row for row in rows.rows if row.id in drawn)


def in_no_column(rows: _Rows) -> tuple[Row, ...]:
    """Return the rows that no column of the paper can hold: those of a part of choices that ask for a number.

    Nothing is extracted in them, and without options there is nothing to choose, so they cannot be drawn.
    """
    return tuple(row for row in rows.rows if row.kind == "number" and row.part in PAPER_PARTS["paper_choice"])


def _is_quantity(row: Row) -> bool:
    return row.kind == "number" and row.part in PAPER_PARTS["paper_quantity"]


def _drawn(rows: Iterable[Row], seed: int) -> list[Row]:
    return sorted(rows, key=lambda row: hashlib.sha256(f"{seed}:{row.id}".encode()).digest())

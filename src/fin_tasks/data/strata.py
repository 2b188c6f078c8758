"""Strata of questions: a file that says which questions are alike, so that a sample holds its share of each kind."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from fin_tasks.errors import ConfigError

from .tables import quote_formulas, read_table

COLUMNS = ("benchmark", "id", "stratum")


def read_strata(path: str | Path, benchmark: str) -> Mapping[str, str]:
    """Return the strata of a benchmark's questions by their ids; ConfigError if the file has none."""
    strata = {}
    for record in read_table(Path(path), COLUMNS):
        if record.cells["benchmark"] == benchmark:
            strata[record.cells["id"]] = record.cells["stratum"]
    if not strata:
        raise ConfigError(
            f"{benchmark} sample_strata {path}: expected rows of this benchmark, found none. "
            "`fin-tasks questions --strata FILE` writes such a file."
        )
    return strata


def write_strata(rows: Sequence[tuple[str, str, str]], path: Path) -> None:
    """Write benchmark, id and stratum of questions as a new CSV file."""
    if path.suffix != ".csv" or path.exists():
        raise ConfigError(
            f"--strata {path}: expected a new name that ends in .csv, got {path.name!r}."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([quote_formulas(cell) for cell in row] for row in rows)

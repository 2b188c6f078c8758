"""What `compare --out` writes: all lines as CSV, a table for LaTeX, and a figure for each task."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pandas import DataFrame

from . import Json
from .compare import Comparisons, Line
from .figures import draw_differences
from .latex import Section, bold, plain, table
from .model import metric_of
from .tables import write_csv

_MAX_STEM = 80  # characters
_MARKS = {0.001: "***", 0.01: "**", 0.05: "*"}
_HEADER = (
    "Run",
    "Rows",
    "Value",
    "Difference",
    "p",
    "p (Holm)",
    "n",
    "Smallest",
)
_TEXTS = ["heading", "metric", "scoring", "group", "model", "run", "against", "test"]
_TESTS = {
    "McNemar": "McNemar's exact test",
    "t": "a paired t test",
    "clustered t": "a paired t test with errors clustered by source",
    "sign": "a sign test",
}


def write_comparison(compared: Comparisons, folder: Path) -> list[Path]:
    """Write a comparison into a folder, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = compared.lines
    files = [folder / "compare.csv", folder / "compare.tex"]
    write_csv(lines, files[0])
    files[1].write_text(latex_of(lines), "utf-8")
    stems: set[str] = set()
    for heading, part in lines.groupby("heading", sort=False):
        words = re.sub(r"\W+", "_", str(heading)).strip("_")
        stem = f"compare_{words[:_MAX_STEM] or 'task'}"
        while stem in stems:
            stem += "_"
        stems.add(stem)
        files += draw_differences(part, folder / stem, str(heading))
    return files


def latex_of(lines: DataFrame) -> str:
    """Return the lines of a comparison as a table for LaTeX: a section for each task, the best values in bold."""
    lines = lines.reindex(columns=list(Line._fields))
    lines[_TEXTS] = lines[_TEXTS].fillna("")
    lines["unit"] = lines["unit"].fillna(1.0)
    lines[["n", "pairs"]] = lines[["n", "pairs"]].fillna(0).astype(int)
    sections = []
    for (heading, metric), part in lines.groupby(["heading", "metric"], sort=False):
        rows = part.to_dict("records")
        best = _best_values(rows)
        cells = [_cells(row, best) for row in rows]
        sections.append(Section(f"{heading}, {metric_of(str(metric)).label}", cells))
    scorings = " and ".join(filter(None, lines["scoring"].unique()))
    return table(
        _HEADER,
        sections,
        caption=f"Results on the same questions (scoring: {scorings or 'as stated'}).",
        label="tab:compare",
        notes=_notes(lines),
        n_texts=2,
    )


def _best_values(rows: Sequence[Json]) -> Mapping[str, float]:
    """Return the best value of each group of rows; a metric without a direction has none."""
    best: dict[str, float] = {}
    for row in rows:
        is_higher_better = metric_of(row["metric"]).higher_is_better
        if is_higher_better is None or math.isnan(row["value"]):
            continue
        choose = max if is_higher_better else min
        group = row["group"]
        best[group] = choose(row["value"], best.get(group, row["value"]))
    return best


def _cells(row: Json, best: Mapping[str, float]) -> list[str]:
    """Return the cells of a line in the order of the header."""
    value = _number(row, "value", "low", "high")
    if row["value"] == best.get(row["group"]):
        value = bold(value)
    difference = _number(row, "difference", "difference_low", "difference_high")
    mark = next((text for p, text in _MARKS.items() if row["p_holm"] < p), "")
    names = [name for name in (row["model"], row["run"]) if name]
    return [
        plain(", ".join(names)),
        plain(row["group"] or "all"),
        value,
        difference + (f"$^{{{mark}}}$" if mark else ""),
        _p_text(row["p"]),
        _p_text(row["p_holm"]),
        str(row["pairs"] or row["n"]),
        _number(row, "detectable"),
    ]


def _number(row: Json, value: str, low: str = "", high: str = "") -> str:
    """Return a value with its interval in brackets, shares in percent."""
    number = row.get(value, math.nan)
    if math.isnan(number):
        return "--"
    scale = 100 if row["unit"] == 1 else 1
    text = _signed(scale * number)
    if not low or math.isnan(row[low]):
        return text
    return f"{text} [{_signed(scale * row[low])}, {_signed(scale * row[high])}]"


def _signed(number: float) -> str:
    return f"{number:.1f}".replace("-", "$-$")


def _p_text(p: float) -> str:
    if math.isnan(p):
        return "--"
    return "$<$0.001" if p < 0.001 else f"{p:.3f}"


def _notes(lines: DataFrame) -> list[str]:
    """Return the sentences below the table."""
    notes = ["Values in percent or points, with 95 % intervals; the best are in bold."]
    against = [name for name in lines["against"].unique() if name]
    if not against:
        return notes
    tests = [_TESTS[name] for name in lines["test"].unique() if name in _TESTS]
    n_tests = int(lines["p_holm"].notna().sum())
    notes += [
        f"Differences from {', '.join(against)} on the rows that both have scored, n in number.",
        f"p by {' or '.join(tests)}; p (Holm) is corrected over the {n_tests} tests of this table.",
        "* p (Holm) < 0.05, ** < 0.01, *** < 0.001.",
        "Smallest: the smallest difference that these rows could have shown, with a power of 80 %.",
    ]
    return notes

"""Hold the careful reader against labelled responses: `python perf/reader.py FILE [FILE ...]`.

A row of a FILE (JSON Lines) has `task` (bool, mcq, calcu), `choice` (one choice a line, may be
missing), `response`, `label` (null if the response gives no single answer), `also_ok` (other readings
that are right), `manner` (such as `clear:json`) and perhaps `set` (ordinary, awkward). Only the rules
read; no model is asked. `--questions` names XFinBench's `validation_set.csv`, whose choices then take
the place of those in the rows, by `id`.

precision: share of the answers read that are right. coverage: share of the labelled answers read.
"""

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.numbers import Number, fit
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Extraction
from fin_tasks.answers.verdicts import read_verdict

OUTCOMES = ("right", "wrong", "missed", "rightly silent")
REQUIRED_PRECISION = 0.98
REQUIRED_COVERAGE = 0.85


@dataclass(frozen=True, kw_only=True)
class Result:
    """A labelled response and how the reader did."""

    row: dict[str, Any]
    extraction: Extraction[Any]
    outcome: str


def read(row: dict[str, Any]) -> Extraction[Any]:
    """Read a labelled response with the rules of its task."""
    if row["task"] == "bool":
        return read_verdict(row["response"])
    if row["task"] == "mcq":
        choices = row.get("choice") or ""
        return read_choice(row["response"], choices.splitlines())
    return read_quantity(row["response"])


def is_right(answer: object, row: dict[str, Any]) -> bool:
    """Return whether an answer equals the label, or a reading that is also right."""
    accepted = [row["label"], *row.get("also_ok", [])]
    if not isinstance(answer, Number):
        return answer in accepted
    truths = [(float(value), 0.0) for value in accepted]
    return fit(answer, truths) is not None


def outcome_of(answer: object, row: dict[str, Any]) -> str:
    """Name the outcome of a reading; an answer where people found none is wrong."""
    has_label = row["label"] is not None
    if answer is None:
        return "missed" if has_label else "rightly silent"
    return "right" if has_label and is_right(answer, row) else "wrong"


def measure(rows: Iterable[dict[str, Any]]) -> list[Result]:
    """Read all rows."""
    results = []
    for row in rows:
        extraction = read(row)
        outcome = outcome_of(extraction.answer, row)
        results.append(Result(row=row, extraction=extraction, outcome=outcome))
    return results


def summary(results: list[Result]) -> tuple[float, float, str]:
    """Return precision, coverage and a line with the counts."""
    counts = Counter(result.outcome for result in results)
    n_read = counts["right"] + counts["wrong"]
    n_labelled = sum(result.row["label"] is not None for result in results)
    precision = counts["right"] / n_read if n_read else 1.0
    coverage = counts["right"] / n_labelled if n_labelled else 1.0
    numbers = "".join(f"{counts[outcome]:>16}" for outcome in OUTCOMES)
    return precision, coverage, f"{numbers}{precision:>12.3f}{coverage:>10.3f}"


def with_choices(rows: list[dict[str, Any]], questions: Path) -> list[dict[str, Any]]:
    """Return the rows with the choices of XFinBench's questions."""
    with questions.open(encoding="utf-8-sig", newline="") as file:
        choices = {row["id"]: row["choice"] for row in csv.DictReader(file)}
    return [{**row, "choice": choices[row["id"]]} for row in rows]


def print_table(results: list[Result], key: str) -> None:
    """Print a line for each task or manner."""
    for name in sorted({result.row[key] for result in results}):
        group = [result for result in results if result.row[key] == name]
        _, _, counts = summary(group)
        print(f"{name:<28}{counts}")


def print_details(results: list[Result], outcome: str) -> None:
    """Print the rows with an outcome, with the rule that read them and the end of the response."""
    for result in results:
        if result.outcome != outcome:
            continue
        row = result.row
        answer = result.extraction.answer
        if isinstance(answer, Number):
            answer = answer.values
        rule = result.extraction.rule or result.extraction.reason
        print(f"\n{outcome}: {row['id']} {row['task']} {row['manner']}")
        print(f"  label {row['label']}, read {answer} ({rule})")
        print(f"  ...{row['response'][-300:]!r}")


def read_rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of all files."""
    rows = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            rows.append(json.loads(line))
    return rows


def main() -> int:
    """Print the tables; return 1 if precision or coverage is below the goal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--questions", type=Path, metavar="CSV")
    parser.add_argument("--show", action="append", choices=OUTCOMES, default=[])
    args = parser.parse_args()
    rows = read_rows(args.files)
    if args.questions:
        rows = with_choices(rows, args.questions)
    results = measure(rows)
    columns = "".join(f"{outcome:>16}" for outcome in OUTCOMES)
    print(f"{'':<28}{columns}   precision  coverage")
    print_table(results, "task")
    print_table(results, "manner")
    if all("set" in row for row in rows):
        print_table(results, "set")
    precision, coverage, line = summary(results)
    print(f"{'all':<28}{line}")
    for outcome in args.show:
        print_details(results, outcome)
    return int(precision < REQUIRED_PRECISION or coverage < REQUIRED_COVERAGE)


if __name__ == "__main__":
    raise SystemExit(main())

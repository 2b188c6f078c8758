"""Hold the careful reader against labelled responses: `python perf/reader.py [FILE ...]`.

A row of a FILE (JSON Lines) has `response`, `label` (null if the response gives no single answer),
`also_ok` (other readings that are right), and `kind` (verdict, letter, number) or `task` (bool, mcq,
calcu). It may have `choices` (a list), `choice` (one choice a line) or `n_choices`, `source`, and
`set` (ordinary, awkward). Only the rules read; no model is asked. `--questions` names XFinBench's
`validation_set.csv`, whose choices then take the place of those in the rows, by `id`.

wrong: share of the answers read that are wrong. missed: share of the labelled answers that are not
read. An answer where people found none is wrong.
"""

import csv
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured import Figure, finish, options

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.numbers import Number, fit
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Extraction
from fin_tasks.answers.verdicts import read_verdict

OUTCOMES = ("right", "wrong", "missed", "rightly silent")
KINDS = {"bool": "verdict", "mcq": "letter", "calcu": "number"}
FINANCE = re.compile(r"finan|jfinqa", re.IGNORECASE)
KANA = re.compile("[\u3040-\u30ff]")
CHINESE = re.compile("[\u4e00-\u9fff]")
# Of Chinese characters, a response that is read as Chinese has at least this many.
CHINESE_COUNT = 2

# Largest shares of wrong and of missed answers.
GOALS = {
    "recorded numbers": (0.025, 0.04),
    "recorded numbers of finance": (0.02, 0.02),
    "recorded letters": (0.01, 0.05),
    "recorded letters in Chinese": (0.03, 0.10),
    "recorded verdicts": (0.005, 0.04),
    "our ordinary responses": (0.01, 0.03),
    "our ordinary and awkward responses": (0.02, 0.15),
}
# Most milliseconds for a response of so many characters.
SPEED_GOALS = {1_500: 0.35, 10_000: 2.0, 100_000: 20.0}
TIMED_RESPONSES = 40
OWN = Path(__file__).parents[1] / "tests" / "cases" / "free_form.jsonl"
SHARED = OWN.parents[3] / "shared" / "data"
RECORDED = (SHARED / "reader" / "wild_responses.jsonl",)
QUESTIONS = SHARED / "xfinbench" / "validation_set.csv"
READINGS = 5


@dataclass(frozen=True, kw_only=True)
class Result:
    """A labelled response and how the reader did."""

    row: dict[str, Any]
    kind: str
    source: str
    language: str
    extraction: Extraction[Any]
    outcome: str


def kind_of(row: dict[str, Any]) -> str:
    """Return whether a row asks for a verdict, a letter or a number."""
    return str(row["kind"]) if "kind" in row else KINDS[row["task"]]


def choices_of(row: dict[str, Any]) -> list[str]:
    """Return the choices of a row; empty texts where only their number is known."""
    if row.get("choices"):
        return list(row["choices"])
    if row.get("n_choices"):
        return [""] * int(row["n_choices"])
    return (row.get("choice") or "").splitlines()


def language_of(response: str) -> str:
    """Return ja, zh or en, by the characters of a response."""
    if KANA.search(response):
        return "ja"
    return "zh" if len(CHINESE.findall(response)) >= CHINESE_COUNT else "en"


def read(row: dict[str, Any]) -> Extraction[Any]:
    """Read a labelled response with the rules of its kind."""
    kind = kind_of(row)
    if kind == "verdict":
        return read_verdict(row["response"])
    if kind == "letter":
        return read_choice(row["response"], choices_of(row))
    return read_quantity(row["response"])


def is_right(answer: object, row: dict[str, Any]) -> bool:
    """Return whether an answer equals the label, or a reading that is also right."""
    accepted = [row["label"], *(row.get("also_ok") or [])]
    accepted = [value for value in accepted if value is not None]
    if not isinstance(answer, Number):
        return answer in accepted
    truths = [(float(value), 0.0) for value in accepted]
    return fit(answer, truths) is not None


def outcome_of(answer: object, row: dict[str, Any]) -> str:
    """Name the outcome of a reading; an answer where people found none is wrong."""
    if answer is None:
        return "rightly silent" if row["label"] is None else "missed"
    return "right" if is_right(answer, row) else "wrong"


def measure(rows: Iterable[dict[str, Any]]) -> list[Result]:
    """Read all rows."""
    results = []
    for row in rows:
        extraction = read(row)
        result = Result(
            row=row,
            kind=kind_of(row),
            source=str(row.get("source") or "xfinbench"),
            language=language_of(row["response"]),
            extraction=extraction,
            outcome=outcome_of(extraction.answer, row),
        )
        results.append(result)
    return results


def shares(results: list[Result]) -> tuple[Counter[str], float, float]:
    """Return the outcomes, the share of answers read that are wrong, and of labelled answers that are missed."""
    counts = Counter(result.outcome for result in results)
    n_read = counts["right"] + counts["wrong"]
    n_labelled = sum(result.row["label"] is not None for result in results)
    wrong = counts["wrong"] / n_read if n_read else 0.0
    return counts, wrong, counts["missed"] / n_labelled if n_labelled else 0.0


def print_groups(results: list[Result], name_of: Callable[[Result], str]) -> None:
    """Print a line for each group of results."""
    for name in sorted({name_of(result) for result in results}):
        counts, wrong, missed = shares(
            [result for result in results if name_of(result) == name]
        )
        numbers = "".join(f"{counts[outcome]:>16}" for outcome in OUTCOMES)
        print(f"{name:<32}{numbers}{wrong:>9.1%}{missed:>9.1%}")


def accuracy(results: list[Result]) -> list[Figure]:
    """Return the shares of the groups that have goals."""
    # Our own labelled responses have goals of their own, because half of them is awkward on purpose.
    own = [one for one in results if "task" in one.row]
    recorded = [one for one in results if "task" not in one.row]
    numbers = [result for result in recorded if result.kind == "number"]
    letters = [result for result in recorded if result.kind == "letter"]
    groups = {
        "recorded numbers": numbers,
        "recorded numbers of finance": [
            one for one in numbers if FINANCE.search(one.source)
        ],
        "recorded letters": letters,
        "recorded letters in Chinese": [one for one in letters if one.language == "zh"],
        "recorded verdicts": [one for one in recorded if one.kind == "verdict"],
        "our ordinary responses": [
            one for one in own if one.row.get("set") == "ordinary"
        ],
        "our ordinary and awkward responses": own,
    }
    figures = []
    for name, group in groups.items():
        counts, wrong, missed = shares(group)
        most_wrong, most_missed = (100 * share for share in GOALS[name])
        n_read = counts["right"] + counts["wrong"]
        if group:
            what = f"{name}: wrong, of {n_read} answers read"
            figures.append(
                Figure(what=what, value=100 * wrong, unit="%", most=most_wrong)
            )
            what = f"{name}: answers missed, in {len(group)} responses"
            figures.append(
                Figure(what=what, value=100 * missed, unit="%", most=most_missed)
            )
    return figures


def with_choices(rows: list[dict[str, Any]], questions: Path) -> list[dict[str, Any]]:
    """Return the rows with the choices of XFinBench's questions."""
    with questions.open(encoding="utf-8-sig", newline="") as file:
        choices = {row["id"]: row["choice"] for row in csv.DictReader(file)}
    return [{**row, "choice": choices.get(row["id"], "")} for row in rows]


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
        print(f"\n{outcome}: {row['id']} {result.kind} {row.get('manner', '')}")
        print(f"  label {row['label']}, read {answer} ({rule})")
        print(f"  ...{row['response'][-300:]!r}")


def time_of(row: dict[str, Any]) -> float:
    """Return the processor time, in seconds, that a reading takes."""
    started = time.process_time()
    read(row)
    return time.process_time() - started


def speed(rows: list[dict[str, Any]], n_timed: int) -> list[Figure]:
    """Return the median time for responses of several lengths, made by joining responses.

    Each is read several times, and the fastest reading counts.
    """
    figures = []
    for size, goal in SPEED_GOALS.items():
        times = []
        for start in range(n_timed):
            row = rows[start * len(rows) // n_timed]
            text = row["response"]
            position = rows.index(row)
            while len(text) < size:
                position = (position + 1) % len(rows)
                text = f"{rows[position]['response']}\n\n{text}"
            long_row = {**row, "response": text[-size:]}
            times.append(min(map(time_of, [long_row] * READINGS)))
        median = statistics.median(times) * 1_000
        what_read = f"reading an answer in {size:,} characters"
        figures.append(Figure(what=what_read, value=median, unit="ms", most=goal))
    return figures


def read_rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return the rows of all files."""
    rows = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            rows.append(json.loads(line))
    return rows


def main() -> int:
    """Print the tables; return 1 if a goal is missed."""
    parser = options(__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--questions", type=Path, metavar="CSV", default=QUESTIONS)
    parser.add_argument("--show", action="append", choices=OUTCOMES, default=[])
    args = parser.parse_args()
    files = args.files or [OWN, *(path for path in RECORDED if path.is_file())]
    rows = read_rows(files)[: 20 if args.tiny else None]
    if args.questions.is_file():
        rows = with_choices(rows, args.questions)
    results = measure(rows)
    columns = "".join(f"{outcome:>16}" for outcome in OUTCOMES)
    print(f"{'':<32}{columns}{'wrong':>9}{'missed':>9}")
    print_groups(results, lambda result: f"{result.source}: {result.kind}")
    print_groups(results, lambda result: f"{result.kind}, {result.language}")
    print()
    n_timed = 2 if args.tiny else TIMED_RESPONSES
    figures = [*accuracy(results), *speed(rows, n_timed)]
    for outcome in args.show:
        print_details(results, outcome)
    return finish(figures, args, __file__)


if __name__ == "__main__":
    sys.exit(main())

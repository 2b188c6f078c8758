# ruff: noqa: RUF001  (signs a model may write)
"""Throw random and hostile strings at every reader of answers.

Counts strings, exceptions and time, then gives every reader hostile inputs of 100 kB. All readers together take a
second or two on one where time grows with the length; the limit of 5 s is far below what a time that grows with the
square takes. Exit status 1 on any exception or slow input.

    python perf/fuzz_answers.py --count 100000 --seed 1
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from fin_tasks.answers.choices import bare_choice, read_choice
from fin_tasks.answers.marker import committed_text
from fin_tasks.answers.notation import boxed, plain
from fin_tasks.answers.numbers import find_numbers
from fin_tasks.answers.probability import paper_probability, robust_probability
from fin_tasks.answers.quantities import read_bare, read_number, read_quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.verdicts import bare_verdict, read_verdict
from fin_tasks.benchmarks.xfinbench.scoring import compare, extract, score
from fin_tasks.benchmarks.xfinbench.truths import TASKS, parse_truth

CHOICES = ("A. the rate rises", "B. no effect", "C. $5 million")
TRUTHS = {task: parse_truth(task, raw) for task, raw in zip(TASKS, ("1.0", "B", "-6.5"), strict=True)}
FRAGMENTS = (
    *("Therefore, my answer is", "therefore my final answer is", "**Answer:**", "The answer is", "\nQuestion:", "\n\n"),
    *(
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "$",
        "\\boxed{",
        "\\frac{1}{",
        "\\text{",
        "\\[",
        "\\",
        "**",
        "_",
        "`",
        "<",
        ">",
        "|",
    ),
    *("-", "–", "−", "+", "±", "≈", "=", "~", "/", ":", ";", ",", ".", "...", "%", "‰", "^", "x 10^{", "e", "E+", " "),
    *(
        "0",
        "1",
        "42",
        "1,234",
        "1,23,456",
        "1.234,5",
        "1 234",
        "1e999999999",
        "5e-05",
        "9" * 70,
        "10^9999",
        "½",
        "٣",
        "５",
    ),
    *("million", "bn", "k", "bps", "per cent", "percentage points", "cents", "USD", "€", "approx.", "per 100", "zero"),
    *(
        "true",
        "false",
        "not",
        "isn't",
        "incorrect",
        "yes",
        "No",
        "true or false",
        "whether",
        "because",
        "neither",
        "nor",
    ),
    *("A", "B", "C", "D", "Option B", "(C)", "not A but B", "the rate rises", "a", "and", "or"),
    *("<think>", "</think>", "<|channel|>", "final<|message|>", "◁think▷", "[/THINK]", "analysis", "assistantfinal"),
    *("\u202f", "\u200b", "\x00", "\ud800", "🙂", "İ", "ß", "\u0301", "\u202e", "\r\n", "\t"),
)
HOSTILE = (
    *(
        " ",
        "\n",
        "*",
        "_",
        "-",
        "(",
        "[",
        "{",
        "$",
        "\\",
        "<",
        ".",
        ",",
        "1",
        "9,",
        "1,234",
        "1.234.",
        "1 234 ",
        "1/",
        "1e",
    ),
    *(
        "10^",
        "x 10^",
        "\\boxed{",
        "\\frac{",
        "<think>",
        "</think>",
        "<|channel|>",
        "<|channel|>final<|message|>",
        "[THINK]",
    ),
    *(
        "Therefore, my answer is",
        "Therefore, my answer is ",
        "therefore   *",
        "answer:",
        "the answer is [",
        "\nQuestion:",
    ),
    *(
        "not ",
        "not the ",
        "n't ",
        "whether ",
        "true ",
        "not true that the ",
        "true or false ",
        "neither ",
        "; because ",
    ),
    *(
        "A ",
        "A, ",
        "option ",
        "(A)",
        "not A but ",
        "the ",
        "is ",
        "about ",
        "approx. ",
        "± 1",
        "per 1",
        "zero ",
        "= 1 ",
        "Final prediction: ",
        "7 out of 10 ",
        "0.6 - ",
        "up 0.7 down ",
    ),
    *("-$", "¤", "million ", "in ", "% ", "[1] or ", "[1] = ", "(1) ", "statement is ", "correct answer ", "x = 1, "),
)


@dataclass
class Report:
    """What happened."""

    strings: int = 0
    calls: int = 0
    seconds: float = 0.0
    slowest_ms: float = 0.0
    exceptions: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


def readers(text: str) -> Iterator[object]:
    """Call every reader on a text."""
    yield strip_reasoning(text)
    yield committed_text(text)
    cleaned = plain(text)
    yield boxed(text)
    yield find_numbers(cleaned)
    yield read_number(cleaned)
    yield read_number(cleaned, framed=True)
    yield read_quantity(text)
    yield read_bare(text)
    yield read_choice(text, CHOICES)
    yield bare_choice(text, CHOICES)
    yield read_verdict(text)
    yield bare_verdict(text)
    yield paper_probability(text)
    yield robust_probability(text)


def scorers(text: str) -> Iterator[object]:
    """Score a text for every task."""
    for task, truth in TRUTHS.items():
        yield score(task, text, truth, CHOICES)
        yield compare(task, extract(task, text, "robust", CHOICES), truth, "robust")


def random_string(source: random.Random) -> str:
    """Mix fragments answers are made of with any characters at all."""
    parts = []
    for _ in range(source.randint(1, 14)):
        if source.random() < 0.8:
            parts.append(source.choice(FRAGMENTS))
        else:
            parts.append("".join(chr(source.randrange(0x110000)) for _ in range(source.randint(1, 4))))
        if source.random() < 0.4:
            parts.append(" ")
    return "".join(parts)


def check(text: str, report: Report) -> None:
    """Run everything on a text and note what it raised and how long it took."""
    started = time.perf_counter()
    for family in (readers, scorers):
        try:
            report.calls += sum(1 for _ in family(text))
        except Exception as error:  # noqa: BLE001  (every exception is a finding here)
            report.exceptions.append(f"{family.__name__}: {type(error).__name__}: {error} on {text[:200]!r}")
    report.strings += 1
    report.slowest_ms = max(report.slowest_ms, (time.perf_counter() - started) * 1000)


def seconds_for(text: str, report: Report) -> float:
    """Give a text to every reader; return the seconds of processor time that took."""
    started = time.process_time()
    check(text, report)
    return time.process_time() - started


def check_growth(report: Report, *, size: int, limit_ms: float) -> None:
    """Check that hostile inputs of a size, bare and behind a marker, take no longer than the limit."""
    for unit in HOSTILE:
        for head in ("", "Therefore, my answer is ", "Therefore, my answer is ["):
            text = head + unit * (size // len(unit))
            spent = seconds_for(text, report) * 1000
            for _ in range(4):  # a busy neighbour slows one run down, a slow reader all of them
                if spent > limit_ms:
                    spent = min(spent, seconds_for(text, report) * 1000)
            if spent > limit_ms:
                report.slow.append(f"{spent:.0f} ms for {len(text)} characters of {head + unit!r}")


def fuzz(*, count: int, seed: int, size: int = 100_000, limit_ms: float = 5000.0) -> Report:
    """Run `count` random strings, then the hostile long ones (none where `size` is 0)."""
    source = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    report = Report()
    started = time.perf_counter()
    for _ in range(count):
        check(random_string(source), report)
    if size:
        check_growth(report, size=size, limit_ms=limit_ms)
    report.seconds = time.perf_counter() - started
    return report


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="random strings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=100_000, help="characters of a hostile input, 0 for none")
    options = parser.parse_args()
    report = fuzz(count=options.count, seed=options.seed, size=options.size)
    print(f"{report.strings} strings, {report.calls} calls, {report.seconds:.1f} s, slowest {report.slowest_ms:.0f} ms")
    print(f"{len(report.exceptions)} exceptions, {len(report.slow)} inputs too slow")
    for line in (*report.exceptions[:20], *report.slow[:20]):
        print(f"  {line}")
    return 1 if report.exceptions or report.slow else 0


if __name__ == "__main__":
    sys.exit(main())

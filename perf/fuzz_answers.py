"""Throw random and hostile strings at every reader of answers: `python perf/fuzz_answers.py --count 100000 --seed 1`.

Random strings must raise nothing. Texts of 64,000 characters, one pattern repeated, must be read in under 0.5 s each.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.verdicts import read_verdict
from fin_tasks.benchmarks.dynostock.probability import (
    paper_probability,
    robust_probability,
)
from fin_tasks.benchmarks.programs_paper import program_in
from fin_tasks.benchmarks.short_answers import marked_number, sandboxed_program

READERS: dict[str, Callable[[str], object]] = {
    "verdict": read_verdict,
    "choice": lambda text: read_choice(
        text, ("A. the rate rises", "B. no effect", "C. $5 million")
    ),
    "quantity": read_quantity,
    "marked number": marked_number,
    "paper probability": paper_probability,
    "robust probability": robust_probability,
    "program": extract_program,
    "XFinBench program": sandboxed_program,
    "FinanceMath program": program_in,
}
WORDS = r"""
Therefore, my answer is¦**Final Answer:**¦The answer is¦### Answer\n¦So¦Thus, ¦Question:¦Step 2:¦where ¦there are ¦<b>
million¦bn¦k¦bps¦per cent¦percentage points¦cents¦USD¦€¦approx. ¦per 100¦zero¦twelve¦one half¦12 October 2015¦years and¦to
true¦false¦not ¦isn't¦incorrect¦yes¦No¦true or false¦whether ¦; because ¦neither ¦holds ¦I agree ¦in the short run¦claim is
A¦B, ¦(C)¦Option ¦not A but ¦, B and C are wrong¦the second option¦the rate rises¦and ¦or ¦a ¦is ¦of ¦about ¦between 1 and
<think>¦</think>¦<|channel|>¦final<|message|>¦◁think▷¦[/THINK]¦analysis¦assistantfinal¦```python\n¦```\n¦def solution():\n
0¦1¦42¦1,234¦1,23,456¦1.234.¦1 234 ¦1e999999999¦5e-05¦10^9999¦x 10^{¦½¦²¦٣¦５¦1/¦[1] = ¦(1) ¦= 1 ¦x = 1, ¦± 1¦- 5\n¦A. x\n
\boxed{¦\frac{1}{¦\frac{¦\text{¦\[¦\¦$¦[¦]¦(¦)¦{¦}¦**¦_¦`¦<¦>¦-¦–¦−¦+¦≈¦=¦~¦/¦:¦:\n¦;¦,¦.¦%¦^¦#¦&¦ ¦|¦| 1 |\n¦\n¦\n\n¦a:\n¦ \n
🙂¦İ¦ß¦é̖¦0.6 - ¦7 out of 10 ¦up 0.7 down ¦Final prediction: ¦P(Yes) = ¦0/0¦the probability of ¦0.5 + ¦- 5¦1 2 ¦is 5 and ¦return 1\n"""  # noqa: E501, RUF001
SIGNS = ["\u202f", "\u200b", "\x00", "\ud800", "\u0301\u0316", "\t", "\r\n"]
HEADS = ("", "Therefore, my answer is ", "Final answer: ", "So ")
"""What stands before a fragment that is repeated."""
SIZE = 64_000  # characters of a hostile text
LIMIT = 0.5  # seconds to read it
RANDOM_LIMIT = 60.0  # seconds to read a short random text


def fragments() -> list[str]:
    """Return the pieces of which texts are made."""
    pieces = list(SIGNS)
    for line in WORDS.split("\n"):
        for word in filter(None, line.split("¦")):
            pieces.append(word.replace(r"\n", "\n"))
    return pieces


FRAGMENTS = fragments()


def random_text(source: random.Random) -> str:
    """Return a few fragments and a few characters of any script."""
    n_fragments = source.randint(1, 14)
    n_characters = source.randint(0, 4)
    pieces = source.choices(FRAGMENTS, k=n_fragments)
    pieces += [chr(source.randrange(0x110000)) for _ in range(n_characters)]
    return source.choice(["", " "]).join(pieces)


def hostile_texts(size: int) -> Iterator[str]:
    """Yield each fragment, repeated up to a size, behind each head."""
    for fragment in FRAGMENTS:
        for head in HEADS:
            yield head + fragment * (size // len(fragment)) + "x"


def failures(*, count: int, seed: int, size: int = SIZE) -> list[str]:
    """Return a line for each exception, and for each text of `size` characters that takes too long."""
    source = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    problems = []
    for _ in range(count):
        problems += problems_with(random_text(source), RANDOM_LIMIT)
    for text in hostile_texts(size):
        problems += problems_with(text, LIMIT)
    return problems


def problems_with(text: str, limit: float) -> Iterator[str]:
    """Have every reader read a text; yield a line for each that raises or takes more seconds than the limit."""
    for name, read in READERS.items():
        started = time.process_time()
        try:
            read(text)
        except Exception as error:  # noqa: BLE001  (every exception is a finding here)
            yield f"{name}: {error!r} on {text[:200]!r}"
            continue
        seconds = time.process_time() - started
        if seconds > limit:
            yield f"{name}: {seconds:.1f} s on {text[:60]!r}"


def main() -> int:
    """Print the failures; return 1 if there are any."""
    parser = argparse.ArgumentParser(
        description="Throw random and hostile strings at every reader of answers."
    )
    parser.add_argument("--count", type=int, default=100_000, help="random strings")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    problems = failures(count=options.count, seed=options.seed)
    n_hostile = len(HEADS) * len(FRAGMENTS)
    print(
        f"{options.count} random strings, {n_hostile} hostile ones, {len(problems)} failures"
    )
    print("\n".join(problems[:40]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

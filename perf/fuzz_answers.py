"""Throw random and hostile strings at every reader of answers: `python perf/fuzz_answers.py --count 100000 --seed 1`.

Random strings must raise nothing. Texts of 64,000 characters, one pattern repeated, must be read in under 0.5 s each.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable

from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict
from fin_tasks.benchmarks.dynostock.paper import paper_probability
from fin_tasks.benchmarks.dynostock.probability import robust_probability
from fin_tasks.benchmarks.financemath.paper import financemath_program
from fin_tasks.benchmarks.short_answers_paper import marked_number, xfinbench_program

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
    "XFinBench program": xfinbench_program,
    "FinanceMath program": financemath_program,
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
FRAGMENTS = [
    word.replace(r"\n", "\n") for line in WORDS.split("\n") for word in line.split("¦") if word
]
FRAGMENTS += ["\u202f", "\u200b", "\x00", "\ud800", "\u0301\u0316", "\t", "\r\n"]
SIZE, LIMIT = 64_000, 0.5


def random_text(source: random.Random) -> str:
    parts = [source.choice(FRAGMENTS) for _ in range(source.randint(1, 14))]
    parts.append("".join(chr(source.randrange(0x110000)) for _ in range(source.randint(0, 4))))
    return source.choice(["", " "]).join(parts)


def failures(*, count: int, seed: int, size: int = SIZE) -> list[str]:
    """Return a line for each exception, and for each text of `size` characters that takes too long."""
    found = []
    source = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    texts = [(random_text(source), 60.0) for _ in range(count)]
    heads = ("", "Therefore, my answer is ", "Final answer: ", "So ")
    texts += [
        (head + word * (size // len(word)) + "x", LIMIT) for word in FRAGMENTS for head in heads
    ]
    for text, limit in texts:
        for name, read in READERS.items():
            try:
                started = time.process_time()
                read(text)
                spent = time.process_time() - started
            except Exception as error:  # noqa: BLE001  (every exception is a finding here)
                found.append(f"{name}: {error!r} on {text[:200]!r}")
            else:
                if spent > limit:
                    found.append(f"{name}: {spent:.1f} s on {text[:60]!r}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Throw random and hostile strings at every reader of answers."
    )
    parser.add_argument("--count", type=int, default=100_000, help="random strings")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = failures(count=options.count, seed=options.seed)
    print(
        f"{options.count} random strings, {4 * len(FRAGMENTS)} hostile ones, {len(found)} failures"
    )
    print("\n".join(found[:40]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

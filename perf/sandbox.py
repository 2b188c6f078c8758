"""Programs per second and CPU time: our runner beside a fresh `python -c` with resource limits for each program.

    python perf/sandbox.py [--recordings DIR] [--tier TIER] [--workers N] [--programs N]

Both run the same recorded programs with as many workers. The CPU time per program is printed too, because other work on
the machine does not change it much. It counts processes that ended, so with bubblewrap it lacks the servers' share.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fin_tasks.answers.paper import financemath_program
from fin_tasks.sandbox import open_runner
from fin_tasks.settings import SANDBOX_TIERS

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "financemath" / "pot"
GOAL_PER_SECOND, GOAL_RATIO = 150, 2
OWN = (
    "def solution():\n    return sum(100 / 1.05**year for year in range(1, 11))\n",
    "import math\ndef solution():\n    return 50 * math.exp(-0.03 * 2)\n",
    "import numpy as np\ndef solution():\n    return float(np.std([0.1, -0.2, 0.15], ddof=1))\n",
    "from scipy.stats import norm\ndef solution():\n    return float(norm.cdf(0.35))\n",
    "def solution():\n    return undefined_rate\n",
)
LIMITED = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
namespace = {}
exec(compile(sys.argv[1], "<program>", "exec"), namespace)
print(repr(namespace["solution"]()))
"""


def collect(folder: Path, count: int) -> list[str]:
    """Return `count` different programs, evenly over the recorded files, or our own if there are none."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    found = (financemath_program(row["output"][0]) for rows in zip(*files, strict=False) for row in rows)
    programs = list(dict.fromkeys(program for program in found if program))[:count]
    return programs or [f"{source}# {n}\n" for n, source in zip(range(count), itertools.cycle(OWN), strict=False)]


def run_fresh(program: str) -> None:
    """Run a program in an interpreter of its own."""
    command = [sys.executable, "-s", "-c", LIMITED, program]
    subprocess.run(command, capture_output=True, check=False, timeout=30)


def measure(name: str, work: Callable[[], object], count: int) -> float:
    """Print and return how many of `count` programs `work` runs in a second, and the CPU time of each."""
    started, before = time.perf_counter(), os.times()
    work()
    after, rate = os.times(), count / (time.perf_counter() - started)
    each = 1000 * (sum(after[:4]) - sum(before[:4])) / count
    print(f"{name:24} {rate:7.1f} programs/s, {each:5.1f} ms of CPU each, over {count} programs")
    return rate


def main() -> None:
    """Measure both ways and print the ratio; exit with 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--recordings", type=Path, default=RECORDINGS, help="folder with recorded outputs (*.json)")
    parser.add_argument("--tier", choices=SANDBOX_TIERS, default="auto", help="sandbox tier (default: the best)")
    parser.add_argument("--workers", type=int, default=2, help="programs side by side (default: 2)")
    parser.add_argument("--programs", type=int, default=1000, help="programs for our runner (default: 1000)")
    options = parser.parse_args()
    programs = collect(options.recordings, options.programs)
    sample = programs[::4]  # so that both see the same mix

    def run_ours() -> None:
        with open_runner(tier=options.tier, workers=options.workers) as runner:
            runner.run(programs)

    ours = measure(f"our runner ({options.tier})", run_ours, len(programs))
    with ThreadPoolExecutor(options.workers) as threads:
        fresh = measure("python -c with rlimits", lambda: list(threads.map(run_fresh, sample)), len(sample))
    print(f"ratio {ours / fresh:.1f} (goal {GOAL_RATIO}); {ours:.0f} programs/s (goal {GOAL_PER_SECOND})")
    sys.exit(0 if ours >= GOAL_PER_SECOND and ours / fresh >= GOAL_RATIO else 1)


if __name__ == "__main__":
    main()

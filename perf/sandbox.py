"""Programs per second: our runner against a fresh interpreter with resource limits for every program.

    python perf/sandbox.py [--recordings DIR] [--tier TIER] [--workers N] [--programs N]

Both sides run the same programs with the same number of workers and the same limits. Without recordings the
programs are a few of our own. Starting the runner, canaries included, is told apart from the rate.
"""

import argparse
import itertools
import json
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
    """Return `count` programs: out of recordings, evenly over the files, or our own told apart by a comment."""
    files = sorted(folder.glob("*.json"))
    recorded = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    found = (financemath_program(row["output"][0]) for rows in zip(*recorded, strict=False) for row in rows)
    programs = list(dict.fromkeys(p for p in found if p is not None))[:count]
    own = (f"{source}# {n}\n" for n, source in enumerate(itertools.cycle(OWN)))
    return programs or list(itertools.islice(own, count))


def run_fresh(program: str) -> None:
    """Run a program in an interpreter of its own."""
    command = [sys.executable, "-s", "-c", LIMITED, program]
    subprocess.run(command, capture_output=True, check=False, timeout=30)


def rate(work: Callable[[], object], count: int) -> float:
    """Return how many of `count` things `work` does in a second."""
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def main() -> None:
    """Measure both ways and print the ratio; exit with 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--recordings", type=Path, default=RECORDINGS, help="folder with recorded outputs (*.json)")
    parser.add_argument("--tier", choices=SANDBOX_TIERS, default="auto", help="sandbox tier (default: the best)")
    parser.add_argument("--workers", type=int, default=2, help="programs side by side (default: 2)")
    parser.add_argument("--programs", type=int, default=1000, help="programs for our runner (default: 1000)")
    parser.add_argument("--fresh", type=int, default=300, help="of these, how many for the other way (default: 300)")
    options = parser.parse_args()

    programs = collect(options.recordings, options.programs)
    started = time.perf_counter()
    with open_runner(tier=options.tier, workers=options.workers) as runner:
        runner.run([f"def solution(): return {n}" for n in range(4 * options.workers)])  # all servers are up now
        print(f"{runner.tier}: {options.workers} workers ready after {time.perf_counter() - started:.2f} s")
        ours = rate(lambda: runner.run(programs), len(programs))
    # every k-th program, so that both sides see the same mix
    sample = programs[:: max(1, len(programs) // options.fresh)]
    with ThreadPoolExecutor(options.workers) as threads:
        fresh = rate(lambda: list(threads.map(run_fresh, sample)), len(sample))
    print(f"our runner:             {ours:7.1f} programs/s over {len(programs)} programs (goal {GOAL_PER_SECOND})")
    print(f"python -c with rlimits: {fresh:7.1f} programs/s over {len(sample)} programs")
    print(f"ratio:                  {ours / fresh:7.2f} (goal {GOAL_RATIO})")
    sys.exit(0 if ours >= GOAL_PER_SECOND and ours / fresh >= GOAL_RATIO else 1)


if __name__ == "__main__":
    main()

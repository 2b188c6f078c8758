"""Programs per second: our runner beside a fresh `python -c` with resource limits for each program.

Both run recorded programs (our own ones where there are no recordings) on two workers. Goals: 150 programs/s, 3.5
times as many as fresh interpreters.
"""

import itertools
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measured import Figure, finish, options
from timing import in_turn

from fin_tasks.benchmarks.programs_paper import program_in
from fin_tasks.sandbox import open_runner

RECORDINGS = (
    Path(__file__).resolve().parents[2] / "shared" / "data" / "financemath" / "pot"
)
COUNT, WORKERS, GOAL_PER_SECOND, GOAL_RATIO = 1000, 2, 150, 3.5
OWN = (
    "def solution():\n    return sum(100 / 1.05**year for year in range(1, 11))\n",
    "import math\ndef solution():\n    return 50 * math.exp(-0.03 * 2)\n",
    "import numpy as np\ndef solution():\n    return float(np.std([0.1, -0.2, 0.15], ddof=1))\n",
    "from scipy.stats import norm\ndef solution():\n    return float(norm.cdf(0.35))\n",
)
LIMITED = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
namespace = {}
exec(compile(sys.argv[1], "<program>", "exec"), namespace)
print(repr(namespace["solution"]()))
"""


def main() -> int:
    given = options(__doc__).parse_args()
    files = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(RECORDINGS.glob("*.json"))
    ]
    found = (
        program_in(row["output"][0])
        for rows in zip(*files, strict=False)
        for row in rows
    )
    own = (
        f"{source}# {n}\n"
        for n, source in zip(range(COUNT), itertools.cycle(OWN), strict=False)
    )
    programs = list(dict.fromkeys(filter(None, found)))[:COUNT] or list(own)
    programs = programs[:8] if given.tiny else programs
    some = programs[::4]  # so that both see the same mix

    def run_ours() -> None:
        with open_runner(tier="auto", workers=WORKERS) as runner:
            runner.run(programs)

    def run_fresh() -> None:
        with ThreadPoolExecutor(WORKERS) as threads:
            list(
                threads.map(
                    lambda one: subprocess.run(
                        [*fresh, one], capture_output=True, check=False
                    ),
                    some,
                )
            )

    fresh = [sys.executable, "-s", "-c", LIMITED]
    (ours,), (theirs,) = in_turn([run_ours, run_fresh], 1, warm=not given.tiny)
    rate, other = len(programs) / ours, len(some) / theirs
    beside = f"a fresh `python -c` with limits for each program, {other:.0f} a second"
    figures = [
        Figure(
            what=f"recorded programs, {WORKERS} workers",
            value=rate,
            unit="a second",
            least=GOAL_PER_SECOND,
        ),
        Figure(
            what="as many as fresh interpreters run",
            value=rate / other,
            unit="times",
            least=GOAL_RATIO,
            beside=beside,
        ),
    ]
    return finish(figures, given, __file__)


if __name__ == "__main__":
    sys.exit(main())

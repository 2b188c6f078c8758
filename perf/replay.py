"""`fin-tasks replay xfinbench` on 4,000 responses, whole command, beside reading the same file with `json`.

Goal: under 2 s, the start of the interpreter included.
"""

import itertools
import json
import statistics
import sys
import tempfile
from pathlib import Path

from measured import Figure, finish, options
from timing import command, in_turn

ROWS, RUNS, GOAL_S = 4000, 5, 2
REASONING = "The present value of the cash flows at 8 % is the sum of 100/1.08 and 100/1.08^2, so we compute $178.33. "
ANSWERS = [
    "[1,234.5]",
    "[7.66%]",
    r"\boxed{\frac{3}{4}}",
    "[$2.5 million]",
    "about 12.",
    "[(45.20)]",
    "[3.1 x 10^{-4}]",
    "",
]
READ = "import json, sys; [json.loads(line) for line in open(sys.argv[1])]"


def main() -> int:
    given = options(__doc__).parse_args()
    rows = 20 if given.tiny else ROWS
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "responses.jsonl")
        with file.open("w") as out:
            for number, answer in zip(
                range(rows), itertools.cycle(ANSWERS), strict=False
            ):
                text = REASONING * 15 + (
                    f"Therefore, my answer is {answer}" if answer else ""
                )
                out.write(
                    json.dumps(
                        {"id": number, "ground_truth": "178.33", "model_response": text}
                    )
                    + "\n"
                )
        replay = [
            "-c",
            "from fin_tasks.cli import main; main()",
            "replay",
            "xfinbench",
            "--task",
            "calc",
            "--json",
        ]
        works = [
            command(sys.executable, *arguments, str(file))
            for arguments in (["-c", READ], replay)
        ]
        runs = 1 if given.tiny else RUNS
        taken = in_turn(works, runs, warm=not given.tiny)
        plain, ours = map(statistics.median, taken)
    figure = Figure(
        what=f"`fin-tasks replay xfinbench`, {ROWS:,} responses, the whole command",
        value=ours,
        unit="s",
        most=GOAL_S,
        beside=f"reading the JSON alone, {plain:.2f} s; medians of {RUNS} runs",
    )
    return finish([figure], given, __file__)


if __name__ == "__main__":
    sys.exit(main())

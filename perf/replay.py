"""`fin-tasks replay xfinbench` on 4,000 responses, whole command, beside reading the same file with `json`.

The questions are in a folder of the user's, as replay scores by the benchmark's own truths.
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
COLUMNS = "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id"
QUESTION = "q{0},calcu,What is the present value of bond {0}?,,178.33,,TU,"
READ = "import json, sys; [json.loads(line) for line in open(sys.argv[1])]"


def main() -> int:
    given = options(__doc__).parse_args()
    rows = 20 if given.tiny else ROWS
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "xfinbench")
        data.mkdir()
        questions = [QUESTION.format(number) for number in range(rows)]
        (data / "test_set.csv").write_text("\n".join([COLUMNS, *questions]))
        responses = []
        for number, answer in zip(range(rows), itertools.cycle(ANSWERS), strict=False):
            announced = f"Therefore, my answer is {answer}" if answer else ""
            record = {"id": f"q{number}", "response": REASONING * 15 + announced}
            responses.append(json.dumps(record) + "\n")
        file = Path(folder, "responses.jsonl")
        file.write_text("".join(responses))
        replay = [
            "-c",
            "from fin_tasks.cli import main; main()",
            "replay",
            "xfinbench",
            "--task",
            "calc",
            "--data-dir",
            folder,
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

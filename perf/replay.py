"""`fin-tasks replay xfinbench` on 4,000 responses: whole command, beside a plain `json` read of the same file.

Goal: under 2 s for the command, interpreter start included. The responses are of several hundred
words, with each shape of answer in turn.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ANSWERS = (
    "[1,234.5]",
    "[7.66%]",
    r"\boxed{\frac{3}{4}}",
    "[$2.5 million]",
    "about 12.",
    "[(45.20)]",
    "[3.1 x 10^{-4}]",
    "",
)
REASONING = "The present value of the cash flows at 8 % is the sum of 100/1.08 and 100/1.08^2, so we compute $178.33. "


def main() -> int:
    """Time the command and the plain read in turn; status 1 above the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "responses.jsonl"
        answers = itertools.islice(itertools.cycle(ANSWERS), options.rows)
        with file.open("w") as out:
            for number, answer in enumerate(answers):
                text = REASONING * 15 + (f"Therefore, my answer is {answer}" if answer else "")
                out.write(json.dumps({"id": f"r{number}", "ground_truth": "178.33", "model_response": text}) + "\n")
        read = [sys.executable, "-c", "import json, sys; [json.loads(line) for line in open(sys.argv[1])]", str(file)]
        command = [sys.executable, "-m", "fin_tasks.cli", "replay", "xfinbench", "--task", "calc", "--json", str(file)]
        ours, plain = [], []
        for _ in range(options.runs):
            plain.append(seconds(read))
            ours.append(seconds(command))
    mine = statistics.median(ours)
    print(
        f"{options.rows} responses, median of {options.runs}: reading the JSON alone {statistics.median(plain):.2f} s, "
    )
    print(
        f"fin-tasks replay {mine:.2f} s ({mine / statistics.median(plain):.1f} times as long); goal under 2 s for 4,000"
    )
    return 0 if mine < 2 * options.rows / 4000 or options.rows < 4000 else 1


def seconds(command: list[str]) -> float:
    """Run a command and return its wall time."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())

"""Score FinanceMath's recordings in one command, beside a `replay` for each file: `python perf/recordings.py DIR`.

DIR is a copy of the authors' repository, with all or some of the recorded models. Goal: all 102 files, 20,400
responses, in under 2 minutes on two quiet cores.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from timing import command, in_turn

ALL_RESPONSES, GOAL_S, RESPONSES_OF_FILE = 20_400, 120, 200
CLI = (sys.executable, "-c", "from fin_tasks.cli import main; main()")
FOLDERS = "outputs/validation/processed_{mode}_outputs"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    files = {
        mode: sorted((folder / FOLDERS.format(mode=mode)).glob("*.json"))
        for mode in ("cot", "pot")
    }
    n_files = sum(map(len, files.values()))
    with tempfile.TemporaryDirectory() as out:

        def together() -> None:
            number = len(list(Path(out).iterdir()))
            arguments = ["recordings", "financemath", "--from", str(folder)]
            command(*CLI, *arguments, "--out", f"{out}/{number}")()

        def one_by_one() -> None:
            for mode, paths in files.items():
                for path in paths:
                    arguments = ["replay", "financemath", "--mode", mode, str(path)]
                    command(*CLI, *arguments)()

        ((ours,), (loop,)) = in_turn([together, one_by_one], runs=1)
    responses = n_files * RESPONSES_OF_FILE
    seconds = ours * ALL_RESPONSES / responses
    print(f"{n_files} files, {responses:,} responses")
    print(f"fin-tasks recordings {ours:.1f} s, {responses / ours:.0f} responses/s")
    print(f"a replay for each    {loop:.1f} s, {responses / loop:.0f} responses/s")
    print(f"all 102 files would take {seconds:.0f} s; goal {GOAL_S} s")
    return 0 if seconds < GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())

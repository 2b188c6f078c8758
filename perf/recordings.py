"""Score FinanceMath's recordings in one command, beside a `replay` for each file.

    python perf/recordings.py --from DIR

DIR is a copy of the authors' repository, with all or some of the recorded models; `cot/` and `pot/` beside each other
will do. Goal: all 102 files, 20,400 responses, in under 2 minutes on two quiet cores.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from measured import Figure, finish, options
from timing import command, in_turn

ALL_RESPONSES, GOAL_S, RESPONSES_OF_FILE = 20_400, 120, 200
CLI = (sys.executable, "-c", "from fin_tasks.cli import main; main()")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "financemath"
FOLDERS = "outputs/validation/processed_{mode}_outputs"


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR", default=DATA)
    given = parser.parse_args()
    if not given.source.is_dir():
        print(f"{given.source}: found no recordings here; nothing is measured.")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = laid_out(given.source, Path(temporary))
        return measure(folder, given)


def laid_out(source: Path, temporary: Path) -> Path:
    """Return a folder that is laid out as the repository is."""
    if not (source / "cot").is_dir():
        return source
    for mode in ("cot", "pot"):
        link = temporary / FOLDERS.format(mode=mode)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source / mode)
    return temporary


def measure(folder: Path, given: argparse.Namespace) -> int:
    """Score some or all files both ways."""
    files = {
        mode: sorted((folder / FOLDERS.format(mode=mode)).glob("*.json"))[
            : 1 if given.tiny else None
        ]
        for mode in ("cot", "pot")
    }
    n_files = sum(map(len, files.values()))
    with tempfile.TemporaryDirectory() as out:

        def together() -> None:
            number = len(list(Path(out).iterdir()))
            arguments = ["recordings", "financemath", "--from", str(folder)]
            arguments += ["--models", ",".join(path.stem for path in files["cot"])]
            command(*CLI, *arguments, "--out", f"{out}/{number}")()

        def one_by_one() -> None:
            for mode, paths in files.items():
                for path in paths:
                    arguments = ["replay", "financemath", "--mode", mode, str(path)]
                    command(*CLI, *arguments)()

        ((ours,), (loop,)) = in_turn(
            [together, one_by_one], runs=1, warm=not given.tiny
        )
    responses = n_files * RESPONSES_OF_FILE
    seconds = ours * ALL_RESPONSES / responses
    figures = [
        Figure(
            what=f"`fin-tasks recordings financemath`, {n_files} files, half of them programs",
            value=responses / ours,
            unit="responses a second",
            beside=f"a `replay` for each file, {responses / loop:.0f} a second",
        ),
        Figure(
            what="so all 102 files would take",
            value=seconds,
            unit="s",
            most=GOAL_S,
        ),
    ]
    return finish(figures, given, __file__)


if __name__ == "__main__":
    sys.exit(main())

"""Print what `verify` says of each way to cheat, alone and for a board, and what the largest files take.

The exit status is 1 if a cheat passes, or if a file takes too much memory.
"""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "contract"), str(TESTS / "endpoints")]

from board_cheats import BOARD_CHEATS  # noqa: E402
from chat_server import serve  # noqa: E402
from cheats import BOOL, CHEATS, GROUP, JUDGED, POT, Cheat  # noqa: E402
from honest_runs import SAMPLE, points, save_judged_run, save_run, verify  # noqa: E402
from largest import KINDS, cost_of  # noqa: E402
from submissions import admit, content_of, refused, submit  # noqa: E402

MAX_MB = 1_100
"""Of the memory that a file of a stranger may take."""


def attack(cheat: Cheat, copy: Path, judge: tuple[str, ...]) -> bool:
    """Print what `verify` says of a cheat, and return whether it passes."""
    status, worst, _ = verify(copy, *SAMPLE, *judge)
    items = [f"{name} {told}" for name, told in worst.items() if told != "verified"]
    print(f"{status}  {cheat.name}: {', '.join(items)}")
    return status == 0


def attack_board(name: str, copy: Path, board: Path, judge: tuple[str, ...]) -> bool:
    """Print what `verify --board` says of a cheat, and return whether it passes or changes an honest run."""
    before = content_of(board)
    status, told, _ = admit(copy, board, *judge)
    after = content_of(board)
    shutil.rmtree(board / copy.name, ignore_errors=True)
    outcome = f"refused for {', '.join(sorted(refused(told)))}"
    if status != 1:
        outcome = f"admitted, only claimed are {', '.join(told['claims'])}"
    print(f"{status}  on a board, {name}: {outcome}")
    return status in (0, 2) or any(after[file] != before[file] for file in before)


def main() -> None:
    """Print a line for each cheat and each kind of file."""
    passed = 0
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    with TemporaryDirectory() as folder, serve(points) as served:
        runs = Path(folder)
        board = runs / "board"
        os.environ.update(
            FIN_TASKS_CACHE=f"{folder}/cache", OPENAI_API_KEY="sk-made-up"
        )
        for task in (BOOL, POT, GROUP):
            save_run(task, runs)
        save_judged_run(runs / JUDGED, served.base_url)
        judge = ("--judge-model", "judge", "--judge-base-url", served.base_url)
        for run in (BOOL, POT, GROUP, JUDGED):
            status, _, _ = verify(runs / run, *SAMPLE, *judge)
            print(f"{status}  an honest run of {run}")
        for name in ("alpha", "beta"):
            submission = submit(runs / name, model=f"model of {name}")
            print(f"{admit(submission, board)[0]}  on a board, an honest run of {name}")
        for number, cheat in enumerate(CHEATS):
            copy = Path(shutil.copytree(runs / cheat.run, runs / f"cheat-{number}"))
            cheat.change(copy)
            options = (*judge, "--judge-rows", "44") if cheat.run == JUDGED else ()
            passed += attack(cheat, copy, judge)
            passed += attack_board(cheat.name, copy, board, options)
        submit(runs / "third", model="model-c")
        for number, board_cheat in enumerate(BOARD_CHEATS):
            copy = Path(shutil.copytree(runs / "third", runs / f"trick-{number}"))
            board_cheat.change(copy)
            passed += attack_board(board_cheat.name, copy, board, ())
    for kind, read in KINDS.items():
        cost = cost_of(kind)
        passed += cost["mb"] > MAX_MB
        print(f"{cost['mb']:>5,.0f} MB {cost['seconds']:>5.1f} s  {read.__doc__}")
    sys.exit(1 if passed else 0)


if __name__ == "__main__":
    main()

"""Print what `verify` says of each way to cheat, alone and for a board, and what the largest files take.

The exit status is 1 if a cheat passes, or if a file takes too much memory.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parents[1]
# The folder of a script is no place of imports where PYTHONSAFEPATH is set.
sys.path += [str(TESTS / "hostile"), str(TESTS / "endpoints")]

from board_cheats import BOARD_CHEATS, BoardCheat  # noqa: E402
from chat_server import serve  # noqa: E402
from cheats import BOOL, CHEATS, GROUP, JUDGED, POT, Cheat  # noqa: E402
from largest import KINDS  # noqa: E402
from more_board_cheats import MORE_BOARD_CHEATS  # noqa: E402
from submissions import (  # noqa: E402
    SAMPLE,
    admit,
    content_of,
    points,
    refused,
    submit,
    submit_judged,
    verify,
)

MAX_MB = 1_050
"""Of the memory that a file of a stranger may take, with the interpreter and its packages."""


def attack(cheat: Cheat, copy: Path, judge: tuple[str, ...]) -> bool:
    """Print what `verify` says of a cheat, and return whether it passes."""
    status, worst, _ = verify(copy, *SAMPLE, *judge)
    items = [f"{name} {told}" for name, told in worst.items() if told != "verified"]
    print(f"{status}  {cheat.name}: {', '.join(items)}")
    return status == 0


def attack_board(
    cheat: Cheat | BoardCheat, copy: Path, board: Path, judge: tuple[str, ...] = ()
) -> bool:
    """Print what `verify --board` says of a cheat, and return whether it passes or changes an honest run."""
    before = content_of(board)
    status, told, _ = admit(copy, board, *judge)
    after = content_of(board)
    shutil.rmtree(board / copy.name, ignore_errors=True)
    outcome = f"refused for {', '.join(sorted(refused(told)))}"
    if status == 3:
        outcome = f"admitted, only claimed are {', '.join(told['claims'])}"
    elif status == 0:
        outcome = "admitted as if it were not there"
    print(f"{status}  on a board, {cheat.name}: {outcome}")
    is_ignored = isinstance(cheat, BoardCheat) and cheat.ignored
    is_told = status in (1, 3) or (status == 0 and is_ignored)
    return not is_told or any(after[file] != before[file] for file in before)


def attack_all(folder: Path, address: str) -> int:
    """Try all ways to cheat, and return how many pass."""
    board = folder / "board"
    judge = ("--judge-model", "judge", "--judge-base-url", address)
    for task in (BOOL, POT, GROUP):
        submit(folder / task, task, model="model-c")
    submit_judged(folder / JUDGED, address, model="model-c")
    n_passed = 0
    for run in (BOOL, POT, GROUP, JUDGED):
        status, _, _ = verify(folder / run, *SAMPLE, *judge)
        print(f"{status}  an honest run of {run}")
        n_passed += status != 0
    for name in ("alpha", "beta"):
        status, _, _ = admit(submit(folder / name, model=f"model of {name}"), board)
        print(f"{status}  on a board, an honest run of {name}")
        n_passed += status != 0
    for number, cheat in enumerate(CHEATS):
        copy = Path(shutil.copytree(folder / cheat.run, folder / f"cheat-{number}"))
        cheat.change(copy)
        options = (*judge, "--judge-rows", "44") if cheat.run == JUDGED else ()
        n_passed += attack(cheat, copy, judge)
        n_passed += attack_board(cheat, copy, board, options)
    for number, board_cheat in enumerate((*BOARD_CHEATS, *MORE_BOARD_CHEATS)):
        copy = Path(shutil.copytree(folder / BOOL, folder / f"trick-{number}"))
        board_cheat.change(copy)
        n_passed += attack_board(board_cheat, copy, board)
    return n_passed


def main() -> None:
    """Print a line for each cheat and each kind of file."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    # fin-tasks switches the folder of a script off, as any file in it could be imported.
    environ = {**os.environ, "PYTHONPATH": str(TESTS / "hostile")}
    command = [sys.executable, str(TESTS / "hostile" / "largest.py")]
    with (
        TemporaryDirectory() as folder,
        serve(points) as served,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environ
        ) as readers,  # beside the cheats
    ):
        os.environ.update(
            FIN_TASKS_CACHE=f"{folder}/cache", OPENAI_API_KEY="sk-made-up"
        )
        n_passed = attack_all(Path(folder), served.base_url)
        print(f"{n_passed} ways to cheat are open", flush=True)
        costs = [json.loads(line) for line in readers.communicate()[0].splitlines()]
    for cost in costs:
        n_passed += cost["mb"] > MAX_MB
        what = KINDS[cost["kind"]].write.__doc__
        print(f"{cost['mb']:>5,.0f} MB {cost['seconds']:>5.1f} s  {what}")
    sys.exit(1 if n_passed or readers.returncode else 0)


if __name__ == "__main__":
    main()

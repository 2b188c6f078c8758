"""Try each way to cheat on a copy of an honest run, and print what `verify` says about it."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "contract"), str(TESTS / "endpoints")]

from chat_server import serve  # noqa: E402
from cheats import BOOL, CHEATS, GROUP, JUDGED, POT  # noqa: E402
from honest_runs import SAMPLE, points, save_judged_run, save_run, verify  # noqa: E402


def main() -> None:
    """Print a line for each cheat; the exit status is 1 if one of them passes."""
    passed = 0
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]
    with TemporaryDirectory() as folder, serve(points) as judge:
        runs = Path(folder)
        os.environ.update(
            FIN_TASKS_CACHE=f"{folder}/cache", OPENAI_API_KEY="sk-made-up"
        )
        for task in (BOOL, POT, GROUP):
            save_run(task, runs)
        save_judged_run(runs / JUDGED, judge.base_url)
        options = ("--judge-model", "judge", "--judge-base-url", judge.base_url)
        for run in (BOOL, POT, GROUP, JUDGED):
            status, _, _ = verify(runs / run, *SAMPLE, *options)
            print(f"{status}  an honest run of {run}")
        for number, cheat in enumerate(CHEATS):
            copy = runs / f"cheat {number}"
            shutil.copytree(runs / cheat.run, copy)
            cheat.change(copy)
            status, worst, _ = verify(copy, *SAMPLE, *options)
            items = [
                f"{name} {told}" for name, told in worst.items() if told != "verified"
            ]
            print(f"{status}  {cheat.name}: {', '.join(items)}")
            passed += status == 0
    sys.exit(1 if passed else 0)


if __name__ == "__main__":
    main()

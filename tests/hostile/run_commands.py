"""Run commands of fin-tasks one after the other, and print how each of them ended.

A line of standard input holds a folder and lists of arguments for commands that run there. The line of standard output
for it holds how they ended, and the most memory that they took. Both are JSON.
"""

import json
import os
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

from fin_tasks.cli import main as run_command


def run(arguments: list[str]) -> dict[str, object]:
    """Return the exit status (-1 for an exception), the text on the console and the seconds."""
    text = TextIOWrapper(BytesIO(), encoding="utf-8", errors="backslashreplace")
    status: object = 0
    sys.argv = ["fin-tasks", *arguments]
    start = time.monotonic()
    with redirect_stdout(text), redirect_stderr(text):
        try:
            run_command()
        except SystemExit as end:
            status = end.code or 0
        except BaseException:  # noqa: BLE001 - what escapes is what is looked for
            status = -1
            traceback.print_exc()
    text.flush()
    console = text.buffer.getvalue().decode(errors="replace")  # type: ignore[attr-defined]
    return {
        "status": status,
        "console": console,
        "seconds": time.monotonic() - start,
    }


def most_memory() -> int:
    """Return the most bytes that this process has held; those of a parent before it do not count."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def forget_memory() -> None:
    """Let `most_memory` count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    for line in sys.stdin:
        folder, calls = json.loads(line)
        os.chdir(folder)
        os.environ["FIN_TASKS_CACHE"] = f"{folder}/cache"
        forget_memory()
        ends = [run(arguments) for arguments in calls]
        print(json.dumps({"ends": ends, "peak": most_memory()}), flush=True)

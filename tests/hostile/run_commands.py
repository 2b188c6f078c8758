"""Run commands of fin-tasks one after the other, and print how each of them ended.

Standard input is a list of lists of arguments, and standard output an object, both JSON.
"""

import json
import resource
import sys
import time
import traceback
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

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


ends = [run(arguments) for arguments in json.load(sys.stdin)]
peak = max(
    resource.getrusage(who).ru_maxrss * 1024
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
)
json.dump({"ends": ends, "peak": peak}, sys.stdout)

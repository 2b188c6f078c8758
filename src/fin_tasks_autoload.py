"""Starts the hook of fin-tasks. Python imports this file at interpreter start, named by `fin_tasks_autoload.pth`.

The hook changes nothing until a program imports lm-eval or VLMEvalKit. FIN_TASKS_AUTOLOAD=0 turns it off.
"""

import os
import sys

_was_started = False


def start() -> None:
    """Install the hook once; Python handles `.pth` files twice in a virtual environment."""
    global _was_started
    if _was_started or os.environ.get("FIN_TASKS_AUTOLOAD") == "0":
        return
    _was_started = True
    try:
        from fin_tasks.adapters.autoload import install

        install()
    except Exception as error:  # noqa: BLE001 - every program on this machine starts with this line
        _report(error)


def _report(error: Exception) -> None:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing in ("fin_tasks", "fin_tasks.adapters"):
        return  # somebody deleted the package and left this file
    message = f"no hook: {error!r}. Reinstall fin-tasks, or set FIN_TASKS_AUTOLOAD=0."
    # Not `warnings.warn`: PYTHONWARNINGS=error would make an error of it.
    print(f"fin-tasks: warning: {message}", file=sys.stderr)

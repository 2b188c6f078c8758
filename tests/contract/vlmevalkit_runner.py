"""Runs VLMEvalKit's main once per line of input, each time in a process forked from this one.

To import VLMEvalKit takes 20 s, so it is imported once. A line is a JSON object: `argv`, `environ` (set over the
environment), `folder` (to run in) and `log` (file for all output). Two lines answer it: the process's id when it has
started, and its status when it has ended.
"""

import importlib
import json
import os
import pkgutil
import sys
import traceback
from typing import Any

PRIVATE_NAMES = (
    "vlmeval.dataset:DATASET_CLASSES",
    "vlmeval.dataset:SUPPORTED_DATASETS",
    "vlmeval.dataset:ImageBaseDataset.load_data",
    "vlmeval.smp.file:load",
    "vlmeval.smp.file:dump",
)
"""What our adapter uses though it is no public interface."""


def main() -> None:
    kit = importlib.import_module("vlmeval.run")
    say({"missing_names": [name for name in PRIVATE_NAMES if not is_there(name)]})
    for line in sys.stdin:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            run(kit, job)
        say({"process": process})
        say({"status": os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])})


def is_there(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


def run(kit: Any, job: dict[str, Any]) -> None:
    """Never returns."""
    status = 1
    try:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(job["folder"])
        os.environ.update(job["environ"])
        sys.argv = ["run.py", *job["argv"]]
        kit.main()
        status = 0
    except BaseException:  # noqa: BLE001 - the fork must not go on as its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()

"""Runs VLMEvalKit with our data sets: `python -m fin_tasks.adapters.vlmevalkit --data MMEFinance --model ...`.

All arguments go to VLMEvalKit's own `run`. Where the autoload is on, the kit's own commands find the data sets too.
"""

import importlib
import importlib.util
import runpy
import sys
from pathlib import Path

__all__ = ["main"]


def main() -> int:
    """Register the data sets, then run VLMEvalKit's main; its exit status is 0 even where a data set failed."""
    if importlib.util.find_spec("vlmeval") is None:
        print(
            "fin-tasks: expected VLMEvalKit, found no module vlmeval. Install it: pip install 'fin-tasks[vlmevalkit]', "
            "or run this in a checkout of VLMEvalKit.",
            file=sys.stderr,
        )
        return 1
    importlib.import_module("fin_tasks.adapters.vlmeval_datasets")
    if importlib.util.find_spec("vlmeval.run") is not None:
        runpy.run_module("vlmeval.run", run_name="__main__", alter_sys=True)
        return 0
    # a source checkout has it beside the package
    script = Path(importlib.import_module("vlmeval").__path__[0]).parent / "run.py"
    if not script.is_file():
        print(f"fin-tasks: expected VLMEvalKit's run.py at {script}, found none.", file=sys.stderr)
        return 1
    sys.argv[0] = str(script)
    runpy.run_path(str(script), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())

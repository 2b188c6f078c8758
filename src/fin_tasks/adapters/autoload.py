"""Lets a bare `lm_eval --tasks xfinbench_calc` and `run.py --data MMEFinance` find what is ours.

`fin_tasks_autoload.pth` (from Python 3.15 on `.start`) calls `install()` at interpreter start. It adds a finder, which
patches a harness once that is imported. Nothing here may fail an import or cost time: only `os` and `sys`, which are
loaded by then, are imported at the top.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_REMEDY = {
    "lm_eval.tasks.manager": 'Use `lm_eval --include_path "$(fin-tasks path)"` instead, or set FIN_TASKS_AUTOLOAD=0.',
    "vlmeval.dataset": "Run `python -c 'import fin_tasks.adapters.vlmeval'` to see why, or set FIN_TASKS_AUTOLOAD=0.",
}


class _Finder:
    """Lets the other finders find a harness, and patches it once it has run."""

    def __init__(self) -> None:
        self.waiting = set(_REMEDY)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.waiting:
            return None
        self.waiting.remove(name)
        from importlib.util import find_spec

        spec: Any = find_spec(name)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _patch(module)

            spec.loader.exec_module = exec_module
        return spec


def install() -> None:
    """Wait for the harnesses, unless FIN_TASKS_AUTOLOAD is 0."""
    if os.environ.get("FIN_TASKS_AUTOLOAD") != "0":
        sys.meta_path.insert(0, _Finder())


def _patch(module: Any) -> None:
    try:
        if module.__name__ == "vlmeval.dataset":
            import fin_tasks.adapters.vlmeval  # noqa: F401 - registers its data sets
        elif not _reads_entry_points(module):
            module.TaskManager.__init__ = with_our_tasks(module.TaskManager.__init__)
    except Exception as error:  # noqa: BLE001 - an import of a harness must never fail because of us
        remedy = _REMEDY[
            module.__name__
        ]  # printed, as PYTHONWARNINGS=error would turn a warning into an error
        print(
            f"fin-tasks: warning: no tasks of ours in {module.__name__}: {error!r}. {remedy}",
            file=sys.stderr,
        )


def _reads_entry_points(module: Any) -> bool:
    """Return whether this lm-eval finds our tasks itself, by the entry-point group `lm_eval.tasks`."""
    from pathlib import Path

    return any(
        "entry_points" in file.read_text("utf-8")
        for file in Path(module.__file__).parent.glob("*.py")
    )


def with_our_tasks(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap TaskManager's `__init__` to index our tasks, before the user's, so that theirs win."""
    from fin_tasks.resources import task_yaml_dir

    def index(
        self: Any,
        verbosity: Any = None,
        include_path: Any = None,
        include_defaults: bool = True,
        **more: Any,
    ) -> None:
        if include_defaults:
            theirs = (
                include_path
                if isinstance(include_path, (list, tuple))
                else [include_path]
                if include_path
                else []
            )
            include_path = [task_yaml_dir(), *theirs]
        init(self, verbosity, include_path, include_defaults, **more)

    return index

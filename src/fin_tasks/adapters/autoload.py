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
    from typing import Any

__all__ = ["install", "warn"]

_LM_EVAL, _VLMEVAL = "lm_eval.tasks.manager", "vlmeval.dataset"
_REMEDY = {
    _LM_EVAL: 'Use `lm_eval --include_path "$(fin-tasks path)"` instead, or set FIN_TASKS_AUTOLOAD=0.',
    _VLMEVAL: "Run `python -c 'import fin_tasks.adapters.vlmeval'` to see why, or set FIN_TASKS_AUTOLOAD=0.",
}


class _Finder:
    """Lets the other finders find a harness, and patches it once it has run."""

    def __init__(self) -> None:
        self.waiting = set(_REMEDY)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.waiting:
            return None
        self.waiting.remove(name)
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec: Any = next((one for one in found if one is not None), None)
        if spec is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _patch(module)

            spec.loader.exec_module = exec_module
        return spec


def install() -> None:
    """Wait for the harnesses, unless FIN_TASKS_AUTOLOAD is 0. Calling twice does nothing."""
    waits = any(isinstance(finder, _Finder) for finder in sys.meta_path)
    if not waits and os.environ.get("FIN_TASKS_AUTOLOAD") != "0":
        sys.meta_path.insert(0, _Finder())


def warn(message: str) -> None:
    """Print a warning; one of Python's would be an error under `PYTHONWARNINGS=error`."""
    print(f"fin-tasks: warning: {message}", file=sys.stderr)


def _patch(module: Any) -> None:
    try:
        if module.__name__ == _LM_EVAL:
            _wrap_task_manager(module)
        else:
            import fin_tasks.adapters.vlmeval  # noqa: F401 - registers its data sets
    except Exception as error:  # noqa: BLE001 - an import of a harness must never fail because of us
        warn(f"could not add its tasks to {module.__name__}: {error!r}. {_REMEDY[module.__name__]}")


def _wrap_task_manager(module: Any) -> None:
    """Make every TaskManager with default tasks index ours too, before the user's own paths, so that theirs win."""
    import functools
    import inspect

    from fin_tasks.resources import task_yaml_dir

    if "entry_points" in inspect.getsource(module):
        return  # this lm-eval finds our tasks itself, by the entry-point group `lm_eval.tasks`
    init, ours = module.TaskManager.__init__, task_yaml_dir()
    signature = inspect.signature(init)

    @functools.wraps(init)
    def with_our_tasks(*args: Any, **kwargs: Any) -> None:
        call = signature.bind(*args, **kwargs)
        if call.arguments.get("include_defaults", True):
            theirs = call.arguments.get("include_path") or []
            call.arguments["include_path"] = [ours, *(theirs if isinstance(theirs, (list, tuple)) else [theirs])]
        init(*call.args, **call.kwargs)

    module.TaskManager.__init__ = with_our_tasks

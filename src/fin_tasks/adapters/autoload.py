"""Lets a bare `lm_eval --tasks xfinbench_calc` and `run.py --data MMEFinance` find our tasks.

`fin_tasks_autoload.py` calls `install` at interpreter start. The finder waits until a program imports a harness, and
patches the harness then. An import of a harness must never fail because of us, and interpreters must start fast: only
`sys`, which Python has loaded by then, may be imported at the top.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from typing import Any

_LM_EVAL = "lm_eval.tasks.manager"
_VLMEVALKIT = "vlmeval.dataset"
_ADVICE_BY_MODULE = {
    _LM_EVAL: 'Use `lm_eval --include_path "$(fin-tasks path)"`, or set FIN_TASKS_AUTOLOAD=0.',
    _VLMEVALKIT: "Run `python -c 'import fin_tasks.adapters.vlmeval'` to see why, "
    "or set FIN_TASKS_AUTOLOAD=0.",
}


class HarnessFinder:
    """Lets the other finders find a harness, and patches the harness once its module has run."""

    def __init__(self) -> None:
        self.waiting = set(_ADVICE_BY_MODULE)

    def find_spec(
        self,
        name: str,
        path: object = None,
        target: object = None,
    ) -> ModuleSpec | None:
        """Return the spec of a harness's module, which patches the module after running it."""
        if name not in self.waiting:
            return None
        self.waiting.remove(name)  # the search below passes here again
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        exec_module = loader.exec_module

        def run_and_patch(module: Any) -> None:
            exec_module(module)
            try:
                if name == _VLMEVALKIT:
                    import fin_tasks.adapters.vlmeval  # noqa: F401 - registers its data sets
                else:
                    manager = module.TaskManager
                    manager.__init__ = with_our_tasks(manager.__init__)
            except Exception as error:  # noqa: BLE001 - the harness goes on without us
                _warn(name, error)

        loader.exec_module = run_and_patch
        return spec


def install() -> None:
    """Wait for the harnesses; a second call does nothing."""
    if not is_installed():
        sys.meta_path.insert(0, HarnessFinder())


def is_installed() -> bool:
    """Return whether this interpreter waits for the harnesses."""
    return any(isinstance(finder, HarnessFinder) for finder in sys.meta_path)


def _warn(harness: str, error: Exception) -> None:
    # Not `warnings.warn`: PYTHONWARNINGS=error would make an error of it.
    print(
        f"fin-tasks: warning: no tasks of ours in {harness}: {error!r}. {_ADVICE_BY_MODULE[harness]}",
        file=sys.stderr,
    )


def with_our_tasks(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap TaskManager's `__init__` to index our tasks before the user's, so that theirs win."""
    from functools import wraps
    from pathlib import Path

    @wraps(init)
    def index(
        self: object,
        verbosity: object = None,
        include_path: Any = None,
        include_defaults: bool = True,
        *args: object,
        **kwargs: object,
    ) -> None:
        if include_defaults:
            try:
                from fin_tasks.benchmarks import task_folders

                if not isinstance(include_path, (list, tuple)):
                    include_path = [include_path] if include_path else []
                named = [Path(str(path)).resolve() for path in include_path]
                missing = [folder for folder in task_folders() if folder not in named]
                include_path = [*missing, *include_path]
            except Exception as error:  # noqa: BLE001 - the harness goes on without us
                _warn(_LM_EVAL, error)
        init(self, verbosity, include_path, include_defaults, *args, **kwargs)

    return index

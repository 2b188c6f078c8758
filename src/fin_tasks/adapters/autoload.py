"""Lets a bare `lm_eval --tasks xfinbench_calc` find our tasks.

An installed fin-tasks carries `fin_tasks_autoload.pth` (and `.start`, its successor from Python 3.15), which calls
`install()` at interpreter start. That adds a finder which waits for one module to be imported and patches it then;
a program that never imports lm-eval pays for two small imports and nothing else. `FIN_TASKS_AUTOLOAD=0` turns it off.

Nothing here may fail an import or cost time, so only `os` and `sys`, which the interpreter has loaded by then, are
imported at the top (`typing` alone would cost more than the rest), and every error becomes a warning.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["install"]

_TARGET = "lm_eval.tasks.manager"
_REMEDY = 'Use `lm_eval --include_path "$(fin-tasks path)"` instead, or set FIN_TASKS_AUTOLOAD=0.'


class _Finder:
    """Finds nothing itself: lets the others find lm-eval's task manager and patches it once it has run."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != _TARGET:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                _patch_after_exec(spec)
                return spec
        return None


def install() -> None:
    """Wait for lm-eval's task manager, or patch it at once where it is already imported. Calling twice does nothing."""
    if os.environ.get("FIN_TASKS_AUTOLOAD", "1") == "0":
        return
    if _TARGET in sys.modules:
        _patch(sys.modules[_TARGET])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _patch_after_exec(spec: Any) -> None:
    try:
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            _patch(module)

        spec.loader.exec_module = exec_module
    except Exception as error:  # noqa: BLE001 - an import of lm-eval must never fail because of us
        _warn(error)


def _patch(module: ModuleType) -> None:
    """Make every TaskManager with default tasks index ours too, before the user's own paths, so that theirs win."""
    try:
        import functools

        init = module.TaskManager.__init__
        if getattr(init, "fin_tasks", False):
            return

        @functools.wraps(init)
        def with_our_tasks(self: Any, *args: Any, **kwargs: Any) -> None:
            args, kwargs = _add_path(init, self, args, kwargs)
            init(self, *args, **kwargs)

        with_our_tasks.fin_tasks = True  # type: ignore[attr-defined]
        module.TaskManager.__init__ = with_our_tasks
    except Exception as error:  # noqa: BLE001 - as above
        _warn(error)


def _add_path(init: Any, manager: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    try:
        import inspect

        from fin_tasks.resources import task_yaml_dir

        call = inspect.signature(init).bind(manager, *args, **kwargs)
        if not call.arguments.get("include_defaults", True):
            return args, kwargs  # the caller wants nothing but the paths it names
        theirs = call.arguments.get("include_path") or []
        theirs = list(theirs) if isinstance(theirs, (list, tuple)) else [theirs]
        call.arguments["include_path"] = [task_yaml_dir(), *theirs]
    except Exception as error:  # noqa: BLE001 - as above
        _warn(error)
        return args, kwargs
    return call.args[1:], call.kwargs


def _warn(error: Exception) -> None:
    import warnings

    warnings.warn(f"fin-tasks could not add its tasks to lm-eval: {error!r}. {_REMEDY}", RuntimeWarning, stacklevel=2)

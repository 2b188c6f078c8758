"""Lets a bare `lm_eval --tasks xfinbench_calc` and `run.py --data MMEFinance` find what is ours.

An installed fin-tasks carries `fin_tasks_autoload.pth` (and `.start`, its successor from Python 3.15), which calls
`install()` at interpreter start. That adds a finder which waits for one module of each harness to be imported and
patches it then; a program that imports neither pays for two small imports and nothing else. `FIN_TASKS_AUTOLOAD=0`
turns it off.

Nothing here may fail an import or cost time, so only `os` and `sys`, which the interpreter has loaded by then, are
imported at the top (`typing` alone would cost more than the rest), and every error becomes a warning, or a line on
stderr where warnings are errors.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["install", "warn"]

_LM_EVAL = "lm_eval.tasks.manager"
_VLMEVAL = "vlmeval.dataset"
_REMEDY = {
    _LM_EVAL: "could not add its tasks to lm-eval: {!r}. "
    'Use `lm_eval --include_path "$(fin-tasks path)"` instead, or set FIN_TASKS_AUTOLOAD=0.',
    _VLMEVAL: "could not add its data sets to VLMEvalKit: {!r}. "
    "Run `python -c 'import fin_tasks.adapters.vlmeval'` to see the error, or set FIN_TASKS_AUTOLOAD=0.",
}


class _Finder:
    """Finds nothing itself: lets the others find a harness's module and patches it once it has run."""

    def __init__(self, waiting: set[str]) -> None:
        self.waiting = waiting

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self.waiting:
            return None
        self.waiting.discard(fullname)
        if not self.waiting:
            sys.meta_path.remove(self)
        for finder in [other for other in sys.meta_path if other is not self]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                _patch_after_exec(spec)
                return spec
        return None


def install() -> None:
    """Wait for the harnesses, or patch them at once where they are already imported. Calling twice does nothing."""
    if os.environ.get("FIN_TASKS_AUTOLOAD", "1") == "0":
        return
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    finder = _Finder({_LM_EVAL, _VLMEVAL})
    for name in [name for name in finder.waiting if name in sys.modules]:
        finder.waiting.discard(name)
        _patch(sys.modules[name])
    if finder.waiting:
        sys.meta_path.insert(0, finder)


def warn(message: str) -> None:
    """Warn; where that is an error (`PYTHONWARNINGS=error`), say it on stderr, as no import may fail because of us."""
    import warnings

    try:
        warnings.warn(f"fin-tasks {message}", RuntimeWarning, stacklevel=3)
    except Warning as warning:
        print(f"{type(warning).__name__}: {warning}", file=sys.stderr)


def _patch_after_exec(spec: Any) -> None:
    try:
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            _patch(module)

        spec.loader.exec_module = exec_module
    except Exception as error:  # noqa: BLE001 - an import of a harness must never fail because of us
        _warn(spec.name, error)


def _patch(module: ModuleType) -> None:
    try:
        if module.__name__ == _VLMEVAL:
            import fin_tasks.adapters.vlmeval  # noqa: F401 - registers its data sets
        else:
            _wrap_task_manager(module)
    except Exception as error:  # noqa: BLE001 - as above
        _warn(module.__name__, error)


def _wrap_task_manager(module: ModuleType) -> None:
    """Make every TaskManager with default tasks index ours too, before the user's own paths, so that theirs win."""
    import functools

    init = module.TaskManager.__init__
    if getattr(init, "fin_tasks", False) or _reads_entry_points(module):
        return

    @functools.wraps(init)
    def with_our_tasks(self: Any, *args: Any, **kwargs: Any) -> None:
        args, kwargs = _add_path(init, self, args, kwargs)
        init(self, *args, **kwargs)

    with_our_tasks.fin_tasks = True  # type: ignore[attr-defined]
    module.TaskManager.__init__ = with_our_tasks


def _reads_entry_points(module: ModuleType) -> bool:
    """Whether this lm-eval finds our tasks itself, by the entry-point group `lm_eval.tasks`."""
    import inspect

    try:
        return "entry_points" in inspect.getsource(module)
    except (OSError, TypeError):
        return False


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
        _warn(_LM_EVAL, error)
        return args, kwargs
    return call.args[1:], call.kwargs


def _warn(target: str, error: Exception) -> None:
    warn(_REMEDY[target].format(error))

"""Finance benchmarks as plug-in tasks for lm-evaluation-harness.

In Python: `tasks` names the tasks, `load` returns the questions of one, `score` scores responses,
`read_runs` reads results, `compare` compares them, and `write_report` makes a page of them.
"""

# Every interpreter imports this module at its start, and `typing` is slow.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import compare, load, read_runs, score, tasks, write_report

__version__ = "0.3.0"

__all__ = [
    "__version__",
    "compare",
    "load",
    "read_runs",
    "score",
    "tasks",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import the functions for notebooks when one is used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("fin_tasks.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

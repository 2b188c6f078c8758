"""The benchmarks, a folder each, and those that other packages register.

A package registers a benchmark under the entry-point group `fin_tasks.benchmarks`; the value names
its `Benchmark` object, such as `my_package.my_benchmark:BENCHMARK`.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules

from fin_tasks.errors import ConfigError
from fin_tasks.resources import task_yaml_dir

from .contract import Benchmark

GROUP = "fin_tasks.benchmarks"
_log = logging.getLogger(__name__)


@cache
def all_benchmarks() -> Mapping[str, Benchmark]:
    """Return all benchmarks by name: ours in the order of reports, then others."""
    own = []
    for module in iter_modules(__path__):
        if module.ispkg:
            own.append(import_module(f"{__name__}.{module.name}").BENCHMARK)
    own.sort(key=lambda benchmark: benchmark.order)
    benchmarks = {benchmark.name: benchmark for benchmark in own}
    for benchmark in _registered():
        if benchmark.name in benchmarks:
            raise ConfigError(
                f"entry point {GROUP}: expected a new name, got {benchmark.name!r}, "
                "which another benchmark has. Rename or uninstall one of them."
            )
        benchmarks[benchmark.name] = benchmark
    return benchmarks


def benchmark_of(task: str) -> Benchmark | None:
    """Return the benchmark whose name, the longest if there are several, begins a task's; None for tasks of others."""
    benchmarks = all_benchmarks()
    names = [name for name in benchmarks if f"{task}_".startswith(f"{name}_")]
    return benchmarks[max(names, key=len)] if names else None


def benchmark_named(name: str) -> Benchmark:
    """Return a benchmark by its name, or raise ConfigError."""
    benchmarks = all_benchmarks()
    if name not in benchmarks:
        raise ConfigError(
            f"benchmark: expected one of {', '.join(benchmarks)}, got {name!r:.80}. "
            f"Other packages register theirs under the entry-point group {GROUP}."
        )
    return benchmarks[name]


def task_folders() -> list[Path]:
    """Return the folders with task files: ours, then those of registered benchmarks."""
    folders = [task_yaml_dir()]
    for benchmark in all_benchmarks().values():
        if benchmark.task_folder is not None:
            folders.append(benchmark.task_folder)
    return folders


def _registered() -> Iterator[Benchmark]:
    for entry_point in entry_points(group=GROUP):
        try:
            benchmark = entry_point.load()
        except Exception as error:  # noqa: BLE001 - the code of another package
            _log.warning("entry point %s is left out: %s", entry_point.value, error)
            continue
        if isinstance(benchmark, Benchmark):
            yield benchmark
        else:
            _log.warning(
                "entry point %s is left out: expected a Benchmark, got %s.",
                entry_point.value,
                type(benchmark).__name__,
            )

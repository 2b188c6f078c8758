"""Our task files as lm-eval reads them, without lm-eval: which functions load, read and score a task.

Only files that come with this package are read; nothing of a submission decides what is imported.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError
from fin_tasks.resources import task_yaml_dir
from fin_tasks.stats.metric import Metric

__all__ = ["Group", "Step", "TaskFile", "group_file", "task_file"]


@dataclass(frozen=True)
class _Named:
    """`!function package.module.name`, not imported until it is needed: a task's class would import lm-eval."""

    path: str

    def get(self) -> Callable[..., Any]:
        module, _, name = self.path.rpartition(".")
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found


@dataclass(frozen=True, kw_only=True)
class Step:
    """One filter of a pipeline.

    Attributes:
        function: The filter's registered name.
        arguments: What it is given, functions among them.
    """

    function: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """A task.

    Attributes:
        name: Its name.
        version: As in its metadata.
        options: What the task fixes, `dataset_kwargs`.
        load: Makes its documents.
        metrics: Metric name to whether more is better, or to its own aggregation, in the order of declaration.
        values: Scored answers to one document's metrics.
        pipelines: Variant to filters.
        shots: Examples before each question.
    """

    name: str
    version: str
    options: Mapping[str, Any]
    load: Callable[..., Any]
    metrics: Mapping[str, bool | Metric]
    values: Callable[[Mapping[str, Any], Sequence[Any]], Mapping[str, Any]]
    pipelines: Mapping[str, tuple[Step, ...]]
    shots: int


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group, and the metrics it averages over its tasks with whether by their rows."""

    name: str
    weighted: Mapping[str, bool]


def task_file(name: str) -> TaskFile | None:
    """Read a task's file; None where we have no such task."""
    content = _contents().get(name)
    if content is None or "group" in content:
        return None
    options = content["dataset_kwargs"]
    return TaskFile(
        name=name,
        version=f"{content['metadata']['version']:g}",
        options=options,
        load=content["custom_dataset"].get(),
        metrics=content["metrics"].get()(**options),
        values=content["process_results"].get(),
        pipelines={one["name"]: tuple(map(_step, one["filter"])) for one in content["filter_list"]},
        shots=content["num_fewshot"],
    )


def group_file(name: str) -> Group | None:
    """Read a group's file; None where we have no such group."""
    content = _contents().get(name)
    if content is None or "group" not in content:
        return None
    return Group(
        name=name, weighted={one["metric"]: one["weight_by_size"] for one in content.get("aggregate_metric_list", ())}
    )


def _step(said: Mapping[str, Any]) -> Step:
    given = {name: value for name, value in said.items() if name != "function"}
    arguments = {name: value.get() if isinstance(value, _Named) else value for name, value in given.items()}
    return Step(function=str(said["function"]), arguments=arguments)


@lru_cache(maxsize=1)
def _contents() -> dict[str, dict[str, Any]]:
    """Name to content of every task and group file."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(task_yaml_dir().rglob("*.yaml")):
        if not path.name.startswith("_"):
            content = _read(path)
            found[str(content.get("group") or content["task"])] = content
    return found


def _read(path: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Knows `!function`."""

    Loader.add_constructor("!function", lambda _, node: _Named(str(node.value)))
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)  # noqa: S506 (a SafeLoader)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a task, got {type(content).__name__}. Reinstall fin-tasks.")
    included = content.pop("include", None)
    # as lm-eval: what a file says replaces what it includes, key by key
    return {**_read(path.parent / included), **content} if included else content

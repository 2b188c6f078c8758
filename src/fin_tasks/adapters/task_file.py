"""The one reader of our task files, for all who load a task without lm-eval: documents, settings, rubric, pictures."""

import importlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

import yaml

from fin_tasks.benchmarks import benchmark_of, task_folders
from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
from fin_tasks.errors import ConfigError
from fin_tasks.judging.rubric import Rubric, load_rubric

_PICTURE_COLUMNS = ("image_path", "figure_path", "chart")  # a document has one of them at most
_RUBRIC_PLACES = ("source", "data_dir")  # metadata that says where the authors' rubric is


class TaskFile:
    """A task's file with what it includes; functions stay names until somebody needs them."""

    def __init__(self, name: str) -> None:
        file = _files_by_name().get(name)
        if file is None or _is_group(file):
            raise ConfigError(f"task {name!r:.80}: expected a task of fin-tasks, found none.")
        config = _read_config(file)
        self.name = name
        benchmark = benchmark_of(name)
        if benchmark is None:
            raise ConfigError(
                f"{file}: expected a name that begins with a benchmark's, got {name!r:.80}."
            )
        self.benchmark = benchmark.name
        self.config = config
        self.options: dict[str, Any] = config["dataset_kwargs"]
        self.judge: dict[str, Any] | None = config.get("judge")
        self.answer_reader: dict[str, Any] | None = config.get("answer_reader")
        self.runs_programs = "programs" in config
        self.is_conversation = config["class"].endswith(".ConversationTask")

    @property
    def rules(self) -> ModuleType:
        """Return the module with the benchmark's scorer."""
        module, _, _ = self.config["reader"].rpartition(".")
        return importlib.import_module(module)

    @property
    def version(self) -> int:
        """Return the version of the benchmark."""
        version: int = resolve_name(self.config["metadata"]["version"])
        return version

    def load(self, metadata: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the documents and their provenance."""
        refuse_fixed(self.name, self.options, metadata)
        load = resolve_name(self.config["custom_dataset"])
        (documents,) = load(**metadata, **self.options).values()
        return documents.to_list(), json.loads(documents.info.description)


def task_names() -> list[str]:
    """Return the names of all tasks, without groups."""
    return [name for name, file in _files_by_name().items() if not _is_group(file)]


def version_of(task: str) -> int | None:
    """Return the version of a task, or None if no task has this name."""
    return TaskFile(task).version if task in task_names() else None


@cache
def _files_by_name() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in task_folders():
        for file in sorted(folder.rglob("*.yaml")):
            if not file.stem.startswith("_"):
                found.setdefault(file.stem, file)
    return found


def _is_group(file: Path) -> bool:
    return "group" in _read_config(file)


class _Loader(yaml.SafeLoader):
    """Reads `!function module.name` as the text `module.name`."""


def _function_name(loader: yaml.SafeLoader, node: yaml.Node) -> str:
    return str(node.value)


_Loader.add_constructor("!function", _function_name)


@cache
def _read_config(file: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506
    if "include" not in config:
        return config
    included = _read_config(file.with_name(config["include"]))
    return {**included, **config}


def refuse_fixed(task: str, options: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Refuse metadata for what the task itself decides."""
    fixed = sorted(metadata.keys() & options.keys())
    if fixed:
        raise ConfigError(
            f"{task}: metadata sets {', '.join(fixed)}, which this task fixes. "
            "Choose the task with the value you want."
        )


def generation_kwargs(config: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's generation settings, with the paper's if the metadata says `sampling: paper`."""
    changes: dict[str, dict[str, Any]] = {"greedy": {}}
    if "paper_sampling" in config:  # not every paper names its settings
        changes["paper"] = config["paper_sampling"]
    sampling = metadata.get("sampling", "greedy")
    if sampling not in changes:
        expected = " or ".join(changes)
        raise ConfigError(
            f"metadata sampling: {config['task']} expected {expected}, got {sampling!r}."
        )
    return {**config["generation_kwargs"], **changes[sampling]}


def rubric_of(
    judge: Mapping[str, Any], options: Mapping[str, Any], metadata: Mapping[str, Any]
) -> Rubric:
    """Return the rubric that the metadata or the task names; the task's scorer fits one scale only."""
    default = load_rubric(judge["rubric"].format(**options))
    name = str(metadata.get("rubric") or default.name)
    place = {key: metadata[key] for key in _RUBRIC_PLACES if key in metadata}
    rubric = rubric_named(name, language=options.get("language", "en"), **place)
    expected = _scale_of(default)
    got = _scale_of(rubric)
    if got != expected:
        raise ConfigError(
            f"rubric {name}: expected parser and scale {expected}, as in {default.name}, got {got}."
        )
    return rubric


def _scale_of(rubric: Rubric) -> tuple[str, int, int]:
    return (rubric.parser, rubric.lowest, rubric.highest)


def pictures_of(doc: Mapping[str, Any]) -> Sequence[str]:
    """Return the files of the pictures that a document shows."""
    paths: Sequence[str] = doc.get("image_paths") or ()
    return paths or [doc[column] for column in _PICTURE_COLUMNS if doc.get(column)]

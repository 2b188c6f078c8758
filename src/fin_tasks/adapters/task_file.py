"""The one reader of our task files, for all who load a task without lm-eval.

It returns documents, generation settings, rubric and pictures.
"""

import importlib
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import yaml

from fin_tasks.adapters.task_defaults import complete, function_of, load_documents
from fin_tasks.benchmarks import benchmark_of, task_folders
from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
from fin_tasks.errors import ConfigError
from fin_tasks.judging.rubric import Rubric, load_rubric

if TYPE_CHECKING:
    from datasets import Dataset

_PICTURE_COLUMNS = ("image_path", "figure_path", "chart")  # a document has one of them at most
_RUBRIC_ORIGIN = ("source", "data_dir")  # metadata that says where the authors' rubric is

Mapped = Mapping[str, Any]
"""What a YAML or JSON file holds: a task's settings, its options, metadata, or a document."""


class TaskFile:
    """A task's file with what it includes; functions stay names until somebody needs them.

    Attributes:
        name: Name of the task.
        benchmark: Name of its benchmark.
        config: The file's settings, with those of the files that it includes.
        options: What the task itself decides, such as its part and mode.
        judge: How it asks a judge, or None.
        answer_reader: How it asks a model for answers that rules do not find, or None.
        runs_programs: Whether its responses hold programs.
        is_conversation: Whether its documents are turns of conversations.
        kit_dataset: Name of its data set in VLMEvalKit; empty if it has none.
    """

    def __init__(self, name: str) -> None:
        if name not in _configs():
            raise ConfigError(_unknown(name))
        config = complete(_configs()[name])
        benchmark = benchmark_of(name)
        self.name = name
        self.benchmark = benchmark.name if benchmark else ""
        self.config = config
        self.options: Mapped = config["dataset_kwargs"]
        self.judge: Mapped | None = config.get("judge")
        self.answer_reader: Mapped | None = config.get("answer_reader")
        self.runs_programs = "programs" in config
        self.is_conversation = config["class"].endswith(".ConversationTask")
        self.kit_dataset: str = config.get("vlmevalkit", "")

    @property
    def rules(self) -> ModuleType:
        """Return the module with the benchmark's scorer."""
        module, _, _ = self.config["reader"].rpartition(".")
        return importlib.import_module(module)

    @property
    def version(self) -> int:
        """Return the version of the benchmark."""
        version: int = self.config["metadata"]["version"]
        return version

    def dataset(self, metadata: Mapped) -> "Dataset":
        """Return the documents; the JSON text `info.description` holds their provenance."""
        load = function_of(self.config["custom_dataset"])
        _, documents = load_documents(self.name, load, self.options, metadata)
        return documents

    def load(self, metadata: Mapped) -> tuple[list[Mapped], Mapped]:
        """Return the documents and their provenance."""
        documents = self.dataset(metadata)
        provenance = json.loads(documents.info.description)
        return documents.to_list(), provenance


def _unknown(name: str) -> str:
    similar = get_close_matches(name, _configs(), n=1)
    advice = f"Did you mean {similar[0]!r}?" if similar else "`fin_tasks.tasks()` names them."
    return f"task {name!r:.80}: expected a task of fin-tasks, found none. {advice}"


def task_names() -> list[str]:
    """Return the names of all tasks, without groups."""
    return list(_configs())


def version_of(task: str) -> int | None:
    """Return the version of a task, or None if no task has this name."""
    if task not in _configs():
        return None
    return TaskFile(task).version


@cache
def _configs() -> dict[str, Mapped]:
    """Return what the files of all tasks say, by the task's name; groups and other files are left out."""
    configs: dict[str, Mapped] = {}
    for folder in task_folders():
        for file in sorted(folder.rglob("*.yaml")):
            config = _read_config(file)
            if "task" in config and "class" in config:
                configs.setdefault(config["task"], config)
    return configs


class _Loader(yaml.SafeLoader):
    """Reads `!function module.name` as the text `module.name`."""


def _function_name(loader: yaml.SafeLoader, node: yaml.Node) -> str:
    return str(node.value)


_Loader.add_constructor("!function", _function_name)


@cache
def _read_config(file: Path) -> Mapped:
    try:
        text = file.read_text(encoding="utf-8")
        config = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{file}: expected a task file in YAML, got {error}.") from error
    if not isinstance(config, dict):
        return {}
    if "include" not in config:
        return config
    included = _read_config(file.with_name(config["include"]))
    return {**included, **config}


def generation_kwargs(config: Mapped, metadata: Mapped) -> dict[str, Any]:
    """Return a task's generation settings; metadata `sampling: paper` takes those of the paper."""
    changes: dict[str, Mapped] = {"greedy": {}}
    if "paper_sampling" in config:  # not every paper names its settings
        changes["paper"] = config["paper_sampling"]
    sampling = metadata.get("sampling", "greedy")
    if sampling not in changes:
        task = config["task"]
        expected = " or ".join(changes)
        raise ConfigError(f"metadata sampling: {task} expected {expected}, got {sampling!r}.")
    return {**config["generation_kwargs"], **changes[sampling]}


def rubric_of(judge: Mapped, options: Mapped, metadata: Mapped) -> Rubric:
    """Return the rubric that the metadata names, else the task's own.

    Raises:
        ConfigError: The task's scorer does not fit the rubric's scale.
    """
    default = load_rubric(judge["rubric"].format(**options))
    name = str(metadata.get("rubric") or default.name)
    language = options.get("language", "en")
    origin = {key: metadata[key] for key in _RUBRIC_ORIGIN if key in metadata}
    part = options.get("part", "open")
    rubric = rubric_named(name, language=language, part=part, **origin)
    expected = _scale_of(default)
    got = _scale_of(rubric)
    if got != expected:
        raise ConfigError(
            f"rubric {name}: expected parser and scale {expected}, as in {default.name}, got {got}."
        )
    return rubric


def _scale_of(rubric: Rubric) -> tuple[str, int, int]:
    return (rubric.parser, rubric.lowest, rubric.highest)


def pictures_of(doc: Mapped) -> Sequence[str]:
    """Return the files of the pictures that a document shows."""
    paths: Sequence[str] = doc.get("image_paths") or ()
    if paths:
        return paths
    for column in _PICTURE_COLUMNS:
        path = doc.get(column)
        if path:
            return [path]
    return []

"""Task files without a harness: who scores saved responses, or asks a model outside lm-eval, reads them here.

lm-eval reads the same files by itself; docs/lm_eval.md explains their keys.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Any

import yaml

from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import Metric, average

from . import benchmark_named, task_folders

if TYPE_CHECKING:
    from datasets import Dataset

    from fin_tasks.judging.judge import JudgeStep
    from fin_tasks.judging.rubric import Rubric

_OWN_FILTERS = ("fin_tasks_paper", "fin_tasks_robust")
_FILTER_OPTIONS = {"function", "benchmark", "judge", "answer_reader"}
_PICTURE_COLUMNS = ("image_path", "figure_path", "chart")
"""A document has one of them at most."""

Mapped = Mapping[str, Any]
"""What a YAML or JSON file holds: a task's settings, its options, metadata, or a document."""


class TaskFile:
    """The settings of a task, as its file and the files that it includes give them.

    Args:
        name: Name of the task.
        config: What lm-eval read in the file; without it, the file is read here.

    Attributes:
        benchmark: The benchmark whose scorer our filters use.
        config: The settings.
        options: What the task itself decides, such as its part and mode.
        judge: The rubric by which a judge scores responses; empty without a judge.
        has_answer_reader: Whether a model may read answers that the rules do not find.
        runs_programs: Whether responses hold programs.
        kit_dataset: Name of the data set in VLMEvalKit; empty if there is none.
    """

    def __init__(self, name: str, config: Mapped | None = None) -> None:
        config = config or _configs().get(name)
        if config is None:
            similar = get_close_matches(name, _configs(), n=1)
            advice = "`fin_tasks.tasks()` names them."
            if similar:
                advice = f"Did you mean {similar[0]!r}?"
            raise ConfigError(
                f"task {name!r:.80}: expected a task of fin-tasks, found none. {advice}"
            )
        filter_options: dict[str, Any] = {}
        for entry in config.get("filter_list") or ():
            steps = [step["function"] for step in entry["filter"]]
            for step in entry["filter"]:
                if step["function"] not in _OWN_FILTERS:
                    continue
                unknown = step.keys() - _FILTER_OPTIONS
                if unknown or not isinstance(step.get("answer_reader", False), bool):
                    raise ConfigError(
                        f"task {name!r:.80}, {step['function']}: expected benchmark, judge, and true or "
                        f"false as answer_reader, got {step}."
                    )
                if steps[-1] != step["function"]:
                    raise ConfigError(
                        f"task {name!r:.80}: expected no filter behind {step['function']}, whose readings "
                        f"the metrics need, got {steps[-1]}."
                    )
                filter_options |= step
        if "benchmark" not in filter_options:
            raise ConfigError(
                f"task {name!r:.80}: expected a filter_list with fin_tasks_robust and the name of a "
                "benchmark, found none. docs/own_benchmark.md shows a task file."
            )
        self.name = name
        self.benchmark = benchmark_named(filter_options["benchmark"])
        self.config = config
        self.options: Mapped = config.get("dataset_kwargs") or {}
        self.judge: str = filter_options.get("judge", "")
        # Programs leave nothing to read.
        self.has_answer_reader: bool = (
            filter_options.get("answer_reader", False)
            and self.options.get("mode") != "pot"
        )
        self.runs_programs: bool = config.get("unsafe_code", False)
        self.metadata: Mapped = config.get("metadata") or {}
        self.kit_dataset: str = self.metadata.get("vlmevalkit", "")

    @property
    def is_conversation(self) -> bool:
        """Whether the documents are turns of conversations."""
        return str(self.config["class"]).endswith(".ConversationTask")

    @property
    def scorer(self) -> Any:
        """The module with the benchmark's scorer."""
        return self.benchmark.scorer

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the file by name, the headline first."""
        metrics = {}
        for entry in self.config["metric_list"]:
            aggregate = entry["aggregation"]
            if aggregate == "mean":
                aggregate = average
            elif isinstance(aggregate, str):
                aggregate = _imported(aggregate)
            metrics[entry["metric"]] = Metric(
                higher_is_better=entry["higher_is_better"], aggregate=aggregate
            )
        return metrics

    def load_documents(self, metadata: Mapped) -> "Dataset":
        """Return the documents, whose `info.description` is the JSON text of the provenance.

        Raises:
            ConfigError: The metadata change what the task itself decides, or documents lack what a
                harness needs, or share an id.
        """
        fixed = sorted(metadata.keys() & self.options.keys())
        if fixed:
            raise ConfigError(
                f"{self.name}: metadata sets {', '.join(fixed)}, which this task fixes. "
                "Choose the task with the value you want."
            )
        load = self.config["custom_dataset"]
        if isinstance(load, str):  # lm-eval imports it itself
            load = _imported(load)
        splits: Mapping[str, Dataset] = load(**metadata, **self.options)
        documents = splits[self.config["test_split"]]
        fields = documents.column_names
        id_name = "id" if "id" in fields else "question_id"
        if not {id_name, "prompt", "target"}.issubset(fields):
            raise ConfigError(
                f"{self.name}: expected documents with id or question_id, prompt and target, "
                f"got {', '.join(sorted(fields))}."
            )
        ids = documents[id_name]
        if len(set(ids)) < len(ids):
            raise ConfigError(
                f"{self.name}: expected documents with different ids, got {mode(ids)!r:.80} more "
                "than once."
            )
        return documents

    def load(self, metadata: Mapped) -> tuple[list[Mapped], Mapped]:
        """Return the documents and their provenance."""
        documents = self.load_documents(metadata)
        return documents.to_list(), json.loads(documents.info.description)

    def generation_kwargs(self, metadata: Mapped) -> dict[str, Any]:
        """Return generation settings; metadata `sampling: paper` takes those of the paper."""
        usual: dict[str, Any] = self.config["generation_kwargs"]
        named = self.metadata.get("paper_samplings", {})
        if isinstance(named, str):  # lm-eval imports it itself
            named = _imported(named)
        samplings = {"greedy": {}, **named}
        sampling = metadata.get("sampling", "greedy")
        if sampling not in list(samplings):
            raise ConfigError(
                f"metadata sampling: {self.name} expected one of {', '.join(samplings)}, got "
                f"{sampling!r}."
            )
        return {**usual, **samplings[sampling]}

    def judge_step(self, metadata: Mapped) -> "JudgeStep | None":
        """Return the step that asks a judge or a model that reads answers, still without that model.

        It is None if the task asks neither.
        """
        from fin_tasks.judging.judge import JudgeStep
        from fin_tasks.judging.rubric import load_rubric

        from .final_answer import RUBRIC

        if self.judge:
            return JudgeStep(self.scorer.judge_item, self.rubric(metadata))
        if self.has_answer_reader:
            # The metadata `rubric` is one for a judge.
            return JudgeStep(self.scorer.reader_item, load_rubric(RUBRIC))
        return None

    def model_step(self, metadata: Mapped) -> "JudgeStep | None":
        """Return the step of `judge_step` with the model that the metadata name.

        If the metadata name no judge, responses that need one stay unscored. If they name no model
        that reads answers, there is no step.
        """
        names_reader = any(name.startswith("reader_") for name in metadata)
        if not (self.judge or (self.has_answer_reader and names_reader)):
            return None
        from dataclasses import replace

        from fin_tasks.judging.judge import answer_reader_from, judge_from

        step = self.judge_step(metadata)
        if step is None:
            return None
        find = judge_from if self.judge else answer_reader_from
        model = find(metadata, Settings.from_environ())
        return replace(step, judge=model) if model or self.judge else None

    def rubric(self, metadata: Mapped) -> "Rubric":
        """Return the judge's rubric that the metadata name, else the task's own.

        Raises:
            ConfigError: The task's scorer does not fit the rubric's scale.
        """
        from fin_tasks.judging.rubric import load_rubric

        usual = load_rubric(self.judge)
        name = str(metadata.get("rubric") or usual.name)
        rubric: Rubric = self.scorer.rubric_named(name, **{**metadata, **self.options})
        wanted = (usual.parser, usual.lowest, usual.highest)
        found = (rubric.parser, rubric.lowest, rubric.highest)
        if found != wanted:
            raise ConfigError(
                f"rubric {name}: expected parser and scale {wanted}, as in {usual.name}, got {found}."
            )
        return rubric


def task_names() -> list[str]:
    """Return the names of all tasks, without groups."""
    return list(_configs())


def version_of(task: str) -> int | None:
    """Return the version of a task's benchmark; None if no task has this name."""
    return TaskFile(task).benchmark.version if task in _configs() else None


def file_of(task: str) -> Path:
    """Return the file of a task, or raise ConfigError."""
    TaskFile(task)  # names a similar task if there is none of this name
    files = [file for folder in task_folders() for file in folder.rglob(f"{task}.yaml")]
    if not files:
        raise ConfigError(f"task {task}: expected a file {task}.yaml, found none.")
    return files[0]


def pictures_of(doc: Mapped) -> Sequence[str]:
    """Return the files of the pictures that a document shows."""
    return doc.get("image_paths") or [
        doc[name] for name in _PICTURE_COLUMNS if doc.get(name)
    ]


def _imported(path: str) -> Any:
    """Return the function of a `!function` entry, which our loader leaves as text."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


@cache
def _configs() -> dict[str, Mapped]:
    """Return what the files of all tasks say, by the task's name; groups and other files are left out."""
    configs: dict[str, Mapped] = {}
    for folder in task_folders():
        for file in sorted(folder.rglob("*.yaml")):
            config = _read_config(file)
            if isinstance(config.get("task"), str) and "custom_dataset" in config:
                configs.setdefault(config["task"], config)
    return configs


class _Loader(yaml.SafeLoader):
    """Reads `!function module.name` as the text `module.name`."""


_Loader.add_constructor("!function", lambda loader, node: str(node.value))


@cache
def _read_config(file: Path) -> Mapped:
    try:
        text = file.read_text("utf-8")
        config = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{file}: expected a task file in YAML, got {error}."
        ) from error
    if not isinstance(config, dict):
        return {}
    if "include" not in config:
        return config
    return {**_read_config(file.with_name(config["include"])), **config}

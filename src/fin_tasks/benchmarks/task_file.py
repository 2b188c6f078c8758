"""The one reader of our task files. What a file leaves out follows from its benchmark.

A task file names its class and its task. lm-eval's task class, and all who load a task without
lm-eval, get documents, generation settings, rubric and pictures here.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Any

import yaml

from fin_tasks.benchmarks import benchmark_of, task_folders
from fin_tasks.benchmarks.final_answer import RUBRIC
from fin_tasks.errors import ConfigError
from fin_tasks.judging.judge import answer_reader_from, judge_from
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.judging.step import JudgeStep
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset

_USUAL = yaml.safe_load(Path(__file__).with_name("usual_task.yaml").read_text())
"""The settings that a task file leaves out."""
_PICTURE_COLUMNS = ("image_path", "figure_path", "chart")
"""A document has one of them at most."""

Mapped = Mapping[str, Any]
"""What a YAML or JSON file holds: a task's settings, its options, metadata, or a document."""


class TaskFile:
    """A task's settings: those of its file with what it includes, and the usual ones for the rest.

    Args:
        name: Name of the task.
        config: What lm-eval read in the file; without it, the file is read here.

    Attributes:
        benchmark: The benchmark that the task belongs to.
        config: The settings.
        options: What the task itself decides, such as its part and mode.
        judge: The rubric by which a judge scores responses; empty without a judge.
        has_answer_reader: Whether a model may read answers that the rules do not find.
        runs_programs: Whether responses hold programs.
        kit_dataset: Name of the data set in VLMEvalKit; empty if there is none.
    """

    def __init__(
        self,
        name: str,
        config: Mapped | None = None,
    ) -> None:
        config = config or _configs().get(name)
        if config is None:
            similar = get_close_matches(name, _configs(), n=1)
            advice = (
                f"Did you mean {similar[0]!r}?"
                if similar
                else "`fin_tasks.tasks()` names them."
            )
            raise ConfigError(
                f"task {name!r:.80}: expected a task of fin-tasks, found none. {advice}"
            )
        benchmark = benchmark_of(name)
        if benchmark is None:
            raise ConfigError(
                f"task {name!r:.80}: expected a name that begins with a benchmark's, found no such "
                "benchmark. docs/own_benchmark.md registers one."
            )
        self.name = name
        self.benchmark = benchmark
        self.config = {
            **_USUAL,
            "test_split": benchmark.usual_split,
            **config,
            "generation_kwargs": {
                **_USUAL["generation_kwargs"],
                **config.get("generation_kwargs", {}),
            },
            "metadata": {"version": benchmark.version, **config.get("metadata", {})},
        }
        self.options: Mapped = self.config["dataset_kwargs"]
        self.judge: str = config.get("judge") or ""
        self.has_answer_reader: bool = config.get("answer_reader", False)
        self.runs_programs: bool = config.get("unsafe_code", False)
        self.kit_dataset: str = config.get("vlmevalkit", "")

    @property
    def is_conversation(self) -> bool:
        """Whether the documents are turns of conversations."""
        return str(self.config["class"]).endswith(".ConversationTask")

    @property
    def scorer(self) -> Any:
        """The module with the benchmark's scorer."""
        return self.benchmark.scorer

    def load_split(self, metadata: Mapped) -> "tuple[str, Dataset]":
        """Return the split and its documents, whose `info.description` is the JSON text of the provenance.

        Raises:
            ConfigError: The metadata set what the task fixes, or the documents lack what a harness needs.
        """
        fixed = sorted(metadata.keys() & self.options.keys())
        if fixed:
            raise ConfigError(
                f"{self.name}: metadata sets {', '.join(fixed)}, which this task fixes. "
                "Choose the task with the value you want."
            )
        splits = self.benchmark.load(**metadata, **self.options)
        if len(splits) != 1:
            raise ConfigError(
                f"{self.name}: expected documents of one split, got {sorted(splits)}."
            )
        ((split, documents),) = splits.items()
        fields = documents.column_names
        id_name = "id" if "id" in fields else "question_id"
        if not {id_name, "prompt", "target"}.issubset(fields):
            raise ConfigError(
                f"{self.name}: expected documents with id or question_id, prompt and target, "
                f"got {', '.join(sorted(fields))}."
            )
        if len(documents.unique(id_name)) < len(documents):
            raise ConfigError(
                f"{self.name}: expected documents with different ids, got "
                f"{mode(documents[id_name])!r:.80} more than once."
            )
        return split, documents

    def load(self, metadata: Mapped) -> tuple[list[Mapped], Mapped]:
        """Return the documents and their provenance."""
        _, documents = self.load_split(metadata)
        return documents.to_list(), json.loads(documents.info.description)

    def generation_kwargs(self, metadata: Mapped) -> dict[str, Any]:
        """Return generation settings; metadata `sampling: paper` takes those of the paper."""
        usual: dict[str, Any] = self.config["generation_kwargs"]
        sampling = metadata.get("sampling", "greedy")
        if sampling == "greedy":
            return usual
        if sampling == "paper" and "paper_sampling" in self.config:
            return {**usual, **self.config["paper_sampling"]}
        raise ConfigError(
            f"metadata sampling: {self.name} expected greedy, or paper if the paper names its "
            f"settings, got {sampling!r}."
        )

    def judge_step(self, metadata: Mapped) -> JudgeStep | None:
        """Return the step that asks a judge or a model that reads answers, still without that model.

        It is None if the task asks neither.
        """
        if self.judge:
            return JudgeStep(self.scorer.judge_item, self.rubric(metadata))
        if self.has_answer_reader:  # the metadata `rubric` is one for a judge
            return JudgeStep(self.scorer.reader_item, load_rubric(RUBRIC))
        return None

    def model_step(self, metadata: Mapped) -> JudgeStep | None:
        """Return the step of `judge_step` with the model that the metadata names.

        If the metadata name no judge, responses that need one stay unscored. If they name no model
        that reads answers, there is no step.
        """
        step = self.judge_step(metadata)
        if step is None:
            return None
        find = judge_from if self.judge else answer_reader_from
        model = find(metadata, Settings.from_environ())
        return JudgeStep(step.item, step.rubric, model) if model or self.judge else None

    def rubric(self, metadata: Mapped) -> Rubric:
        """Return the judge's rubric that the metadata names, else the task's own.

        Raises:
            ConfigError: The task's scorer does not fit the rubric's scale.
        """
        usual = load_rubric(self.judge.format(**self.options))
        name = str(metadata.get("rubric") or usual.name)
        rubric: Rubric = self.scorer.rubric_named(name, **{**metadata, **self.options})
        if rubric.scale != usual.scale:
            raise ConfigError(
                f"rubric {name}: expected parser and scale {usual.scale}, as in {usual.name}, "
                f"got {rubric.scale}."
            )
        return rubric


def task_names() -> list[str]:
    """Return the names of all tasks, without groups."""
    return list(_configs())


def version_of(task: str) -> int | None:
    """Return the version of a task's benchmark; None if no task has this name."""
    return TaskFile(task).benchmark.version if task in _configs() else None


def pictures_of(doc: Mapped) -> Sequence[str]:
    """Return the files of the pictures that a document shows."""
    return doc.get("image_paths") or [
        doc[name] for name in _PICTURE_COLUMNS if doc.get(name)
    ]


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

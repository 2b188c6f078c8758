"""What every adapter needs of a task's YAML file: documents, generation settings, the rubric, pictures."""

import importlib
import json
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

import yaml

from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
from fin_tasks.errors import ConfigError
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.resources import task_yaml_dir


class TaskFile:
    """A task's file, read without lm-eval and without importing the functions that it names."""

    def __init__(self, name: str) -> None:
        (file,) = task_yaml_dir().rglob(f"{name}.yaml")
        self.name, self.benchmark = name, file.parent.name
        self.config: dict[str, Any] = {"include": file.name}
        while "include" in self.config:
            above = file.with_name(self.config.pop("include")).read_text(encoding="utf-8")
            self.config = {**yaml.safe_load(above.replace("!function ", "")), **self.config}
        self.options: dict[str, Any] = self.config["dataset_kwargs"]
        self.rules = importlib.import_module(f"fin_tasks.benchmarks.{self.benchmark}.score")
        self.judge = filter_step(self.config, "fin_tasks_judge")
        self.runs_programs = filter_step(self.config, "fin_tasks_run_programs") is not None

    def load(self, metadata: Mapping[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the documents and their provenance."""
        refuse_fixed(self.name, self.options, metadata)
        (documents,) = resolve_name(self.config["custom_dataset"])(
            **metadata, **self.options
        ).values()
        return documents.to_list(), json.loads(documents.info.description)


def filter_step(config: Mapping[str, Any], function: str) -> dict[str, Any] | None:
    """Return the arguments of a task's filter, or None if the task does not use it."""
    steps = [step for pipeline in config["filter_list"] for step in pipeline["filter"]]
    return next((step for step in steps if step["function"] == function), None)


def refuse_fixed(task: str, options: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Refuse metadata for what the task itself decides."""
    if fixed := sorted(metadata.keys() & options.keys()):
        raise ConfigError(
            f"{task}: metadata sets {', '.join(fixed)}, which this task fixes. Choose the task with the value you want."
        )


def generation_kwargs(config: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's generation settings, with the paper's if the metadata says `sampling: paper`."""
    known: dict[str, Any] = {"greedy": {}}
    if "paper_sampling" in config:  # not every paper names its settings
        known["paper"] = config["paper_sampling"]
    named = metadata.get("sampling", "greedy")
    if named not in known:
        raise ConfigError(
            f"metadata sampling: {config['task']} expected {' or '.join(known)}, got {named!r}."
        )
    return {**config["generation_kwargs"], **known[named]}


def rubric_of(
    judge: Mapping[str, Any], options: Mapping[str, Any], metadata: Mapping[str, Any]
) -> Rubric:
    """Return the rubric that the metadata or the task's judge filter names; the task's scorer fits one scale only."""
    usual = load_rubric(judge["rubric"].format(**options))
    named = str(metadata.get("rubric") or usual.name)
    place = {name: metadata[name] for name in ("source", "data_dir") if name in metadata}
    found = rubric_named(named, language=options.get("language", "en"), **place)
    scale = (usual.parser, usual.lowest, usual.highest)
    if (got := (found.parser, found.lowest, found.highest)) != scale:
        raise ConfigError(
            f"rubric {named}: expected parser and scale {scale}, as in {usual.name}, got {got}."
        )
    return found


def pictures_of(doc: Mapping[str, Any]) -> list[str]:
    """Return the files of the pictures that a document shows."""
    return doc.get("image_paths") or [
        doc[name] for name in ("image_path", "figure_path", "chart") if doc.get(name)
    ]

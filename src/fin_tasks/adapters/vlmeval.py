"""Our tasks as data sets of VLMEvalKit, packaged or a checkout. Importing this module registers them."""

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from vlmeval.dataset import ImageBaseDataset

from fin_tasks.answers.cut_off import FailedResponse
from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.benchmarks.task_file import TaskFile, pictures_of, task_names
from fin_tasks.data.documents import IMAGE_MARK, in_users_turn, prompt_parts
from fin_tasks.errors import ConfigError, DataError, EndpointError, JudgeError
from fin_tasks.judging.item import missing_reason
from fin_tasks.judging.judge import (
    MAX_FAILED,
    JudgeModel,
    JudgeStep,
    check_failures,
    judge_items,
)
from fin_tasks.report.model import metric_of
from fin_tasks.saved.run_folder import SavedRun, write_run
from fin_tasks.settings import Settings

from .vlmeval_private import (
    keep_responses_whole,
    kit_version,
    named_by_data_set,
    provenances,
    read_responses,
    register,
)

_USUAL_JUDGE = "gpt-4o"
_JUDGE_ARGUMENTS = {*JudgeModel.model_fields, "rubric"} - {"key"}
"""Arguments that are ours; the kit adds others."""
_KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_KEY")
_GIVEN_KEY = "VLMEVALKIT_JUDGE_KEY"
"""The environment variable for a key that the kit was given itself."""

Part = dict[str, str]
"""A part of a message as the kit has it: `type`, and `value`, a text or the path of a picture."""
Totals = dict[str, float | None]


class FinTasks(ImageBaseDataset):  # type: ignore[misc]
    """Our data sets with a picture and a question in each row."""

    TYPE = "QA"  # none of the types for which models bring prompts of their own
    JUDGE_FAIL_MARKERS = ()  # the kit would count failures of the model as those of the judge
    force_use_dataset_prompt = True

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Name the data sets."""
        has_turns = cls.TYPE == "MT"
        tasks = _tasks_by_dataset().items()
        return [name for name, task in tasks if task.is_conversation == has_turns]

    def load_data(self, dataset: str) -> pd.DataFrame:
        """Return the questions as the kit wants them, a row for each document or conversation."""
        names = self.supported_datasets()
        if dataset not in names:
            raise ConfigError(
                f"data set {dataset!r:.80} of class {type(self).__name__}: expected one of "
                f"{', '.join(names)}. In a --config, `dataset` has the name, and the key is yours."
            )
        self.task = _tasks_by_dataset()[dataset]
        if self.task.judge:
            # An error of what names the judge comes before the model is asked.
            self.task.model_step(_judge_options({}))
        documents, self.provenance = self.task.load(Settings.from_environ().metadata)
        field = "index" if self.task.is_conversation else "id"
        self.docs: dict[str, list[Document]] = {}
        for doc in documents:
            self.docs.setdefault(str(doc[field]), []).append(doc)
        provenances[dataset] = self.provenance
        return pd.DataFrame(self._row(index, docs) for index, docs in self.docs.items())

    def _row(
        self,
        index: str,
        docs: Sequence[Document],
    ) -> dict[str, object]:
        """Return the columns of a row, which are for people and for `fin-tasks judge`."""
        questions = [doc.get("question") or _text_of(doc) for doc in docs]
        answers = [str(doc.get("answer") or doc["target"]) for doc in docs]
        row = {
            "index": index,
            "question": "\n\n".join(questions),
            "answer": "\n\n".join(answers),
            "image_path": pictures_of(docs[-1]),
            "background": docs[0].get("background", ""),
        }
        for column, names in self.task.benchmark.groups_of(docs[0]).items():
            row[column] = ", ".join(names)
        return row

    def build_prompt(self, line: Mapping[str, object]) -> list[Any]:
        """Return a row's pictures and prompt."""
        (doc,) = self.docs[str(line["index"])]
        pictures = pictures_of(doc)
        if len(pictures) > 1:
            return _parts_of_turn(in_users_turn(doc))
        parts = [_part("image", picture) for picture in pictures]
        parts.append(_part("text", _text_of(doc)))
        if doc["prompt"].endswith(IMAGE_MARK):
            parts.reverse()
        return parts

    def evaluate(
        self,
        eval_file: str,
        **judge_kwargs: object,
    ) -> Totals:
        """Score the responses to a prediction file; write a run folder and a summary beside it.

        Shares are in percent.
        """
        path = Path(eval_file).absolute()
        name = path.stem
        step = None
        if self.task.judge:
            step = self.task.model_step(_judge_options(judge_kwargs))
        if step and step.judge:
            name = f"{name}_{step.judge.model}_{step.rubric.name}"
        name = re.sub(r"[^\w.-]+", "_", name)
        folder = path.with_name(f"{name}_run")
        summary_file = path.with_name(f"{name}_summary.json")
        # Nobody may take an earlier score for that of a run that fails.
        shutil.rmtree(folder, ignore_errors=True)
        summary_file.unlink(missing_ok=True)

        predictions = named_by_data_set(path, self.dataset_name)
        scored, failure = self._score(predictions, step)
        kit = {"vlmeval_version": kit_version()}
        write_run(
            folder,
            [SavedRun(scored, self.provenance, {})],
            model=predictions.stem.removesuffix(f"_{self.dataset_name}"),
            made_by="VLMEvalKit",
            facts=kit,
        )
        totals = self._totals(scored)
        summary = {"task": self.task.name, "unit": "percent", **totals, **kit}
        summary_file.write_text(json.dumps(summary, indent=2), "utf-8")
        if failure:
            raise failure
        return totals

    def _score(
        self,
        predictions: Path,
        step: JudgeStep | None,
    ) -> tuple[ScoredTask, JudgeError | None]:
        """Score the responses to a prediction file; return the error of a judge that failed too often, too.

        Raises:
            DataError: There are no responses to the questions as they are now.
            EndpointError: The model failed too often.
        """
        failure = None
        docs, texts = self._answered(predictions)
        failures = {}
        for position, text in enumerate(texts):
            if text.strip() and missing_reason(text):
                failures[position] = missing_reason(text)
        if len(failures) > MAX_FAILED * len(texts):
            first = next(iter(failures.values())).rstrip(".")
            raise EndpointError(
                f"{self.dataset_name}: expected requests to the model that fail at most "
                f"{MAX_FAILED:.0%} of the time, got {len(failures)} failures of {len(texts)}. "
                f"First: {first}. Run again with --reuse to ask only these questions."
            )
        responses: Sequence[Any] = texts
        facts = {}
        if step:
            model: Any = step.judge
            items: list[Any] = list(map(step.item, docs, texts))
            responses = judge_items(items, step.rubric, model)
            try:
                check_failures(responses, step.rubric, model.max_failed)
            except JudgeError as error:
                failure = error  # once the other responses have their scores
            facts = model.facts(step.rubric)
        marked: list[list[Any]] = [[response] for response in responses]
        for position in failures:
            marked[position] = [FailedResponse(failures[position])]
        scored = score_task(self.task, docs, marked)
        scored = replace(scored, responses=[[text] for text in texts], judge=facts)
        return scored, failure

    def _answered(self, predictions: Path) -> tuple[list[Document], list[str]]:
        """Return the documents that the model was asked, and its responses."""
        docs = []
        texts: list[str] = []
        for index, prediction in read_responses(predictions).items():
            turns = prediction if isinstance(prediction, list) else [prediction]
            row_docs = self.docs[str(index)]
            missing = [""] * len(row_docs)
            docs += row_docs
            texts += map(str, [*turns, *missing][: len(row_docs)])
        if not docs:
            raise DataError(
                f"{predictions.stem}_responses.jsonl: expected responses to the questions of "
                f"{self.dataset_name}, as loaded now, in any run's folder, found none. Ask the "
                "model again, or score a table with `fin-tasks judge`."
            )
        return docs, texts

    def _totals(self, scored: ScoredTask) -> Totals:
        """Return the metrics, and as `overall` what the kit shows."""
        totals = {}
        for name, value in scored.totals().items():
            metric, scoring = name.split(",")
            # Points are out of 100 already.
            if value is not None and metric_of(metric).unit == "fraction":
                value *= 100
            totals[f"{metric}_{scoring}"] = value
        headline = next(iter(scored.metrics))
        totals["overall"] = totals[f"{headline}_paper"]
        totals["n"] = len(scored.docs)
        n_docs = sum(map(len, self.docs.values()))
        totals["missing"] = n_docs - len(scored.docs)
        return totals


class FinTasksConversations(FinTasks):
    """Data sets of conversations: each row is one, and the kit asks its questions in turn."""

    TYPE = "MT"

    def build_prompt(self, line: Mapping[str, object]) -> list[Any]:
        """Return the questions with their pictures; the kit replaces the answers by the model's."""
        messages = []
        for doc in self.docs[str(line["index"])]:
            answer = [_part("text", doc["answer"])]
            messages.append({"role": "user", "content": _parts_of_turn(doc)})
            messages.append({"role": "assistant", "content": answer})
        return messages


def _judge_options(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return metadata about the judge; arguments of the kit come before the environment's settings."""
    settings = Settings.from_environ()
    metadata = {
        "judge_model": settings.judge_model or _USUAL_JUDGE,
        "judge_concurrency": arguments.get("nproc") or 4,
        **settings.metadata,
    }
    address = str(arguments.get("api_base") or "")
    if address:
        metadata["judge_base_url"] = address.replace("/chat/completions", "")
    for name, value in arguments.items():
        if value is not None and name in _JUDGE_ARGUMENTS:
            metadata[name if name == "rubric" else f"judge_{name}"] = value
    key = str(arguments.get("key") or "")
    if _KEY_VARIABLE.fullmatch(key):
        metadata["judge_key"] = key
    elif key:
        # The kit's own judges take the key itself, and ours the variable with it.
        os.environ[_GIVEN_KEY] = key
        metadata["judge_key"] = _GIVEN_KEY
    return metadata


@cache
def _tasks_by_dataset() -> Mapping[str, TaskFile]:
    tasks = map(TaskFile, task_names())
    return {task.kit_dataset: task for task in tasks if task.kit_dataset}


def _parts_of_turn(doc: Document) -> list[Part]:
    """Return the texts of a prompt with the newest pictures between them."""
    n_marks = doc["prompt"].count(IMAGE_MARK)
    pictures = pictures_of(doc)[-n_marks:] if n_marks else ()
    return [_part(*part) for part in prompt_parts(doc["prompt"], pictures)]


def _part(kind: str, value: str) -> Part:
    return {"type": kind, "value": value}


def _text_of(doc: Document) -> str:
    question = doc["prompt"].removeprefix(IMAGE_MARK).removesuffix(IMAGE_MARK)
    return "\n\n".join(filter(None, (doc.get("system"), question)))


register(FinTasks)
register(FinTasksConversations)
keep_responses_whole()

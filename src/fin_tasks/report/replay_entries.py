"""Recordings scored again, as `fin-tasks replay dynostock --json` prints them, as entries."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of
from fin_tasks.report.entry import RunFacts, RunRead, Scores
from fin_tasks.report.item_scores import VARIANTS
from fin_tasks.report.json_fields import name_of, number, whole
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.replay_rows import Question, read_questions, rows_of, scores_of, weighted_of
from fin_tasks.report.run_labels import REPLAYED
from fin_tasks.report.runs import Run, benchmark_of
from fin_tasks.report.task_entries import TaskRead, entries_of, small
from fin_tasks.report.variants import variants_of
from fin_tasks.report.vlmeval_entries import claims_of_rows

__all__ = ["is_replay", "read_replay", "replay_runs"]

_METRICS = {
    "accuracy": "acc",
    "bias_index": "bias_index",
    "bias_percentage": "bias_percentage",
    "no_answer_rate": "no_answer",
}
_BOUNDS = ("_low", "_high")
_BIASES = ("recency", "authority")


def is_replay(value: Mapping[str, Any]) -> bool:
    """Say whether an object is what `fin-tasks replay dynostock --json` prints."""
    return {"parser", "files", "groups", "bias_index_mean"} <= value.keys()


def read_replay(path: Path, value: Mapping[str, Any]) -> Iterator[RunRead]:
    """Give the entries of each replayed file of one bias and window size; others are left out.

    Raises:
        DataError: A field is none of a replay's; the message names it.
    """
    return map(_run, _files_of(path, value))


def replay_runs(path: Path, value: Mapping[str, Any]) -> Iterator[Run]:
    """Give the same files in the form that is compared row by row.

    Raises:
        DataError: As `read_replay`; or a file's rows are not told.
    """
    for one in _files_of(path, value):
        if not one.questions:
            raise DataError(
                f"{path}: expected the rows of each file, which pairs are made of, found only totals. "
                "Replay the recordings again: an earlier version wrote this."
            )
        yield Run(
            benchmark=benchmark_of(one.task),
            task=f"{one.task}_text" if one.whole.variants.mode == "text" else one.task,  # as lm-eval's tasks are named
            model=one.facts.model,
            date="",
            # where a recording lay is no circumstance of it
            setting={name: value for name, value in one.whole.setting.items() if name != REPLAYED},
            variants={
                variant: rows_of(one.questions, scores, window=one.window)
                for variant, scores in one.whole.scores.items()
            },
            path=path,
        )


def _files_of(path: Path, value: Mapping[str, Any]) -> "Iterator[_Replayed]":
    parser, files = value["parser"], value["files"]
    if parser not in VARIANTS:
        raise DataError(f"{path}, parser: expected {' or '.join(VARIANTS)}, got {parser!r:.80}.")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise DataError(f"{path}, files: expected a list of objects, got {type(files).__name__}.")
    root = _shared_folder([file.get("file") for file in files])
    for place, file in enumerate(files):
        if file.get("bias") in _BIASES and file.get("window") and file.get("total"):
            yield _replayed(_File(path, f"files.{place}", file), parser, root)


def _shared_folder(files: Sequence[Any]) -> PurePosixPath:
    """Return the folder that all files are in or below: which one it is on a machine is nobody's business."""
    folders = [PurePosixPath(name.replace("\\", "/")).parent.parts for name in files if isinstance(name, str)]
    return PurePosixPath(*(parts[0] for parts in takewhile(_alike, zip(*folders, strict=False))))


def _alike(parts: tuple[str, ...]) -> bool:
    return len(set(parts)) == 1


@dataclass(frozen=True)
class _File:
    path: Path
    where: str
    said: Mapping[str, Any]

    def text(self, name: str) -> str:
        return name_of(f"{self.path}, {self.where}.{name}", self.said.get(name))

    def count(self, name: str) -> int:
        return whole(f"{self.path}, {self.where}.{name}", self.said.get(name))

    def share(self, name: str) -> float | None:
        return number(f"{self.path}, {self.where}.{name}", self.said.get(name), most=1)


@dataclass(frozen=True, kw_only=True)
class _Replayed:
    """A file of a replay while it is put together; `questions` are empty where its rows are not told."""

    facts: RunFacts
    window: int
    task: str
    whole: TaskRead
    questions: tuple[Question, ...]


def _run(one: _Replayed) -> RunRead:
    entries = tuple(entries_of(one.facts, one.task, one.whole))
    return RunRead(facts=one.facts, entries=entries, scores=small(one.whole.scores), samples=None)


def _replayed(file: _File, parser: str, root: PurePosixPath) -> _Replayed:
    window = file.count("window")
    task = f"dynostock_{file.text('bias')}_w{window}"
    setting = _setting(file, root)
    variants = variants_of(task, setting)
    name = "\0".join([json.dumps(dict(file.said), sort_keys=True, default=str), parser])
    facts = RunFacts(
        id=hashlib.sha256(name.encode()).hexdigest()[:16],
        source="replay",
        model=without_secrets(file.text("model") if file.said.get("model") else "not known"),
        task=variants.task,
        date="",
        path=file.path.name,
        provenance=setting,
    )
    questions = _questions(file, facts.id)
    scores = {parser: scores_of(questions)} if questions else {}
    rows = len(questions) or file.count("total") + file.count("unscored")
    whole = TaskRead(
        claims=TaskClaims(
            task=task,
            variants={parser: _claims(file, questions, scores.get(parser))},
            higher_is_better={},
            rows=rows,
            of=rows,
            version="",
            members=(),
        ),
        setting=setting,
        facts=facts_of({name: value for name, value in setting.items() if name != REPLAYED}, rows=rows),
        variants=variants,
        scores=scores,
        digest="",
        weighted={parser: weighted_of(questions, scores[parser].clusters)} if questions else {},
    )
    return _Replayed(facts=facts, window=window, task=task, whole=whole, questions=questions)


def _setting(file: _File, root: PurePosixPath) -> dict[str, str]:
    told = {"mode": file.text("mode"), "arm": file.text("arm"), "anonymise": bool(file.said.get("anonymised"))}
    recording = PurePosixPath(file.text("file").replace("\\", "/")).relative_to(root)
    return {
        **{f"provenance.{name}": json.dumps(value) for name, value in told.items()},
        REPLAYED: json.dumps(without_secrets(str(recording))),
    }


def _questions(file: _File, run: str) -> tuple[Question, ...]:
    """Read the rows; none of a replay that was made before files told theirs."""
    if "rows" not in file.said:
        return ()
    where = f"{file.path}, {file.where}.rows"
    questions = read_questions(where, file.said["rows"], unnamed=f"{run}, row")
    rows, said = sum(len(one.answers) for one in questions), file.count("total") + file.count("unscored")
    if rows != said:
        raise DataError(f"{where}: expected {said}, as total and unscored say, got {rows}.")
    return questions


def _claims(file: _File, questions: Sequence[Question], scores: Scores | None) -> dict[str, Claim]:
    """Take the totals as they are told; means over questions where one was asked several times, as the task has them.

    The totals count responses then, of which a question may have more than another.
    """
    total, unscored = file.count("total"), file.count("unscored")
    claims = {metric: Claim(file.share(said), None) for said, metric in _METRICS.items()}
    for said in ("accuracy", "bias_index"):
        claims |= {f"{_METRICS[said]}{end}": Claim(file.share(f"{said}{end}"), None) for end in _BOUNDS}
    claims["unscored"] = Claim(unscored / (total + unscored), None)
    if scores is None or all(len(one.answers) == 1 for one in questions):
        return claims
    return {**claims, **claims_of_rows("", {"": scores}).variants[""]}

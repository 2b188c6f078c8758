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
from fin_tasks.report.entry import RunFacts, RunRead
from fin_tasks.report.item_scores import VARIANTS
from fin_tasks.report.json_fields import name_of, number, whole
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.task_entries import TaskRead, entries_of
from fin_tasks.report.variants import variants_of

__all__ = ["is_replay", "read_replay"]

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
    parser, files = value["parser"], value["files"]
    if parser not in VARIANTS:
        raise DataError(f"{path}, parser: expected {' or '.join(VARIANTS)}, got {parser!r:.80}.")
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise DataError(f"{path}, files: expected a list of objects, got {type(files).__name__}.")
    root = _shared_folder([file.get("file") for file in files])
    for place, file in enumerate(files):
        if file.get("bias") in _BIASES and file.get("window") and file.get("total"):
            yield _run(_File(path, f"files.{place}", file), parser, root)


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


def _run(file: _File, parser: str, root: PurePosixPath) -> RunRead:
    task = f"dynostock_{file.text('bias')}_w{file.count('window')}"
    told = {"mode": file.text("mode"), "arm": file.text("arm"), "anonymise": bool(file.said.get("anonymised"))}
    recording = PurePosixPath(file.text("file").replace("\\", "/")).relative_to(root)
    setting = {
        **{f"provenance.{name}": json.dumps(value) for name, value in told.items()},
        "replayed": json.dumps(without_secrets(str(recording))),
    }
    variants = variants_of(task, setting)
    total, unscored = file.count("total"), file.count("unscored")
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
    claims = {metric: Claim(file.share(said), None) for said, metric in _METRICS.items()}
    for said in ("accuracy", "bias_index"):
        claims |= {f"{_METRICS[said]}{end}": Claim(file.share(f"{said}{end}"), None) for end in _BOUNDS}
    claims["unscored"] = Claim(unscored / (total + unscored), None)
    rows = total + unscored
    whole = TaskRead(
        claims=TaskClaims(
            task=task, variants={parser: claims}, higher_is_better={}, rows=rows, of=rows, version="", members=()
        ),
        setting=setting,
        facts=facts_of({name: value for name, value in setting.items() if name != "replayed"}, rows=rows),
        variants=variants,
        scores={},
        digest="",
    )
    return RunRead(facts=facts, entries=tuple(entries_of(facts, task, whole)), scores={}, samples=None)

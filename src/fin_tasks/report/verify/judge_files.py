"""What `fin-tasks judge --items` wrote in a submission, and the predictions that it is about."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.judging.item import response_sha256
from fin_tasks.judging.predictions import Responses, saved_responses
from fin_tasks.report.judge_entries import is_item
from fin_tasks.report.kit_files import read_object
from fin_tasks.report.samples import lines_of, sample_of
from fin_tasks.report.verify.graded import hash_in

__all__ = ["JudgeFile", "find_judge_files", "made_with", "predictions_of", "read_items"]

_PREDICTIONS = (".xlsx", ".tsv", ".csv", ".json", ".jsonl")
_BESIDE = ("_responses.jsonl", "_asked.json", "_score.json", "_items.jsonl")
"""What the names of files end with that lie beside predictions of VLMEvalKit and are none."""

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")

Items = Sequence[tuple[str, Mapping[str, Any]]]
"""Lines of an items file, each with its place in it."""


@dataclass(frozen=True, kw_only=True)
class JudgeFile:
    """A file of items.

    Attributes:
        root: The folder that was given; nothing outside it is opened.
        path: The file.
    """

    root: Path
    path: Path

    @property
    def shown(self) -> str:
        """The path as others may see it: from the folder that was given."""
        return self.path.relative_to(self.root).as_posix()


def find_judge_files(submission: Path) -> list[JudgeFile]:
    """Find files of items in a submission.

    Args:
        submission: A folder, or a file. Items of VLMEvalKit's runs are not among those found: only `fin-tasks judge`
            names the model in each line.
    """
    root = submission if submission.is_dir() else submission.parent
    files = _below(submission) if submission.is_dir() else iter([submission])
    inside = (path for path in files if path.suffix == ".jsonl" and _is_inside(root, path))
    return [JudgeFile(root=root, path=path) for path in inside if _holds_items(path)]


def read_items(file: JudgeFile) -> Items:
    """Read the lines of a file.

    Raises:
        DataError: One of them is no JSON object, or the file is too large.
    """
    return [(f"line {number}", sample_of(f"{file.shown}, line {number}", line)) for number, line in lines_of(file.path)]


def predictions_of(file: JudgeFile, items: Items) -> tuple[Path, Responses] | None:
    """Find the predictions that items are about: in the items' folder, else below it.

    Of several files those by the items' model count, of these the one with most of the rows, and of these the one with
    most of the responses that were judged.

    Returns:
        The file and what it holds; None where no file has any of the rows.
    """
    rows = {str(item.get("index")): hash_in(item) for _, item in items}
    model = items[0][1].get("model")
    beside, below = _candidates(file)
    for paths in (beside, below):
        found: list[tuple[tuple[bool, int, int], Path, Responses]] = []
        for path in paths:
            try:
                read = saved_responses(path)
            except (DataError, RecursionError):  # no predictions, as most files are none
                continue
            if shared := rows.keys() & read.responses.keys():
                same = sum(rows[name] == response_sha256(read.responses[name]) for name in shared)
                found.append(((read.model == model, len(shared), same), path, read))
        if found:
            _, path, read = max(found, key=lambda one: one[0])
            return path, read
    return None


def made_with(file: JudgeFile, predictions: Path) -> Mapping[str, Any]:
    """Return what is said beside predictions of the data they are about, as metadata of lm-eval; untrusted.

    lm-eval's results say it, and the score files that our data sets in VLMEvalKit write. Nothing says it of others.
    """
    match = _SAMPLES.fullmatch(predictions.name)
    if match:
        configs = _object(file, predictions.with_name(f"results_{match['date']}.json")).get("configs")
        config = configs.get(match["task"]) if isinstance(configs, dict) else None
        metadata = config.get("metadata") if isinstance(config, dict) else None
        return metadata if isinstance(metadata, dict) else {}
    beside = (path for path in sorted(predictions.parent.iterdir()) if path.name.startswith(f"{predictions.stem}_"))
    said = (_object(file, path).get("provenance") for path in beside if path.name.endswith("_score.json"))
    return {"provenance": next(filter(None, said), None)}


def _object(file: JudgeFile, path: Path) -> Mapping[str, Any]:
    """Read a JSON object; an empty one where there is none that can be read."""
    try:
        return read_object(path) if _is_inside(file.root, path) else {}
    except DataError:
        return {}


def _candidates(file: JudgeFile) -> tuple[list[Path], list[Path]]:
    folder = file.path.parent
    all_of = [path for path in _below(folder) if _may_be_predictions(file.root, path) and path != file.path]
    return [path for path in all_of if path.parent == folder], [path for path in all_of if path.parent != folder]


def _may_be_predictions(root: Path, path: Path) -> bool:
    if path.suffix.lower() not in _PREDICTIONS or path.name.endswith(_BESIDE):
        return False
    return _is_inside(root, path) and not (path.suffix == ".jsonl" and _holds_items(path))


def _holds_items(path: Path) -> bool:
    try:
        first = next(islice(lines_of(path), 1), None)
        line = {} if first is None else sample_of(str(path), first[1])
    except (DataError, RecursionError):
        return False
    return is_item(line) and "model" in line


def _is_inside(root: Path, path: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(root.resolve())


def _below(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):  # counted by who looked for runs before
        folders.sort()
        yield from (Path(at) / name for name in sorted(names))

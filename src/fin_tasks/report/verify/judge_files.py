"""What `fin-tasks judge --items` wrote in a submission, and the predictions that it is about."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.judging.old_item import response_sha256
from fin_tasks.judging.predictions import Responses, saved_responses
from fin_tasks.report.judge_entries import is_item
from fin_tasks.report.kit_files import read_object
from fin_tasks.report.samples import lines_of, sample_of
from fin_tasks.report.verify.graded import hash_in

__all__ = ["JudgeFile", "find_judge_files", "made_with", "predictions_of", "read_items"]

_PREDICTIONS = (".xlsx", ".tsv", ".csv", ".json", ".jsonl")
_KEPT = "_responses.jsonl"
"""What the names of files end with that keep the responses of a table beside it."""
_LANGUAGES = {"en": False, "zh": True}
"""Ends of rubrics' names to whether the questions are Chinese."""
_CHINESE = re.compile("[\u4e00-\u9fff]")
_GROUPS = (
    ("category", ("task_category", "category")),
    ("image_type", ("image_type",)),
    ("image_style", ("image_style",)),
)
"""Fields of items to the names they have in files of predictions."""

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
    """Find the predictions that items are about: in the items' folder, else below it, else anywhere in the submission.

    Of several files those by the items' model count, of these the one with most of the rows, of these the one with most
    of the responses that were judged, and of these the one whose questions are in the rubric's language and of the
    items' categories: models that say the same of everything are told apart by nothing else. A file elsewhere in the
    submission may be another model's, so it has to hold half of the responses that were judged.

    Returns:
        The file and what it holds; None where no file has any of the rows.
    """
    rows = {str(item.get("index")): hash_in(item) for _, item in items}
    model = items[0][1].get("model")
    chinese = _LANGUAGES.get(str(items[0][1].get("rubric")).partition("@")[0].rpartition("_")[2])
    for is_elsewhere, paths in _candidates(file):
        found: list[tuple[tuple[bool, int, int, bool, int], Path, Responses]] = []
        for path in paths:
            try:
                read = saved_responses(path)
            except (DataError, RecursionError):  # no predictions, as most files are none
                continue
            if shared := rows.keys() & read.responses.keys():
                same = sum(rows[name] == response_sha256(read.responses[name]) for name in shared)
                if is_elsewhere and 2 * same < len(shared):
                    continue
                fits = _in_chinese(read) is chinese
                found.append(((read.model == model, len(shared), same, fits, _alike(items, read)), path, read))
        if found:
            _, path, read = max(found, key=lambda one: one[0])
            return path, read
    return None


def _in_chinese(read: Responses) -> bool:
    questions = [str(row.fields.get("question") or "") for row in read.rows.values()]
    return 2 * sum(_CHINESE.search(question) is not None for question in questions) > len(questions)


def _alike(items: Items, read: Responses) -> int:
    """Count the items whose category, image type and style are those of their prediction's row."""
    return sum(
        all(str(item.get(name) or "").strip() == _group(read.rows[index].fields, names) for name, names in _GROUPS)
        for _, item in items
        if (index := str(item.get("index"))) in read.rows
    )


def _group(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((str(fields[name] or "").strip() for name in names if name in fields), "")


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


def _candidates(file: JudgeFile) -> Iterator[tuple[bool, list[Path]]]:
    """Give the files that may be predictions, nearest ones first, and whether they are neither beside nor below."""
    folder = file.path.parent
    below = [path for path in _below(folder) if path != file.path and _may_be_predictions(file.root, path)]
    yield False, [path for path in below if path.parent == folder]
    yield False, [path for path in below if path.parent != folder]
    seen = {file.path, *below}
    yield True, [path for path in _below(file.root) if path not in seen and _may_be_predictions(file.root, path)]


def _may_be_predictions(root: Path, path: Path) -> bool:
    if path.suffix.lower() not in _PREDICTIONS or not _is_inside(root, path):
        return False
    if path.name.endswith(_KEPT):
        table = path.with_name(path.name.removesuffix(_KEPT))
        if any(table.with_name(f"{table.name}{suffix}").is_file() for suffix in _PREDICTIONS):
            return False
    return path.suffix.lower() != ".jsonl" or not _is_result(_first_line(path))


def _holds_items(path: Path) -> bool:
    line = _first_line(path)
    return is_item(line) and "model" in line


def _is_result(line: Mapping[str, Any]) -> bool:
    """Whether a line is of somebody's scores: of a judge's items, or of what our data sets write in VLMEvalKit."""
    return is_item(line) or "response_cut" in line


def _first_line(path: Path) -> Mapping[str, Any]:
    """Return a file's first line of JSON; an empty object where it has none."""
    try:
        first = next(islice(lines_of(path), 1), None)
        return {} if first is None else sample_of(str(path), first[1])
    except (DataError, RecursionError):
        return {}


def _is_inside(root: Path, path: Path) -> bool:
    return path.is_file() and path.resolve().is_relative_to(root.resolve())


def _below(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):  # counted by who looked for runs before
        folders.sort()
        yield from (Path(at) / name for name in sorted(names))

"""What the name of a file, and the results file beside it, say of its responses: model, task, split and source."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.limited_file import RESULTS_MB, read_limited_json

from .columns import Json

UNKNOWN = "unknown"
"""Split or source of questions of which nobody says more."""

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl(?:\.gz)?"
)
_SPLIT = re.compile(r"(vali|test|sample)(?:dation)?[-_]")
"""The start of an id that names its split, such as `vali_12` or `test-3`."""

_KINDS = {
    ".gz",
    ".csv",
    ".tsv",
    ".xlsx",
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".eval",
    ".txt",
}
"""Endings of names that say the form of a file; a version in a name, such as `.5`, is none."""
_OTHER_WORDS = re.compile(
    r"(?i)[\s_.-]*(?:model[_-]?)?(?:responses?|outputs?|predictions?|results?|answers?|completions?|generations?)\Z"
)
"""Words at the end of a file's name that do not belong to the model's name."""


def models_of(files: Sequence[Path], task: str = "") -> list[str]:
    """Return a name for the model of each file, each once: of the file, else of its folder, else the path.

    The task and words such as `responses` are no part of a name.
    """
    names = [_name_of(file, task) for file in files]
    counts = Counter(names)
    distinct = []
    for file, name in zip(files, names, strict=True):
        distinct.append(str(file) if counts[name] > 1 else name)
    return distinct


def _name_of(file: Path, task: str) -> str:
    name = model_of(file)
    if file.name.startswith("samples_"):
        return name
    if task:
        name = re.sub(rf"(^|[\s_.-]+){re.escape(task)}(?=$|[\s_.-])", "", name)
    return _OTHER_WORDS.sub("", name) or file.resolve().parent.name


def model_of(file: Path) -> str:
    """Return the name of the file, or of the folder of lm-eval's samples, where `__` stands for `/`."""
    if file.name.startswith("samples_"):
        return file.resolve().parent.name.replace("__", "/")
    name = file.name
    while Path(name).suffix.lower() in _KINDS:
        name = Path(name).stem
    return name


def task_of(file: Path) -> str:
    """Return the task that the name of lm-eval's samples says; empty for other files."""
    samples = _SAMPLES.fullmatch(file.name)
    return samples["task"] if samples else ""


def provenance_of(file: Path) -> Json:
    """Return what the results file beside lm-eval's samples says of their documents; empty if nobody says it."""
    samples = _SAMPLES.fullmatch(file.name)
    if not samples:
        return {}
    results_file = file.with_name(f"results_{samples['stamp']}.json")
    try:
        results = json.loads(read_limited_json(results_file, RESULTS_MB))
        return dict(results["configs"][samples["task"]]["metadata"]["provenance"])
    except (OSError, ValueError, LookupError, TypeError, DataError):
        return {}  # it may be lost, or not be ours


def questions_of(file: Path, *, ids: Iterable[str] = ()) -> dict[str, str]:
    """Return the split and the source of the questions in a file, `unknown` if nobody says.

    The source is `upstream`, `data_dir` or `sample`. The results file beside lm-eval's samples says
    it, else ids such as `validation-12`.
    """
    provenance = provenance_of(file)
    split = provenance.get("split", UNKNOWN)
    if split == UNKNOWN:
        split = _split_of(ids)
    source = provenance.get("source")
    data = provenance.get("data")
    if not source and isinstance(data, dict):
        # In the results of an earlier `replay` or `judge`, it stands beside the data.
        source = data.get("origin")
    usual = "sample" if split == "sample" else UNKNOWN
    return {"split": str(split), "source": str(source or usual)}


def _split_of(ids: Iterable[str]) -> str:
    """Return the split that all ids name."""
    splits = set()
    for name in ids:
        split = _SPLIT.match(name)
        if split is None:
            return UNKNOWN
        splits.add(split[1])
    if len(splits) != 1:
        return UNKNOWN
    return splits.pop().replace("vali", "validation")

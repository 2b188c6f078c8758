"""What lm-eval's results say of the questions in a file of saved responses."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from pydantic import BaseModel, ValidationError

UNKNOWN = "unknown"

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl")
_SPLIT = re.compile(r"(vali|test|sample)(?:dation)?[-_]")


class Questions(TypedDict):
    """Where questions are from, for the provenance of a run."""

    split: str
    source: str
    """`upstream`, `data_dir`, `sample` or `unknown`."""


class _Data(BaseModel, extra="allow"):
    origin: str = UNKNOWN


class _Provenance(BaseModel, extra="allow"):
    split: str = UNKNOWN
    source: str = ""
    """In the results of an earlier `replay` or `judge`."""
    data: _Data = _Data()


class _Metadata(BaseModel):
    provenance: _Provenance = _Provenance()


class _Config(BaseModel):
    metadata: _Metadata = _Metadata()


class _Results(BaseModel):
    configs: dict[str, _Config]


def questions_of(file: Path, *, ids: Iterable[str] = ()) -> Questions:
    """Return the split and the source of the questions, `unknown` if nobody says.

    The results file beside lm-eval's samples says it, else ids such as `validation-12`.
    """
    provenance = _recorded_provenance(file)
    split = _split_of(ids)
    if provenance is None:
        return {"split": split, "source": "sample" if split == "sample" else UNKNOWN}
    if provenance.split == UNKNOWN:
        provenance.split = split
    return {"split": provenance.split, "source": provenance.source or provenance.data.origin}


def _split_of(ids: Iterable[str]) -> str:
    """Return the split that all ids name."""
    splits = set()
    for name in ids:
        split = _SPLIT.match(name)
        splits.add(split[1] if split else UNKNOWN)
    if len(splits) != 1:
        return UNKNOWN
    return splits.pop().replace("vali", "validation")


def task_of(file: Path) -> str:
    """Return the task that the name of lm-eval's samples says; empty for other files."""
    samples = _SAMPLES.fullmatch(file.name)
    return samples["task"] if samples else ""


def provenance_of(file: Path) -> dict[str, Any]:
    """Return all that the results file beside lm-eval's samples says of their documents."""
    provenance = _recorded_provenance(file)
    return provenance.model_dump(exclude_unset=True) if provenance else {}


def _recorded_provenance(file: Path) -> _Provenance | None:
    samples = _SAMPLES.fullmatch(file.name)
    if samples is None:
        return None
    results_file = file.with_name(f"results_{samples['stamp']}.json")
    try:
        results = _Results.model_validate_json(results_file.read_bytes())
    except (OSError, ValidationError):
        return None  # it may be lost, or not be ours
    config = results.configs.get(samples["task"])
    return config.metadata.provenance if config else None

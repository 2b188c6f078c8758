"""What lm-eval's results say of the questions in a file of saved responses."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from . import Json

UNKNOWN = "unknown"

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl"
)
_SPLIT = re.compile(r"(vali|test|sample)(?:dation)?[-_]")


def questions_of(file: Path, *, ids: Iterable[str] = ()) -> dict[str, str]:
    """Return the split and the source of the questions, `unknown` if nobody says.

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
        splits.add(split[1] if split else UNKNOWN)
    if len(splits) != 1:
        return UNKNOWN
    return splits.pop().replace("vali", "validation")


def task_of(file: Path) -> str:
    """Return the task that the name of lm-eval's samples says; empty for other files."""
    samples = _SAMPLES.fullmatch(file.name)
    return samples["task"] if samples else ""


def provenance_of(file: Path) -> Json:
    """Return all that the results file beside lm-eval's samples says of their documents."""
    samples = _SAMPLES.fullmatch(file.name)
    if not samples:
        return {}
    results_file = file.with_name(f"results_{samples['stamp']}.json")
    try:
        results = json.loads(results_file.read_bytes())
        return dict(results["configs"][samples["task"]]["metadata"]["provenance"])
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # it may be lost, or not be ours

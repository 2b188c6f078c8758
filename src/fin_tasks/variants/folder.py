"""The folder of variants: `variants.jsonl`, and `manifest.json`, which says how they were made."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

import fin_tasks
from fin_tasks.data.locate import sha256_of, write_file
from fin_tasks.data.tables import read_json
from fin_tasks.errors import DataError

from .build import RULES_VERSION, Variant

_FILE = "variants.jsonl"
_MANIFEST = "manifest.json"
_COLUMNS = ("id", "source", "question", "program", "truth", "published_truth")
_REVISION_DIGITS = 16


class _Manifest(BaseModel):
    benchmark: str
    seed: int
    rules: int


def write_variants(
    folder: Path,
    variants: Sequence[Variant],
    benchmark: str,
    facts: Mapping[str, Any],
) -> None:
    """Write `variants.jsonl`, and `manifest.json` with the benchmark, the rules, and further facts."""
    lines = [
        json.dumps(variant.to_dict(), ensure_ascii=False) + "\n" for variant in variants
    ]
    write_file(folder / _FILE, "".join(lines).encode())
    manifest = {
        "benchmark": benchmark,
        "rules": RULES_VERSION,
        "fin_tasks": fin_tasks.__version__,
        "sha256": sha256_of(folder / _FILE),
        **facts,
    }
    write_file(folder / _MANIFEST, json.dumps(manifest, indent=1).encode())


def read_variants(
    folder: Path,
    benchmark: str,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a folder, and what provenance says about the folder.

    Raises:
        DataError: The folder holds no variants, or those of another benchmark.
    """
    try:
        manifest = _Manifest.model_validate_json((folder / _MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(
            f"{folder}: expected {_MANIFEST} and {_FILE} as fin-tasks build variants writes them, "
            f"got {error}"
        ) from error
    if manifest.benchmark != benchmark:
        raise DataError(
            f"{folder}: expected variants of {benchmark}, got those of {manifest.benchmark!r:.80}."
        )
    digest = sha256_of(folder / _FILE)
    facts = {
        "origin": "variants",
        "revision": digest[:_REVISION_DIGITS],
        "files": {_FILE: digest},
        "seed": manifest.seed,
        "rules": manifest.rules,
    }
    return read_json(folder / _FILE, _COLUMNS), facts

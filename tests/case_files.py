"""The rows of the files in `tests/cases`."""

import json
from pathlib import Path
from typing import Any


def rows(name: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent / "cases" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def name_of(row: dict[str, Any]) -> str:
    return str(
        row.get("id") or row.get("note") or row.get("why") or ascii(row.get("text"))
    )

"""Writes lm-eval output folders whose results file claims what its rows give, as real ones do."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-03-01T10-00-00.123456"
LATER = "2026-04-01T10-00-00.123456"

Row = Mapping[str, Any]


def provenance(**more: Any) -> dict[str, Any]:
    """What a task records of itself."""
    return {
        **{"fin_tasks": "0.1.0", "scorer": 1, "split": "test", "style": {"mode": "cot", "role": True}},
        **{"prompts": {"set": "house", "sha256": "a" * 64}, "data": {"origin": "upstream", "revision": "d1" * 8}},
        **more,
    }


def shares(values: Sequence[float | None]) -> list[Row]:
    """Rows with `acc` and what goes with it."""
    return [{"acc": value, "unscored": float(value is None)} for value in values]


def write_results(
    folder: Path,
    task: str,
    rows: Sequence[Row],
    *,
    docs: Sequence[Mapping[str, Any]] | None = None,
    model: str = "made/model",
    date: str = DATE,
    facts: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    limit: float | None = None,
    version: float = 1.0,
    claims: Mapping[str, Any] | None = None,
    groups: Mapping[str, Any] | None = None,
    members: Mapping[str, Sequence[str]] | None = None,
    samples: bool = True,
) -> Path:
    """Write a task of a run, beside the tasks that are there already; returns the results file.

    Every row has its metrics under both filters. `claims` are set in the results as they are, `groups` beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    docs = docs or [{"id": f"{task}_{place}"} for place in range(len(rows))]
    if samples:
        lines = [
            {"doc_id": place, "doc": doc, "filter": variant, "metrics": list(row), "resps": [["text"]], **row}
            for variant in ("paper", "robust")
            for place, (doc, row) in enumerate(zip(docs, rows, strict=True))
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{date}.jsonl").write_text(text, encoding="utf-8")
    path = folder / f"results_{date}.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    claimed = {f"{name},{variant}": mean(rows, name) for variant in ("paper", "robust") for name in rows[0]}
    results = {
        "results": {**old.get("results", {}), task: {"alias": task, **claimed, **(claims or {})}, **(groups or {})},
        "group_subtasks": dict(members or {}),
        "configs": {
            **old.get("configs", {}),
            task: {"metadata": {"provenance": provenance(**(facts or {})), **(metadata or {})}},
        },
        "versions": {**old.get("versions", {}), task: version},
        "n-samples": {**old.get("n-samples", {}), task: {"original": 100, "effective": len(rows)}},
        "config": {"model": "hf", "model_args": {"pretrained": model, **(arguments or {})}, "limit": limit},
        "model_name": model,
    }
    path.write_text(json.dumps(results), encoding="utf-8")
    return path


def mean(rows: Sequence[Row], name: str) -> float | str:
    """As lm-eval writes it; of what is no number the task has an aggregation of its own."""
    there = [value for row in rows if isinstance(value := row[name], int | float)]
    return sum(there) / len(there) if there else "N/A"

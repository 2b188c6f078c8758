"""Writes small run folders in lm-eval's format."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STAMP = "2026-03-01T10-00-00.123456"
PROVENANCE = {
    "scorer": 1,
    "split": "test",
    "prompts": {"set": "house", "sha256": "a" * 64},
    "data": {"origin": "upstream", "revision": "d1" * 8},
}


def write_run(
    folder: Path,
    tasks: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    model: str = "org/model",
    docs: Sequence[Mapping[str, Any]] | None = None,
    metadata: Mapping[str, Any] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    stamp: str = STAMP,
) -> Path:
    """Write a run: metrics of each row by task, the same under both scorings. Returns the results file."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {
        "results": {},
        "configs": {},
        "n-samples": {},
        "higher_is_better": {},
    }
    results |= {
        "model_name": model,
        "config": {"model": "hf", "model_args": {"pretrained": model}},
    }
    results |= {
        "group_subtasks": dict(groups or {}),
        "lm_eval_version": "0.4.13",
        "versions": {},
    }
    for task, rows in tasks.items():
        lines = [
            {
                "doc_id": at,
                "doc": {"id": f"{task}-{at}", **(docs[at] if docs else {})},
                "filter": scoring,
            }
            | {
                "resps": [["text"]],
                "filtered_resps": [[json.dumps({"answer": 1.0, "reason": ""})]],
            }
            | {"metrics": list(row), **row}
            for scoring in ("paper", "robust")
            for at, row in enumerate(rows)
        ]
        (folder / f"samples_{task}_{stamp}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in lines)
        )
        results["results"][task] = {
            f"{m},{v}": mean(r[m] for r in rows)
            for m in rows[0]
            for v in ("paper", "robust")
        }
        results["configs"][task] = {
            "metadata": {"provenance": PROVENANCE, **(metadata or {})}
        }
        results["n-samples"][task] = {"original": len(rows), "effective": len(rows)}
        results["higher_is_better"][task] = {
            metric: metric in ("acc", "score") for metric in rows[0]
        }
        results["versions"][task] = 2.0
    for group, members in (groups or {}).items():
        pooled = [row["acc"] for member in members for row in tasks[member]]
        results["results"][group] = {
            f"acc,{scoring}": mean(pooled) for scoring in ("paper", "robust")
        }
    path = folder / f"results_{stamp}.json"
    path.write_text(json.dumps(results))
    return path


def scored(*values: float | None) -> list[dict[str, float | None]]:
    """Return rows with an accuracy."""
    return [{"acc": value, "unscored": float(value is None)} for value in values]


def mean(values: Any) -> float | str:
    """Return the mean of the numbers, as lm-eval writes it."""
    known = [value for value in values if isinstance(value, int | float)]
    return sum(known) / len(known) if known else "N/A"

"""Small run folders in lm-eval's format, and their boards."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.leaderboard_model import Leaderboard

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
    provenance: Mapping[str, Any] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    stamp: str = STAMP,
) -> Path:
    """Write a run: metrics of each row by task, the same under both scorings. Returns the results file.

    `provenance` is what the run says beside PROVENANCE.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = {"provenance": {**PROVENANCE, **(provenance or {})}, **(metadata or {})}
    results: dict[str, Any] = {
        "results": {},
        "configs": {},
        "n-samples": {},
        "higher_is_better": {},
        "model_name": model,
        "config": {"model": "hf", "model_args": {"pretrained": model}},
        "group_subtasks": dict(groups or {}),
        "lm_eval_version": "0.4.13",
        "versions": dict.fromkeys(tasks, 2.0),
    }
    for task, rows in tasks.items():
        lines = []
        for scoring in ("paper", "robust"):
            for at, row in enumerate(rows):
                line = {
                    "doc_id": at,
                    "doc": {"id": f"{task}-{at}", **(docs[at] if docs else {})},
                    "filter": scoring,
                    "resps": [["text"]],
                    "filtered_resps": [[json.dumps({"answer": 1.0, "reason": ""})]],
                    "metrics": list(row),
                    **row,
                }
                lines.append(json.dumps(line) + "\n")
        (folder / f"samples_{task}_{stamp}.jsonl").write_text("".join(lines))
        totals = {metric: mean(row[metric] for row in rows) for metric in rows[0]}
        results["results"][task] = under_both(totals)
        results["configs"][task] = {"metadata": said}
        results["n-samples"][task] = {"original": len(rows), "effective": len(rows)}
        results["higher_is_better"][task] = {
            metric: metric in ("acc", "score") for metric in rows[0]
        }
    for group, members in (groups or {}).items():
        pooled = [row["acc"] for member in members for row in tasks[member]]
        results["results"][group] = under_both({"acc": mean(pooled)})
    path = folder / f"results_{stamp}.json"
    path.write_text(json.dumps(results))
    return path


def write_models(
    folder: Path,
    rows_by_model: Mapping[str, Sequence[Mapping[str, Any]]],
    task: str = "financemath",
    **options: Any,
) -> list[Path]:
    """Write a run of one task for each model, in a folder of the model's name. Returns the folders."""
    folders = []
    for model, rows in rows_by_model.items():
        folders.append(folder / model)
        write_run(folders[-1], {task: rows}, model=model, **options)
    return folders


def under_both(totals: Mapping[str, Any]) -> dict[str, Any]:
    """Return totals as lm-eval names them, the same under both scorings."""
    return {
        f"{name},{scoring}": value
        for name, value in totals.items()
        for scoring in ("paper", "robust")
    }


def claim(file: Path, task: str, **totals: float) -> None:
    """Change what a results file claims under both scorings."""
    content = json.loads(file.read_text())
    content["results"][task] |= under_both(totals)
    file.write_text(json.dumps(content))


def with_decoding(file: Path, **options: Any) -> None:
    """Write options of generation into a results file."""
    content = json.loads(file.read_text())
    for config in content["configs"].values():
        config["generation_kwargs"] = options
    file.write_text(json.dumps(content))


def board_of(folder: Path, **options: Any) -> Leaderboard:
    """Return the board of the runs in a folder, without the papers' figures."""
    return board(read([folder]), **{"papers": False, **options})


def scored(*values: float | None) -> list[dict[str, float | None]]:
    """Return rows with an accuracy."""
    return [{"acc": value, "unscored": float(value is None)} for value in values]


def mean(values: Any) -> float | str:
    """Return the mean of the numbers, as lm-eval writes it."""
    known = [value for value in values if isinstance(value, int | float)]
    return sum(known) / len(known) if known else "N/A"

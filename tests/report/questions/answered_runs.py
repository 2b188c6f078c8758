"""Writes runs of FinanceMath in which each model gives the answers of a list."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from fin_tasks.saved.recordings import read_financemath, score_recording
from fin_tasks.saved.run_folder import write_run


def write_runs(
    folder: Path,
    truths: Sequence[float],
    answers_by_model: Mapping[str, Sequence[object]],
) -> Path:
    """Write a run for each model, which answers the questions q0, q1, ... in words."""
    for model, answers in answers_by_model.items():
        rows = []
        for number, (truth, answer) in enumerate(zip(truths, answers, strict=True)):
            rows.append(
                {
                    "question_id": f"q{number}",
                    "question": f"What is number {number}?",
                    "tables": [f"| n |\n|---|\n| {number} |"],
                    "ground_truth": truth,
                    "output": [f"Therefore, my answer is {answer}."],
                }
            )
        file = folder / f"{model}.json"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows))
        run = score_recording(read_financemath(file, mode="cot"), {})
        write_run(folder / "runs", [run], model=model, made_by="fin-tasks replay")
    return folder / "runs"

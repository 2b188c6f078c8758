"""FinanceMath's questions under its own truths and under FinanceReasoning's."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.cli import app


def write_run(folder: Path, task: str, model: str, answers: dict[str, float]) -> str:
    """Write the run of a model that gives these answers."""
    template = "Therefore, the answer is {}."
    if task.endswith("_pot"):
        template = "```python\ndef solution():\n    return {}\n```"
    rows = [
        {"id": name, "response": template.format(answer)}
        for name, answer in answers.items()
    ]
    file = folder / f"{model}.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    out = str(folder / "results")
    options = ["--metadata", '{"source": "sample"}', "--model", model, "--out", out]
    done = CliRunner().invoke(app, ["replay", "task", task, str(file), *options])
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("variant", ["paper", "robust"])
@pytest.mark.parametrize("task", ["financemath", "financemath_pot"])
def test_ranks_under_both_truths(
    task: str, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = fin_tasks.load("financemath", source="sample")
    own = {doc["question_id"]: doc["ground_truth"] for doc in docs}
    changed = list(own)[:2]
    others = {name: own[name] * (1.5 if name in changed else 1) for name in own}
    rows = []
    for name, truth in others.items():
        source = f"FinanceMath-{name}"
        row = {"question_id": name, "question": "?", "ground_truth": truth}
        rows.append({**row, "source": source})
    data = tmp_path / "data"
    (data / "financereasoning").mkdir(parents=True)
    for level, of_level in (
        ("easy", rows[:1]),
        ("medium", rows[1:2]),
        ("hard", rows[2:]),
    ):
        file = data / "financereasoning" / f"{level}.json"
        file.write_text(json.dumps(of_level))
    write_run(tmp_path, task, "older", own)
    out = write_run(tmp_path, task, "newer", others)
    monkeypatch.setenv("FIN_TASKS_DATA", str(data))
    command = ["compare", out, "--by", "truths", "--variant", variant]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    compared = json.loads(done.stdout)
    values = {(line["run"], line["group"]): line["value"] for line in compared["lines"]}
    theirs = "FinanceReasoning's truths"
    less = 1 - 2 / len(own)
    assert values == pytest.approx(
        {
            ("older", "own truths"): 1.0,
            ("older", theirs): less,
            ("newer", "own truths"): less,
            ("newer", theirs): 1.0,
        }
    )
    note = f"{task}: the rank of older is 1 by own truths, 2 by {theirs}."
    assert note in compared["notes"] and len(compared["notes"]) == 2
    assert "truths" in CliRunner().invoke(app, command).output

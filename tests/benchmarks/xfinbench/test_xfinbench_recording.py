"""Saved responses in every format, and their summary."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.scored_task import VARIANTS, score_task
from fin_tasks.benchmarks.xfinbench import recording
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import Outcome, Status

FAILED = Outcome(status=Status.exception)
RIGHT, WRONG = "Therefore, my answer is [6].", "<think>6</think>" + "no " * 60_000
ROWS = [("a", "6", RIGHT, "NM; TR"), ("b", "6.0", WRONG, "NM")]
KEYS = ("id", "ground_truth", "model_response", "fin_capability")
OBJECTS: list[dict[str, Any]] = [dict(zip(KEYS, row, strict=True)) for row in ROWS]
SAMPLES = [
    {
        "filter": name,
        "doc": {**one, "task": "calcu", "has_table": False},
        "resps": [[one["model_response"]]],
    }
    for name in ("paper", "robust")
    for one in OBJECTS
]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "\ufeff" + "".join('"' + '","'.join(row) + '"\n' for row in [KEYS, *ROWS])),
        ("r.json", json.dumps(OBJECTS)),
        ("r.jsonl", "\n\n".join(map(json.dumps, OBJECTS))),
        ("samples_xfinbench_calc_2026.jsonl", "\n".join(map(json.dumps, SAMPLES))),
    ],
)
def test_formats_and_summary(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    docs, texts = zip(*recording.read(tmp_path / name, task="calc"), strict=True)
    assert texts == (RIGHT, WRONG)
    assert (
        docs[0].items()
        >= {"id": "a", "task": "calcu", "subset": "calc", "capabilities": ["NM", "TR"]}.items()
    )
    scored = score_task(
        "xfinbench", "", docs, [[text] for text in texts], options={"subset": "calc", "mode": "cot"}
    )
    half = {name: dict.fromkeys(("acc_em", "acc_err", "no_answer"), 0.5) for name in VARIANTS}
    right = {name: {"acc_em": 1.0, "acc_err": 1.0, "no_answer": 0.0} for name in VARIANTS}
    by_capability = {"TR": {"n": 1, **right}, "NM": {"n": 2, **half}}
    assert recording.summary(scored) == {
        "n": 2,
        **half,
        "unscored": 0,
        "by_capability": by_capability,
    }


def test_programs_and_what_the_data_folder_adds(tmp_path: Path) -> None:
    columns = "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id\n"
    (tmp_path / "test_set.csv").write_text(columns + 'a,calcu,"\\begin{tabular}",,0,,SP,\n')
    (tmp_path / "r.jsonl").write_text('{"id": "a", "ground_truth": 0, "model_response": null}')
    ((doc, response),) = recording.read(
        tmp_path / "r.jsonl", task="calc", mode="pot", data_dir=tmp_path
    )
    assert (doc["capabilities"], doc["has_table"], doc["ground_truth"], response) == (
        ["SP"],
        True,
        "0",
        "",
    )
    options = {"subset": "calc", "mode": "pot"}
    responses = [["", ""]]
    scored = score_task(
        "xfinbench",
        "",
        [doc],
        responses,
        options=options,
        run_programs=lambda two: [FAILED] * len(two),
    )
    found = recording.summary(scored, tier="bwrap")
    assert found["paper"] == {"acc_em": 1.0, "acc_err": 0.0, "no_answer": 0.0}
    assert (found["execution_rate"], found["robust_execution_rate"], found["sandbox"]) == (
        0.0,
        0.0,
        "bwrap",
    )
    assert (found["n"], found["outcomes"]) == (1, {"exception": 2})


def test_a_broken_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(
        '{"id": 1, "ground_truth": 1, "model_response": "", "task": "mcq"}'
    )
    (tmp_path / "r.csv").write_text(",".join(KEYS) + "\na,6,Therefore, my answer is [6].,NM\n")
    for name, message in (
        ("r.jsonl", r"got \['mcq'\]"),
        ("r.csv", "line 2: expected as many cells"),
    ):
        with pytest.raises(DataError, match=message):
            recording.read(tmp_path / name, task="calc")
    with pytest.raises(ConfigError, match="expected mode cot or da"):
        recording.read(tmp_path / "r.jsonl", task="bool", mode="pot")


def test_the_command_scores_programs_as_the_authors_do(tmp_path: Path) -> None:
    body = "```python\ndef solution():\n    return {}\n```"
    programs: list[tuple[str, float, float | None]] = [
        ("def solution():\n    return 4\n```\nIt returns 4.", 4, 4.0),
        ("```\ndef solution():\n    return 4\n```", 0, 0.0),
        ("    return 4", 4, 0.0),
        (body.format("np.sqrt(16)"), 4, 4.0),
        (body.format('"5"'), 5, 5.0),
        (body.format('"the result is [12.5]"'), 12.5, 12.5),
        (body.format('"[3]"'), 3, 3.0),
        (body.format("[3]"), 3, None),
        (body.format("1 / 0"), 7, 0.0),
    ]
    rows = [
        {"id": f"q{number}", "ground_truth": truth, "model_response": response}
        for number, (response, truth, _) in enumerate(programs)
    ]
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out"
    command = ["replay", "xfinbench", str(file), "--task", "calc", "--mode", "pot"]
    done = CliRunner().invoke(app, [*command, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["paper"]["acc_em"] == 6 / 9
    (samples,) = out.rglob("samples_xfinbench_calc_pot_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    answers = [line["answer"] for line in lines if line["filter"] == "paper"]
    assert answers == [answer for _, _, answer in programs]

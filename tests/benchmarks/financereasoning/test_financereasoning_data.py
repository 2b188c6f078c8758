"""FinanceReasoning's documents, prompts and gold programs."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from figures import score_with
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.benchmarks.financereasoning import score
from fin_tasks.benchmarks.financereasoning.data import LEVELS, load
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import Ran, Status, shared_runner
from fin_tasks.variants.program import as_function

PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "data" / "financereasoning"
TEXTS = """
COT_SYSTEM_INPUT = '''Say it.'''
COT_PROGRAM_PREFIX_INPUT = 'Now ' + 'think.'
POT_SYSTEM_INPUT = "Code it."
POT_PROGRAM_PREFIX_INPUT = "Begin."
"""
CODE = """
from utils.prompts import *


def messages_of(examples, mode):
    messages = []
    for example in examples:
        question_input = "Question: " + example["question"] + "\\n\\n"
        context_input = ""
        if example["context"]:
            context_input = "Look here:\\n"
            context_input += example["context"] + "\\n\\n"
        prefix = COT_PROGRAM_PREFIX_INPUT if mode == "cot" else POT_PROGRAM_PREFIX_INPUT
        messages.append(context_input + question_input + prefix)
    return messages
"""


def write_levels(folder: Path, **changes: Any) -> None:
    row = {"question_id": "q", "question": "How much?", "ground_truth": 7, **changes}
    for level in LEVELS:
        rows = [{**row, "question_id": f"{level}-1"}]
        (folder / f"{level}.json").write_text(json.dumps(rows))


def upstream_document(folder: Path, mode: str) -> Any:
    options = {"mode": mode, "data_dir": folder, "prompts": "upstream"}
    (docs,) = load(level="easy", **options).values()
    return docs[0]


@pytest.mark.parametrize("mode", ["cot", "pot"])
def test_the_target_of_each_sample_question_is_right(mode: str) -> None:
    n_questions = 0
    for level in LEVELS:
        task = f"financereasoning_{level}{'_pot' if mode == 'pot' else ''}"
        docs = fin_tasks.load(task, source="sample")
        table = fin_tasks.score(task, docs["target"], source="sample")
        assert set(table["acc"]) == {1.0}
        n_questions += len(docs)
    assert n_questions == 10


def test_messages_are_those_that_the_authors_code_builds(tmp_path: Path) -> None:
    texts = tmp_path / "prompts.py"
    code = tmp_path / "inference.py"
    texts.write_text(TEXTS)
    code.write_text(CODE)
    for context in ("A table.", "", None):
        write_levels(tmp_path, context=context)
        start = "Look here:\nA table.\n\n" if context else ""
        for mode, end in (("cot", "Now think."), ("pot", "Begin.")):
            doc = upstream_document(tmp_path, mode)
            assert doc["prompt"] == f"{start}Question: How much?\n\n{end}"
    code.write_text("context = 'Look here:'")
    with pytest.raises(DataError, match="expected a text in context_input, found none"):
        upstream_document(tmp_path, "cot")
    texts.write_text("COT_SYSTEM_INPUT = 3")
    with pytest.raises(DataError, match="expected a text in COT_SYSTEM_INPUT, found"):
        upstream_document(tmp_path, "cot")


def test_the_authors_texts_without_their_code(tmp_path: Path) -> None:
    write_levels(tmp_path, context="A table.", source="CodeTAT-QA-test-12")
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "prompts.py").write_text(TEXTS)
    doc = upstream_document(tmp_path, "pot")
    assert (doc["system"], doc["origin"]) == ("Code it.", "CodeTAT-QA")
    assert doc["prompt"] == "Document:\nA table.\n\nQuestion: How much?\n\nBegin."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground_truth": "much"}, "row 1, ground_truth.* number.*, got "),
        ({"ground_truth": 10**400}, "row 1, ground_truth.* number.*, got "),
        ({"context": ["a"]}, "context: Input should be a valid string"),
    ],
)
def test_a_broken_row_is_one_sentence(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write_levels(tmp_path, **change)
    with pytest.raises(DataError, match=message):
        load(level="easy", mode="cot", data_dir=tmp_path)


@pytest.mark.parametrize("name", ["split", "data_revision"])
def test_an_option_without_effect_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: expected (test|none), .* 'dev'"):
        load(level="easy", mode="cot", source="sample", **{name: "dev"})


def test_replay_scores_one_file_with_the_questions_of_all_levels(
    tmp_path: Path,
) -> None:
    write_levels(tmp_path)
    answers = {
        "easy-1": "Therefore, the answer is 7.",
        "hard-1": "Therefore, the answer is 8.",
    }
    rows = [{"question_id": name, "output": text} for name, text in answers.items()]
    file = tmp_path / "model.json"
    file.write_text(json.dumps(rows))
    command = ["replay", "financereasoning", str(file), "--mode", "cot", "--json"]
    command += ["--data-dir", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    rates = {"n": 2, "acc": 0.5, "robust_acc": 0.5, "execution_rate": 1.0}
    assert summary.items() >= rates.items()
    assert (summary["n_all"], summary["by_level"]["easy"]["acc"]) == (2, 1.0)
    _, rows_of_run, problems = fin_tasks.read_runs(tmp_path / "out")
    tasks = {"financereasoning_easy", "financereasoning_hard"}
    assert set(rows_of_run["task"]) == tasks
    assert list(problems) == []
    file.write_text(json.dumps([{"question_id": "else", "output": "7"}]))
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "found none; the first row has 'else'" in str(done.exception)


@pytest.mark.slow
@pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason=f"the authors' questions are not at {PUBLISHED}"
)
def test_gold_programs_give_their_truths() -> None:
    """Of every fifth question; the others give another number, which the authors rounded or corrected, or fail."""
    counts = Counter[str]()
    for level in LEVELS:
        with gzip.open(PUBLISHED / f"{level}.json.gz") as file:
            rows = json.load(file)[::5]
        programs = [as_function(row["python_solution"], row["context"]) for row in rows]
        outcomes = shared_runner().run(programs)
        for row, outcome in zip(rows, outcomes, strict=True):
            counts["rows"] += 1
            counts["ran"] += outcome.status is Status.ok
            is_verdict = isinstance(row["ground_truth"], bool)
            doc = {
                "kind": "verdict" if is_verdict else "number",
                "ground_truth": float(row["ground_truth"]),
            }
            found = score_with(score, doc, Ran("", (outcome,)), "paper")
            counts["right"] += found.correct is True
    assert counts == {"rows": 448, "ran": 445, "right": 426}

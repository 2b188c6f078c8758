"""A benchmark of another package, as docs/own_benchmark.md shows it, from lm-eval to the page."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import fin_tasks

ROOT = Path(__file__).parents[2]
FIN_TASKS = str(Path(sys.executable).with_name("fin-tasks"))
OUTSIDE = ROOT / "tests" / "outside"
WHOLE_PAGE = (ROOT / "docs" / "own_benchmark.md").read_text(encoding="utf-8")
PAGE = WHOLE_PAGE.partition("\n## Pictures")[0]
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))

# A model that knows all answers, saved as lm-eval saves a run.
SCRIPTED = """
from pathlib import Path
from in_process import run, saved
found = run("bank_exam", answer=lambda doc: f"I think so. {doc['target']}")
saved(found, Path("results/scripted"), model="scripted")
"""
STUDY = """
name: clear
title: Clear questions
instructions: Read the question.
benchmark: bank_exam
tasks: {bank_exam: {}}
strata: topic
n: {Loans: 2, Payments: 2}
annotators: 1
show: [question, gold, response]
questions:
  clear: {ask: "Is it clear?"}
"""

pytestmark = pytest.mark.slow


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the other package is installed."""
    source = Path(fin_tasks.__file__).parents[1]
    folders = [
        source,
        OUTSIDE,
        ROOT / "tests" / "contract",
        ROOT / "tests" / "endpoints",
    ]
    path = os.pathsep.join(map(str, folders))
    offline = {"HF_HUB_OFFLINE": "1", "FIN_TASKS_CACHE": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **offline, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def run_command(folder: Path, command: str) -> str:
    program, *arguments = shlex.split(command, comments=True)
    done = python(folder, str(Path(sys.executable).with_name(program)), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's commands ran, beside a model that knows all answers.

    The saved answers are right for loans.
    """
    folder = tmp_path_factory.mktemp("bank")
    lines = []
    for line in (OUTSIDE / "bank_exam" / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        answer = (
            question["answer"] if question["topic"] == "Loans" else "I do not know."
        )
        lines.append(
            json.dumps({"id": question["id"], "response": f"My answer is {answer}"})
        )
    (folder / "answers.jsonl").write_text("\n".join(lines))
    done = python(folder, "-c", SCRIPTED)
    assert done.returncode == 0, done.stderr
    for command in BLOCKS["bash"].splitlines():
        if not command.startswith("pip "):
            run_command(folder, command)
    return folder


def data(file: Path) -> Any:
    """Return what a script hands to the page."""
    text = file.read_text(encoding="utf-8")
    return json.loads(json.loads(text[text.index(", ") + 2 : text.rindex(")")]))


def test_the_page_shows_the_package() -> None:
    text = BLOCKS["python"] + BLOCKS["yaml"]
    parts = re.split(r"^# bank_exam/(.+)\n", text, flags=re.MULTILINE)[1:]
    shown = dict(zip(parts[::2], parts[1::2], strict=True))
    assert shown.keys() == {"__init__.py", "data.py", "score.py", "bank_exam.yaml"}
    for name, content in shown.items():
        assert content.strip() == (OUTSIDE / "bank_exam" / name).read_text().strip()
    project = tomllib.loads(BLOCKS["toml"])["project"]
    (installed,) = distributions(name=project["name"], path=[str(OUTSIDE)])
    assert installed.version == project["version"]
    shown_entries = {
        (group, name, value)
        for group, entries in project["entry-points"].items()
        for name, value in entries.items()
    }
    assert shown_entries == {
        (entry.group, entry.name, entry.value) for entry in installed.entry_points
    }


def test_lm_eval_and_replay_score_it(folder: Path) -> None:
    acc_by_model = {}
    for file in folder.glob("results/**/results_*.json"):
        results = json.loads(file.read_text())
        assert results["versions"] == {"bank_exam": 1}
        totals = results["results"]["bank_exam"]
        assert totals["acc,paper"] == totals["acc,robust"]
        kind = results["config"]["model"]
        acc_by_model["dummy" if kind == "dummy" else results["model_name"]] = totals[
            "acc,robust"
        ]
    assert acc_by_model == {"dummy": 0.0, "other": 0.5, "scripted": 1.0}


def test_the_model_sees_the_question_and_nothing_else(folder: Path) -> None:
    (file,) = folder.glob("results/scripted/scripted/samples_bank_exam_*.jsonl")
    sample = json.loads(file.read_text().splitlines()[0])
    assert sample["arguments"]["gen_args_0"]["arg_0"] == sample["doc"]["prompt"]


def test_it_is_verified(folder: Path) -> None:
    done = python(folder, FIN_TASKS, "verify", "results", "--json")
    assert done.returncode == 3
    tasks = json.loads(done.stdout)["tasks"]
    assert sorted(task["model"] for task in tasks) == ["dummy", "other", "scripted"]
    for task in tasks:
        status = {item["name"]: item["status"] for item in task["items"]}
        was_replayed = task["model"] == "other"
        assert status["prompts"] == ("not verified" if was_replayed else "verified")
        assert {status[name] for name in ("gold data", "rows", "scores")} == {
            "verified"
        }


def test_a_changed_score_is_found(folder: Path, tmp_path: Path) -> None:
    for file in folder.glob("results/scripted/scripted/*.json*"):
        text = file.read_text().replace('"acc": 1.0', '"acc": 0.5')
        (tmp_path / file.name).write_text(text)
    done = python(folder, FIN_TASKS, "verify", str(tmp_path))
    assert done.returncode == 1
    assert "failed        scores" in done.stdout


def test_models_are_ranked(folder: Path) -> None:
    board = json.loads((folder / "report" / "leaderboard.json").read_text())
    model_by_run = {run["id"]: run["model"] for run in board["runs"]}
    ranks = []
    for comparison in board["comparisons"]:
        ranks.append(
            {model_by_run[one["run"]]: one["rank"] for one in comparison["ranks"]}
        )
    # Nobody knows the decoding of saved responses, so they are not ranked with the others.
    assert {"scripted": 1, "dummy": 2} in ranks
    assert {"other": 1} in ranks


def test_the_page_shows_its_words_and_samples(folder: Path) -> None:
    page = folder / "report" / "page"
    report = data(page / "data.js")
    assert report["benchmarks"]["bank_exam"]["title"] == "Bank exam"
    assert report["benchmarks"]["bank_exam"]["description"].startswith(
        "Questions about loans"
    )
    assert report["breakdowns"]["topic"] == "Topic"
    assert set(report["names"].values()) == {"Bank exam, test questions"}
    assert len(report["samples"]) == 3
    for run in report["samples"]:
        listed = data(page / f"list-{run}.js")
        assert len(listed["id"]) == 10
        assert listed["asked"][0].startswith("A loan of 8,000 runs for one year")
        assert listed["parts"]["topic"] == ["Loans"] * 5 + ["Payments"] * 5
    (asked,) = page.glob("asked-*.js")
    assert data(asked)[8]["truth"] == "B"


def test_its_table_names_the_house_rules(folder: Path) -> None:
    tables = folder / "report" / "tables"
    text = (tables / "bank_exam.md").read_text()
    assert "scored by the house rules (paper)" in text
    assert "authors" not in text
    assert r"\textbf{100.0}" in (tables / "bank_exam.tex").read_text()


def test_people_can_label_it(folder: Path) -> None:
    (folder / "study.yaml").write_text(STUDY)
    run_command(
        folder,
        "fin-tasks label draw results/scripted --study study.yaml --out clear.csv",
    )
    sheet = (folder / "clear_1.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(StringIO(sheet)))
    assert len(rows) == 4
    assert all(row["response"].startswith("I think so.") for row in rows)

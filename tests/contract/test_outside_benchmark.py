"""A benchmark of another package, as docs/own_benchmark.md shows it, from lm-eval to the page."""

import csv
import json
import os
import re
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
OUTSIDE = ROOT / "tests" / "outside"
WHOLE_PAGE = (ROOT / "docs" / "own_benchmark.md").read_text(encoding="utf-8")
PAGE = WHOLE_PAGE.partition("\n## Pictures")[0]
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))

# Commands one after the other in one interpreter, behind the run of a model that knows all answers.
SCRIPT = """
import json, runpy, shlex, shutil, sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from in_process import run, saved
from lm_eval.tasks import manager
from torch.utils import collect_env

# lm-eval takes 20 s to look through its own tasks, and 2 s to list all packages.
manager.__file__ = str(Path("nothing/manager.py").absolute())
collect_env.get_pretty_env_info = lambda: ""
found = run("bank_exam", answer=lambda doc: f"I think so. {doc['target']}")
saved(found, Path("results/scripted"), model="scripted")
shutil.copytree("results/scripted", "changed")
for file in Path("changed").rglob("*.json*"):
    file.write_text(file.read_text().replace('"acc": 1.0', '"acc": 0.5'))
ran = {}
for command in json.loads(Path("commands.json").read_text()):
    program, *arguments = shlex.split(command, comments=True)
    sys.argv = [program, *arguments]
    status = 0
    with redirect_stdout(StringIO()) as output:
        try:
            runpy.run_module(program.replace("-", "_"), run_name="__main__", alter_sys=True)
        except SystemExit as end:
            status = end.code or 0
    ran[command] = [status, output.getvalue()]
Path("ran.json").write_text(json.dumps(ran))
"""
OF_THE_PAGE = [
    line for line in BLOCKS["bash"].splitlines() if not line.startswith("pip ")
]
VERIFY = "fin-tasks verify results --json"
VERIFY_CHANGED = "fin-tasks verify changed"
DRAW = "fin-tasks label draw results/scripted --study study.yaml --out clear.csv"
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the page's commands ran, and more; the saved answers are right for loans."""
    folder = tmp_path_factory.mktemp("bank")
    lines = []
    for line in (OUTSIDE / "bank_exam" / "questions.jsonl").read_text().splitlines():
        question = json.loads(line)
        is_loan = question["topic"] == "Loans"
        said = f"My answer is {question['answer'] if is_loan else 'not known.'}"
        lines.append(json.dumps({"id": question["id"], "response": said}))
    (folder / "answers.jsonl").write_text("\n".join(lines))
    (folder / "study.yaml").write_text(STUDY)
    commands = [*OF_THE_PAGE, VERIFY, VERIFY_CHANGED, DRAW]
    (folder / "commands.json").write_text(json.dumps(commands))
    tests = ROOT / "tests"
    source = Path(fin_tasks.__file__).parents[1]
    paths = [source, OUTSIDE, tests / "contract", tests / "endpoints"]
    environ = {
        "HF_HUB_OFFLINE": "1",
        "FIN_TASKS_CACHE": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={**os.environ, **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def ran(folder: Path) -> dict[str, tuple[int, str]]:
    """The status and the output of each command."""
    found: dict[str, tuple[int, str]] = json.loads((folder / "ran.json").read_text())
    return found


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


def test_the_commands_of_the_page_end_well(ran: dict[str, tuple[int, str]]) -> None:
    assert {ran[command][0] for command in [*OF_THE_PAGE, DRAW]} == {0}


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


def test_it_is_verified(ran: dict[str, tuple[int, str]]) -> None:
    status_of_all, output = ran[VERIFY]
    assert status_of_all == 3
    tasks = json.loads(output)["tasks"]
    assert sorted(task["model"] for task in tasks) == ["dummy", "other", "scripted"]
    for task in tasks:
        status = {item["name"]: item["status"] for item in task["items"]}
        was_replayed = task["model"] == "other"
        assert status["prompts"] == ("not verified" if was_replayed else "verified")
        assert {status[name] for name in ("gold data", "rows", "scores")} == {
            "verified"
        }


def test_a_changed_score_is_found(ran: dict[str, tuple[int, str]]) -> None:
    status, output = ran[VERIFY_CHANGED]
    assert status == 1
    assert "failed        scores" in output


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
    sheet = (folder / "clear_1.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(StringIO(sheet)))
    assert len(rows) == 4
    assert all(row["response"].startswith("I think so.") for row in rows)

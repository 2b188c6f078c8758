"""Recorded models from a repository of a test's own: listed, downloaded, scored, and taken up again."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from typer.testing import CliRunner, Result

from fin_tasks.cli import app
from fin_tasks.data.locate import load_pins
from fin_tasks.errors import ConfigError
from fin_tasks.recordings import catalog
from fin_tasks.recordings.catalog import read_catalog, select
from fin_tasks.report import read
from fin_tasks.report.leaderboard import board as board_of
from fin_tasks.saved.run_folder import write_run
from fin_tasks.saved.scoring import score_responses

COMMIT = load_pins("financemath").revision
MODELS = ["calm-1", "calm-2", "bold-1"]
QUESTIONS: list[dict[str, Any]] = [
    {
        "question_id": f"validation-{number}",
        "question": f"What is {number} minus one, as the table says?",
        "tables": [f"| minus | {number} |"],
        "ground_truth": float(number - 1),
        "python_solution": f"def solution():\n    return {number} - 1",
        "topic": "Accounting",
    }
    for number in range(1, 5)
]
UTILS = """
def prepare_pot_model_input(examples, model):
    system_input = "You write code."
    program_prefix_input = "Write it now."
    table_input = "Look at this:\\n"

def prepare_cot_model_input(examples, model):
    system_input = "You think."
    program_prefix_input = "Think now."
"""


def rows(model: str, mode: str) -> list[dict[str, Any]]:
    recorded = []
    for question in QUESTIONS:
        answer = question["ground_truth"] + (model == "bold-1")
        output = f"We add.\n\nTherefore, the answer is {answer}."
        if mode == "pot":
            output = f"```python\ndef solution():\n    return {answer}\n```"
        result = {"acc": int(model != "bold-1"), "execution_rate": 1}
        said = {"output": [output], "result": result, "completion_tokens": 7}
        recorded.append({**question, **said})
    return recorded


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a copy of a repository with three models and two modes, and the list of its files."""
    folder = tmp_path / "copy"
    parts = []
    for mode in ("cot", "pot"):
        files = []
        for model in MODELS:
            path = f"outputs/{mode}/{model}.json"
            body = json.dumps(rows(model, mode)).encode()
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(body)
            sha256 = hashlib.sha256(body).hexdigest()
            size = len(body)
            files.append({"path": path, "model": model, "size": size, "sha256": sha256})
        parts.append({"mode": mode, "questions": len(QUESTIONS), "files": files})
    (folder / "data").mkdir()
    (folder / "data" / "validation.json").write_text(json.dumps(QUESTIONS))
    (folder / "utils").mkdir()
    (folder / "utils" / "model_input_utils.py").write_text(UTILS)
    listed = tmp_path / "recordings.json"
    facts = {"benchmark": "financemath", "repository": "yale-nlp/FinanceMath"}
    facts |= {"commit": COMMIT, "date": "2024-08-10", "license": "MIT"}
    listed.write_text(json.dumps([{**facts, "parts": parts}]))
    monkeypatch.setattr(catalog, "FILE", listed)
    return folder


@pytest.fixture
def server(
    repository: Path,
    no_proxy: None,
    own_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Loopback]:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with Loopback() as running:
        for path in repository.glob("outputs/*/*.json"):
            name = path.relative_to(repository).as_posix()
            running.files[f"/yale-nlp/FinanceMath/{COMMIT}/{name}"] = path.read_bytes()
        monkeypatch.setenv("FIN_TASKS_GITHUB_RAW", running.url)
        yield running


@pytest.fixture
def run(repository: Path, tmp_path: Path) -> Callable[..., Result]:
    def invoke(*arguments: object) -> Result:
        out = ["--out", str(tmp_path / "results")]
        return CliRunner().invoke(
            app, ["recordings", "financemath", *map(str, arguments), *out]
        )

    return invoke


def accuracies(folder: Path) -> dict[tuple[str, str], float]:
    found = {}
    for model, result in read(folder).results:
        found[model.model, result.task] = result.totals["paper"]["acc"]
    return found


# --- The real list ---


def test_each_benchmark_has_its_recorded_models() -> None:
    counts = {}
    for repository in read_catalog():
        for part in repository.parts:
            counts[repository.benchmark, part.name] = len(part.models)
            for file in part.files:
                assert len(file.sha256) == 64
                assert file.size > 0
                assert not file.path.startswith("/")
        assert len(repository.commit) == 40
        assert repository.license
    assert counts == {
        ("financemath", "cot"): 51,
        ("financemath", "pot"): 51,
        ("financereasoning", "cot"): 13,
        ("financereasoning", "pot"): 13,
        ("dynostock", "recency"): 9,
        ("dynostock", "authority"): 8,
        ("xfinbench", "bool"): 1,
    }


def test_a_window_size_is_a_file_of_one_recording() -> None:
    chosen = select(read_catalog(), "dynostock", models=["gpt-4o"], part="recency")
    assert [len(one.files) for one in chosen] == [5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"benchmark": "financmath"}, "expected one of financemath, financereasoning"),
        ({"part": "tot"}, "expected one of cot, pot, got 'tot'"),
        ({"models": ["gpt4o"]}, "no model is called 'gpt4o'. There are gpt-4o, "),
    ],
)
def test_a_name_that_is_not_there(arguments: dict[str, Any], message: str) -> None:
    options = {"benchmark": "financemath", **arguments}
    with pytest.raises(ConfigError, match=message):
        select(read_catalog(), options.pop("benchmark"), **options)


def test_the_list_is_printed() -> None:
    listed = CliRunner().invoke(app, ["recordings"])
    assert "BUPT-Reasoning-Lab/FinanceReasoning" in listed.stdout
    models = CliRunner().invoke(app, ["recordings", "financemath", "--json"])
    assert len(json.loads(models.stdout)["recordings"]) == 51


# --- Scoring ---


def test_runs_are_scored_and_say_who_recorded_them(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    assert run("--from", repository).exit_code == 0
    assert accuracies(tmp_path / "results") == {
        (f"recorded/{model}", task): float(model != "bold-1")
        for model in MODELS
        for task in ("financemath", "financemath_pot")
    }
    report = read(tmp_path / "results")
    assert {found.harness for found in report.runs} == {"recordings"}
    facts = {
        str(result.provenance["recording"]["decoding"]) for _, result in report.results
    }
    assert facts == {"unknown"}
    samples = next(tmp_path.glob("results/recorded__bold-1/samples_financemath_2*"))
    line = json.loads(samples.read_text().splitlines()[0])
    assert line["recorded"] == {"authors_score": 0, "tokens": 7}
    assert {cost.tokens_out for cost in board_of(report).costs} == {4 * 7}
    assert line["doc"]["prompt"].startswith("Table:\n| minus | 1 |")


def test_a_run_with_the_authors_prompts_is_ranked_with_them(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    run("--from", repository, "--mode", "cot")
    for prompts in ("upstream", "house"):
        metadata = {"data_dir": str(repository), "prompts": prompts}
        texts = {row["question_id"]: "The answer is 3." for row in QUESTIONS}
        own = score_responses("financemath", texts, metadata)
        write_run(
            tmp_path / "results", [own], model=f"own, {prompts}", made_by="replay"
        )
    board = board_of(read(tmp_path / "results"))
    names = {run.id: run.model for run in board.runs}
    ranked = [
        {names[rank.run] for rank in comparison.ranks}
        for comparison in board.comparisons
        if "/paper/" in comparison.task
    ]
    recorded = {f"recorded/{model}" for model in MODELS}
    assert sorted(ranked, key=len) == [{"own, house"}, recorded | {"own, upstream"}]
    (entry,) = (
        entry
        for entry in board.entries
        if entry.model == "recorded/calm-1"
        and entry.metric == "acc"
        and "/paper/" in entry.task
    )
    assert (
        "recorded by the authors (yale-nlp/FinanceMath, 2024-08-10)" in entry.remarks[0]
    )


@pytest.mark.slow
def test_lm_eval_with_the_authors_prompts_is_in_their_setting(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    # It imports lm_eval, which takes seconds that the other tests here do not need.
    from in_process import run as run_lm_eval
    from in_process import saved

    run("--from", repository)
    for prompts in ("upstream", "house"):
        scored = run_lm_eval(
            "financemath",
            answer=lambda doc: f"The answer is {doc['ground_truth']}.",
            source="auto",
            data_dir=str(repository),
            prompts=prompts,
        )
        saved(scored, tmp_path / "results" / prompts, model=f"own-{prompts}")
    board = board_of(read(tmp_path / "results"))
    models = {run.id: run.model for run in board.runs}
    ranked = []
    for comparison in board.comparisons:
        names = {models[rank.run] for rank in comparison.ranks}
        if (
            comparison.task.startswith("financemath/paper/")
            and "cot" in comparison.task
        ):
            ranked.append(names)
    recorded = {f"recorded/{model}" for model in MODELS}
    assert sorted(ranked, key=len) == [{"own-house"}, {"own-upstream", *recorded}]


def test_a_copy_may_hold_some_models_only(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    for path in repository.glob("outputs/*/calm-2.json"):
        path.unlink()
    result = run("--from", repository)
    assert result.exit_code == 0
    assert "2 of 6 have no file in" in result.stderr
    assert len(accuracies(tmp_path / "results")) == 4
    missing = run("--from", repository, "--models", "calm-2")
    assert missing.exit_code == 1
    assert "expected outputs/cot/calm-2.json" in str(missing.exception)


def test_what_is_there_is_not_done_again(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    run("--from", repository, "--models", "calm*", "--mode", "cot")
    before = sorted(tmp_path.glob("results/*/results_*.json"))
    result = run("--from", repository)
    assert "2 of 6 are in" in result.stderr
    after = sorted(tmp_path.glob("results/*/results_*.json"))
    assert len(before) == 2
    assert len(after) == 6
    assert set(before) < set(after)


def test_an_interrupted_run_counts_as_not_done(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    run("--from", repository, "--models", "bold-1", "--mode", "cot")
    (results,) = tmp_path.glob("results/*/results_*.json")
    results.write_text(results.read_text()[:200])
    run("--from", repository, "--models", "bold-1", "--mode", "cot")
    assert len(list(tmp_path.glob("results/*/results_*.json"))) == 2


def test_another_file_under_the_name_is_refused(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    (repository / "outputs/cot/bold-1.json").write_text("[]")
    result = run("--from", repository, "--mode", "cot")
    assert result.exit_code == 1
    assert "expected the file of commit" in str(result.exception)
    assert (repository / "outputs/cot/bold-1.json").is_file()
    assert not list(tmp_path.glob("results/*/results_*.json"))


def test_without_the_data_set_the_questions_of_the_recording_count(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    (repository / "data" / "validation.json").unlink()
    result = run("--from", repository, "--models", "calm-1", "--mode", "cot")
    assert result.exit_code == 0
    (samples,) = tmp_path.glob("results/*/samples_*.jsonl")
    doc = json.loads(samples.read_text().splitlines()[0])["doc"]
    assert doc["prompt"] == "| minus | 1 |\n\nWhat is 1 minus one, as the table says?"


def test_questions_that_changed_are_counted(
    run: Callable[..., Result],
    repository: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    changed = [{**QUESTIONS[0], "ground_truth": 3.05}, *QUESTIONS[1:]]
    (repository / "data" / "validation.json").write_text(json.dumps(changed))
    run("--from", repository, "--models", "calm-1", "--mode", "cot")
    assert "1 of 4 questions are not those of the data set" in caplog.text
    assert accuracies(tmp_path / "results") == {
        ("recorded/calm-1", "financemath"): 0.75
    }


# --- Downloads ---


def test_files_are_downloaded_once(
    server: Loopback, run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    arguments = ["--data-dir", repository, "--mode", "cot"]
    assert run("--models", "calm-1", *arguments).exit_code == 0
    assert run(*arguments).exit_code == 0
    asked = [path for path, _ in server.asked]
    assert len(asked) == len(set(asked)) == 3
    assert len(accuracies(tmp_path / "results")) == 3


def test_without_a_network_a_copy_may_be_named(
    run: Callable[..., Result], own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    message = str(run("--mode", "cot").exception)
    assert "or name a copy of https://github.com/yale-nlp/FinanceMath" in message
    assert "data_dir" not in message


# --- Beside one's own runs ---


@pytest.fixture
def compare(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> Callable[..., Result]:
    run("--from", repository)
    metadata = {"data_dir": str(repository), "prompts": "upstream"}
    texts = {row["question_id"]: "The answer is 3." for row in QUESTIONS}
    own = score_responses("financemath", texts, metadata)
    write_run(tmp_path / "results", [own], model="own", made_by="replay")

    def invoke(*names: str) -> Result:
        beside = [part for name in names for part in ("--with", name)]
        arguments = ["compare", str(tmp_path / "results"), "--json", *beside]
        return CliRunner().invoke(app, arguments)

    return invoke


def test_recorded_models_stand_beside_ones_own(compare: Callable[..., Result]) -> None:
    lines = json.loads(compare("financemath:calm-1").stdout)["lines"]
    assert [(line["run"], line["value"]) for line in lines] == [
        ("own", 0.25),
        ("recorded/calm-1", 1.0),
    ]
    assert lines[1]["difference"] == 0.75
    assert (lines[1]["gained"], lines[1]["lost"]) == (3, 0)
    nearest = json.loads(compare("nearest").stdout)["lines"]
    recorded = {f"recorded/{model}" for model in MODELS}
    assert {line["run"] for line in nearest} == {"own", *recorded}
    for name in ("financemath:calm-9", "xfinbench:calm-1"):
        error = str(compare(name).exception)
        assert f"found no '{name}' in the results" in error


def test_other_prompts_than_the_recorded_ones_are_named(
    run: Callable[..., Result], repository: Path, tmp_path: Path
) -> None:
    run("--from", repository, "--models", "calm-1", "--mode", "cot")
    texts = {row["question_id"]: "The answer is 3." for row in QUESTIONS}
    own = score_responses("financemath", texts, {"data_dir": str(repository)})
    write_run(tmp_path / "results", [own], model="own", made_by="replay")
    arguments = ["compare", str(tmp_path / "results"), "--with", "financemath:calm-1"]
    notes = CliRunner().invoke(app, [*arguments, "--json"]).output
    assert "own has no result to compare recorded/calm-1 with" in notes
    assert "asked with the authors' prompts" in notes

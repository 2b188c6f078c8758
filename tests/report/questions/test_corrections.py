"""Corrections of questions: the file, documents, saved responses, reports of runs, comparisons, sheets."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import run_files
import yaml
from answered_runs import write_runs
from click.testing import Result
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks.benchmarks.corrections import (
    Correction,
    note_of,
    read_corrections,
    with_truth,
)
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError, FinTasksError
from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.leaderboard_model import Entry, Leaderboard
from fin_tasks.report.write import write_report
from fin_tasks.saved.run_folder import write_run
from fin_tasks.saved.scoring import score_responses

SAMPLE = {"source": "sample"}
TASKS: dict[str, tuple[Any, list[str]]] = {
    "xfinbench_bool": (True, ["Therefore, my answer is TRUE.", "It is false."]),
    "xfinbench_mcq": ("C", ["Therefore, my answer is C.", "my answer is [A]."]),
    "xfinbench_calc": (
        5,
        ["Therefore, my answer is [5].", "It is 5.01.", "It is 500 %"],
    ),
    "financemath": (5.0, ["The answer is 5.", "It is 500", "The answer is 6."]),
    "financemath_pot": (5, ["```python\ndef solution():\n    return 5\n```", "5"]),
    "financereasoning_easy": (5, ["The answer is 5.", "It is 7"]),
    "bizbench_finknow": ("B", ["Therefore, my answer is B.", "(D)"]),
}
"""A truth for the second question of each task, and responses by turns."""


def write(folder: Path, *corrections: dict[str, Any]) -> Path:
    path = folder / "corrections.yaml"
    path.write_text(yaml.safe_dump({"corrections": list(corrections)}))
    return path


def correction(name: str, **more: Any) -> dict[str, Any]:
    return {"benchmark": "financemath", "id": name, **more}


Q1 = correction("q1", truth=2.5)
Q3 = correction("q3", exclude=True)


def load(path: Path, task: str, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return the documents of a task under corrections, and their provenance."""
    return TaskFile(task).load({**SAMPLE, **options, "corrections": str(path)})


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (correction("a"), "either exclude"),
        (correction("a", exclude=True, truth=4), "either exclude"),
        (correction("a", exclude=True, because="x"), "because"),
        ({"benchmark": "financemat", "id": "a", "exclude": True}, "financemat"),
        (correction("a", exclude=True, date="yesterday"), "date"),
        ({"id": "a", "exclude": True}, "benchmark"),
        (correction("a", truth=float("nan")), "truth"),
        (correction("twice", truth=1), "got two"),
    ],
)
def test_a_file_that_does_not_fit_is_one_sentence(
    tmp_path: Path, entry: dict[str, Any], message: str
) -> None:
    path = write(tmp_path, correction("twice", exclude=True), entry)
    with pytest.raises(FinTasksError, match=message) as error:
        read_corrections(path)
    assert "\n" not in str(error.value)


def test_notes_and_hashes(tmp_path: Path) -> None:
    one = correction("a", exclude=True, reason="unclear", by="me", date="2026-01-02")
    two = correction("b", truth=2)
    corrections = read_corrections(write(tmp_path, one, two))
    applied = corrections.of("financemath").values()
    assert note_of(applied) == "1 question excluded, 1 truth corrected"
    digest = corrections.facts("financemath", applied)["sha256"]
    reworded = read_corrections(write(tmp_path, two, {**one, "reason": "other"}))
    assert reworded.facts("financemath", ())["sha256"] == digest
    changed = read_corrections(write(tmp_path, one, {**two, "truth": 3}))
    assert changed.facts("financemath", ())["sha256"] != digest


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_corrected_like_documents(tmp_path: Path, task: str) -> None:
    """A run read under corrections has the scores of a run whose documents were corrected."""
    truth, texts = TASKS[task]
    task_file = TaskFile(task)
    docs, provenance = task_file.load(SAMPLE)
    names = [doc.get("id", doc.get("question_id")) for doc in docs]
    benchmark = task_file.benchmark.name
    file = write(
        tmp_path,
        {"benchmark": benchmark, "id": names[0], "exclude": True},
        {"benchmark": benchmark, "id": names[1], "truth": truth},
    )
    responses = {}
    for number, name in enumerate(names):
        responses[name] = texts[(number + 1) % len(texts)]
    # The right answer to the new truth.
    responses[names[1]] = texts[0]
    published = score_responses(task, responses, SAMPLE)
    corrected = score_responses(task, responses, {**SAMPLE, "corrections": str(file)})
    for name, run in (("published", published), ("corrected", corrected)):
        write_run(tmp_path / name, [run], model="m", made_by="fin-tasks replay")
    plain = read(tmp_path / "published")
    ours = read(tmp_path / "published", corrections=file)
    expected = read(tmp_path / "corrected")
    again = read(tmp_path / "corrected", corrections=file)
    assert not ours.problems
    order = ["scoring", "doc_id"]
    tables = []
    for report in (ours, expected, again):
        rows = report.rows.sort_values(order).drop(columns="run")
        tables.append(json.loads(rows.to_json(orient="records")))
    assert tables[0] == tables[1] == tables[2]
    assert len(ours.rows) == len(plain.rows) - 2
    accuracy = ours.rows.set_index("doc_id")["acc"]
    assert accuracy[names[1]].tolist() == [1, 1]
    results = [report.runs[0].tasks[0] for report in (ours, expected, again)]
    notes = [result.provenance["corrections"]["note"] for result in results]
    assert notes == ["1 question excluded, 1 truth corrected"] * 3
    assert len({result.settings["corrections.sha256"] for result in results}) == 1
    assert provenance["hash"] != corrected.provenance["hash"]
    assert [result.n for result in results] == [len(docs) - 1] * 3


@pytest.mark.parametrize(
    ("task", "truth"), [("financemath", "B"), ("xfinbench_mcq", 4.5)]
)
def test_a_truth_of_another_kind_is_refused(
    tmp_path: Path, task: str, truth: Any
) -> None:
    file = TaskFile(task)
    docs, _ = file.load(SAMPLE)
    name = docs[0].get("id", docs[0].get("question_id"))
    entry = {"benchmark": file.benchmark.name, "id": name, "truth": truth}
    path = write(tmp_path, entry)
    with pytest.raises(DataError, match=f"{name}: expected"):
        load(path, task)


@pytest.mark.parametrize(
    ("published", "truth", "corrected"),
    [
        ("1.0", False, "0"),
        ("-6.0", 6.5, "6.5"),
        ("true", False, "False"),
        ("B", "C", "C"),
        ("$ 4.5 million", "5 million", "5 million"),
        ("$ 4.5 million", 5e6, "5000000"),
        (125, 125.625, 125.625),
    ],
)
def test_a_truth_is_corrected_in_its_type(
    published: Any, truth: Any, corrected: Any
) -> None:
    entry = {"benchmark": "financemath", "id": "a", "truth": truth}
    doc = {"ground_truth": published}
    if isinstance(published, int):
        doc["exact_truth"] = published
    assert set(with_truth(doc, Correction(**entry)).values()) == {corrected}


def test_a_corrected_document_is_no_example_for_others(tmp_path: Path) -> None:
    path = write(tmp_path, correction("sample-1", truth=7))
    docs, _ = load(path, "financemath")
    assert (docs[0]["target"] != "", docs[1]["target"]) == (True, "")


def test_conversations_cannot_be_corrected() -> None:
    with pytest.raises(ConfigError, match="whose turns need each other"):
        load(Path("c.yaml"), "mme_finance_mt_zh")


def test_windows_can_only_be_excluded(tmp_path: Path) -> None:
    task = "dynostock_recency_w4_text"
    docs, plain = TaskFile(task).load({**SAMPLE, "sample_n": 4})
    ids = [doc["id"] for doc in docs]
    gone = {"benchmark": "dynostock", "id": ids[0]}
    path = write(tmp_path, {**gone, "exclude": True})
    left, facts = load(path, task, sample_n=4)
    # Another window may be drawn instead.
    assert [doc["id"] for doc in left if doc["id"] in ids] == ids[1:]
    assert facts["corrections"]["note"] == "1 question excluded"
    assert facts["hash"] != plain["hash"]
    path = write(tmp_path, {**gone, "truth": 1})
    with pytest.raises(DataError, match="follows from its prices"):
        load(path, task, sample_n=4)


def test_questions_for_a_judge_are_corrected(tmp_path: Path) -> None:
    docs, _ = TaskFile("mme_finance_en").load(SAMPLE)
    first, second = [doc["id"] for doc in docs[:2]]
    entry = {"benchmark": "mme_finance"}
    path = write(
        tmp_path,
        {**entry, "id": first, "exclude": True},
        {**entry, "id": second, "truth": "244.2"},
    )
    left, _ = load(path, "mme_finance_en")
    assert (len(left), left[0]["answer"]) == (len(docs) - 1, "244.2")


def test_a_task_says_which_questions_of_one_id_are_meant(tmp_path: Path) -> None:
    entry = {"benchmark": "mme_finance", "id": "1", "exclude": True}
    path = write(tmp_path, {**entry, "task": "mme_finance_zh"})
    tasks = ("mme_finance_en", "mme_finance_zh", "mme_finance_zh_na")
    n_left_out = []
    for name in tasks:
        docs, _ = TaskFile(name).load(SAMPLE)
        left, _ = load(path, name)
        n_left_out.append(len(docs) - len(left))
    assert n_left_out == [0, 1, 1]
    corrections = read_corrections(path)
    found = [len(corrections.of("mme_finance", name)) for name in tasks]
    assert found == [0, 1, 1]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    answers = {"good": [12, 2.5, 31.5, 44], "fair": [12, 2.5, 30, 44]}
    return write_runs(tmp_path, [12.0, 250.0, 31.5, 40.0], answers)


def accuracies(found: Leaderboard) -> dict[str, Entry]:
    """Return the entries of the robust accuracy by model."""
    entries = [entry for entry in found.entries if entry.metric == "acc"]
    return {entry.model: entry for entry in entries if "robust" in entry.task}


def test_a_report_lists_corrections_and_has_both_values(
    runs: Path, tmp_path: Path
) -> None:
    not_asked = correction("q9", exclude=True)
    reason = {"reason": "No | answer"}
    path = write(tmp_path, {**Q1, "by": "Ada"}, {**Q3, **reason}, not_asked)
    out = tmp_path / "report"
    options = {"samples": False, "published": False}
    found = write_report(runs, out, corrections=path, **options).leaderboard
    listed = {one.id: one for one in found.question_corrections}
    assert listed.keys() == {"q1", "q3"}
    assert (listed["q1"].published, listed["q1"].truth) == ("250", "2.5")
    assert (listed["q1"].by, listed["q3"].exclude) == ("Ada", True)
    plain = board(read(runs), papers=False)
    assert not plain.question_corrections
    # Without corrections good has q0 and q2 right of four, fair only q0.
    values = {"good": (1, 2 / 4), "fair": (2 / 3, 1 / 4)}
    entries = accuracies(found)
    assert entries.keys() == values.keys()
    for model, published in accuracies(plain).items():
        entry = entries[model]
        assert (entry.value, entry.uncorrected) == values[model]
        assert published.value == entry.uncorrected
        assert entry.remarks == ["1 question excluded, 1 truth corrected"]
        assert entry.question_corrections == entry.remarks[0]
        assert published.doubts == entry.doubts == []
        # They are not ranked together.
        assert published.group != entry.group
    table = (out / "tables" / "financemath.md").read_text()
    assert "(corrections.md)" in table
    assert "50.0 without the corrections" in table
    corrections = (out / "tables" / "corrections.md").read_text()
    assert r"| financemath | q3 | 40 | excluded | No \| answer |" in corrections
    line = pd.read_csv(out / "leaderboard.csv").query("metric == 'acc'")
    assert line["uncorrected"].dropna().tolist()[-1] in (0.25, 0.5)


def test_a_correction_that_a_judge_would_need_is_a_problem_of_the_file(
    tmp_path: Path,
) -> None:
    rows = [{"score": 60.0, "unscored": 0.0}, {"score": 20.0, "unscored": 0.0}]
    docs = [{"answer": "a"}, {"answer": "b"}]
    run_files.write_run(tmp_path / "run", {"mme_finance_en": rows}, docs=docs)
    entry = {"benchmark": "mme_finance", "id": "mme_finance_en-0"}
    path = write(tmp_path, {**entry, "truth": "c"})
    report = read(tmp_path / "run", corrections=path)
    assert "exclude: true" in report.problems[0].message
    path = write(tmp_path, {**entry, "exclude": True})
    report = read(tmp_path / "run", corrections=path)
    assert not report.problems
    assert report.rows["doc_id"].unique().tolist() == ["mme_finance_en-1"]


def test_commands(runs: Path, tmp_path: Path) -> None:
    path = write(tmp_path, Q1, Q3)
    under = ("--by", "corrections", "--scoring", "robust", "--json")
    lines = json.loads(run("compare", runs, "--corrections", path, *under).stdout)
    found = [
        (line["model"], line["run"], round(line["value"], 3)) for line in lines["lines"]
    ]
    assert found == [
        ("fair", "published", 1 / 4),
        ("fair", "corrected", 0.667),
        ("good", "published", 2 / 4),
        ("good", "corrected", 3 / 3),
    ]
    refused = run("compare", runs, "--by", "corrections")
    assert "expected --corrections" in str(refused.exception)
    listed = run("questions", runs, "--corrections", path, "--json").stdout
    rows = json.loads(listed)["questions"]
    truths = {row["question"]: row["truth"] for row in rows}
    assert truths == {"q0": "12", "q1": "2.5", "q2": "31.5"}


def test_replay_of_a_recording_honors_corrections(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    path = write(tmp_path, Q1, Q3)
    out = tmp_path / "replayed"
    file = runs.parent / "good.json"
    options = ("--out", out, "--corrections", path)
    assert run("replay", "financemath", "--mode", "cot", file, *options).exit_code == 0
    assert read(out).rows["acc"].tolist() == [1.0] * 6


def test_decisions_in_a_sheet_become_corrections(runs: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "questions.xlsx"
    run("questions", runs, "--out", sheet)
    book = load_workbook(sheet)
    cells = book.active
    columns = {cell.value: cell.column for cell in cells[1]}
    decisions = {"q1": ("truth", "2.5"), "q3": ("leave", "")}
    for row in range(2, cells.max_row + 1):
        decision, truth = decisions.pop(cells.cell(row, columns["id"]).value)
        filled = {"decision": decision, "new_truth": truth, "by": "Ada"}
        for name, text in {**filled, "date": "2026-11-30"}.items():
            cells.cell(row, columns[name]).value = text
    assert not decisions
    book.save(sheet)
    out = tmp_path / "corrections.yaml"
    result = run("label", "corrections", sheet, "--out", out)
    assert result.exit_code == 1  # one row cannot be used
    assert "expected one of keep, exclude, truth, got 'leave'" in result.output
    (entry,) = read_corrections(out).of("financemath").values()
    assert (entry.id, entry.truth, entry.by) == ("q1", 2.5, "Ada")
    assert str(entry.date) == "2026-11-30"


def test_people_who_differ_correct_nothing(tmp_path: Path) -> None:
    header = "benchmark,id,decision,new_truth,reason,by,date\n"
    one = tmp_path / "one.csv"
    two = tmp_path / "two.csv"
    rows = ("exclude", "truth", "exclude", "keep")
    others = ("exclude", "exclude", "", "keep")
    for path, decisions in ((one, rows), (two, others)):
        lines = [
            f"financemath,q{number},{decision},{7 if decision == 'truth' else ''},,,\n"
            for number, decision in enumerate(decisions)
        ]
        path.write_text(header + "".join(lines))
    out = tmp_path / "corrections.yaml"
    result = run("label", "corrections", one, two, "--out", out)
    assert result.exit_code == 1
    assert "q1: expected one decision, got several" in result.output
    assert read_corrections(out).of("financemath").keys() == {"q0", "q2"}

"""Rows as lm-eval documents."""

import json
import logging
import os
from pathlib import Path
from typing import Any

import bizbench_folder
import pytest

import fin_tasks
from fin_tasks import sandbox
from fin_tasks.answers.programs import extract_program
from fin_tasks.benchmarks.bizbench.data import CONTEXT_CHARS, SUBSETS, load
from fin_tasks.benchmarks.bizbench.doc_scores import score_attempt, score_outcome, score_response
from fin_tasks.benchmarks.bizbench.formulas import programs_of
from fin_tasks.benchmarks.bizbench.row import PARTS
from fin_tasks.errors import ConfigError, DataError

MODES = {
    **dict.fromkeys(("fincode", "codefinqa", "codetatqa"), "pot"),
    **dict.fromkeys(("convfinqa_e", "tatqa_e", "secnum", "finknow", "paper_choice", "paper_quantity"), "cot"),
    "formulaeval": "code",
}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return bizbench_folder.write(tmp_path / "data")


def documents(part: str, **options: Any) -> list[dict[str, Any]]:
    (rows,) = load(**{"part": part, "mode": MODES[part], "source": "sample", **options}).values()
    return rows.to_list()


def provenance(part: str, **options: Any) -> dict[str, Any]:
    (rows,) = load(**{"part": part, "mode": MODES[part], "source": "sample", **options}).values()
    return dict(json.loads(rows.info.description))


def from_folder(part: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    return documents(part, source="data_dir", data_dir=str(folder), **options)


@pytest.mark.parametrize("part", PARTS)
def test_the_sample_has_enough_of_every_part(part: str) -> None:
    docs = documents(part)
    assert len(docs) >= 5
    assert {doc["part"] for doc in docs} == {part}
    assert all(doc["context_cut"] == 0 for doc in docs)


@pytest.mark.parametrize("part", [*PARTS, "paper_choice", "paper_quantity"])
def test_every_target_of_the_sample_is_right(part: str) -> None:
    modes = ["cot", "pot"] if part == "paper_quantity" else [MODES[part]]
    with sandbox.open_runner() as runner:
        for mode in modes:
            for doc in documents(part, mode=mode):
                for variant in ("paper", "robust"):
                    scored = score_target(doc, runner, variant)
                    # The authors compare floats as they are, and answers in files are rounded: near is all one can be.
                    rounded = variant == "paper" and doc["mode"] == "pot"
                    assert scored["correct_err" if rounded else "correct"] is True, (doc["id"], variant, scored)
                    assert scored["correct_err"] is (True if doc["kind"] == "number" else None), doc["id"]


def score_target(doc: dict[str, Any], runner: sandbox.Runner, variant: str) -> dict[str, Any]:
    if doc["mode"] == "pot":
        (outcome,) = runner.run([extract_program(doc["target"])])
        return score_outcome(doc, outcome, variant=variant)
    if doc["mode"] == "code":
        return score_attempt(doc, (doc["target"], runner.run(programs_of(doc, doc["target"]))), variant=variant)
    return score_response(doc, doc["target"], variant=variant)


def test_documents_of_every_kind(folder: Path) -> None:
    (quantity, words) = from_folder("tatqa_e", folder)
    assert (quantity["kind"], quantity["mode"], quantity["ground_truth"]) == ("number", "cot", "(800)")
    assert quantity["target"] == "Therefore, my answer is [-800]."
    assert words["ground_truth"] == "more staff"
    (liability, asset) = from_folder("finknow", folder)
    assert (liability["letter"], liability["options"]) == ("B", ["Cash", "Loan", "Plant"])
    assert asset["letter"] == ""
    (growth,) = from_folder("codefinqa", folder)
    assert growth["target"] == "```python\ndef solution():\n    return 1250 / 1000 - 1\n```"
    (average,) = from_folder("codetatqa", folder)
    assert average["target"] == "```python\ndef solution():\n    return -850\n```"


def test_formulas_of_both_kinds_in_one_task(folder: Path) -> None:
    (choice, code, without) = from_folder("formulaeval", folder)
    assert (choice["kind"], choice["mode"], choice["letter"], choice["program"]) == ("choice", "cot", "B", "")
    assert (code["kind"], code["mode"], code["letter"]) == ("code", "code", "")
    assert code["program"] == "def margin(profit, sales):\n    return profit / sales"
    assert without["program"] == ""
    assert choice["task_mode"] == code["task_mode"] == "code"


@pytest.mark.parametrize("kept", [slice(9, 10), slice(10, 11)])
def test_formulas_of_one_kind_only(kept: slice, tmp_path: Path) -> None:
    folder = bizbench_folder.write(tmp_path / "one", bizbench_folder.ROWS[kept])
    (doc,) = from_folder("formulaeval", folder)
    assert doc["kind"] == ("choice" if kept.start == 9 else "code")


def test_cut_documents_are_counted_everywhere(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = {"source": "data_dir", "data_dir": str(folder), "max_context_chars": 40}
    with caplog.at_level(logging.WARNING):
        docs, facts = documents("tatqa_e", **options), provenance("tatqa_e", **options)
    dropped = [doc["context_cut"] for doc in docs]
    assert all(dropped)
    assert all("left out" in doc["prompt"] for doc in docs)
    assert facts["context"] == {"max_chars": 40, "cut_rows": 2, "cut_chars": sum(dropped)}
    assert "2 of 2 documents are cut to 40 characters" in caplog.text


def test_a_document_of_any_length_can_be_asked_whole(tmp_path: Path) -> None:
    long = bizbench_folder.question("SEC-NUM", "Sales?", "1", context="word " * CONTEXT_CHARS)
    folder = bizbench_folder.write(tmp_path / "long", (long,))
    assert from_folder("secnum", folder)[0]["context_cut"] >= 4 * CONTEXT_CHARS
    assert from_folder("secnum", folder, max_context_chars=None)[0]["context_cut"] == 0


def test_the_papers_sample_leaves_sec_num_out_and_is_drawn_by_seed(tmp_path: Path) -> None:
    rows = tuple(
        bizbench_folder.question(task, f"Question {place}?", "1", context="1", options=options)
        for place in range(40)
        for task, options in (("SEC-NUM", None), ("TAT-QA (E)", None), ("FinKnow", ["1", "2"]))
    )
    folder = bizbench_folder.write(tmp_path / "many", rows)
    quantity, choice = (from_folder(part, folder, sample_n=50) for part in ("paper_quantity", "paper_choice"))
    assert {doc["part"] for doc in quantity} == {"tatqa_e"}
    assert {doc["part"] for doc in choice} == {"finknow"}
    assert (len(quantity), len(choice)) == (36, 14)
    other = from_folder("paper_quantity", folder, sample_n=50, sample_seed=1)
    assert {doc["id"] for doc in other} != {doc["id"] for doc in quantity}
    assert from_folder("paper_quantity", folder, sample_n=50) == quantity


def test_provenance_tells_runs_apart(folder: Path) -> None:
    facts = provenance("tatqa_e")
    assert facts["data"]["origin"] == "sample"
    assert facts["fin_tasks"] == fin_tasks.__version__
    assert (facts["split"], facts["part"], facts["sample"], facts["left_out"]) == ("test", "tatqa_e", None, {})
    hashes = [
        facts["hash"],
        provenance("secnum")["hash"],
        provenance("tatqa_e", max_context_chars=None)["hash"],
        provenance("tatqa_e", source="data_dir", data_dir=str(folder))["hash"],
        provenance("paper_quantity")["hash"],
        provenance("paper_quantity", mode="pot")["hash"],
        provenance("paper_quantity", sample_seed=7)["hash"],
    ]
    assert len(set(hashes)) == len(hashes)
    assert provenance("tatqa_e")["hash"] == facts["hash"]


def test_rows_that_cannot_be_asked_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = (*bizbench_folder.ROWS, bizbench_folder.question("Poetry", "Why?", "1"))
    folder = bizbench_folder.write(tmp_path / "odd", rows)
    with caplog.at_level(logging.WARNING):
        facts = provenance("secnum", source="data_dir", data_dir=str(folder))
    assert facts["left_out"] == {"unknown-task": ["test_12"]}
    assert "unknown-task 1 (test_12)" in caplog.text


def test_what_is_said_of_a_file_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = (*bizbench_folder.ROWS, bizbench_folder.question("Poetry", "Why?", "1"))
    folder = bizbench_folder.write(tmp_path / "odd", rows)
    with caplog.at_level(logging.WARNING):
        for part in ("finknow", "secnum", "paper_choice", "paper_quantity"):
            from_folder(part, folder)
        from_folder("paper_quantity", folder, mode="pot")
    said = [record.getMessage() for record in caplog.records]
    assert len([line for line in said if "unknown-task" in line]) == 1
    assert len([line for line in said if "the paper's sample has 9 rows, not 500" in line]) == 1
    assert len(said) == 2


def test_knowledge_without_options_is_in_no_column_of_the_paper(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = (*bizbench_folder.ROWS, bizbench_folder.question("FinKnow", "How many quarters has a year?", "4"))
    folder = bizbench_folder.write(tmp_path / "odd", rows)
    assert from_folder("finknow", folder)[-1]["kind"] == "number", "the part's own task asks it"
    with caplog.at_level(logging.WARNING):
        docs = from_folder("paper_quantity", folder)
    assert "finknow" not in {doc["part"] for doc in docs}
    assert "out of the paper's sample: knowledge-without-options 1 (test_12)" in caplog.text
    left_out = {"knowledge-without-options": ["test_12"]}
    for part, expected in (("paper_quantity", left_out), ("paper_choice", left_out), ("finknow", {})):
        assert provenance(part, source="data_dir", data_dir=str(folder))["left_out"] == expected


def test_rows_without_a_usable_truth_have_no_target(folder: Path) -> None:
    (_, words) = from_folder("tatqa_e", folder)
    (_, tree) = from_folder("finknow", folder)
    (_, _, no_code) = from_folder("formulaeval", folder)
    (_, in_program) = from_folder("tatqa_e", folder, mode="pot")
    assert [doc["target"] for doc in (words, tree, no_code, in_program)] == [""] * 4


def test_a_changed_file_is_read_again(folder: Path) -> None:
    assert len(from_folder("finknow", folder)) == 2
    bizbench_folder.write(folder, bizbench_folder.ROWS[:8])
    os.utime(folder / "test.jsonl", (1, 1))
    assert len(from_folder("finknow", folder)) == 1


def test_nothing_to_ask_is_an_error_that_says_what_there_is(tmp_path: Path) -> None:
    folder = bizbench_folder.write(tmp_path / "few", bizbench_folder.ROWS[:1])
    with pytest.raises(
        DataError, match=r"bizbench secnum: expected at least one row in test\.jsonl.*FinCode|fincode 1"
    ):
        from_folder("secnum", folder)


def test_harness_options_that_are_not_ours_are_ignored() -> None:
    assert documents("finknow", pretrained="gpt2", revision="main", dtype="float32", version=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"part": "essay"}, "part to be one of fincode, .*paper_quantity, got 'essay'"),
        ({"mode": "da"}, "mode to be one of cot, pot, code, got 'da'"),
        ({"split": "dev"}, "got 'dev'"),
        ({"source": "web"}, "got 'web'"),
        ({"max_context_chars": 0}, "max_context_chars: expected a whole number from 1, got 0"),
        ({"max_context_chars": "long"}, "got 'long'"),
        ({"sample_n": True}, "sample_n: expected a whole number from 1, got True"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(**{"part": "finknow", "mode": "cot", "source": "sample", **options})


def test_every_subset_has_a_mode_here() -> None:
    assert MODES.keys() == SUBSETS.keys()

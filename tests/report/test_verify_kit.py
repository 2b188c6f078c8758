"""`fin-tasks verify` on run folders of VLMEvalKit, written as our data sets write them there."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from chat_server import completion, serve

from fin_tasks.adapters.vlmeval_results import ResultFiles, task_version
from fin_tasks.adapters.vlmeval_table import responses_file
from fin_tasks.benchmarks import response_scores
from fin_tasks.benchmarks.mme_finance.old_data import judge_item
from fin_tasks.judging.asked import Asked, asked_file
from fin_tasks.judging.old_item import Verdict, response_sha256
from fin_tasks.judging.old_judge import Judged, Spent
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.predictions_files import read_saved
from fin_tasks.judging.predictions_tables import CELL_LIMIT
from fin_tasks.judging.score_tables import score_tables
from fin_tasks.judging.scores import item_record, summary
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.report.kit_files import TASKS
from fin_tasks.report.verify.findings import Report
from fin_tasks.report.verify.kit_run import _question
from fin_tasks.report.verify.own_data import load_own
from fin_tasks.report.verify.submission import Against, verify
from fin_tasks.report.verify.task_files import task_file
from fin_tasks.settings import Settings

Rows = list[dict[str, Any]]


def response_of(place: int, doc: Mapping[str, Any]) -> str:
    if place == 2:
        return "Failed to obtain answer via API."
    return f"=1+{place}" if place == 1 else f"I have looked at picture {place}. {doc['target']}"


def write_predictions(path: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        sheet.append(cells)
    book.save(path)
    kept = [json.dumps({name: str(row[name]) for name in ("index", "prediction")}) + "\n" for row in rows]
    responses_file(path).write_text("".join(kept))


def write_run(folder: Path, dataset: str) -> None:
    """Write what a run leaves behind, with the functions that write it there."""
    folder.mkdir(parents=True)
    task = task_file(TASKS[dataset])
    assert task is not None
    own = load_own(task, {"source": "sample"})
    docs = list(own.docs.values())
    responses = [response_of(place, doc) for place, doc in enumerate(docs)]
    judged = dataset.startswith("MME")
    predictions = folder / f"tested_{dataset}.xlsx"
    answer = "answer" if judged else "ground_truth" if dataset.startswith("XFin") else "truth"
    rows = [
        {"index": doc["id"], "question": _question(doc), "answer": str(doc[answer]), "prediction": response}
        for doc, response in zip(docs, responses, strict=True)
    ]
    write_predictions(predictions, rows)
    asked = Asked.of(
        dataset,
        own.provenance,
        questions={name: _question(doc) for name, doc in own.docs.items()},
        texts={name: response_scores.text_of(doc) for name, doc in own.docs.items()},
    )
    asked_file(predictions).write_text(json.dumps({"sha256": asked.sha256, "facts": asked.facts}))
    counted = {"rows_expected": len(docs), "missing": 0}
    run = {"dataset": dataset, "task_version": task_version(task.name.split("_")[0] if not judged else "mme_finance")}
    cut = {"response_cut": False}
    if judged:
        rubric = load_rubric("mme_finance_en")
        items = [judge_item(doc, response) for doc, response in zip(docs, responses, strict=True)]
        verdicts = [
            Verdict(error="none", failed="response") if place == 2 else Verdict(score=place % 6, raw=str(place % 6))
            for place in range(len(items))
        ]
        setup = JudgeSetup(model="judge", base_urls=("http://127.0.0.1:9/v1",), rubric=rubric.name)
        told = Judged(verdicts=tuple(verdicts), rubric=rubric, setup=setup, spent=Spent())
        found = summary(items, verdicts, rubric=rubric)
        results = ResultFiles(predictions=predictions, label="judge")
        run |= {"judge": "judge", "rubric": rubric.label, "rubric_sha256": rubric.sha256, "image": True, **counted}
        run |= {"judging": {"temperatures": [0.0], "max_tokens": 3, "scale": [0, 5]}, "requests": 9, "cached": 0}
        tables = score_tables(found, counted, judge="judge", rubric=rubric.label, image=True)
        lines = [
            {**item_record(item, verdict, told), **cut, "source": Path(doc["image_path"]).name}
            for item, verdict, doc in zip(items, verdicts, docs, strict=True)
        ]
    else:
        make = response_scores.xfinbench if dataset.startswith("XFin") else response_scores.dynostock
        texts = [None if place == 2 else text for place, text in enumerate(responses)]
        totals, scored = response_scores.score(docs, texts, make(**task.options))
        counts = {"n": len(docs), **counted}
        found = {f"{name}_{variant}": value for name, of in totals.items() for variant, value in of.items()} | counts
        results = ResultFiles(predictions=predictions)
        tables = {"overall": [{"metric": name, **of, **counts} for name, of in totals.items()]}
        lines = [{**line, **cut} for line in scored]
    for name, cells in tables.items():
        results.write_table(f"{name}.csv", cells)
    results.write_items(lines)
    results.write_score({**found, **run, "responses_cut": 0, "provenance": own.provenance})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    for dataset in ("MMEFinance", "XFinBench_MCQ_V", "DynoStock_Recency_W4"):
        write_run(folder / dataset / "T20261122_G", dataset)
    return folder


@pytest.fixture
def one(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    def make(dataset: str) -> Path:
        return Path(shutil.copytree(runs / dataset, tmp_path / "submitted"))

    return make


def checked(folder: Path, **against: Any) -> Report:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(folder.parent / "cache"), "NO_PROXY": "127.0.0.1"})
    return verify(folder, settings=settings, against=Against(**against))


def having(report: Report, status: str) -> set[str]:
    return {one.check for one in report.findings if one.status.value == status}


def file_of(folder: Path, ending: str) -> Path:
    (path,) = folder.rglob(f"*{ending}")
    return path


def change_items(folder: Path, how: Callable[[Rows], Rows | None]) -> None:
    path = file_of(folder, "_items.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = how(rows) or rows
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def change_score(folder: Path, **values: Any) -> None:
    path = file_of(folder, "_score.json")
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **values}), encoding="utf-8")


def change_predictions(folder: Path, how: Callable[[Rows], Rows | None]) -> None:
    """Change the table, and the responses that are kept beside it as a careful cheat would."""
    path = file_of(folder, ".xlsx")
    rows = [dict(row.fields) for row in read_saved(path).rows]
    write_predictions(path, how(rows) or rows)


def test_what_the_data_sets_write_passes(runs: Path) -> None:
    report = checked(runs)
    assert having(report, "fail") == set(), [one for one in report.findings if one.status.value == "fail"]
    assert having(report, "warn") == {"unscored"}, "a response could not be had, and its row does not count"
    assert report.exit_code == 3
    found = {(one.task, one.check): one.status.value for one in report.findings}
    for dataset in ("MMEFinance", "XFinBench_MCQ_V", "DynoStock_Recency_W4"):
        for check in ("versions", "data", "rows", "documents", "prompts", "responses", "scores", "aggregates"):
            assert found[dataset, check] == "pass", (dataset, check)
    assert (found["MMEFinance", "verdicts"], found["MMEFinance", "judge"]) == ("pass", "not checked")
    assert report.tasks == 3


def test_a_run_that_needs_no_judge_is_verified(one: Callable[[str], Path]) -> None:
    assert checked(one("XFinBench_MCQ_V")).exit_code == 0


def test_a_run_is_found_by_its_score_file(one: Callable[[str], Path]) -> None:
    assert checked(file_of(one("XFinBench_MCQ_V"), "_score.json")).tasks == 1


def test_a_row_with_another_score_than_its_response(one: Callable[[str], Path]) -> None:
    folder = one("DynoStock_Recency_W4")
    change_items(folder, lambda rows: rows[1]["robust"].update(correct=True))
    assert having(checked(folder), "fail") == {"scores"}


def test_a_response_that_was_improved(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    change_predictions(folder, lambda rows: rows[1].update(prediction=rows[0]["prediction"]))
    assert "scores" in having(checked(folder), "fail")


def test_responses_that_are_not_those_of_the_table(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    path = file_of(folder, "_responses.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace("picture 4", "picture 5"), encoding="utf-8")
    assert having(checked(folder), "fail") == {"responses"}


@pytest.mark.parametrize("dataset", ["XFinBench_MCQ_V", "MMEFinance"])
def test_rows_that_were_left_out(one: Callable[[str], Path], dataset: str) -> None:
    folder = one(dataset)
    change_predictions(folder, lambda rows: rows[:1] + rows[2:])
    change_items(folder, lambda rows: rows[:1] + rows[2:])
    assert {"rows", "aggregates"} <= having(checked(folder), "fail")


def test_a_run_over_the_first_rows_is_a_part(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    change_predictions(folder, lambda rows: rows[:4])
    change_items(folder, lambda rows: rows[:4])
    report = checked(folder)
    assert "rows" not in having(report, "fail")
    assert "limit" in having(report, "warn")
    assert "aggregates" in having(report, "fail"), "these are totals over all rows"


def test_a_row_that_the_data_set_does_not_have(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_predictions(folder, lambda rows: [*rows, {**rows[0], "index": "7000"}])
    assert having(checked(folder), "fail") == {"rows"}


def test_totals_of_every_file(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_score(folder, overall=99.0)
    path = file_of(folder, "_category.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",100.0"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = checked(folder)
    assert having(report, "fail") == {"aggregates"}
    (found,) = (one for one in report.findings if one.status.value == "fail")
    assert found.details[0].startswith("overall: is ") and found.details[1].startswith("category.csv, row 1")


def test_verdicts_that_the_judge_did_not_give(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_items(folder, lambda rows: rows[1].update(score=5))
    assert "verdicts" in having(checked(folder), "fail")


def test_a_score_for_a_model_that_gave_no_response(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_items(folder, lambda rows: rows[2].update(score=5, raw="5", failed=None))
    assert {"verdicts", "scores"} <= having(checked(folder), "fail")


def test_verdicts_by_another_rubric(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_items(folder, lambda rows: [{**row, "rubric_sha256": "0" * 64} for row in rows])
    assert having(checked(folder), "fail") == {"verdicts"}


def test_a_judge_is_asked_again(one: Callable[[str], Path], no_proxy: None) -> None:
    folder = one("MMEFinance")
    with serve(lambda _: completion("0")) as strict:
        setup = JudgeSetup(model="strict", base_urls=(strict.base_url,), rubric="mme_finance_en")
        assert having(checked(folder, judge=setup, judge_rows=6), "fail") == {"judge"}


def test_questions_and_gold_answers_of_the_file_are_not_believed(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")

    def other(rows: Rows) -> None:
        rows[1].update(answer="C" if rows[1]["answer"] != "C" else "A")
        rows[3].update(question="Is one and one two?")

    change_predictions(folder, other)
    assert having(checked(folder), "fail") == {"documents"}


def test_a_model_that_was_asked_something_else(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    path = file_of(folder, "_asked.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "sha256": "0" * 64}))
    assert having(checked(folder), "fail") == {"prompts"}
    path.unlink()
    assert "prompts" in having(checked(folder), "warn"), "nothing says what was asked"


def test_data_of_another_revision(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    said = json.loads(file_of(folder, "_score.json").read_text())["provenance"]
    change_score(folder, provenance={**said, "data": {**said["data"], "revision": "0" * 16}})
    assert having(checked(folder), "fail") == {"data"}


def test_what_cannot_be_read_is_not_verified(one: Callable[[str], Path], tmp_path: Path) -> None:
    folder = one("XFinBench_MCQ_V")
    file_of(folder, ".xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    assert having(checked(folder), "fail") == {"samples"}
    file_of(folder, ".xlsx").unlink()
    report = checked(folder)
    assert (having(report, "fail"), having(report, "not checked")) == ({"samples"}, {"scores"})


def test_links_out_of_the_folder_are_not_followed(one: Callable[[str], Path], tmp_path: Path) -> None:
    folder = one("XFinBench_MCQ_V")
    path = file_of(folder, ".xlsx")
    shutil.move(path, tmp_path / "elsewhere.xlsx")
    path.symlink_to(tmp_path / "elsewhere.xlsx")
    report = checked(folder)
    assert having(report, "fail") == {"samples"}
    assert any("link" in detail for one in report.findings for detail in one.details)


def test_facts_of_what_was_asked_are_compared_too(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    path = file_of(folder, "_asked.json")
    said = json.loads(path.read_text())
    path.write_text(json.dumps({**said, "facts": {**said["facts"], "split": "another"}}))
    assert having(checked(folder), "fail") == {"prompts"}


def test_another_judge_than_the_rows_have(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_score(folder, judge="gpt-4o")
    assert {"verdicts", "scores", "aggregates"} <= having(checked(folder), "fail")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("judging", {"temperatures": [0.0], "max_tokens": 3, "scale": [-5, 5]}),
        ("overall_best", 99.0),
        ("n", 400),
        ("image", "yes"),
    ],
)
def test_what_a_score_file_says_beside_its_totals(one: Callable[[str], Path], name: str, value: Any) -> None:
    folder = one("MMEFinance")
    change_score(folder, **{name: value})
    assert "aggregates" in having(checked(folder), "fail")


def test_a_data_set_that_poses_as_another(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    for path in list(folder.rglob("*_MMEFinance*")):
        path.rename(path.with_name(path.name.replace("MMEFinance", "MMEFinance_NA")))
    change_score(folder, dataset="MMEFinance_NA")
    assert {"data", "prompts"} <= having(checked(folder), "fail")


def test_each_score_file_is_verified(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    score = file_of(folder, "_score.json")
    other = score.with_name(score.name.replace("_judge_", "_better_"))
    other.write_text(json.dumps({**json.loads(score.read_text(encoding="utf-8")), "overall": 99.0}), encoding="utf-8")
    report = checked(folder)
    assert report.tasks == 2
    assert "samples" in having(report, "fail"), "the other has no items"


def test_results_of_predictions_that_are_not_there(one: Callable[[str], Path]) -> None:
    folder = one("XFinBench_MCQ_V")
    change_predictions(folder, lambda rows: rows[:3])
    assert {"rows", "aggregates"} <= having(checked(folder), "fail")


def test_wrong_responses_cannot_be_said_to_have_failed(one: Callable[[str], Path]) -> None:
    folder = one("DynoStock_Recency_W4")

    def fail(rows: Rows) -> None:
        for row in rows[:8]:
            row["prediction"] = "Failed to obtain answer via API."

    change_predictions(folder, fail)
    assert {"unscored", "scores"} <= having(checked(folder), "fail")


def test_responses_that_were_changed_after_they_were_judged(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")

    def improve(rows: Rows) -> None:
        rows[5].update(prediction=rows[5]["answer"])
        rows[7].update(prediction=f"{rows[7]['prediction']} ")

    change_predictions(folder, improve)
    report = checked(folder)
    assert having(report, "fail") == {"graded"}
    (found,) = (one for one in report.findings if one.check == "graded")
    assert (found.count, report.exit_code) == (2, 1)
    assert [detail.partition(":")[0] for detail in found.details] == ["line 6", "line 8"]


def test_a_response_that_was_changed_behind_the_end_of_its_cell(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    long = "x" * 40_000
    write_long(folder, long)
    change_items(folder, lambda rows: rows[5].update(response_sha256=response_sha256(long)))
    assert having(checked(folder), "fail") == set()
    write_long(folder, f"{long[:-1]}y")
    assert having(checked(folder), "fail") == {"graded"}


def write_long(folder: Path, response: str) -> None:
    """Put a response into a cell that does not hold all of it, and the whole beside."""
    path, kept = file_of(folder, ".xlsx"), file_of(folder, "_responses.jsonl")
    rows = [dict(row.fields) for row in read_saved(path).rows]
    write_predictions(path, [*rows[:5], {**rows[5], "prediction": response[:CELL_LIMIT]}, *rows[6:]])
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    lines[5]["prediction"] = response
    kept.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_items_from_before_responses_were_hashed(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")
    change_items(folder, lambda rows: [{k: v for k, v in row.items() if k != "response_sha256"} for row in rows])
    report = checked(folder)
    assert (having(report, "fail"), report.exit_code) == (set(), 3)
    assert having(report, "not checked") == {"graded", "judge"}


@pytest.mark.parametrize("value", [None, "", 7, ["0"]])
def test_a_hash_that_was_taken_out_of_one_row(one: Callable[[str], Path], value: Any) -> None:
    folder = one("MMEFinance")
    change_items(folder, lambda rows: rows[5].update(response_sha256=value))
    assert having(checked(folder), "fail") == {"graded"}


@pytest.mark.parametrize(
    ("dataset", "without", "status"),
    [("MMEFinance", ("warn", "graded"), 3), ("XFinBench_MCQ_V", ("not checked", "scores"), 2)],
)
def test_responses_that_a_spreadsheet_cut_and_that_were_not_handed_in_whole(
    one: Callable[[str], Path], dataset: str, without: tuple[str, str], status: int
) -> None:
    folder = one(dataset)
    long = "On the one hand it rises. " * 2_000

    def lengthen(rows: Rows) -> None:
        rows[4].update(prediction=long + rows[4]["prediction"])

    def score(rows: Rows) -> None:
        whole = json.loads(file_of(folder, "_responses.jsonl").read_text(encoding="utf-8").splitlines()[4])[
            "prediction"
        ]
        of_judge = "response_sha256" in rows[4]
        rows[4].update({"response_sha256": response_sha256(whole)} if of_judge else {"response": whole})

    change_predictions(folder, lengthen)
    change_items(folder, score)
    assert having(checked(folder), "fail") == set(), "they are whole in the file beside"
    file_of(folder, "_responses.jsonl").unlink()
    report = checked(folder)
    verdict, check = without
    assert (having(report, "fail"), check in having(report, verdict), report.exit_code) == (set(), True, status)
    assert "_responses.jsonl" in next(
        f"{found.message} {found.details}" for found in report.findings if found.check == check
    )


def test_a_response_that_the_model_did_not_give_is_not_the_judges_failure(one: Callable[[str], Path]) -> None:
    folder = one("MMEFinance")

    def fail(rows: Rows) -> None:
        for row in rows[10:30]:
            row["prediction"] = ""

    change_predictions(folder, fail)
    (found,) = (found for found in checked(folder).findings if found.check == "unscored")
    assert (found.status.value, found.count) == ("warn", 21)
    assert found.message.startswith("the model gave no response to 21 of ")

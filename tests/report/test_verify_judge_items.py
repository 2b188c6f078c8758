"""`fin-tasks verify` on what `fin-tasks judge --items` wrote, beside the predictions that were judged."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from chat_server import Served, completion, serve

from fin_tasks.benchmarks.mme_finance.old_data import load
from fin_tasks.cli import main
from fin_tasks.judging.predictions_tables import CELL_LIMIT
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.report.verify.findings import Report
from fin_tasks.report.verify.submission import Against, verify
from fin_tasks.settings import Settings

pytestmark = pytest.mark.usefixtures("no_proxy")

Rows = list[dict[str, Any]]
ODD = [
    *(
        "",
        "x" * 40_000,
        "007.50",
        "=1+1",
        "7",
        "  spaces  ",
        "line\r\nline\n",
        "N/A",
        "nan",
        "'quoted\" \\ text",
        "\ttab",
    ),
    *("\ud800 half of a pair", "\ufeffmark", "a\u2028b", "_x0041_", "1e5", "true", "null", "😀"),
]
"""What files of predictions may change, or hold as it is."""


@pytest.fixture(scope="module")
def judge() -> Iterator[Served]:
    with serve(lambda body: completion(str(len(json.dumps(body["messages"])) % 6))) as served:
        yield served


@pytest.fixture
def docs() -> Rows:
    found: Rows = load(language="en", source="sample")["test"].to_list()
    return found


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def run(*arguments: str | Path) -> None:
        monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(sys, "argv", ["fin-tasks", "judge", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code

    return run


def predictions(docs: Rows, responses: list[str]) -> Rows:
    """Rows as somebody writes them who never heard of a harness."""
    return [
        {
            **{"index": doc["index"], "question": doc["question"], "answer": doc["answer"], "prediction": response},
            **{"task_category": doc["category"], "image_type": doc["image_type"], "image_style": doc["image_style"]},
        }
        for doc, response in zip(docs, responses, strict=False)
    ]


def write(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
            book.worksheets[0].append(cells)
        for column in book.worksheets[0].iter_cols():
            for cell in column:
                cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type  # text, never a formula
        book.save(path)
    elif path.suffix == ".tsv":
        import pandas as pd

        pd.DataFrame(rows).to_csv(path, sep="\t", index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def good(docs: Rows) -> list[str]:
    return [f"I have looked at picture {at}: {doc['answer']}" for at, doc in enumerate(docs)]


@pytest.fixture
def judged(docs: Rows, run: Callable[..., None], judge: Served, tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, responses: list[str], *options: str) -> Path:
        """Have predictions judged; returns the folder with them and the items."""
        folder = tmp_path / "submitted"
        file = write(folder / name, predictions(docs, responses))
        asked = ("--rubric", "mme_finance_en", "--model", "j", "--base-url", judge.base_url, "--no-image", "--json")
        run(file, *asked, "--items", folder / "verdicts.jsonl", *options)
        return folder

    return make


def checked(folder: Path, **against: Any) -> Report:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(folder.parent / "cache"), "NO_PROXY": "127.0.0.1"})
    return verify(folder, settings=settings, against=Against(**{"source": "sample", **against}))


def having(report: Report, status: str) -> set[str]:
    return {one.check for one in report.findings if one.status.value == status}


def change(path: Path, how: Callable[[Rows], Rows | None]) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    write(path, how(rows) or rows)


def test_what_the_command_writes_passes(docs: Rows, judged: Callable[..., Path]) -> None:
    report = checked(judged("predictions.jsonl", good(docs)))
    assert having(report, "pass") >= {"samples", "rows", "documents", "scores", "verdicts", "graded"}
    assert (having(report, "fail"), having(report, "not checked")) == (set(), {"judge"})
    assert (report.exit_code, report.tasks, report.rows) == (3, 1, len(docs))


@pytest.mark.parametrize("name", ["m.jsonl", "m.tsv", "m.xlsx"])
def test_responses_that_were_changed_after_they_were_judged(docs: Rows, judged: Callable[..., Path], name: str) -> None:
    responses = good(docs)
    folder = judged(name, responses)
    responses[4] = docs[4]["answer"]
    responses[9] += "."
    write(folder / name, predictions(docs, responses))
    (found,) = (one for one in checked(folder).findings if one.status.value == "fail")
    assert (found.check, found.count) == ("graded", 2)
    assert [detail.partition(": not")[0] for detail in found.details] == [
        f"line {at + 1}: {docs[at]['index']!r}" for at in (4, 9)
    ]


@pytest.mark.parametrize("name", ["m.jsonl", "m.tsv", "m.xlsx"])
def test_odd_responses_are_those_that_were_judged(docs: Rows, judged: Callable[..., Path], name: str) -> None:
    odd = ODD
    if name != "m.jsonl":  # tables hold UTF-8, which has no halves of pairs; cells of workbooks spell them out
        odd = [text.replace("\ud800", "_xD800_") for text in ODD]
    if name == "m.xlsx":
        odd = [text[:CELL_LIMIT] for text in odd]
    folder = judged(name, odd, "--max-failed", "1")
    report = checked(folder)
    (found,) = (one for one in report.findings if one.check == "graded")
    assert (found.status.value, having(report, "fail")) == ("pass", set())
    assert found.message.startswith(f"{len(ODD)} responses")


def test_the_hash_is_of_the_text_itself(docs: Rows, judged: Callable[..., Path]) -> None:
    odd = ["  spaces  ", "007.50", "", "line\r\nline\n"]
    folder = judged("m.jsonl", odd, "--max-failed", "1")
    items = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    assert [item["response_sha256"] for item in items] == [hashlib.sha256(text.encode()).hexdigest() for text in odd]


def test_items_from_before_responses_were_hashed(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    change(folder / "verdicts.jsonl", lambda rows: [row.pop("response_sha256") for row in rows] and None)
    report = checked(folder)
    assert (having(report, "fail"), having(report, "not checked")) == (set(), {"graded", "judge"})
    assert report.exit_code == 3


def test_items_are_those_of_the_predictions_that_were_judged(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    write(folder / "another.jsonl", predictions(docs, ["I do not know."] * len(docs)))
    write(folder / "part.jsonl", predictions(docs, good(docs)[:5]))
    (folder / "notes.json").write_text('{"index": ["broken"')
    assert having(checked(folder), "fail") == set()


def test_other_scores_categories_and_replies(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    change(folder / "verdicts.jsonl", lambda rows: rows[3].update(score=5, raw="2"))
    assert "verdicts" in having(checked(folder), "fail")
    change(folder / "verdicts.jsonl", lambda rows: rows[3].update(score=2, category="OCR" + rows[3]["category"]))
    assert having(checked(folder), "fail") == {"scores"}


def test_rows_that_were_left_out(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs), "--limit", "5")
    report = checked(folder)
    assert (having(report, "fail"), having(report, "warn")) == (set(), {"limit"})
    change(folder / "verdicts.jsonl", lambda rows: rows[:2] + rows[3:])
    assert having(checked(folder), "fail") == {"rows"}


def test_rows_that_come_twice_or_from_nowhere(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    change(folder / "verdicts.jsonl", lambda rows: [*rows, rows[0], {**rows[0], "index": "none"}])
    (found,) = (one for one in checked(folder).findings if one.status.value == "fail")
    assert (found.check, set(found.details)) == (
        "rows",
        {f"items: {docs[0]['index']!r} 2 times", "items: 'none' has no prediction"}
        | {"items: 'none' is no row of the data set"},
    )


def test_questions_of_the_predictions_are_not_believed(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    change(folder / "predictions.jsonl", lambda rows: rows[2].update(answer="7"))
    assert having(checked(folder), "fail") == {"documents"}


def test_a_judge_is_asked_again(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("predictions.jsonl", good(docs))
    with serve(lambda _: completion("0")) as strict:
        setup = JudgeSetup(model="strict", base_urls=(strict.base_url,), rubric="mme_finance_en", image=False)
        assert having(checked(folder, judge=setup, judge_rows=9), "fail") == {"judge"}


def test_what_is_lacking_is_said_and_nothing_passes(docs: Rows, judged: Callable[..., Path], tmp_path: Path) -> None:
    folder = judged("predictions.jsonl", good(docs))
    items = folder / "verdicts.jsonl"
    report = checked(folder, source="data_dir", data_dir=tmp_path / "nowhere")
    assert (having(report, "pass") >= {"graded", "rows"}, report.exit_code) == (True, 2)
    change(items, lambda rows: [row.update(rubric="../own.yaml@1") for row in rows] and None)
    report = checked(folder)
    assert (having(report, "fail"), report.exit_code) == (set(), 2)
    (folder / "predictions.jsonl").rename(tmp_path / "predictions.jsonl")
    (folder / "predictions.jsonl").symlink_to(tmp_path / "predictions.jsonl")
    report = checked(items)
    assert (having(report, "not checked"), report.exit_code) == ({"scores"}, 2), "links out of the folder"
    items.write_text(items.read_text() + "{cut")
    assert (having(checked(items), "fail"), checked(items).exit_code) == ({"samples"}, 1)


def test_predictions_about_other_data_than_ours_are_not_said_to_be_wrong(
    docs: Rows, judged: Callable[..., Path]
) -> None:
    folder = judged("predictions.jsonl", good(docs))
    change(folder / "predictions.jsonl", lambda rows: [{**row, "question": f"What is {row['index']}?"} for row in rows])
    report = checked(folder)
    assert (having(report, "fail"), having(report, "not checked")) == (set(), {"documents", "scores"})
    assert report.exit_code == 2
    assert any("--source" in one.message for one in report.findings)


@pytest.mark.parametrize("name", ["samples_mme_finance_en_2026-03-01T10-00-00.5.jsonl", "m_MMEFinance.jsonl"])
def test_what_lies_beside_predictions_says_which_data_they_are_about(
    docs: Rows, judged: Callable[..., Path], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path / "nowhere"))
    folder = judged(name, good(docs))
    said = {"data": {"origin": "sample"}}
    configs = {"mme_finance_en": {"metadata": {"provenance": said}}}
    (folder / "results_2026-03-01T10-00-00.5.json").write_text(json.dumps({"configs": configs, "results": {}}))
    (folder / "m_MMEFinance_another_score.json").write_text(json.dumps({"dataset": "MMEFinance", "provenance": said}))
    found = [one for one in checked(folder, source=None).findings if one.run == "verdicts.jsonl"]
    assert {one.check for one in found if one.status.value == "pass"} >= {"rows", "documents", "scores", "graded"}


def test_a_run_that_the_command_ends_well_passes_though_model_and_judge_failed(
    docs: Rows, run: Callable[..., None], tmp_path: Path
) -> None:
    """The command counts the judge's failures among the responses that there are, and so does this."""
    responses = good(docs)
    responses[0], responses[5] = "Failed to obtain answer via API.", ""
    odd = {docs[at]["question"] for at in range(6, 13)}

    def unsure(body: dict[str, Any]) -> Any:
        said = json.dumps(body["messages"], ensure_ascii=False)
        return completion("Well." if any(json.dumps(one, ensure_ascii=False)[1:-1] in said for one in odd) else "3")

    folder = tmp_path / "submitted"
    file = write(folder / "m.jsonl", predictions(docs, responses))
    with serve(unsure) as served:
        asked = ("--rubric", "mme_finance_en", "--model", "j", "--base-url", served.base_url, "--no-image", "--json")
        run(file, *asked, "--items", folder / "verdicts.jsonl")
    failed = [json.loads(line)["failed"] for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    assert failed.count("response") == 2
    assert 0.2 * len(docs) - 2 < failed.count("reply") <= 0.2 * (len(docs) - 2), "else nothing is shown"
    report = checked(folder)
    (found,) = (one for one in report.findings if one.check == "unscored")
    assert (having(report, "fail"), found.status.value, found.count) == (set(), "warn", failed.count("reply") + 2)
    assert f"the judge failed on {failed.count('reply')} of {len(docs) - 2} responses" in found.message
    assert f"the model gave no response to 2 of {len(docs)} rows" in found.message


def test_a_response_that_a_spreadsheet_cut_after_it_was_judged(docs: Rows, judged: Callable[..., Path]) -> None:
    responses = good(docs)
    responses[3] = "x" * 40_000
    folder = judged("m.jsonl", responses)
    (folder / "m.jsonl").unlink()
    kept = [{"index": doc["index"], "prediction": text} for doc, text in zip(docs, responses, strict=True)]
    write(folder / "m.xlsx", predictions(docs, [text[:CELL_LIMIT] for text in responses]))
    report = checked(folder)
    (found,) = (one for one in report.findings if one.check == "graded")
    assert (found.status.value, found.count, having(report, "fail")) == ("warn", 1, set())
    assert "_responses.jsonl" in found.details[0]
    write(folder / "m_responses.jsonl", kept)
    (found,) = (one for one in checked(folder).findings if one.check == "graded")
    assert found.status.value == "pass"
    write(folder / "m.xlsx", predictions(docs, [text[:CELL_LIMIT] for text in [*responses[:7], "7", *responses[8:]]]))
    (folder / "m_responses.jsonl").unlink()
    found = {one.status.value: one.count for one in checked(folder).findings if one.check == "graded"}
    assert found == {"warn": 1, "fail": 1}


@pytest.fixture(scope="module")
def both() -> dict[str, Rows]:
    return {language: load(language=language, source="sample")["test"].to_list() for language in ("en", "zh")}


def test_languages_are_told_apart_where_a_model_says_the_same_of_everything(
    both: dict[str, Rows], run: Callable[..., None], judge: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "submitted"
    for language, docs in both.items():
        file = write(folder / f"{language}.jsonl", predictions(docs, ["It is 7."] * len(docs)))
        asked = ("--model", "j", "--base-url", judge.base_url, "--no-image", "--json")
        run(file, "--rubric", f"mme_finance_{language}", *asked, "--items", folder / f"verdicts_{language}.jsonl")
    report = checked(folder)
    assert (having(report, "fail"), having(report, "not checked")) == (set(), {"judge"})
    found = [one.message for one in report.findings if one.check == "samples"]
    assert [message.rpartition(" ")[2] for message in found] == ["en.jsonl", "zh.jsonl"]


def test_categories_tell_predictions_apart(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("p.jsonl", ["It is 7."] * len(docs))
    other = [{**row, "task_category": f"No {row['task_category']}"} for row in predictions(docs, ["It is 7."] * 99)]
    write(folder / "a.jsonl", other)
    (found,) = (one.message for one in checked(folder).findings if one.check == "samples")
    assert found.endswith(" p.jsonl")


def test_predictions_in_another_folder_of_the_submission(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("p.jsonl", good(docs))
    for name, kind in (("p.jsonl", "preds"), ("verdicts.jsonl", "verd")):
        (folder / kind).mkdir()
        (folder / name).rename(folder / kind / name)
    report = checked(folder)
    assert (having(report, "fail"), report.exit_code) == (set(), 3)
    write(folder / "preds" / "p.jsonl", predictions(docs, [f"I am another model, row {at}" for at in range(99)]))
    report = checked(folder)
    assert (having(report, "fail"), report.exit_code) == (set(), 2), "another's predictions prove nothing"


@pytest.mark.parametrize("name", ["gpt_items.jsonl", "gpt_responses.jsonl"])
def test_names_do_not_tell_what_a_file_is(docs: Rows, judged: Callable[..., Path], name: str) -> None:
    report = checked(judged(name, good(docs)))
    assert (having(report, "fail"), report.exit_code) == (set(), 3)


def test_what_is_kept_beside_a_table_is_not_taken_for_it(docs: Rows, judged: Callable[..., Path]) -> None:
    folder = judged("m.tsv", good(docs))
    kept = [{"index": doc["index"], "prediction": text} for doc, text in zip(docs, good(docs), strict=True)]
    write(folder / "m_responses.jsonl", kept)
    scored = [
        {"index": doc["index"], "response": text, "response_cut": False}
        for doc, text in zip(docs, good(docs), strict=True)
    ]
    write(folder / "a_items.jsonl", scored)
    report = checked(folder)
    assert (having(report, "fail"), having(report, "warn")) == (set(), set())

"""Studies with people, through the command: draw, fill by script, merge, agree, report."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from studies_at_work import (
    SAMPLE,
    TASK,
    Cells,
    agree,
    draw,
    drawn_rows,
    fill,
    fill_all,
    fill_apart,
    merge,
    read,
    run,
    sample_docs,
    sheets_of,
    write_judged,
)

from fin_tasks import report
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.report.conditions import conditions_of
from fin_tasks.report.values import values_of

ROOT = Path(__file__).parents[2]
QUESTIONS = ROOT / "src/fin_tasks/benchmarks/xfinbench/sample/validation_set.csv"
FIGURES = 14  # rows of the sample with a figure
MINE = """
name: mine
title: Mine
instructions: Read.
show: [question, gold, response]
questions: {clear: {ask: "Clear?"}}
"""


def share(tables: dict[str, pd.DataFrame], *keys: str) -> float:
    """Return the share of a question's label, in all rows or in a part of them."""
    question, value, *part = keys
    shares = tables["shares"].set_index(["question", "value", "by", "part"])["share"]
    return float(shares[question, value, *(part or ("all", "all"))])


def number(cells: Cells) -> int:
    return int(cells["row"].rpartition("-")[2]) - 1


@pytest.fixture(scope="module")
def xfinbench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A replayed run over the packaged questions: the first two of three responses are right."""
    folder = tmp_path_factory.mktemp("run")
    table = pd.read_csv(QUESTIONS, dtype=str, keep_default_na=False)
    for task, subset in (("bool", "bool"), ("mcq", "mcq"), ("calcu", "calc")):
        rows = table[table["task"] == task].drop(columns="question")
        truths = rows["ground_truth"]
        if task == "bool":
            truths = truths.replace({"1.0": "true", "0.0": "false"})
        responses = []
        for place, truth in enumerate(truths):
            answer = truth if place % 3 < 2 else ""
            frame = f"[{answer}]" if task == "calcu" else answer
            responses.append(f"=A step.\nTherefore, my answer is {frame}.")
        file = folder / f"{task}.csv"
        rows.assign(model_response=responses).to_csv(file, index=False)
        command = ("replay", "xfinbench", "--task", subset, file, "--model", "m")
        run(*command, "--out", folder / "run")
    return folder / "run"


def test_calculation_errors(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "calc.xlsx"
    sheets = draw(out, "xfinbench_calc_errors", xfinbench, "--n", 8)
    book = load_workbook(sheets[0])
    assert book.sheetnames == ["Instructions", "Labels", "Tables"]
    assert book["Labels"].data_validations.dataValidation[0].formula1 == '"yes,no"'
    assert book["Labels"]["D2"].data_type == "s"  # the response begins with =
    # Rows 0 to 5 are right; person 2 alone says so of row 6.
    path = ["yes"] * 6 + ["No"] * 2
    fill_all(sheets, rounding=["YES", *["no"] * 5, "YES", "no"])
    misuse = ["no"] * 6 + ["yes"] * 2
    first_misuse = ["no", "yes", *misuse[2:]]
    fill_apart(
        sheets,
        path=[path, path, ["yes"] * 7 + ["No"]],
        misuse=[first_misuse, misuse, misuse],
    )
    tables = merge(sheets)
    assert share(tables, "path", "yes") == 6 / 8
    assert share(tables, "rounding", "yes") == share(tables, "misuse", "yes") == 2 / 8
    shares = tables["combinations"].set_index(["path", "types"])["share"].to_dict()
    assert shares == {
        ("yes", "no error"): 5 / 8,
        ("yes", "rounding error"): 1 / 8,
        ("no", "rounding error and formula misuse"): 1 / 8,
        ("no", "formula misuse"): 1 / 8,
    }
    assert len(tables["problems"]) == len(tables["undecided"]) == 0
    alphas = tables["alpha"].set_index("question")
    path_alpha = alphas.loc["path"]
    # 24 labels, one of row 6 differs: coincidences (yes, no) 1 of 24, 19 yes and 5 no in all
    assert path_alpha["alpha"] == pytest.approx(1 - (24 - 1) * 1 / (19 * 5))
    assert path_alpha["low"] <= path_alpha["alpha"] <= path_alpha["high"] == 1
    assert alphas.loc["rounding", "alpha"] == 1


def test_a_run_about_the_sample_is_shown_with_its_terms(
    xfinbench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    out = tmp_path / "calc.csv"
    options = ("--study", "xfinbench_calc_errors", "--n", 8, "--out", out)
    run("label", "draw", xfinbench, *options)
    assert any(read(sheets_of(out)[0])["gold_terms"])


def test_wrong_answers_by_task_and_capability(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "know.csv"
    sheets = draw(out, "xfinbench_knowledge_errors", xfinbench)
    rows = drawn_rows(out)
    assert {row["facts"]["response"][0] for row in rows} == {"wrong"}
    tasks = [row["facts"]["task"][0] for row in rows]
    direct = ["yes" if task == "mcq" else "no" for task in tasks]
    no = ["no"] * len(rows)
    fill_all(sheets, triggered=["yes"] * len(rows), direct=direct, follows=no)
    tables = merge(sheets)
    mcq = tasks.count("mcq") / len(tasks)
    assert share(tables, "direct", "yes") == pytest.approx(mcq)
    assert share(tables, "direct", "yes", "task", "mcq") == 1
    assert share(tables, "direct", "yes", "task", "bool") == 0
    code = rows[0]["facts"]["capability"][0]
    tasks = [row["task"] for row in rows if code in row["facts"]["capability"]]
    mcq = sum(task.startswith("xfinbench_mcq") for task in tasks) / len(tasks)
    assert share(tables, "direct", "yes", "capability", code) == pytest.approx(mcq)
    errors = tables["shares"].query("type == 'reasoning error' and by == 'all'")
    assert errors["share"].tolist() == [0]
    # All labels are the same, so alpha is not defined.
    assert tables["alpha"].set_index("question")["alpha"].isna()["triggered"]


def test_errors_in_figures(xfinbench: Path, tmp_path: Path) -> None:
    sheets = draw(tmp_path / "f.xlsx", "xfinbench_figure_errors", xfinbench)
    assert all(Path(name).is_file() for name in read(sheets[0])["picture"])
    yes = ["yes"] * FIGURES
    no = ["no"] * FIGURES
    fill_all(sheets, path=yes, misuse=no)
    fill_apart(sheets, blindness=[no, yes, yes])
    (line,) = merge(sheets)["combinations"].drop(columns="n").to_numpy().tolist()
    assert line == ["yes", "blindness", FIGURES, 1.0]


def test_ratings(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "rate.csv", "xfinbench_quality", "--n", 4)
    scores = ([5, 5, 4, 1], [5, 4, 4, 5], [5, 3, 3, 5])
    names = ["fluency", "completeness", "correctness", "helpfulness"]
    fill_apart(sheets, **dict.fromkeys(names, scores))
    tables = merge(sheets)
    shares = [share(tables, "helpfulness", f">= {score}") for score in (5, 4, 3, 2, 1)]
    assert shares == [1 / 4, 2 / 4, 1, 1, 1]  # means 5, 4, 3.67, 3.67
    assert tables["labels"].query("review")["row"].nunique() == 1


def test_capabilities(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "cap.csv", "xfinbench_capabilities", "--n", 3)
    codes = (["TU", "TR", "TR+NM"], ["TU", "SP", "tr+nm"], ["FF", "NM", "NM"])
    fill_apart(sheets, capability=codes)
    tables = merge(sheets)
    expected = {"TU": 1 / 2, "TR": 1 / 2, "FF": 0, "SP": 0, "NM": 1 / 2}
    for code, value in expected.items():  # of the two rows with a label
        assert share(tables, "capability", code) == value
    assert set(tables["undecided"]["row"].str[-4:]) == {"0002"}


def test_people_stand_beside_models(tmp_path: Path) -> None:
    out = tmp_path / "human.csv"
    sheets = draw(out, "xfinbench_human", "--n", 24)
    docs = {row["id"]: row["doc"] for row in drawn_rows(out)}
    assert "gold" not in read(sheets[0])

    def right(cells: Cells) -> object:
        doc = docs[cells["row"]]
        if doc["task"] == "mcq":
            return doc["ground_truth"]
        truth = float(doc["ground_truth"])
        return bool(truth) if doc["task"] == "bool" else truth

    def often_wrong(cells: Cells) -> object:
        if number(cells) % 2 == 0:
            return right(cells)
        wrong = {"bool": not right(cells), "calcu": 0.125}
        wrong["mcq"] = "A" if right(cells) != "A" else "B"
        return wrong[docs[cells["row"]]["task"]]

    def nothing(cells: Cells) -> object:
        return "none" if number(cells) % 5 else ""

    for sheet, answer in zip(sheets, (right, often_wrong, nothing), strict=True):
        fill(sheet, answer=answer, minutes=[99 if answer is nothing else 2.5] * 24)
    tables = merge(sheets, status=1)
    assert len(tables["problems"]) == 24 + 5  # 99 minutes each, and five empty answers
    assert set(tables["minutes"]["mean"]) == {2.5}
    loaded = report.read([tmp_path / "merged"])
    (people,) = loaded.runs
    assert (people.harness, people.model) == ("label", "people")
    results = {result.task: result for result in people.tasks}
    members = tuple(name for name in results if name != "xfinbench")
    assert results["xfinbench"].members == members
    for task, result in results.items():
        subset = task.removeprefix("xfinbench").removeprefix("_")
        shares = []
        for row, doc in docs.items():
            if subset in ("", doc["subset"]):
                place = number({"row": row})
                shares.append((2 - place % 2) / (3 if place % 5 else 2))
        for scoring in ("paper", "robust"):
            rows = loaded.rows_of(result, scoring)
            value = values_of(rows, result, scoring)["acc"].estimate
            assert value.mean == pytest.approx(sum(shares) / len(shares))
            if len(shares) > 4:
                assert value.low < value.mean < value.high
        assert conditions_of(result).mode == "cot"


def test_a_judge_beside_people(tmp_path: Path) -> None:
    docs = sample_docs()
    judged = write_judged(
        tmp_path / "run",
        {TASK: docs},
        lambda place: None if place == 5 else 20.0 * (place % 6),
        scorings=("paper", "robust"),
        response="response {place}",
    )
    out = tmp_path / "mme.csv"
    sheets = draw(out, "mme_finance_judge", judged)
    place_of = {str(doc["id"]): place for place, doc in enumerate(docs)}
    places = [place_of[row["doc_id"]] for row in drawn_rows(out)]
    # People give a point more than the judge, or 5; over response 3 they do not agree.
    points = []
    for score in (0, 5, 5):
        points.append([min(5, x % 6 + 1) if x != 3 else score for x in places])
    fill_apart(sheets, score=points)
    tables = merge(sheets)
    (samples,) = judged.glob("samples_*")
    lines = {line["rows"]: line for line in agree(sheets, samples)["judges"]}
    assert set(lines) == {"all", "objective", "subjective"}
    n_of_groups = lines["objective"]["n"] + lines["subjective"]["n"]
    assert n_of_groups == lines["all"]["n"] == len(docs) - 1
    biases = [
        min(5, place % 6 + 1) - place % 6 for place in places if place not in (3, 5)
    ]
    biases.append(5 - 3)
    assert lines["all"]["bias"] == pytest.approx(-sum(biases) / len(biases))
    assert len(tables["labels"].query("review")) == 1
    samples.write_text(samples.read_text().replace("response 1", "another response"))
    with pytest.raises(FinTasksError):
        agree(sheets, samples)


def test_what_is_wrong_with_sheets_is_listed(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "calc.csv"
    study = "xfinbench_calc_errors"
    sheets = draw(out, study, xfinbench, "--n", 4)
    labels = [["no"] * 4, ["yes"] * 4, ["yes"] * 4]
    fill_apart(sheets, path=labels, rounding=labels, misuse=labels)
    first = fill(sheets[0], path=["maybe", "", "no", "no"])
    strange = first.iloc[[3]].assign(row="ffff-0001")
    pd.concat([first.iloc[[0, 1, 2, 2]], strange]).to_csv(sheets[0], index=False)
    tables = merge(sheets, status=1)
    problems = tables["problems"]
    places = set(zip(problems["line"], problems["column"], strict=True))
    rows = {(line, "row") for line in (0, 4, 5, 6)}
    assert places == {(2, "path"), (3, "path"), *rows}
    assert set(problems["sheet"]) == {"calc_1.csv"}
    shares = tables["shares"].query("by == 'all' and value == 'yes'")
    assert shares["share"].tolist() == [1] * 3
    # Nobody else agrees with the first.
    assert merge(sheets[:2], status=1)["undecided"]["row"].nunique() == 4
    for words in (
        (xfinbench, "--out", out),  # sheets exist
        (xfinbench, "--out", out.with_suffix(".xlsx")),  # their draw exists
        ("--out", tmp_path / "b.csv"),  # no responses
    ):
        with pytest.raises(FinTasksError):
            run("label", "draw", *words, "--study", study, *SAMPLE)


def test_a_study_with_answers_names_every_kind_of_question(tmp_path: Path) -> None:
    study = tmp_path / "mine.yaml"
    study.write_text(
        "name: mine\ntitle: Mine\ninstructions: Answer.\nbenchmark: xfinbench\n"
        "tasks: {xfinbench_bool: {subset: bool}}\nn: 3\nshow: [question]\n"
        "answers: {calcu: {minutes: 10, response: '[{answer}]'}}\n"
    )
    with pytest.raises(ConfigError, match="'bool'"):
        draw(tmp_path / "mine.csv", study)


@pytest.mark.parametrize("change", [{"facts": {}}, {"doc": {"choices": True}}])
def test_a_changed_draw_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    sheets = draw(tmp_path / "a.csv", "xfinbench_capabilities", "--n", 3)
    file = tmp_path / "a.draw.json"
    content = json.loads(file.read_text())
    content["rows"][0] |= change
    file.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=r"a\.draw\.json: expected the file that"):
        merge(sheets)


def test_only_wrong_responses_of_a_file_are_drawn(tmp_path: Path) -> None:
    docs, _ = TaskFile("xfinbench_bool").load({"source": "sample"})
    lines = []
    for place, doc in enumerate(list(docs)[:4]):
        is_true = doc["ground_truth"] == "1.0"
        said = str(is_true == (place < 2)).lower()
        text = f"Therefore, my answer is {said}."
        lines.append(json.dumps({"id": doc["id"], "response": text}))
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(lines))
    study = tmp_path / "mine.yaml"
    study.write_text(
        MINE + "benchmark: xfinbench\nwrong: true\n"
        "tasks: {xfinbench_bool: {subset: bool}}\nn: 4\n"
    )
    out = tmp_path / "sheet.csv"
    draw(out, study, file)
    assert [row["doc_id"] for row in drawn_rows(out)] == [
        doc["id"] for doc in list(docs)[2:4]
    ]

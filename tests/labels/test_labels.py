"""Studies with people, through the command: draw, fill by script, merge, agree, report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.report.conditions import conditions_of
from fin_tasks.report.values import values_of

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "src/fin_tasks/benchmarks/xfinbench/sample/validation_set.csv"
RECORDINGS = ROOT.parent / "shared/data/financemath"
FIGURES = 14  # rows of the sample with a figure
Answer = Callable[[int, str, dict[str, str]], str | int | float | bool | None]
"""Person from 0, column and the row's cells to what is written."""


def run(*arguments: object, status: int = 0) -> Any:
    done = CliRunner().invoke(app, ["label", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def fill(path: Path, person: int, columns: list[str], answer: Answer) -> None:
    in_csv, options = path.suffix == ".csv", {"dtype": str, "na_filter": False}
    table = (
        pd.read_csv(path, **options)
        if in_csv
        else pd.read_excel(path, "Labels", **options)
    )
    for name in columns:
        table[name] = [
            answer(person, name, cells) for cells in table.to_dict("records")
        ]
    if in_csv:
        table.to_csv(path, index=False)
    else:
        table.to_excel(path, sheet_name="Labels", index=False)


def merged(
    out: Path, columns: list[str], answer: Answer, status: int = 0
) -> tuple[dict[str, pd.DataFrame], Path]:
    sheets = sorted(path for path in out.parent.glob(f"{out.stem}_*{out.suffix}"))
    for person, path in enumerate(sheets):
        fill(path, person, columns, answer)
    folder = out.parent / "merged"
    run("merge", *sheets, "--out", folder, status=status)
    return {
        path.stem: pd.read_csv(path)
        for path in folder.glob("*.csv")
        if path.stat().st_size > 1
    }, folder


def share(
    tables: dict[str, pd.DataFrame],
    question: str,
    value: object,
    by: str = "all",
    part: str = "all",
) -> float:
    found = tables["shares"].query(
        "question == @question and by == @by and part == @part"
    )
    return float(found[found["value"].astype(str) == str(value)]["share"].iloc[0])


def number(cells: dict[str, str]) -> int:
    return int(cells["row"].rpartition("-")[2]) - 1


@pytest.fixture(scope="module")
def xfinbench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A replayed run over the packaged questions: the first two of three responses are right."""
    folder = tmp_path_factory.mktemp("run")
    table = pd.read_csv(SAMPLE, dtype=str, keep_default_na=False)
    for task, subset in (("bool", "bool"), ("mcq", "mcq"), ("calcu", "calc")):
        own = table[table["task"] == task].drop(columns="question")
        truths = own["ground_truth"].replace(
            {"1.0": "true", "0.0": "false"} if task == "bool" else {}
        )
        said = [truth if place % 3 < 2 else "" for place, truth in enumerate(truths)]
        frame = "[{}]" if task == "calcu" else "{}"
        own["model_response"] = [
            f"=A step.\nTherefore, my answer is {frame.format(one)}." for one in said
        ]
        own.to_csv(folder / f"{task}.csv", index=False)
        command = [
            "replay",
            "xfinbench",
            "--task",
            subset,
            str(folder / f"{task}.csv"),
            "--model",
            "m",
        ]
        done = CliRunner().invoke(app, [*command, "--out", str(folder / "run")])
        assert done.exit_code == 0, done.output
    return folder / "run"


def test_calculation_errors(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "calc.xlsx"
    run(
        "draw",
        xfinbench,
        "--study",
        "xfinbench_calc_errors",
        "--n",
        8,
        "--out",
        out,
        "--source",
        "sample",
    )
    book = load_workbook(tmp_path / "calc_1.xlsx")
    assert book.sheetnames == ["Instructions", "Labels", "Tables"]
    assert book["Labels"].data_validations.dataValidation[0].formula1 == '"yes,no"'
    assert book["Labels"]["D2"].data_type == "s"  # the response begins with =

    def answer(person: int, column: str, cells: dict[str, str]) -> str:
        row = number(cells)
        if column == "path":  # rows 0 to 5 right; person 2 alone says so of row 6
            return "yes" if row < 6 or (row == 6 and person == 2) else "No"
        if column == "rounding":
            return "YES" if row in (0, 6) else "no"
        return "yes" if (row in (6, 7)) or (row == 1 and person == 0) else "no"

    tables, _folder = merged(out, ["path", "rounding", "misuse"], answer)
    assert share(tables, "path", "yes") == 6 / 8
    assert share(tables, "rounding", "yes") == share(tables, "misuse", "yes") == 2 / 8
    shown = tables["combinations"].set_index(["path", "types"])["share"].to_dict()
    both = "rounding error and formula misuse"
    assert shown == {
        ("yes", "no error"): 5 / 8,
        ("yes", "rounding error"): 1 / 8,
        ("no", both): 1 / 8,
        ("no", "formula misuse"): 1 / 8,
    }
    assert len(tables["problems"]) == len(tables["undecided"]) == 0
    alphas = tables["alpha"].set_index("question")
    # 24 labels, one of row 6 differs: coincidences (yes, no) 1 of 24, 19 yes and 5 no in all
    assert alphas.loc["path", "alpha"] == pytest.approx(1 - (24 - 1) * 1 / (19 * 5))
    assert (
        alphas.loc["path", "low"]
        <= alphas.loc["path", "alpha"]
        <= alphas.loc["path", "high"]
        == 1
    )
    assert alphas.loc["rounding", "alpha"] == 1


def test_wrong_answers_by_task_and_capability(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "know.xlsx"
    run(
        "draw",
        xfinbench,
        "--study",
        "xfinbench_knowledge_errors",
        "--out",
        out,
        "--source",
        "sample",
    )
    drawn = json.loads((tmp_path / "know.draw.json").read_text())["rows"]
    assert {row["facts"]["response"][0] for row in drawn} == {"wrong"}
    tasks = {row["id"]: row["facts"]["task"][0] for row in drawn}

    def answer(person: int, column: str, cells: dict[str, str]) -> str:
        return (
            "yes"
            if (column == "direct" and tasks[cells["row"]] == "mcq")
            or column == "triggered"
            else "no"
        )

    tables, _ = merged(out, ["triggered", "direct", "follows"], answer)
    mcq = list(tasks.values()).count("mcq") / len(tasks)
    assert share(tables, "direct", "yes") == pytest.approx(mcq)
    assert share(tables, "direct", "yes", "task", "mcq") == 1
    assert share(tables, "direct", "yes", "task", "bool") == 0
    code = drawn[0]["facts"]["capability"][0]
    own = [
        row["facts"]["task"][0] for row in drawn if code in row["facts"]["capability"]
    ]
    assert share(tables, "direct", "yes", "capability", code) == pytest.approx(
        own.count("mcq") / len(own)
    )
    over = tables["shares"].query("type == 'reasoning error' and by == 'all'")
    assert over["share"].tolist() == [
        0
    ]  # all labels are the same, so alpha is not defined
    assert tables["alpha"].set_index("question")["alpha"].isna()["triggered"]


def test_figures_ratings_and_capabilities(xfinbench: Path, tmp_path: Path) -> None:
    run(
        "draw",
        xfinbench,
        "--study",
        "xfinbench_figure_errors",
        "--out",
        tmp_path / "f/f.xlsx",
        "--source",
        "sample",
    )
    columns = ["path", "blindness", "misuse"]
    tables, _ = merged(tmp_path / "f/f.xlsx", columns, lambda person, column, cells: (
        "yes" if Path(cells["picture"]).is_file() and (column == "path" or person) and column != "misuse" else "no"
    ))  # fmt: skip
    assert tables["combinations"].drop(columns="n").to_numpy().tolist() == [
        ["yes", "blindness", FIGURES, 1.0]
    ]

    given = ("--source", "sample", "--n")
    run(
        "draw",
        "--study",
        "xfinbench_quality",
        "--out",
        tmp_path / "q/rate.xlsx",
        *given,
        4,
    )
    scores = {0: [5, 5, 5], 1: [5, 4, 3], 2: [4, 4, 3], 3: [1, 5, 5]}
    tables, _ = merged(tmp_path / "q/rate.xlsx", ["fluency", "completeness", "correctness", "helpfulness"],
                       lambda person, _, cells: scores[number(cells)][person])  # fmt: skip
    means = {
        f">= {score}": share(tables, "helpfulness", f">= {score}")
        for score in (5, 4, 3, 2, 1)
    }
    assert list(means.values()) == [1 / 4, 2 / 4, 1, 1, 1]  # means 5, 4, 3.67, 3.67
    assert tables["labels"].query("review")["row"].nunique() == 1

    run(
        "draw",
        "--study",
        "xfinbench_capabilities",
        "--out",
        tmp_path / "c/cap.xlsx",
        *given,
        3,
    )
    codes = {0: ["TU", "TU", "FF"], 1: ["TR", "SP", "NM"], 2: ["TR+NM", "tr+nm", "NM"]}
    tables, _ = merged(
        tmp_path / "c/cap.xlsx",
        ["capability"],
        lambda person, _, cells: codes[number(cells)][person],
    )
    found = {
        code: share(tables, "capability", code)
        for code in ("TU", "TR", "FF", "SP", "NM")
    }
    assert found == {
        "TU": 1 / 2,
        "TR": 1 / 2,
        "FF": 0,
        "SP": 0,
        "NM": 1 / 2,
    }  # of the two rows with a label
    assert set(tables["undecided"]["row"].str[-4:]) == {"0002"}


def test_people_stand_beside_models(tmp_path: Path) -> None:
    out = tmp_path / "human.xlsx"
    run(
        "draw",
        "--study",
        "xfinbench_human",
        "--n",
        24,
        "--source",
        "sample",
        "--out",
        out,
    )
    drawn = {
        row["id"]: row["doc"]
        for row in json.loads((tmp_path / "human.draw.json").read_text())["rows"]
    }
    assert "gold" not in [
        cell.value for cell in load_workbook(tmp_path / "human_1.xlsx")["Labels"][1]
    ]

    def answer(person: int, column: str, cells: dict[str, str]) -> str | float | bool:
        doc = drawn[cells["row"]]
        if column == "minutes":
            return 99 if person == 2 else 2.5
        if person == 2:
            return "none" if number(cells) % 5 else ""
        truth = (
            float(doc["ground_truth"]) if doc["task"] != "mcq" else doc["ground_truth"]
        )
        wrong = {
            "bool": not truth,
            "mcq": "A" if truth != "A" else "B",
            "calcu": 0.125,
        }[doc["task"]]
        return (
            wrong
            if person == 1 and number(cells) % 2
            else bool(truth)
            if doc["task"] == "bool"
            else truth
        )

    tables, folder = merged(out, ["answer", "minutes"], answer, status=1)
    assert len(tables["problems"]) == 24 + 5  # 99 minutes each, and five empty answers
    assert set(tables["minutes"]["mean"]) == {2.5}
    found = report.read([folder])
    assert [(one.harness, one.model) for one in found.runs] == [("label", "people")]
    results = {
        result.task: result
        for result in found.runs[0].tasks
        if result.task != "xfinbench_text"
    }
    assert results["xfinbench"].members == tuple(
        name for name in results if name != "xfinbench"
    )
    for task, result in results.items():
        subset = task.removeprefix("xfinbench").removeprefix("_")
        rows = [
            number({"row": row})
            for row, doc in drawn.items()
            if subset in ("", doc["subset"])
        ]
        shares = [(2 - row % 2) / (3 if row % 5 else 2) for row in rows]
        for scoring in ("paper", "robust"):
            value = values_of(found.rows_of(result, scoring), result, scoring)[
                "acc"
            ].estimate
            assert value.mean == pytest.approx(sum(shares) / len(shares))
            if len(rows) > 4:
                assert value.low < value.mean < value.high
        assert conditions_of(result).mode == "cot"


def test_a_judge_beside_people(tmp_path: Path) -> None:
    docs = list(load(language="en", source="sample")["test"])
    lines: list[dict[str, Any]] = []
    for place, doc in enumerate(docs):
        for scoring in ("paper", "robust"):
            reading = json.dumps({"answer": place % 6, "unscored": place == 5})
            line = {
                "doc": doc,
                "resps": [[f"response {place}"]],
                "filtered_resps": [[reading]],
                "filter": scoring,
            }
            score = None if place == 5 else 20.0 * (place % 6)
            lines.append({**line, "metrics": ["score"], "score": score})
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "results_2026-01-01T00-00-00.json").write_text(
        json.dumps(
            {
                "results": {"mme_finance_en": {"score,paper": 50.0}},
                "model_name": "m",
                "config": {},
            }
        )
    )
    samples = folder / "samples_mme_finance_en_2026-01-01T00-00-00.jsonl"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run(
        "draw",
        folder,
        "--study",
        "mme_finance_judge",
        "--out",
        tmp_path / "mme.xlsx",
        "--source",
        "sample",
    )
    place_of = {str(doc["id"]): place for place, doc in enumerate(docs)}
    rows = {
        row["id"]: place_of[row["doc_id"]]
        for row in json.loads((tmp_path / "mme.draw.json").read_text())["rows"]
    }
    # people give a point more than the judge, or 5; over response 3 they do not agree
    merged(tmp_path / "mme.xlsx", ["score"], lambda person, _, cells: (
        [0, 5, 5][person] if rows[cells["row"]] == 3 else min(5, rows[cells["row"]] % 6 + 1)))  # fmt: skip
    sheets = sorted(tmp_path.glob("mme_*.xlsx"))
    found = json.loads(run("agree", *sheets, "--judge", samples, "--json").stdout)
    expected = [
        5 - 3 if p == 3 else min(5, p % 6 + 1) - p % 6
        for p in range(len(docs))
        if p != 5
    ]
    table = {line["rows"]: line for line in found["judges"]}
    assert set(table) == {"all", "objective", "subjective"}
    assert (
        table["objective"]["n"] + table["subjective"]["n"]
        == table["all"]["n"]
        == len(docs) - 1
    )
    assert table["all"]["bias"] == pytest.approx(-sum(expected) / len(expected))
    assert len(pd.read_csv(tmp_path / "merged/labels.csv").query("review")) == 1
    samples.write_text(samples.read_text().replace("response 1", "another response"))
    with pytest.raises(FinTasksError):
        run("agree", *sheets, "--judge", samples)


def test_what_is_wrong_with_sheets_is_listed(xfinbench: Path, tmp_path: Path) -> None:
    out = tmp_path / "calc.csv"
    run(
        "draw",
        xfinbench,
        "--study",
        "xfinbench_calc_errors",
        "--n",
        4,
        "--out",
        out,
        "--source",
        "sample",
    )
    sheets = sorted(tmp_path.glob("calc_*.csv"))
    for person, path in enumerate(sheets):
        fill(
            path,
            person,
            ["path", "rounding", "misuse"],
            lambda person, *_: "yes" if person else "no",
        )
    first = pd.read_csv(sheets[0], dtype=str)
    first.loc[0, "path"], first.loc[1, "path"] = "maybe", None
    pd.concat(
        [first.iloc[[0, 1, 2, 2]], first.iloc[[3]].assign(row="ffff-0001")]
    ).to_csv(sheets[0], index=False)
    run("merge", *sheets, "--out", tmp_path / "merged", status=1)
    problems = pd.read_csv(tmp_path / "merged/problems.csv")
    lines = set(
        zip(problems["sheet"], problems["line"], problems["column"], strict=True)
    )
    expected = {
        (2, "path"),
        (3, "path"),
        (4, "row"),
        (5, "row"),
        (6, "row"),
        (0, "row"),
    }
    assert lines == {("calc_1.csv", *one) for one in expected}
    assert (
        pd.read_csv(tmp_path / "merged/shares.csv")
        .query("by == 'all' and value == 'yes'")["share"]
        .tolist()
        == [1] * 3
    )
    run(
        "merge", *sheets[:2], "--out", tmp_path / "two", status=1
    )  # nobody else agrees with the first
    assert pd.read_csv(tmp_path / "two/undecided.csv")["row"].nunique() == 4
    for wrong in (
        (xfinbench, "--out", out),  # sheets exist
        (xfinbench, "--out", out.with_suffix(".xlsx")),  # their draw exists
        ("--out", tmp_path / "b.csv"),  # no responses
    ):
        with pytest.raises(FinTasksError):
            run(
                "draw", *wrong, "--study", "xfinbench_calc_errors", "--source", "sample"
            )


def test_a_study_with_answers_names_every_kind_of_question(tmp_path: Path) -> None:
    study = tmp_path / "mine.yaml"
    study.write_text(
        "name: mine\ntitle: Mine\ninstructions: Answer.\nbenchmark: xfinbench\n"
        "tasks: {xfinbench_bool: {subset: bool}}\nn: 3\nshow: [question]\n"
        "answers: {calcu: {minutes: 10, response: '[{answer}]'}}\n"
    )
    out = tmp_path / "mine.csv"
    with pytest.raises(ConfigError, match="'bool'"):
        run("draw", "--study", study, "--out", out, "--source", "sample")


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="needs the authors' recordings")
def test_a_users_study_on_a_real_recording(tmp_path: Path) -> None:
    study = tmp_path / "mine.yaml"
    study.write_text(
        "name: mine\ntitle: Mine\ninstructions: Read.\nbenchmark: financemath\ntasks: {financemath: {mode: cot}}\n"
        "strata: topic\nn: 30\nannotators: 2\nshow: [question, gold, response]\n"
        'questions: {clear: {ask: "Clear?", values: [yes, no]}}\n'
    )
    recording = RECORDINGS / "cot/gpt-4o.json"
    done = CliRunner().invoke(
        app,
        [
            "replay",
            "financemath",
            "--mode",
            "cot",
            str(recording),
            "--data-dir",
            str(RECORDINGS.parent),
            "--out",
            str(tmp_path),
        ],
    )
    assert done.exit_code == 0, done.output
    data = ("--data-dir", RECORDINGS / "validation.json")
    run(
        "draw",
        tmp_path / "gpt-4o",
        "--study",
        study,
        "--out",
        tmp_path / "s/mine.xlsx",
        "--seed",
        1,
        *data,
    )
    tables, _ = merged(tmp_path / "s/mine.xlsx", ["clear"], lambda person, _, cells: (
        "no" if number(cells) < 10 or (number(cells) < 13 and person) else "yes"))  # fmt: skip
    assert (
        share(tables, "clear", "no") == 10 / 27
    )  # of rows 10 to 12 the two do not agree
    assert len(tables["undecided"]) == 3
    topics = tables["shares"].query("by == 'topic' and value == 'yes'")
    assert topics["n"].sum() == 27
    assert len(topics) == 7


@pytest.mark.parametrize("change", [{"facts": {}}, {"doc": {"choices": True}}])
def test_a_changed_draw_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    sheet = tmp_path / "a.csv"
    options = ("--source", "sample", "--n", 3, "--out", sheet)
    run("draw", "--study", "xfinbench_capabilities", *options)
    file = tmp_path / "a.draw.json"
    draw = json.loads(file.read_text())
    draw["rows"][0] |= change
    file.write_text(json.dumps(draw))
    with pytest.raises(ConfigError, match=r"a\.draw\.json: expected the file that"):
        run("merge", tmp_path / "a_1.csv", "--out", tmp_path / "merged")


def test_only_wrong_responses_of_a_file_are_drawn(tmp_path: Path) -> None:
    documents, _ = TaskFile("xfinbench_bool").load({"source": "sample"})
    answers = {doc["id"]: doc["ground_truth"] == "1.0" for doc in list(documents)[:4]}
    lines = []
    for number, (row_id, answer) in enumerate(answers.items()):
        said = str(answer == (number < 2)).lower()
        line = {"id": row_id, "response": f"Therefore, my answer is {said}."}
        lines.append(json.dumps(line))
    file = tmp_path / "model.jsonl"
    file.write_text("\n".join(lines))
    study = tmp_path / "mine.yaml"
    study.write_text(
        "name: mine\ntitle: Mine\ninstructions: Read.\nbenchmark: xfinbench\nwrong: true\n"
        "tasks: {xfinbench_bool: {subset: bool}}\nn: 4\nshow: [question, response]\n"
        "questions: {clear: {ask: 'Is it clear?'}}\n"
    )
    out = tmp_path / "sheet.csv"
    run("draw", file, "--study", study, "--source", "sample", "--out", out)
    sheet = next(tmp_path.glob("sheet*.csv")).read_text()
    drawn = [doc["id"] for doc in list(documents)[:4] if doc["question"][:40] in sheet]
    assert drawn == list(answers)[2:]

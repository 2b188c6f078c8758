"""Studies in one folder, second rounds, bundles of pictures, and runs of several tasks."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.labels.study import load_study

STUDY = """
name: mine
title: Mine
instructions: Read.
benchmark: mme_finance
tasks: {mme_finance_en: {language: en}}
n: 6
annotators: 3
show: [question, picture]
questions:
  clear: {ask: "Clear?"}
  short: {ask: "Short?"}
"""
PARTS = {
    "mme_finance_en": {"language": "en"},
    "mme_finance_zh": {"language": "zh"},
    "mme_finance_en_na": {"language": "en", "na": True},
}


def run(*arguments: object, status: int = 0) -> Any:
    done = CliRunner().invoke(app, ["label", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def drawn(tmp_path: Path, name: str, *options: str, text: str = STUDY) -> list[Path]:
    """Draw a study of mine, and return its sheets."""
    file = tmp_path / f"{name}.yaml"
    file.write_text(text.replace("name: mine", f"name: {name}"))
    out = tmp_path / "study" / f"{name}.xlsx"
    run("draw", "--study", file, "--out", out, "--source", "sample", *options)
    return sorted(out.parent.glob(f"{name}_*.xlsx"))


def fill(path: Path, **columns: list[str]) -> None:
    table = pd.read_excel(path, "Labels", dtype=str, na_filter=False)
    for name, cells in columns.items():
        table[name] = cells
    table.to_excel(path, sheet_name="Labels", index=False)


def test_two_studies_in_one_folder(tmp_path: Path) -> None:
    for name in ("first", "second"):
        sheets = drawn(tmp_path, name)
        for sheet in sheets:
            fill(sheet, clear=["yes"] * 6, short=["no"] * 6)
    run("merge", *sheets, "--out", tmp_path / "merged")
    assert len(pd.read_csv(tmp_path / "merged/labels.csv")) == 12
    sheets[0].rename(tmp_path / "study/other.xlsx")
    with pytest.raises(ConfigError, match="one draw"):
        run("merge", tmp_path / "study/other.xlsx", "--out", tmp_path / "again")


@pytest.mark.parametrize("name", ["by", "part", "question", "label", "row"])
def test_a_sheet_of_any_name(tmp_path: Path, name: str) -> None:
    sheets = drawn(tmp_path, "mine")
    sheets[0] = sheets[0].rename(tmp_path / f"study/{name}.xlsx")
    for sheet in sheets:
        fill(sheet, clear=["yes"] * 6, short=["no"] * 6)
    run("merge", *sheets, "--out", tmp_path / "merged")
    shares = pd.read_csv(tmp_path / "merged/shares.csv").query(
        "by == 'all' and value == 'yes'"
    )
    assert shares["share"].tolist() == [1, 0]
    assert f"{name}.xlsx" in pd.read_csv(tmp_path / "merged/labels.csv").columns


def test_a_second_round_decides_what_is_undecided(tmp_path: Path) -> None:
    sheets = drawn(tmp_path, "mine")
    answers = (["yes"] * 6, ["yes"] * 4 + ["no"] * 2, ["yes"] * 4 + ["", ""])
    for sheet, cells in zip(sheets, answers, strict=True):
        fill(sheet, clear=cells, short=["no"] * 6)
    again = tmp_path / "study/again.xlsx"
    run("merge", *sheets, "--out", tmp_path / "merged", "--again", again, status=1)
    undecided = pd.read_csv(tmp_path / "merged/undecided.csv")
    assert undecided["question"].tolist() == ["clear"] * 2
    second_sheets = sorted(again.parent.glob("again_*.xlsx"))
    for sheet in second_sheets:
        table = pd.read_excel(sheet, "Labels", dtype=str)
        assert table["row"].tolist() == undecided["row"].tolist()
        assert table["short"].tolist() == ["no"] * 2, "people see what is decided"
        fill(sheet, clear=["no"] * 2, short=["yes"] * 2)
    run("merge", *second_sheets, "--out", tmp_path / "final")
    labels = pd.read_csv(tmp_path / "final/labels.csv")
    assert (
        labels.query("question == 'clear'")["label"].tolist()
        == ["yes"] * 4 + ["no"] * 2
    )
    assert labels.query("question == 'short'")["label"].tolist() == ["no"] * 6


def test_a_bundle_holds_its_pictures(tmp_path: Path) -> None:
    sheets = drawn(tmp_path, "mine", "--bundle")
    pictures = pd.read_excel(sheets[0], "Labels", dtype=str)["picture"]
    assert len(pictures) == 6
    for picture in pictures:
        assert not Path(picture).is_absolute()
        assert (sheets[0].parent / picture).stat().st_size > 0


def test_a_sheet_of_a_long_list_of_words_can_be_opened(tmp_path: Path) -> None:
    """Excel refuses rules with more than 255 characters, so the cells have none; merging checks them."""
    words = [f"category{number}" for number in range(12)]
    question = f'{{ask: "Which?", values: [{", ".join(words)}], choose: 2}}'
    sheets = drawn(tmp_path, "mine", text=STUDY.replace('{ask: "Clear?"}', question))
    rules = load_workbook(sheets[0])["Labels"].data_validations.dataValidation
    assert [rule.formula1 for rule in rules] == ['"yes,no"']
    for sheet in sheets:
        fill(
            sheet, clear=["category1+category7"] * 5 + ["category99"], short=["no"] * 6
        )
    run("merge", *sheets, "--out", tmp_path / "merged", status=1)
    assert len(pd.read_csv(tmp_path / "merged/problems.csv")) == 3


def write_judged_run(folder: Path, points: dict[str, int], judge: str = "j") -> Path:
    """Write a judged run of three tasks whose documents have the same ids."""
    folder.mkdir(parents=True)
    stamp = "2026-01-01T00-00-00"
    configs = {}
    for task, options in PARTS.items():
        facts = {"judge": {"model": judge, "rubric": "r@1"}}
        configs[task] = {"task": task, "metadata": facts}
        lines = []
        for number, doc in enumerate(load(**options, source="sample")["test"]):
            reading = {"answer": points[task], "unscored": False}
            responses: list[Any] = [[f"{task} {number}"]]
            if number == 0:
                responses = []
            line = {
                "doc": doc,
                "resps": responses,
                "filtered_resps": [[json.dumps(reading)]],
            }
            line |= {
                "filter": "robust",
                "metrics": ["score"],
                "score": 20.0 * points[task],
            }
            lines.append(json.dumps(line) + "\n")
        (folder / f"samples_{task}_{stamp}.jsonl").write_text("".join(lines))
    results = {task: {"score,robust": 50.0} for task in PARTS}
    file = folder / f"results_{stamp}.json"
    file.write_text(
        json.dumps({"results": results, "configs": configs, "model_name": "m"})
    )
    return folder


def test_a_judge_of_tasks_whose_ids_collide(tmp_path: Path) -> None:
    """The first response of each task is missing, which is an empty one."""
    points = {"mme_finance_en": 5, "mme_finance_zh": 3, "mme_finance_en_na": 1}
    judged = write_judged_run(tmp_path / "a", points)
    other = write_judged_run(tmp_path / "b", dict.fromkeys(points, 2), judge="k")
    out = tmp_path / "study/mme.xlsx"
    draw = [
        "draw",
        judged,
        "--study",
        "mme_finance_judge",
        "--source",
        "sample",
        "--out",
        out,
    ]
    run(*draw)
    rows = json.loads((tmp_path / "study/mme.draw.json").read_text())["rows"]
    assert {row["task"] for row in rows} == set(PARTS)
    sheets = sorted(out.parent.glob("mme_*.xlsx"))
    for sheet in sheets:
        fill(sheet, score=[str(points[row["task"]]) for row in rows])
    done = run("agree", *sheets, "--judge", judged, "--judge", other, "--json")
    lines = {
        (line["judge"], line["rows"]): line
        for line in json.loads(done.stdout)["judges"]
    }
    first = lines["j r@1", "all"]
    assert (first["n"], first["mean_absolute_difference"]) == (len(rows), 0)
    assert first["spearman"] == pytest.approx(1)
    assert lines["k r@1", "all"]["spearman"] is None
    table = run("agree", *sheets, "--judge", judged).stdout
    assert max(map(len, table.splitlines())) < 120
    for sheet in sheets:
        fill(sheet, score=[""] * len(rows))
    with pytest.raises(FinTasksError, match="people scored"):
        run("agree", *sheets, "--judge", judged)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "studies").glob("*.yaml")), ids=str
)
def test_a_study_asks_only_about_what_it_shows(path: Path) -> None:
    study = load_study(path.stem)
    texts = " ".join(study.columns().values())
    shows_terms = not {"terms", "gold_terms"}.isdisjoint(study.show)
    assert shows_terms or ("terms" not in texts)


def test_ratings_and_visual_errors() -> None:
    quality = load_study("xfinbench_quality").questions
    assert {"fluency", "completeness"} < quality.keys()
    visual = load_study("xfinbench_visual_errors").questions
    assert visual["visual"].values == ["right", "partial", "wrong"]


@pytest.mark.parametrize(
    "text",
    [
        STUDY.replace("title: Mine", "title: &a Mine").replace("Read.", "*a"),
        STUDY + "# " + "x" * 300_000,
        STUDY + "answers: {calcu: {minutes: 1, response: '{answer}'}}",
        STUDY[: STUDY.index("questions:")],
        "- a",
    ],
)
def test_files_that_are_no_study(tmp_path: Path, text: str) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    assert load_study(str(file)).name == "mine"
    file.write_text(text)
    with pytest.raises(ConfigError, match="a study as in"):
        load_study(str(file))

"""Studies in one folder, second rounds, runs of several tasks, and files of studies."""

from pathlib import Path

import pytest
from openpyxl import load_workbook
from studies_at_work import (
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

from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.labels.study import load_study
from fin_tasks.labels.vote import most_frequent

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
NO = ["no"] * 6
PARTS = {
    "mme_finance_en": {"language": "en"},
    "mme_finance_zh": {"language": "zh"},
    "mme_finance_en_na": {"language": "en", "na": True},
}


def drawn(
    tmp_path: Path, name: str = "mine", text: str = STUDY, ending: str = "csv"
) -> list[Path]:
    """Draw a study of mine, and return its sheets."""
    file = tmp_path / f"{name}.yaml"
    file.write_text(text.replace("name: mine", f"name: {name}"))
    return draw(tmp_path / f"study/{name}.{ending}", file)


def test_scores_that_are_equally_frequent_are_averaged() -> None:
    assert most_frequent([1.0, 4.0, 4.0]) == 4.0
    assert most_frequent([1.0, 4.0]) == 2.5
    assert most_frequent([1.0, 1.0, 4.0, 4.0, 5.0]) == 3.0


def test_two_studies_in_one_folder(tmp_path: Path) -> None:
    for name in ("first", "second"):
        sheets = drawn(tmp_path, name)
        fill_all(sheets, clear=["yes"] * 6, short=NO)
    assert len(merge(sheets)["labels"]) == 12
    other = sheets[0].rename(tmp_path / "study/other.csv")
    with pytest.raises(ConfigError, match="one draw"):
        merge([other])


def test_a_second_round_decides_what_is_undecided(tmp_path: Path) -> None:
    sheets = drawn(tmp_path)
    answers = (["yes"] * 6, ["yes"] * 4 + ["no"] * 2, ["yes"] * 4 + ["", ""])
    fill_apart(sheets, clear=answers, short=[NO] * 3)
    out = tmp_path / "again/again.xlsx"
    undecided = merge(sheets, "--again", out, status=1)["undecided"]
    assert undecided["question"].tolist() == ["clear"] * 2
    for sheet in sheets_of(out):
        table = read(sheet)
        assert table["row"].tolist() == undecided["row"].tolist()
        assert table["short"].tolist() == ["no"] * 2, "people see what is decided"
        fill(sheet, clear=["no"] * 2, short=["yes"] * 2)
    labels = merge(sheets_of(out))["labels"].groupby("question")["label"].agg(list)
    assert labels["clear"] == ["yes"] * 4 + ["no"] * 2
    assert labels["short"] == NO


def test_a_sheet_of_a_long_list_of_words_can_be_opened(tmp_path: Path) -> None:
    """Excel refuses rules with more than 255 characters, so the cells have none; merging checks them."""
    words = ", ".join(f"category{number}" for number in range(12))
    question = f'{{ask: "Which?", values: [{words}], choose: 2}}'
    text = STUDY.replace('{ask: "Clear?"}', question)
    sheets = drawn(tmp_path, text=text, ending="xlsx")
    rules = load_workbook(sheets[0])["Labels"].data_validations.dataValidation
    assert [rule.formula1 for rule in rules] == ['"yes,no"']
    fill_all(sheets, clear=["category1+category7"] * 5 + ["category99"], short=NO)
    assert len(merge(sheets, status=1)["problems"]) == 3


def test_a_judge_of_tasks_whose_ids_collide(tmp_path: Path) -> None:
    docs = {task: sample_docs(**options) for task, options in PARTS.items()}
    judged = write_judged(
        tmp_path / "a",
        docs,
        lambda place: 20.0 * (place % 6),
        response="{task} {place}",
    )
    other = write_judged(
        tmp_path / "b", docs, lambda _: 40.0, response="{task} {place}", judge="k"
    )
    out = tmp_path / "mme.csv"
    sheets = draw(out, "mme_finance_judge", judged)
    rows = drawn_rows(out)
    assert {row["task"] for row in rows} == set(PARTS)
    places = [int(row["response"].split()[-1]) for row in rows]
    fill_all(sheets, score=[place % 6 for place in places])
    lines = {}
    for line in agree(sheets, judged, other)["judges"]:
        lines[line["judge"], line["rows"]] = line
    first = lines["judge r@1", "all"]
    assert (first["n"], first["mean_absolute_difference"]) == (len(rows), 0)
    assert first["spearman"] == pytest.approx(1)
    assert lines["k r@1", "all"]["spearman"] is None
    table = run("label", "agree", *sheets, "--judge", judged).stdout
    assert max(map(len, table.splitlines())) < 120
    fill_all(sheets, score=[""] * len(rows))
    with pytest.raises(FinTasksError, match="people scored"):
        agree(sheets, judged)


def test_a_missing_response_is_an_empty_one(tmp_path: Path) -> None:
    judged = write_judged(
        tmp_path / "a", {"mme_finance_en": sample_docs()}, lambda _: 0.0, response=""
    )
    out = tmp_path / "mme.csv"
    sheets = draw(out, "mme_finance_judge", judged, "--n", 4)
    assert {row["response"] for row in drawn_rows(out)} == {""}
    fill_all(sheets, score=[0] * 4)
    assert agree(sheets, judged)["judges"][0]["bias"] == 0


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "studies").glob("*.yaml")), ids=str
)
def test_a_study_asks_only_about_what_it_shows(path: Path) -> None:
    study = load_study(path.stem)
    texts = " ".join(study.columns().values())
    shows_terms = not {"terms", "gold_terms"}.isdisjoint(study.show)
    assert shows_terms or ("terms" not in texts)


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

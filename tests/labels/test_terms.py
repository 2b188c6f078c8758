"""Finance terms in studies: people link them to questions, and compare formulas with them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.benchmarks.xfinbench.rows import COLUMNS, read_rows
from fin_tasks.cli import app
from fin_tasks.labels.draw import draw
from fin_tasks.labels.readable import plain_formulas
from fin_tasks.labels.study import Study, load_study

SAMPLE = {"source": "sample"}


def run(*arguments: object, status: int = 0) -> Any:
    done = CliRunner().invoke(app, ["label", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def linked(folder: Path, votes: list[list[str]], status: int = 0) -> Any:
    """Draw a row for each list of three votes, write the votes, and merge the sheets."""
    out = folder / "terms.csv"
    study = ["--study", "xfinbench_terms", "--source", "sample"]
    run("draw", *study, "--n", len(votes), "--out", out)
    sheets = [folder / f"terms_{person}.csv" for person in (1, 2, 3)]
    for person, sheet in enumerate(sheets):
        table = pd.read_csv(sheet, dtype=str, keep_default_na=False)
        table["linked"] = [votes_of_row[person] for votes_of_row in votes]
        table.to_csv(sheet, index=False)
    return run("merge", *sheets, "--out", folder / "merged", status=status)


def test_terms_that_most_people_chose_are_linked(tmp_path: Path) -> None:
    votes = [
        ["1+4", "1", "4+10"],  # 1 and 4 have two votes, 10 has one
        ["none", "none", "2"],
        ["1", "2", "3"],  # undecided
        ["1+2+3", "1+2+4", "2+3+4"],  # four terms with two votes or more: too many
    ]
    linked(tmp_path, votes)
    drawn = draw(load_study("xfinbench_terms"), None, n=4, seed=0, options=SAMPLE).rows
    labels = pd.read_csv(tmp_path / "merged" / "labels.csv", dtype=str)
    assert labels["label"].fillna("").tolist() == ["1+4", "none", "", ""]
    table = pd.read_csv(
        tmp_path / "merged" / "questions.csv", dtype=str, keep_default_na=False
    )
    assert list(table) == list(COLUMNS)
    candidates = [term["id"] for term in drawn[0].doc["candidates"]]
    assert table["gold_fin_term_id"].tolist() == [
        f"{candidates[0]};{candidates[3]}",
        "",
    ]
    shares = pd.read_csv(tmp_path / "merged" / "shares.csv").query("by == 'all'")
    counts = dict(zip(shares["value"], shares["count"], strict=True))
    assert counts == {"0 terms": 1, "1 term": 0, "2 terms": 1, "3 terms": 0}
    undecided = pd.read_csv(tmp_path / "merged" / "undecided.csv")
    assert len(undecided) == 2


def test_a_cell_that_cannot_be_used_leaves_the_other_labels(tmp_path: Path) -> None:
    linked(tmp_path, [["1", "1", ""], ["2", "2", "99"]], status=1)
    labels = pd.read_csv(tmp_path / "merged" / "labels.csv", dtype=str)
    assert labels["label"].tolist() == ["1", "2"]


def test_the_linked_questions_are_questions_of_the_set(tmp_path: Path) -> None:
    linked(tmp_path, [["1", "1", "1"]] * 40)
    (tmp_path / "test_set.csv").write_bytes(
        (tmp_path / "merged" / "questions.csv").read_bytes()
    )
    rows = {row.id: row for row in read_rows(tmp_path / "test_set.csv")}
    assert len(rows) == 40 and not any(row.flaw for row in rows.values())
    for subset in ("bool", "mcq", "calc"):
        (new,) = load(subset=subset, data_dir=str(tmp_path)).values()
        (old,) = load(subset=subset, **SAMPLE).values()
        prompts = {doc["id"]: doc["prompt"] for doc in old}
        assert len(new) > 0
        for doc in new:
            assert doc["prompt"] == prompts[doc["id"]]
            assert len(doc["gold_terms"]) == 1


def test_cells_that_name_no_candidate_are_problems(tmp_path: Path) -> None:
    done = linked(tmp_path, [["11", "4+1", "1+2+3+4"]], status=1)
    problems = pd.read_csv(tmp_path / "merged" / "problems.csv")
    assert len(problems) == 3
    (message, *_) = problems["message"]
    assert (
        "up to 3 candidates in order, such as 2+5; the row has 10, got '11'" in message
    )
    assert "11" in done.output


def test_candidates_are_shown_with_their_definitions(tmp_path: Path) -> None:
    out = tmp_path / "terms.xlsx"
    study = ["--study", "xfinbench_terms", "--source", "sample"]
    run("draw", *study, "--n", 2, "--out", out)
    sheet = load_workbook(tmp_path / "terms_1.xlsx")["Labels"]
    header = [cell.value for cell in sheet[1]]
    shown = str(sheet[2][header.index("candidates")].value)
    row = draw(load_study("xfinbench_terms"), None, n=2, seed=0, options=SAMPLE).rows[0]
    for number, term in enumerate(row.doc["candidates"], start=1):
        assert (
            f"{number}. {term['name']}: {plain_formulas(term['definition'])[:200]}"
            in shown
        )
    assert "gold_terms" not in header


def test_people_who_compare_formulas_see_the_gold_terms(tmp_path: Path) -> None:
    study = load_study("xfinbench_calc_errors")
    assert "gold_terms" in study.show
    questions_only = study.model_copy(update={"show": ["question", "gold_terms"]})
    rows = draw(questions_only, None, n=5, seed=0, options=SAMPLE).rows
    for row in rows:
        shown = [term["id"] for term in row.doc["shown_gold_terms"]]
        assert shown == row.doc["gold_terms"]
        assert all(term["definition"] for term in row.doc["shown_gold_terms"])


def test_candidates_without_a_question_about_them_are_refused() -> None:
    study = load_study("xfinbench_terms").model_dump()
    with pytest.raises(ValueError, match="or nowhere"):
        Study.model_validate({**study, "candidates": 0})

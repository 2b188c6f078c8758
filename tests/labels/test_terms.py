"""Finance terms in studies: people link them to questions, and compare formulas with them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from studies_at_work import draw as draw_sheets
from studies_at_work import drawn_rows, fill_apart, merge, read

from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.benchmarks.xfinbench.rows import COLUMNS, read_rows
from fin_tasks.labels.draw import draw
from fin_tasks.labels.readable import plain_formulas
from fin_tasks.labels.study import Study, load_study

SAMPLE = {"source": "sample"}


def linked(
    folder: Path, votes: list[list[str]], status: int = 0
) -> dict[str, pd.DataFrame]:
    """Draw a row for each list of three votes, write the votes, and merge the sheets."""
    sheets = draw_sheets(folder / "terms.csv", "xfinbench_terms", "--n", len(votes))
    fill_apart(sheets, linked=list(zip(*votes, strict=True)))
    return merge(sheets, status=status)


def test_terms_that_most_people_chose_are_linked(tmp_path: Path) -> None:
    votes = [
        ["1+4", "1", "4+10"],  # 1 and 4 have two votes, 10 has one
        ["none", "none", "2"],
        ["1", "2", "3"],  # undecided
        ["1+2+3", "1+2+4", "2+3+4"],  # four terms with two votes or more: too many
    ]
    tables = linked(tmp_path, votes)
    labels = tables["labels"]["label"].fillna("")
    assert labels.tolist() == ["1+4", "none", "", ""]
    file = tmp_path / "merged/questions.csv"
    table = pd.read_csv(file, dtype=str, keep_default_na=False)
    assert list(table) == list(COLUMNS)
    candidates = drawn_rows(tmp_path / "terms.csv")[0]["doc"]["candidates"]
    first = f"{candidates[0]['id']};{candidates[3]['id']}"
    assert table["gold_fin_term_id"].tolist() == [first, ""]
    shares = tables["shares"].query("by == 'all'")
    counts = dict(zip(shares["value"], shares["count"], strict=True))
    assert counts == {"0 terms": 1, "1 term": 0, "2 terms": 1, "3 terms": 0}
    assert len(tables["undecided"]) == 2


def test_the_linked_questions_are_questions_of_the_set(tmp_path: Path) -> None:
    linked(tmp_path, [["1", "1", "1"]] * 40)
    (tmp_path / "merged/questions.csv").rename(tmp_path / "test_set.csv")
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
    """And the other labels stay."""
    tables = linked(tmp_path, [["11", "4+1", "1+2+3+4"], ["2", "2", ""]], status=1)
    problems = tables["problems"]
    assert len(problems) == 4
    expected = "candidates in order, such as 2+5; the row has 10, got '11'"
    assert expected in problems["message"][0]
    assert tables["labels"]["label"].dropna().tolist() == [2]


def test_candidates_are_shown_with_their_definitions(tmp_path: Path) -> None:
    out = tmp_path / "terms.xlsx"
    table = read(draw_sheets(out, "xfinbench_terms", "--n", 2)[0])
    candidates = drawn_rows(out)[0]["doc"]["candidates"]
    for number, term in enumerate(candidates, start=1):
        text = f"{number}. {term['name']}: {plain_formulas(term['definition'])[:200]}"
        assert text in table["candidates"][0]
    assert "gold_terms" not in table


def test_people_who_compare_formulas_see_the_gold_terms(tmp_path: Path) -> None:
    study = load_study("xfinbench_calc_errors")
    assert "gold_terms" in study.show
    questions_only = study.model_copy(update={"show": ["question", "gold_terms"]})
    rows = draw(questions_only, None, n=5, seed=0, options=SAMPLE).rows
    for row in rows:
        shown = [term["id"] for term in row.doc["shown_gold_terms"]]
        assert shown == row.doc["gold_terms"]
        assert all(term["definition"] for term in row.doc["shown_gold_terms"])


def test_a_file_about_the_sample_shows_its_terms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    (documents,) = load(subset="calc", **SAMPLE).values()
    ids = [doc["id"] for doc in documents if doc["gold_terms"]]
    file = tmp_path / "model.json"
    file.write_text(json.dumps(dict.fromkeys(ids, "I cannot say.")))
    study = load_study("xfinbench_calc_errors")
    rows = draw(study, file, n=5, seed=0, options={}).rows
    assert all(row.doc["shown_gold_terms"] for row in rows)


def test_candidates_without_a_question_about_them_are_refused() -> None:
    study = load_study("xfinbench_terms").model_dump()
    with pytest.raises(ValueError, match="or nowhere"):
        Study.model_validate({**study, "candidates": 0})

"""Prediction files of VLMEvalKit and the results beside them."""

import json
import logging
import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import openpyxl
import pytest

from fin_tasks.adapters import vlmeval_results
from fin_tasks.adapters.vlmeval_results import ResultFiles, kit_version, read_responses
from fin_tasks.adapters.vlmeval_table import PredictionTable, read_kept, responses_file
from fin_tasks.errors import DataError

ODD = ["007.50", "N/A", "=1+1", "", "a\tb\r\nc", "1e5", "true", "nan"]


def of(*indices: object) -> dict[str, str]:
    """A data set whose rows all have the same question."""
    return {str(index): "q" for index in indices}


def table(predictions: list[str]) -> PredictionTable:
    return PredictionTable({"index": range(len(predictions)), "question": "q", "prediction": predictions})


def workbook(path: Path, rows: list[tuple[object, object]]) -> Path:
    made = openpyxl.Workbook()
    for row in [("index", "prediction"), *rows]:
        made.active.append(row)
    made.save(path)
    return path


def test_a_table_read_back_and_written_again_loses_nothing(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "m_D.tsv"
    known = of(*range(len(ODD)))
    table(ODD).to_csv(path, sep="\t", index=False)
    for _ in range(2):
        spoilt = [str(value) for value in pd.read_csv(path, sep="\t")["prediction"]]
        assert spoilt != ODD
        table(spoilt).to_csv(path, sep="\t", index=False)
        assert list(read_kept(path).values()) == ODD
        assert list(read_responses(path, known).responses.values()) == ODD


def test_an_answer_that_is_new_replaces_the_kept_one(tmp_path: Path) -> None:
    path = tmp_path / "m_D.tsv"
    table(["N/A", "x"]).to_csv(path, sep="\t", index=False)
    table(["nan", "y"]).to_csv(path, sep="\t", index=False)
    assert read_kept(path) == {"0": "N/A", "1": "y"}


def test_cells_of_a_strangers_workbook_are_text(tmp_path: Path) -> None:
    path = workbook(tmp_path / "m.xlsx", [(1, "=1+1"), (2, "007.50"), (3.0, "N/A"), (4, None), (5, 7.5)])
    saved = read_responses(path, of(1, 2, 3, 4, 5))
    assert dict(saved.responses) == {"1": "=1+1", "2": "007.50", "3": "N/A", "4": "", "5": "7.5"}


def test_a_cut_response_is_told_unless_it_was_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = workbook(tmp_path / "m.xlsx", [(1, "x" * 32_767)])
    with caplog.at_level(logging.WARNING):
        assert read_responses(path, of(1)).cut == ("1",)
    assert "are cut" in caplog.text
    responses_file(path).write_text(json.dumps({"index": "1", "prediction": "x" * 40_000}) + "\n")
    saved = read_responses(path, of(1))
    assert (saved.cut, len(saved.responses["1"])) == ((), 40_000)
    responses_file(path).write_text(json.dumps({"index": "1", "prediction": "y" * 40_000}) + "\n")
    assert read_responses(path, of(1)).responses["1"][0] == "x", "a file that says something else is another run's"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("index\tprediction\n9\tx\n", "expected an index of the data set, got '9'"),
        ("index\tprediction\n1\tx\n1\ty\n", "expected each index once"),
        ("index\tanswer\n1\tx\n", "expected a column prediction"),
    ],
)
def test_files_that_are_not_this_data_sets(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_responses(path, of(1))


def test_rows_without_prediction_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("index\tprediction\n1\tx\n")
    with caplog.at_level(logging.WARNING):
        read_responses(path, of(1, 2, 3))
    assert "2 of 3 rows have no prediction" in caplog.text


def test_results_lie_beside_the_predictions_and_old_ones_go(tmp_path: Path) -> None:
    files = ResultFiles(predictions=tmp_path / "gpt-4.1_MMEFinance.xlsx", label="../a b/c")
    files.write_table("overall.csv", [{"n": 1, "score": None}])
    files.write_score({"n": 1})
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"gpt-4.1_MMEFinance_a_b_c_overall.csv", "gpt-4.1_MMEFinance_a_b_c_score.json"}
    assert files.path("overall.csv").read_text() == "n,score\n1,\n"
    files.remove()
    assert not list(tmp_path.iterdir())


def test_a_table_as_pandas_writes_json(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"index":{"0":1,"1":2},"question":{"0":"q","1":"q"},"prediction":{"0":"x","1":null}}')
    assert dict(read_responses(path, of(1, 2)).responses) == {"1": "x", "2": ""}
    path.write_text('{"index":{"0":1,"1":2},"prediction":{"0":"x"}}')
    with pytest.raises(DataError, match="column 'prediction': expected a cell for each of the 2 rows"):
        read_responses(path, of(1, 2))


def test_predictions_for_other_questions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("index\tquestion\tprediction\n1\tq\tx\n2\tWhat else?\ty\n3\tno\tz\n")
    with pytest.raises(DataError, match=r"m\.tsv, line 3: expected the question 'q' for index 2.*2 such rows") as told:
        read_responses(path, of(1, 2, 3))
    assert "FIN_TASKS_DATA" in str(told.value)


def test_without_questions_nothing_shows_whose_the_predictions_are(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("index\tprediction\n1\tx\n")
    with caplog.at_level(logging.WARNING):
        assert read_responses(path, of(1)).responses == {"1": "x"}
    assert "no column question" in caplog.text


def test_a_score_says_which_kit_it_was_made_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(package: str) -> str:
        if package != "ms-vlmeval":
            raise PackageNotFoundError(package)
        return "0.3"

    files = ResultFiles(predictions=tmp_path / "m_MMEFinance.xlsx")
    monkeypatch.setattr(vlmeval_results, "version", installed)
    files.write_score({"n": 1})
    assert json.loads(files.path("score.json").read_text()) == {"n": 1, "vlmeval_version": "ms-vlmeval 0.3"}
    monkeypatch.setattr(vlmeval_results, "_PACKAGES", ())
    assert kit_version() is None
    files.write_score({"n": 1})
    assert json.loads(files.path("score.json").read_text()) == {"n": 1}


def test_the_newest_score_of_a_judge_counts(tmp_path: Path) -> None:
    predictions = tmp_path / "m_MMEFinance.xlsx"
    plain, without, other = (
        ResultFiles(predictions=predictions, label=label) for label in ("gpt-4o", "gpt-4o_no_image", "gpt-4o-mini")
    )
    assert plain.score_of("gpt-4o") is None
    for age, files in enumerate((other, without, plain)):
        files.write_score({"judge": files.label.removesuffix("_no_image"), "image": files is plain})
        os.utime(files.path("score.json"), (age, age))
    assert plain.score_of("gpt-4o") == {"judge": "gpt-4o", "image": True}
    os.utime(without.path("score.json"), (9, 9))
    assert plain.score_of("gpt-4o") == {"judge": "gpt-4o", "image": False}

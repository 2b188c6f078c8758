"""Judges' means corrected by people's labels, from the draw to report and compare."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from studies_at_work import (
    TASK,
    agree,
    draw,
    drawn_rows,
    fill,
    fill_all,
    read,
    run,
    sample_docs,
    sheets_of,
    write_judged,
)

from fin_tasks.errors import FinTasksError

N_LABELS = 12
STUDY = Path(__file__).parents[2] / "studies/mme_finance_judge.yaml"


def people_points(model: str, place: int) -> int:
    return (place + len(model)) % 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judged models; the judge likes the worse one. People scored a sample of each."""
    root = tmp_path_factory.mktemp("corrected")
    docs = {TASK: sample_docs()}
    for model, bias in (("a", 0), ("bb", 2)):
        write_judged(
            root / model,
            docs,
            lambda place, model=model, bias=bias: (
                20.0 * (people_points(model, place) + bias)
            ),
            model=model,
            response=f"{model} {{place}}",
        )
        label(root / model, root / f"{model}.csv", model)
    return root


def label(judged: Path, out: Path, model: str, study: object = STUDY) -> list[Path]:
    sheets = draw(out, study, judged, "--n", N_LABELS)
    places = {str(doc["id"]): place for place, doc in enumerate(sample_docs())}
    ids = [row["doc_id"] for row in drawn_rows(out)]
    fill_all(sheets, score=[people_points(model, places[name]) for name in ids])
    return sheets


def test_from_labels_to_the_corrected_ranking(folder: Path) -> None:
    judged = [folder / "a", folder / "bb"]
    sheets = [*sheets_of(folder / "a.csv"), *sheets_of(folder / "bb.csv")]
    tables = agree(sheets, *judged, options=["--out", folder / "out"])
    lines = {line["model"]: line for line in tables["runs"]}
    for model, bias in (("a", 0), ("bb", 40)):
        line = lines[model]
        # the judge is right but for its bias, so the correction gives what people would say
        assert line["corrected"] == pytest.approx(line["judge_mean"] - bias, abs=1.0)
        assert line["labels"] == N_LABELS < line["n"]
        assert line["low"] < line["corrected"] < line["high"]
    (difference,) = tables["differences"]
    assert difference["labels"] == N_LABELS  # both draws have the same questions
    assert difference["low"] < difference["corrected"] < difference["high"]
    corrected = ("--corrected", folder / "out/corrected.json")
    run("report", *judged, *corrected, "--out", folder / "page", "--no-published")
    board = json.loads((folder / "page/leaderboard.json").read_text())
    values = {
        entry["model"]: entry["corrected"]
        for entry in board["entries"]
        if entry["metric"] == "score"
    }
    assert values["bb"]["corrected"] == lines["bb"]["corrected"]
    assert values["bb"]["labels"] == N_LABELS
    compared = run("compare", *judged, "--scoring", "robust", *corrected, "--json")
    notes = json.loads(compared.stdout)["notes"]
    assert sum(f"corrected by {N_LABELS} labels" in note for note in notes) == 3


def forget_the_rows(out: Path) -> None:
    change_draw(out, lambda draw: draw.pop("n_rows"))


def leave_out_a_row(out: Path) -> None:
    change_draw(out, lambda draw: draw["rows"].pop(0))
    for sheet in sheets_of(out):
        read(sheet)[1:].to_csv(sheet, index=False)


def add_a_strange_row(out: Path) -> None:
    sheet = sheets_of(out)[0]
    fill(sheet, row=["beef-0001", *read(sheet)["row"][1:]])


def leave_a_row_unlabeled(out: Path) -> None:
    sheets = sheets_of(out)
    fill_all(sheets, score=["", *read(sheets[0])["score"][1:]])


def change_draw(out: Path, change: Callable[[Any], object]) -> None:
    file = out.with_suffix(".draw.json")
    draw = json.loads(file.read_text())
    change(draw)
    file.write_text(json.dumps(draw))


@pytest.mark.parametrize(
    "change",
    [forget_the_rows, leave_out_a_row, add_a_strange_row, leave_a_row_unlabeled, None],
)
def test_labels_that_are_no_random_sample_are_refused(
    folder: Path, tmp_path: Path, change: Callable[[Path], None] | None
) -> None:
    study = tmp_path / "only_wrong.yaml"
    study.write_text(STUDY.read_text() + "wrong: true\n")
    out = tmp_path / "a.csv"
    sheets = label(folder / "a", out, "a", STUDY if change else study)
    if change:
        change(out)
    tables = agree(sheets, folder / "a")
    assert (tables["runs"], len(tables["refused"])) == ([], 1)
    out.with_suffix(".draw.json").unlink()
    with pytest.raises(FinTasksError, match=r"draw\.json"):
        agree(sheets, folder / "a")

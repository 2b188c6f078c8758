"""Judges' means corrected by people's labels, from the draw to report and compare."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.cli import app
from fin_tasks.errors import FinTasksError

TASK = "mme_finance_en"
STAMP = "2026-01-01T00-00-00"
N_LABELS = 12


def run(*arguments: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def people_points(model: str, place: int) -> int:
    return (place + len(model)) % 4


def write_judged(folder: Path, model: str, bias: int) -> None:
    """Write a judged run; the judge gives some points more or less than people do."""
    folder.mkdir()
    lines = []
    for place, doc in enumerate(load(language="en", source="sample")["test"]):
        score = 20.0 * (people_points(model, place) + bias)
        line = {"doc": doc, "resps": [[f"{model} {place}"]], "filtered_resps": [["{}"]]}
        line |= {"filter": "robust", "metrics": ["score"], "score": score}
        lines.append(json.dumps(line) + "\n")
    (folder / f"samples_{TASK}_{STAMP}.jsonl").write_text("".join(lines))
    metadata = {"judge": {"model": "judge", "rubric": "r@1"}}
    results = {
        "results": {TASK: {"score,robust": 50.0}},
        "configs": {TASK: {"task": TASK, "metadata": metadata}},
        "model_name": model,
    }
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judged models; the judge likes the worse one. People scored a sample of each."""
    root = tmp_path_factory.mktemp("corrected")
    for model, bias in (("a", 0), ("bb", 2)):
        write_judged(root / model, model, bias)
        draw_labels(root / model, root / f"{model}.csv", model)
    return root


def draw_labels(
    judged: Path, out: Path, model: str, study: str = "mme_finance_judge"
) -> None:
    run(
        *("label", "draw", judged, "--study", study, "--source", "sample"),
        *("--n", N_LABELS, "--out", out),
    )
    places = {
        str(doc["id"]): place
        for place, doc in enumerate(load(language="en", source="sample")["test"])
    }
    drawn = json.loads(out.with_suffix(".draw.json").read_text())["rows"]
    for sheet in sheets_of(out):
        table = pd.read_csv(sheet, dtype=str)
        table["score"] = [
            str(people_points(model, places[row["doc_id"]])) for row in drawn
        ]
        table.to_csv(sheet, index=False)


def sheets_of(out: Path) -> list[Path]:
    return sorted(out.parent.glob(f"{out.stem}_*.csv"))


def agree(folder: Path, *outs: Path, models: tuple[str, ...] = ("a", "bb")) -> Any:
    sheets = [sheet for out in outs for sheet in sheets_of(out)]
    judged = [word for model in models for word in ("--judge", folder / model)]
    done = run("label", "agree", *sheets, *judged, "--out", folder / "out", "--json")
    return json.loads(done.stdout)


def test_from_labels_to_the_corrected_ranking(folder: Path) -> None:
    tables = agree(folder, folder / "a.csv", folder / "bb.csv")
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
    file = folder / "out/corrected.json"
    page = folder / "page"
    judged = [folder / "a", folder / "bb"]
    run("report", *judged, "--corrected", file, "--out", page, "--no-published")
    board = json.loads((page / "leaderboard.json").read_text())
    headlines = [entry for entry in board["entries"] if entry["metric"] == "score"]
    corrected = {entry["model"]: entry["corrected"] for entry in headlines}
    assert corrected["bb"]["corrected"] == lines["bb"]["corrected"]
    assert corrected["bb"]["labels"] == N_LABELS
    compared = run(
        "compare", *judged, "--scoring", "robust", "--corrected", file, "--json"
    )
    notes = json.loads(compared.stdout)["notes"]
    assert sum(f"corrected by {N_LABELS} labels" in note for note in notes) == 3


def test_labels_that_are_no_random_sample_are_refused(
    folder: Path, tmp_path: Path
) -> None:
    packaged = Path(__file__).parents[2] / "studies/mme_finance_judge.yaml"
    filtered = tmp_path / "filtered.yaml"
    filtered.write_text(packaged.read_text() + "wrong: true\n")
    for change in ("filtered", "old", "other rows", "changed", "unlabeled"):
        out = tmp_path / change.replace(" ", "") / "a.csv"
        study = str(filtered) if change == "filtered" else "mme_finance_judge"
        draw_labels(folder / "a", out, "a", study)
        manifest = out.with_suffix(".draw.json")
        draw = json.loads(manifest.read_text())
        sheets = sheets_of(out)
        table = pd.read_csv(sheets[0], dtype=str)
        if change == "old":
            del draw["n_rows"]
        if change == "changed":
            del draw["rows"][0]
            for sheet in sheets:
                pd.read_csv(sheet, dtype=str)[1:].to_csv(sheet, index=False)
        if change == "other rows":
            table.loc[0, "row"] = "beef-0001"
            table.to_csv(sheets[0], index=False)
        if change == "unlabeled":
            for sheet in sheets:
                pd.read_csv(sheet, dtype=str).assign(
                    score=lambda cells: cells["score"].where(cells.index > 0)
                ).to_csv(sheet, index=False)
        manifest.write_text(json.dumps(draw))
        tables = agree(folder, out, models=("a",))
        assert (tables["runs"], len(tables["refused"])) == ([], 1), change
    manifest.unlink()
    with pytest.raises(FinTasksError, match=r"draw\.json"):
        agree(folder, out, models=("a",))

"""Results for other people's collections."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from run_files import scored, write_run

from fin_tasks import report
from fin_tasks.report.export import write_records
from fin_tasks.report.leaderboard import board
from fin_tasks.report.leaderboard_model import Leaderboard

JUDGE = {"model": "judge", "rubric": "house@2", "rubric_sha256": "c" * 64}


def asked(folder: Path) -> Leaderboard:
    rows = [
        {"score": 100.0, "unscored": 0.0},
        {"score": 60.0, "unscored": 0.0},
        {"score": None, "unscored": 1.0},
    ]
    tasks = {"xfinbench_calc": scored(1, 1, 0, None), "mme_finance_en": rows}
    write_run(
        folder / "runs",
        tasks,
        model="org/model",
        metadata={"judge": JUDGE},
    )
    return board(report.read([folder / "runs"]))


def test_every_eval_ever(tmp_path: Path) -> None:
    """Values, intervals and judge stand in one record for each benchmark, at the place their collection wants."""
    write_records(asked(tmp_path), tmp_path / "data")
    records = {path.parts[-4]: path for path in (tmp_path / "data").rglob("*.json")}
    assert records.keys() == {"xfinbench", "mme_finance"}
    for path in records.values():
        assert path.relative_to(tmp_path / "data").parts[1:3] == ("org", "model")
    found = {name: json.loads(path.read_text()) for name, path in records.items()}
    acc = next(
        o
        for o in found["xfinbench"]["evaluation_results"]
        if o["metric_config"]["metric_id"] == "acc"
    )
    assert acc["score_details"]["score"] == pytest.approx(2 / 3)
    assert acc["score_details"]["uncertainty"]["num_samples"] == 3
    bounds = acc["score_details"]["uncertainty"]["confidence_interval"]
    assert bounds["lower"] < 2 / 3 < bounds["upper"]
    score = found["mme_finance"]["evaluation_results"][0]
    assert (score["score_details"]["score"], score["metric_config"]["max_score"]) == (
        80.0,
        100.0,
    )
    assert score["score_details"]["details"]["judge"] == "judge, house@2"
    if find_spec("every_eval_ever"):  # needs Python 3.12
        from every_eval_ever.validator.validation_core import validate_file

        for path in records.values():
            checked = validate_file(
                path,
                repo_path=path.relative_to(tmp_path).as_posix(),
                run_semantic_checks=True,
            )
            assert checked.valid and not checked.warnings, checked

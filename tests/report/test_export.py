"""Results for other people's collections."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from run_files import scored, write_run

from fin_tasks import report
from fin_tasks.errors import ConfigError
from fin_tasks.report.export import export
from fin_tasks.report.leaderboard import board

JUDGE = {"model": "judge", "rubric": "house@2", "rubric_sha256": "c" * 64}


def asked(
    folder: Path, model: str = "org/model", judge: str = "judge", **more: Any
) -> dict[str, Any]:
    rows = [
        {"score": 100.0, "unscored": 0.0},
        {"score": 60.0, "unscored": 0.0},
        {"score": None, "unscored": 1.0},
    ]
    tasks = {"xfinbench_calc": scored(1, 1, 0, None), "mme_finance_en": rows}
    write_run(
        folder / "runs" / model,
        tasks,
        model=model,
        metadata={"judge": {**JUDGE, "model": judge}},
        **more,
    )
    return board(report.read([folder / "runs"]))


def test_every_eval_ever(tmp_path: Path) -> None:
    """Values, intervals and judge stand in one record for each benchmark, at the place their collection wants."""
    assert export("every-eval-ever", asked(tmp_path), tmp_path) == []
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
    assert (
        score["metric_config"]["llm_scoring"]["judges"][0]["model_info"]["name"]
        == "judge"
    )
    if find_spec("every_eval_ever"):  # needs Python 3.12
        from every_eval_ever.validator.validation_core import validate_file

        for path in records.values():
            checked = validate_file(
                path,
                repo_path=path.relative_to(tmp_path).as_posix(),
                run_semantic_checks=True,
            )
            assert checked.valid and not checked.warnings, checked


def test_a_model_card_holds_headlines_of_data_sets_on_the_hub(tmp_path: Path) -> None:
    asked(tmp_path, judge="an earlier one", stamp="2026-01-01T10-00-00.0")
    (left_out,) = export("model-card", asked(tmp_path), tmp_path)
    assert left_out.startswith("XFinBench")
    (file,) = (tmp_path / ".eval_results").iterdir()
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert (entry.dataset_id, entry.task_id, entry.value) == (
        "hithink-ai/MME-Finance",
        "mme_finance_en",
        80.0,
    )
    assert entry.date.startswith("2026-03-01")
    with pytest.raises(ConfigError, match="one model"):
        export("model-card", asked(tmp_path, "org/other"), tmp_path)

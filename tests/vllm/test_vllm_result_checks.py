"""The checks on a run's files say so when something is off."""

import json
from pathlib import Path
from typing import Any

import pytest
from result_checks import Check, RunError, check_run, read_run

_TASK = "xfinbench_bool"


def _write_run(folder: Path, responses: list[str], **changes: Any) -> None:
    """Write what lm-eval writes for two true statements, the second filter's lines included."""
    below = folder / "model"
    below.mkdir()
    results = {
        "results": {_TASK: {f"{m},{v}": 0.5 for m in ("acc", "no_answer") for v in ("paper", "robust")} | changes},
        "n-samples": {_TASK: {"original": 9, "effective": 2}},
    }
    (below / "results_2026.json").write_text(json.dumps(results))
    rows = [
        {
            "doc_id": n,
            "filter": f,
            "resps": [[text]],
            "doc": {"id": f"q{n}", "ground_truth": "1", "capabilities": ["TU"]},
        }
        for f in ("paper", "robust")
        for n, text in enumerate(responses)
    ]
    (below / f"samples_{_TASK}_2026.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _checks(folder: Path, limit: int = 2) -> dict[str, Check]:
    checks = check_run(read_run(folder, [_TASK]), limit=limit)
    return dict(zip(("counts", "responses", "scores"), checks, strict=True))


_RIGHT = "Therefore, my answer is true."


def test_a_sound_run_passes(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, "I cannot say."])
    assert all(check.ok for check in _checks(tmp_path).values())


def test_a_score_that_does_not_follow_from_the_responses_fails(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, "I cannot say."], **{"acc,robust": 1.0})
    scores = _checks(tmp_path)["scores"]
    assert not scores.ok
    assert scores.found == "acc,robust: 1.0 against 0.5"


def test_a_missing_score_fails(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, "I cannot say."], **{"no_answer,paper": "N/A"})
    assert not _checks(tmp_path)["scores"].ok


def test_an_empty_response_fails(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, " "])
    assert not _checks(tmp_path)["responses"].ok


@pytest.mark.parametrize(("limit", "ok"), [(2, True), (3, False)])
def test_too_few_answers_fail(tmp_path: Path, limit: int, ok: bool) -> None:
    _write_run(tmp_path, [_RIGHT, "I cannot say."])
    assert _checks(tmp_path, limit)["counts"].ok is ok


def test_two_results_files_are_not_one_run(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, _RIGHT])
    (tmp_path / "model" / "results_2025.json").write_text("{}")
    with pytest.raises(RunError, match=r"expected lm-eval to leave one file .* found 2"):
        read_run(tmp_path, [_TASK])


def test_a_task_without_samples_is_named(tmp_path: Path) -> None:
    _write_run(tmp_path, [_RIGHT, _RIGHT])
    with pytest.raises(RunError, match=r"samples_xfinbench_calc_.* found 0"):
        read_run(tmp_path, [_TASK, "xfinbench_calc"])


def _write_forecasts(folder: Path, **changes: Any) -> None:
    """Three windows of which one is right, one led astray and one without an answer."""
    task = "dynostock_recency_w4_text"
    (folder / "model").mkdir()
    scores = {"acc": 1 / 3, "bias_index": 0.5, "no_answer": 1 / 3}
    results = {
        "results": {
            task: {f"{name},{v}": value for name, value in scores.items() for v in ("paper", "robust")} | changes
        },
        "n-samples": {task: {"original": 3, "effective": 3}},
    }
    (folder / "model" / "results_2026.json").write_text(json.dumps(results))
    responses = ["Final prediction: 0.8", "Final prediction: 0.2", "I cannot say."]
    fixed = {"bias_type": "recency", "window": 4, "truth": 1, "signal": 0, "mode": "text", "arm": "signal"}
    rows = [
        {"doc_id": n, "filter": f, "resps": [[text]], "doc": {"id": f"w{n}", "anonymised": False, **fixed}}
        for f in ("paper", "robust")
        for n, text in enumerate(responses)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "model" / f"samples_{task}_2026-11-21T19-00-00.0.jsonl").write_text(lines)


def test_forecasts_are_scored_again_too(tmp_path: Path) -> None:
    _write_forecasts(tmp_path)
    checks = check_run(read_run(tmp_path, ["dynostock_recency_w4_text"]), limit=3)
    assert [check.ok for check in checks] == [True, True, True]


def test_a_bias_index_that_does_not_follow_from_the_responses_fails(tmp_path: Path) -> None:
    _write_forecasts(tmp_path, **{"bias_index,paper": 1.0})
    *_, scores = check_run(read_run(tmp_path, ["dynostock_recency_w4_text"]), limit=3)
    assert not scores.ok
    assert scores.found == "bias_index,paper: 1.0 against 0.5"


def test_verdicts_are_averaged_again(tmp_path: Path) -> None:
    records = [{"score": 4, "failed": None}, {"score": None, "failed": "reply"}, {"score": None, "failed": "response"}]
    rows = [
        {"filter": variant, "filtered_resps": [[json.dumps(record)]], "resps": [["a"]], "doc": {"id": str(at)}}
        for variant in ("paper", "robust")
        for at, record in enumerate(records)
    ]
    below = tmp_path / "model"
    below.mkdir()
    (below / "samples_mme_finance_en_2026.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for score, ok in ((80.0, True), (60.0, False)):
        found = {"score,robust": score, "score,paper": 80 / 3, "unscored,robust": 2 / 3, "unscored,paper": 0.0}
        found |= {"judge_error,robust": 0.5, "judge_error,paper": 0.5}
        results = {
            "results": {"mme_finance_en": found},
            "n-samples": {"mme_finance_en": {"original": 3, "effective": 3}},
        }
        (below / "results_2026.json").write_text(json.dumps(results))
        (_, _, scores) = check_run(read_run(tmp_path, ["mme_finance_en"]), limit=3)
        assert scores.ok is ok

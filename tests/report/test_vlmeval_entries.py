"""VLMEvalKit's run folders, and what judge and replay wrote, as entries."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import provenance, write_results
from old_response_scores import dynostock, score

from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.old_leaderboard import document
from fin_tasks.settings import Settings


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


SCORES = (5, 0, None, 3)
JUDGE = {"model": "judge", "rubric": "mme_finance_en@1", "rubric_sha256": "f" * 64, "image": True}
ASKED = {"temperatures": [0.0, 0.5], "max_tokens": 64}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def item(place: int, score: int | None, **more: Any) -> dict[str, Any]:
    return {
        **{"index": str(place), "score": score, "failed": None if score is not None else "reply", "raw": "x"},
        **{"category": "OCR", "image_type": "table", "image_style": "computer screenshot"},
        **{"judge": "judge", "rubric": JUDGE["rubric"], "rubric_sha256": "f" * 64, "image": True},
        **{"source": f"{place // 2}.png", **more},
    }


def write_kit(
    folder: Path, *, dataset: str = "MMEFinance", model: str = "made", totals: Mapping[str, Any] | None = None
) -> Path:
    """A data set's results as the kit's folder has them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [item(place, score) for place, score in enumerate(SCORES)]
    (folder / f"{model}_{dataset}_judge_items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    score = {
        **{"n": 4, "unscored": 1, "overall": 160 / 3, "overall_paper": 40.0, "dataset": dataset, "task_version": "1.0"},
        **{"judge": "judge", "judging": {**ASKED, "scale": [0, 5]}, "rows_expected": 100},
        **{name: JUDGE[name] for name in ("rubric", "rubric_sha256", "image")},
        **{"provenance": provenance(), **(totals or {})},
    }
    path = folder / f"{model}_{dataset}_judge_score.json"
    path.write_text(json.dumps(score))
    return path


def gathered(settings: Settings, *paths: Path) -> Collected:
    return collect(paths, settings=settings, published=False)


def value(found: Collected, metric: str, **fields: str) -> Any:
    (entry,) = [e for e in found.entries if e.metric == metric and all(getattr(e, k) == v for k, v in fields.items())]
    return entry


def test_a_kits_run_is_that_of_lm_eval_for_the_same_scores(tmp_path: Path, settings: Settings) -> None:
    write_kit(tmp_path / "kit" / "made" / "T20260301_G1", model="made")
    rows = [{"score": None if score is None else 20.0 * score, "unscored": float(score is None)} for score in SCORES]
    docs = [{"id": str(place), "image_path": f"/elsewhere/{place // 2}.png"} for place in range(4)]
    write_results(tmp_path / "lm", "mme_finance_en", rows, docs=docs, metadata={"judge": {**JUDGE, **ASKED}})
    found = gathered(settings, tmp_path / "kit", tmp_path / "lm")
    kit, lm = (value(found, "score", variant="robust", source=source) for source in ("VLMEvalKit", "lm-eval"))
    same = ("benchmark", "task", "split", "style", "judge", "n", "unscored", "unit", "group", "facts", "marks")
    assert {name: getattr(kit, name) for name in same} == {name: getattr(lm, name) for name in same}
    assert (kit.value, kit.low, kit.high) == pytest.approx((lm.value, lm.low, lm.high))
    ours, theirs = (found.scores(entry.run)["robust"] for entry in (kit, lm))
    assert (ours.ids, ours.clusters) == (theirs.ids, theirs.clusters)
    assert value(found, "score", variant="paper", source="VLMEvalKit").value == 40.0
    assert value(found, "score_OCR", variant="robust").value == pytest.approx(160 / 3)
    (run,) = [run for run in found.runs if run.source == "VLMEvalKit"]
    assert (run.model, run.date, run.path) == (
        "made",
        "2026-03-01",
        "made/T20260301_G1/made_MMEFinance_judge_score.json",
    )


@pytest.mark.parametrize(
    ("dataset", "task", "style"),
    [
        ("MMEFinance_CN", "mme_finance_zh", ""),
        ("MMEFinance_NA", "mme_finance_en", "may decline"),
        ("MMEFinance_CN_NA", "mme_finance_zh", "may decline"),
    ],
)
def test_data_sets_are_the_tasks_of_lm_eval(
    tmp_path: Path, settings: Settings, dataset: str, task: str, style: str
) -> None:
    write_kit(tmp_path / "kit", dataset=dataset)
    entry = value(gathered(settings, tmp_path / "kit"), "score", variant="robust")
    assert (entry.task, entry.style) == (task, style)


def test_the_kits_links_are_the_same_run_and_links_out_are_told(tmp_path: Path, settings: Settings) -> None:
    score = write_kit(tmp_path / "kit" / "made" / "T20260301_G1")
    for file in score.parent.iterdir():
        (tmp_path / "kit" / "made" / file.name).symlink_to(file)
    outside = write_kit(tmp_path / "outside", model="other")
    (tmp_path / "kit" / outside.name).symlink_to(outside)
    found = gathered(settings, tmp_path / "kit")
    assert [run.path for run in found.runs] == ["made/T20260301_G1/made_MMEFinance_judge_score.json"]
    assert ["a link out of" in problem.message for problem in found.problems] == [True]


@pytest.mark.parametrize("there", [True, False])
def test_links_of_a_copied_folder_lead_to_its_own_files(tmp_path: Path, settings: Settings, there: bool) -> None:
    score = write_kit(tmp_path / "kit" / "made" / "T20260301_G1")
    for file in score.parent.iterdir():
        (tmp_path / "kit" / "made" / file.name).symlink_to(file)
    shutil.copytree(tmp_path / "kit", tmp_path / "copy", symlinks=True)
    if not there:
        shutil.rmtree(tmp_path / "kit")
    found = gathered(settings, tmp_path / "copy")
    assert [run.path for run in found.runs] == ["made/T20260301_G1/made_MMEFinance_judge_score.json"]
    assert not found.problems


def test_of_copies_the_one_in_the_dated_folder_counts(tmp_path: Path, settings: Settings) -> None:
    score = write_kit(tmp_path / "kit" / "made" / "T20260301_G1")
    for file in score.parent.iterdir():
        shutil.copy(file, tmp_path / "kit" / "made")
    (run,) = gathered(settings, tmp_path / "kit").runs
    assert (run.date, run.path) == ("2026-03-01", "made/T20260301_G1/made_MMEFinance_judge_score.json")


@pytest.mark.parametrize("field", ["judge", "model"])
def test_half_a_character_in_what_a_judge_wrote_is_a_problem(tmp_path: Path, settings: Settings, field: str) -> None:
    write_kit(tmp_path / "kit")
    items = tmp_path / "judged.jsonl"
    items.write_text(
        "".join(json.dumps(item(at, score, **{field: "\ud800"})) + "\n" for at, score in enumerate(SCORES))
    )
    found = gathered(settings, tmp_path / "kit", items)
    assert {Path(problem.path).name for problem in found.problems} == {"judged.jsonl"}
    assert all("expected text that is Unicode" in problem.message for problem in found.problems)
    assert {run.source for run in found.runs} == {"VLMEvalKit"}


@pytest.mark.parametrize(
    ("totals", "message"),
    [
        ({"judge": "\ud800"}, "judge: expected text that is Unicode"),
        ({"provenance": nested(600)}, "provenance.a.a.a"),
        ({"provenance": nested(40)}, "provenance.a.a.a"),
        ({"provenance": {str(at): at for at in range(6000)}}, "expected at most 5,000 facts"),
        (
            {"x" * 600 + "_robust": 0.5, "dataset": "XFinBench_MCQ_V", "overall_paper": 0.4},
            "expected at most 500 characters",
        ),
    ],
)
def test_one_folder_takes_no_other_down(
    tmp_path: Path, settings: Settings, totals: Mapping[str, Any], message: str
) -> None:
    write_kit(tmp_path / "kit", model="good")
    write_kit(tmp_path / "kit", model="bad", dataset=totals.get("dataset", "MMEFinance"), totals=totals)
    found = gathered(settings, tmp_path / "kit")
    assert {run.model for run in found.runs} == {"good"}
    assert [one for one in found.problems if message in one.message and "bad_" in one.message], found.problems
    document(found)


@pytest.mark.parametrize("totals", [{"overall": 8000.0}, {"overall": -4.0}])
def test_totals_that_no_metric_can_have_are_refused(
    tmp_path: Path, settings: Settings, totals: Mapping[str, Any]
) -> None:
    write_kit(tmp_path / "kit", totals=totals)
    (problem,) = gathered(settings, tmp_path / "kit").problems
    assert "overall: expected a number from 0 to 100" in problem.message


def test_a_byte_order_mark_is_no_letter(tmp_path: Path, settings: Settings) -> None:
    score = write_kit(tmp_path / "kit")
    for file in (score, score.with_name(score.name.replace("_score.json", "_items.jsonl"))):
        file.write_text(f"\ufeff{file.read_text()}")
    found = gathered(settings, tmp_path / "kit")
    assert not found.problems
    assert value(found, "score", variant="robust").n == 3


def test_totals_that_rows_do_not_bear_out_are_marked(tmp_path: Path, settings: Settings) -> None:
    write_kit(tmp_path / "kit", totals={"overall": 99.0})
    entry = value(gathered(settings, tmp_path / "kit"), "score", variant="robust")
    assert entry.marks == ("claims 99, but its rows give 53.3333",)


@pytest.mark.parametrize(
    ("totals", "message"),
    [
        ({"n": 0}, "n: expected a whole number of 1 or more, got 0"),
        ({"overall": "high"}, "overall: expected a number"),
        ({"dataset": "MMBench"}, "dataset: expected one of"),
        ({"judging": {"scale": [5, 0]}}, "judging.scale: expected the lowest and the highest"),
    ],
)
def test_a_broken_field_is_named_and_the_rest_still_read(
    tmp_path: Path, settings: Settings, totals: Mapping[str, Any], message: str
) -> None:
    write_kit(tmp_path / "kit", model="good")
    write_kit(tmp_path / "kit", model="bad", totals=totals)
    found = gathered(settings, tmp_path / "kit")
    assert "good" in {run.model for run in found.runs}
    assert any(message in problem.message for problem in found.problems)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"score": 9}, "score: expected a number from 0 to 5"),
        ({"index": "0"}, "index: expected each row once"),
        ({"failed": "who"}, "failed: expected response, judge, reply or null"),
    ],
)
def test_broken_rows_leave_the_totals(tmp_path: Path, settings: Settings, line: Any, message: str) -> None:
    score = write_kit(tmp_path / "kit")
    items = score.with_name(score.name.replace("_score.json", "_items.jsonl"))
    lines = items.read_text().splitlines()
    items.write_text("\n".join([*lines[:-1], json.dumps({**json.loads(lines[-1]), **line})]))
    found = gathered(settings, tmp_path / "kit")
    assert message in found.problems[0].message
    entry = value(found, "score", variant="robust")
    assert (entry.value, entry.low) == (pytest.approx(160 / 3), None)
    assert entry.marks == ("its items file is broken or missing, so the value rests on its totals alone",)


def test_a_run_that_was_cut_short_is_told(tmp_path: Path, settings: Settings) -> None:
    write_kit(tmp_path / "kit", model="good")
    write_kit(tmp_path / "kit", model="bad").unlink()
    (problem,) = gathered(settings, tmp_path / "kit").problems
    assert "bad_MMEFinance_judge_score.json beside it" in problem.message


def test_judged_items_and_their_summary_are_one_run(tmp_path: Path, settings: Settings) -> None:
    items = tmp_path / "judged.jsonl"
    items.write_text("".join(json.dumps(item(at, score, model="m")) + "\n" for at, score in enumerate(SCORES)))
    summary = tmp_path / "summary.json"
    totals = {"n": 4, "unscored": 1, "overall": 160 / 3, "overall_paper": 40.0, "by_category": {"OCR": 160 / 3}}
    said = {"judge": "judge", "rubric": JUDGE["rubric"], "rubric_sha256": "f" * 64, "model": "m", "pictures": 4}
    summary.write_text(json.dumps({**totals, **said, "by_type": {}, "by_style": {}}))
    both = gathered(settings, items, summary)
    assert [(run.source, run.model, run.task) for run in both.runs] == [("judge", "m", "mme_finance_en")]
    entry = value(both, "score", variant="robust")
    assert (entry.judge, entry.n, entry.unscored) == ("judge, mme_finance_en@1", 3, 1)
    alone = value(gathered(settings, summary), "score_OCR", variant="robust")
    assert (alone.value, alone.low) == (pytest.approx(160 / 3), None)


def test_a_metric_that_is_no_mean_is_no_lie(tmp_path: Path, settings: Settings) -> None:
    """A calibration error has no number in any row: null where there is no probability, else nothing."""
    docs = [{"id": f"w{at}", "ticker": "T", "bias_type": "recency", "truth": 1, "signal": 0} for at in range(4)]
    scorers = dynostock(bias="recency", window=4)
    totals, items = score(docs, ["Final prediction: 0.9", "Final prediction: 0.4", "no idea", None], scorers)
    stem = tmp_path / "m" / "m_DynoStock_Recency_W4"
    stem.parent.mkdir()
    Path(f"{stem}_items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    flat = {f"{name}_{variant}": of for name, by in totals.items() for variant, of in by.items()}
    Path(f"{stem}_score.json").write_text(json.dumps({"dataset": "DynoStock_Recency_W4", "n": 4, **flat}))
    assert flat["ece_robust"] == pytest.approx(0.35)
    assert {item["robust"]["metrics"].get("ece", "left out") for item in items} == {None, "left out"}
    found = gathered(settings, tmp_path)
    ece = value(found, "ece", variant="robust")
    assert (ece.value, ece.low) == (flat["ece_robust"], None)
    assert not [mark for one in found.entries for mark in one.marks if "rows give" in mark]
    Path(f"{stem}_score.json").write_text(
        json.dumps({"dataset": "DynoStock_Recency_W4", "n": 4, **flat, "brier_robust": 0.0})
    )
    assert "but its rows give" in value(gathered(settings, tmp_path), "brier", variant="robust").marks[0]

"""What VLMEvalKit saved for other questions does not come into a run."""

import json
import logging
import types
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.adapters.vlmeval_resume import check_asked, make_room, wrap_inference
from fin_tasks.adapters.vlmeval_table import PredictionTable
from fin_tasks.errors import DataError
from fin_tasks.judging.asked import Asked, asked_file


def asked(revision: str = "a", *, dataset: str = "MMEFinance", question: str = "q", **facts: Any) -> Asked:
    provenance = {"hash": "x", "fin_tasks": "1", "data": {"revision": revision, "origin": "hub"}, "na": False, **facts}
    return Asked.of(dataset, provenance, questions={"0": question}, texts={"0": f"{question}!"})


def save(path: Path, question: str = "q") -> None:
    PredictionTable({"index": [0], "question": [question], "prediction": ["x"]}).to_csv(path, sep="\t", index=False)


def test_only_what_an_answer_depends_on_counts() -> None:
    elsewhere = {"revision": "a", "origin": "data_dir", "commit": None}
    assert asked().sha256 == asked(hash="y", fin_tasks="2", scorer=9, data=elsewhere).sha256
    others = [asked("b"), asked(na=True), asked(question="r"), asked(dataset="MMEFinance_CN"), asked(dpi=40)]
    assert len({other.sha256 for other in (asked(), *others)}) == 6


def test_a_run_goes_on_with_its_own_predictions(tmp_path: Path) -> None:
    assert make_room(tmp_path, "m", asked()) is None
    save(tmp_path / "m_MMEFinance.tsv")
    (tmp_path / "01_MMEFinance.pkl").touch()
    assert make_room(tmp_path, "m", asked()) is None
    check_asked(tmp_path / "m_MMEFinance.tsv", asked())


def test_other_data_moves_predictions_and_results_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_room(tmp_path, "m", asked())
    save(tmp_path / "m_MMEFinance.tsv")
    old = ["01_MMEFinance.pkl", "m_MMEFinance_supp.pkl", "m_MMEFinance_PREV.pkl", "m_MMEFinance_judge_score.json"]
    others = ["01_MMEFinance_CN.pkl", "m_MMEFinance_CN_judge_score.json", "m_MMEFinance_NA.xlsx", "m2_MMEFinance.xlsx"]
    for name in (*old, *others):
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=r"m_MMEFinance_asked\.json: .* some for other data\. .*FIN_TASKS_METADATA"):
        check_asked(tmp_path / "m_MMEFinance.tsv", asked("b"))
    with caplog.at_level(logging.WARNING):
        away = make_room(tmp_path, "m", asked("b"))
    assert "asked anew" in caplog.text
    assert away is not None
    gone = {"m_MMEFinance.tsv", "m_MMEFinance_responses.jsonl", "m_MMEFinance_asked.json", *old}
    assert {path.name for path in away.iterdir()} == gone
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"m_MMEFinance_asked.json", *others}
    assert json.loads((tmp_path / "m_MMEFinance_asked.json").read_text())["facts"]["data"] == {"revision": "b"}
    save(tmp_path / "m_MMEFinance.tsv")
    assert make_room(tmp_path, "m", asked()) == tmp_path / "of_other_data" / "2"


@pytest.mark.parametrize(("question", "stays"), [("q", True), ("another", False)])
def test_predictions_without_a_record_are_told_by_their_questions(tmp_path: Path, question: str, stays: bool) -> None:
    save(tmp_path / "m_MMEFinance.tsv", question)
    assert (make_room(tmp_path, "m", asked()) is None) is stays


def test_a_record_that_cannot_be_read_vouches_for_nothing(tmp_path: Path) -> None:
    save(tmp_path / "m_MMEFinance.tsv")
    asked_file(tmp_path / "m_MMEFinance.tsv").write_text("{")
    assert make_room(tmp_path, "m", asked()) is not None


def test_pickles_that_the_kit_copied_are_known_by_where_they_came_from(tmp_path: Path) -> None:
    before, now = tmp_path / "T1", tmp_path / "T2"
    for folder in (before, now):
        folder.mkdir()
    make_room(before, "m", asked())
    for folder in (before, now):
        (folder / "01_MMEFinance.pkl").write_bytes(b"same")
    assert make_room(now, "m", asked()) is None
    asked_file(now / "m_MMEFinance.xlsx").unlink()
    assert make_room(now, "m", asked("b")) is not None
    (now / "01_MMEFinance.pkl").write_bytes(b"other")
    asked_file(now / "m_MMEFinance.xlsx").unlink()
    assert make_room(now, "m", asked()) is not None, "nothing says what it holds"


def test_the_kits_inference_makes_room_for_ours_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[None] = []
    module: Any = types.ModuleType("vlmeval.inference")
    module.infer_data_job = lambda model, work_dir, model_name, dataset, verbose=False: (model, verbose)
    module.dist = types.SimpleNamespace(barrier=lambda: waited.append(None))
    wrap_inference(module)
    wrapped = module.infer_data_job
    wrap_inference(module)
    assert module.infer_data_job is wrapped
    theirs, ours = types.SimpleNamespace(dataset_name="Other"), types.SimpleNamespace(asked=asked())
    assert wrapped("model", work_dir=str(tmp_path), model_name="m", dataset=theirs, verbose=True) == ("model", True)
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    wrapped("model", str(tmp_path), "m", ours)
    assert (len(waited), list(tmp_path.iterdir())) == (1, []), "the first process writes, the others wait for it"
    monkeypatch.setenv("RANK", "0")
    wrapped("model", str(tmp_path), "m", ours)
    assert [path.name for path in tmp_path.iterdir()] == ["m_MMEFinance_asked.json"]

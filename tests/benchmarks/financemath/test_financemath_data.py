"""FinanceMath's files, rows and documents."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath import files as finding
from fin_tasks.benchmarks.financemath import truths as exact
from fin_tasks.benchmarks.financemath.data import load
from fin_tasks.benchmarks.financemath.extraction import read_answer
from fin_tasks.benchmarks.financemath.files import locate, revision_of
from fin_tasks.benchmarks.financemath.prompts import fill
from fin_tasks.benchmarks.financemath.rows import TOPICS, read_rows
from fin_tasks.benchmarks.financemath.scoring import robust_equal
from fin_tasks.errors import ConfigError, DataError, FetchError, SandboxError
from fin_tasks.sandbox import open_runner
from fin_tasks.settings import Settings

ROW: dict[str, Any] = {
    "question_id": "validation-0",
    "question": "What is a third?",
    "tables": ["| a |\n|---|\n| 1 |  \n"],
    "python_solution": "def solution():\n    return 1 / 3",
    "ground_truth": 0.333,
    "topic": "Accounting",
}
SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache"), "FIN_TASKS_OFFLINE": "1"})


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    try:
        open_runner(workers=1).close()
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")


def _write(path: Path, rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def _facts(dataset: Any) -> dict[str, Any]:
    return dict(json.loads(dataset.info.description))


@pytest.mark.parametrize("place", ["", "data", "financemath", "financemath/data"])
def test_folders(tmp_path: Path, settings: Settings, place: str) -> None:
    path = _write(tmp_path / place / "validation.json", [ROW])
    found = locate(data_dir=tmp_path, settings=settings)
    assert (found.origin, found.questions) == ("data_dir", path)


@pytest.mark.parametrize("name", ["validation.json", "mine.jsonl"])
def test_the_file_itself(tmp_path: Path, settings: Settings, name: str) -> None:
    path = _write(tmp_path / name, ROW if name.endswith("l") else [ROW])
    found = locate(data_dir=path, settings=settings)
    assert (found.origin, found.questions) == ("data_dir", path)
    assert len(load(data_dir=str(path))["validation"]) == 1


def test_a_file_that_is_not_there_or_of_another_kind(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(DataError) as missing:
        locate(data_dir=tmp_path / "validation.json", settings=settings)
    assert str(missing.value).count("validation.json") == 1
    (tmp_path / "rows.csv").touch()
    with pytest.raises(DataError, match=r"expected a folder or a file ending in \.json, \.jsonl, \.parquet"):
        locate(data_dir=tmp_path / "rows.csv", settings=settings)


def test_what_cannot_be_found(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(DataError, match=r"expected the questions of validation.*financemath/validation.json"):
        try:
            locate(data_dir=tmp_path, settings=settings)
        except DataError as error:
            raise DataError(" ".join(str(error).split())) from error
    with pytest.raises(ConfigError, match="split"):
        locate(split="train", settings=settings)
    with pytest.raises(ConfigError, match="expected one of auto"):
        locate(source="cloud", settings=settings)
    with pytest.raises(ConfigError, match="needs a folder"):
        locate(source="data_dir", settings=settings)
    with pytest.raises(FetchError):
        locate(source="upstream", settings=settings)


def test_the_gate_of_the_hub(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FetchError("yale-nlp/FinanceMath: status 403.")

    monkeypatch.setattr(finding, "snapshot", refuse)
    with pytest.raises(FetchError, match=r"\Ayale-nlp/FinanceMath: status 403. Or use source: upstream") as refused:
        locate(source="hub", settings=settings)
    assert "hf auth login" not in str(refused.value)  # `data.hub` says that, once


def test_formats_give_the_same_rows(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    other = {**ROW, "question_id": "validation-1", "tables": []}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([ROW, other]), tmp_path / "validation.parquet")
    (tmp_path / "validation.jsonl").write_text(f"{json.dumps(ROW)}\n{json.dumps(other)}\n", encoding="utf-8")
    whole = read_rows(_write(tmp_path / "validation.json", [ROW, other]))
    assert read_rows(tmp_path / "validation.jsonl") == read_rows(tmp_path / "validation.parquet") == whole
    assert whole.rows[0].tables == ("| a |\n|---|\n| 1 |",)


@pytest.mark.parametrize("content", ["", "[]", "{", "\x00", "[1,", "no"])
def test_broken_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "validation.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="expected"):
        read_rows(path)


def test_rows_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    bad = [
        {**ROW},
        {**ROW, "question_id": "a", "question": " "},
        {**ROW, "question_id": "b", "ground_truth": None},
        {**ROW, "question_id": "c", "ground_truth": float("nan")},
        {**ROW, "question_id": "d", "tables": "| a |"},
        7,
        {**ROW, "question_id": "e", "topic": "Cooking"},
    ]
    read = read_rows(_write(tmp_path / "validation.json", [ROW, *bad]))
    assert [row.question_id for row in read.rows] == ["validation-0", "e"]
    assert read.left_out() == {
        "bad-tables": ("d",),
        "no-object": ("row 7",),
        "no-question": ("a",),
        "no-truth": ("b", "c"),
        "repeated-id": ("validation-0",),
    }
    assert ("unknown-topic", "e") in {(defect.kind, defect.row_id) for defect in read.defects}


def test_a_split_without_truths_is_refused(tmp_path: Path) -> None:
    _write(tmp_path / "test.json", [{**ROW, "ground_truth": None}])
    with pytest.raises(DataError, match=r"expected truths of test, found none.*have not published.*validation"):
        load(data_dir=str(tmp_path), split="test")
    _write(tmp_path / "validation.json", [{**ROW, "ground_truth": None}])
    with pytest.raises(DataError, match=r"expected truths of validation, found none\. Fetch"):
        load(data_dir=str(tmp_path))
    _write(tmp_path / "test.json", [ROW])
    assert len(load(data_dir=str(tmp_path), split="test")["test"]) == 1


def test_documents(tmp_path: Path) -> None:
    _write(tmp_path / "validation.json", [ROW])
    docs = load(mode="cot", data_dir=str(tmp_path), pretrained="model args arrive too")["validation"]
    (doc,) = docs
    assert doc["exact_truth"] == 1 / 3
    assert doc["ground_truth"] == 0.333
    assert doc["prompt"].index("What is a third?") < doc["prompt"].index("| a |")
    assert read_answer(doc["target"]).value == 0.333  # type: ignore[union-attr]
    facts = _facts(docs)
    assert facts["truths"]["rounded"] == []
    assert facts["truths"]["sandbox"]
    again, other = load(mode="cot", data_dir=str(tmp_path))["validation"], load(mode="pot", data_dir=str(tmp_path))
    assert _facts(again)["hash"] == facts["hash"] != _facts(other["validation"])["hash"]


def test_without_a_sandbox_truths_are_rounded_and_the_provenance_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**_: object) -> None:
        raise SandboxError("none here")

    monkeypatch.setattr(exact, "open_runner", refuse)
    exact._run.cache_clear()
    _write(tmp_path / "validation.json", [ROW])
    docs = load(data_dir=str(tmp_path))["validation"]
    assert docs[0]["exact_truth"] == 0.333
    assert _facts(docs)["truths"].items() >= {"sandbox": None, "rounded": ["validation-0"]}.items()
    assert "none here" in caplog.text


def test_a_hostile_solution_stays_in_the_sandbox(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    solution = f"def solution():\n    open({str(witness)!r}, 'w').write('out')\n    return 5"
    _write(tmp_path / "validation.json", [{**ROW, "python_solution": solution}])
    docs = load(data_dir=str(tmp_path))["validation"]
    assert not witness.exists()
    assert docs[0]["exact_truth"] == 0.333
    assert _facts(docs)["truths"]["rounded"] == ["validation-0"]


def test_the_sample(settings: Settings) -> None:
    found = locate(source="sample", settings=settings)
    read = read_rows(found.questions)
    assert len(read.rows) >= 20
    assert not read.defects
    assert {row.topic for row in read.rows} == set(TOPICS)
    assert sum(bool(row.tables) for row in read.rows) >= 5
    truths = exact.find_truths(read.rows, settings=Settings.from_environ({}))
    assert truths.rounded == ()
    for row, value in zip(read.rows, truths.values, strict=True):
        assert round(value, 3) == pytest.approx(row.ground_truth), row.question_id
        number = read_answer(f"Therefore, the answer is {value:.6f}.")
        assert number is not None
        assert robust_equal(number, value)
    assert len(revision_of(found).short) == 16


def test_several_tables_are_numbered() -> None:
    user = fill("Why?", ["| a |", "| b |"], mode="pot").user
    assert user.index("Table 1:\n| a |") < user.index("Table 2:\n| b |")


@pytest.mark.skipif(not (SHARED / "financemath").is_dir(), reason=f"the authors' files are not at {SHARED}")
@pytest.mark.parametrize("folder", [SHARED, SHARED / "financemath"])
def test_the_authors_questions(folder: Path) -> None:
    docs = load(data_dir=str(folder))["validation"]
    assert len(docs) == 200
    facts = _facts(docs)
    assert facts["left_out"] == {}
    assert facts["truths"]["rounded"] == []
    assert all(doc["topic_name"] for doc in docs)
    assert all(abs(doc["exact_truth"] - doc["ground_truth"]) < 0.001 for doc in docs)

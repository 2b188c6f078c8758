"""Saved predictions as items to judge: their texts, pictures and names."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.saved.judged import Predictions, read_predictions
from fin_tasks.settings import Settings

ROW: dict[str, Any] = {
    "index": 0,
    "question": "0?",
    "answer": "7",
    "prediction": "Seven.",
    "task_category": "OCR",
}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def read(file: Path, settings: Settings, **options: Any) -> Predictions:
    rubric = load_rubric("mme_finance_en")
    return read_predictions(file, rubric, settings=settings, **options)


def test_items_and_documents(tmp_path: Path, settings: Settings) -> None:
    file = write(
        tmp_path / "gpt_MMEFinance.jsonl",
        {**ROW, "background": "News."},
        {**ROW, "index": 1, "prediction": None, "na": True},
    )
    found = read(file, settings)
    first, second = found.items
    assert (first.question, first.answer, first.response) == ("0?", "7", "Seven.")
    assert (first.category, first.background) == ("OCR", "News.")
    assert second.response == ""
    assert [(doc["id"], doc["index"]) for doc in found.docs] == [("0", "0"), ("1", "1")]
    assert found.docs[1]["na"] == "true" and "prediction" not in found.docs[0]
    assert (found.task, found.model) == ("mme_finance_en", "gpt")


def test_rows_name_their_model(tmp_path: Path, settings: Settings) -> None:
    file = write(tmp_path / "a.jsonl", {**ROW, "model": "org/m"})
    assert read(file, settings).model == "org/m"


def test_pictures(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "mine").mkdir()
    for place in ("mine/a.png", "b.png"):
        (tmp_path / place).write_bytes(b"\x89PNG")
    file = tmp_path / "mine" / "set.jsonl"
    for name, expected in (
        ("a.png", "a.png"),
        ("../b.png", None),
        (str(tmp_path / "b.png"), None),
        ("no.png", None),
        ("a\0.png", None),
    ):
        write(file, {**ROW, "image_path": name})
        if expected is None:
            with pytest.raises(DataError, match="--image-root"):
                read(file, settings)
        else:
            assert read(file, settings).items[0].picture == tmp_path / "mine" / expected
    write(file, {**ROW, "image_path": "b.png"})
    assert (
        read(file, settings, image_root=tmp_path).items[0].picture == tmp_path / "b.png"
    )
    assert read(file, settings, pictures=False).items[0].picture is None


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([{"task_category": "Poetry"}], ConfigError, "expected one of its categories"),
        ([{}, {}], DataError, "expected each id once"),
        ([{"question": " "}], DataError, "0: expected a text in question"),
    ],
)
def test_rows_that_cannot_be_judged(
    rows: list[dict[str, Any]],
    error: type[Exception],
    message: str,
    tmp_path: Path,
    settings: Settings,
) -> None:
    file = write(tmp_path / "a.jsonl", *({**ROW, **row} for row in rows))
    with pytest.raises(error, match=message):
        read(file, settings)

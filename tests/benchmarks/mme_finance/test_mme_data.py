"""Rows as documents."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import made_mme
import pytest

from fin_tasks.benchmarks.mme_finance.old_data import IMAGE_MARK, judge_item, load, picture
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.old_item import JudgeItem


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made_mme.write(tmp_path / "data")


def documents(folder: Path, **options: Any) -> list[dict[str, Any]]:
    (rows,) = load(**{"language": "en", "data_dir": str(folder), **options}).values()
    return list(rows.to_list())


def facts(folder: Path, **options: Any) -> dict[str, Any]:
    (rows,) = load(**{"language": "en", "data_dir": str(folder), **options}).values()
    return dict(json.loads(rows.info.description))


def test_a_document_holds_the_row_its_prompt_and_its_picture(folder: Path) -> None:
    docs = documents(folder)
    assert [doc["category"] for doc in docs] == list(CATEGORIES)
    second, third = docs[1:3]
    assert (second["index"], second["question"], second["answer"], second["target"]) == ("2", "What is 1?", "1", "1")
    assert second["prompt"].startswith(IMAGE_MARK) and "The fund is called Elm." in second["prompt"]
    assert second["prompt"].count("<image>") == 1
    assert Path(second["image_path"]).is_absolute()
    assert (second["truth"], third["truth"]) == ("", made_mme.TRUTH)
    (image,) = picture(second)
    assert (image.mode, image.size, image.getpixel((0, 0))) == ("RGB", (40, 30), (20, 0, 99))


def test_languages_ask_in_their_own_words(folder: Path) -> None:
    english, chinese = documents(folder)[0], documents(folder, language="zh")[0]
    assert (english["language"], chinese["language"]) == ("en", "zh")
    assert chinese["question"] == "0是多少?"
    assert english["system"] != chinese["system"]


def test_the_judge_is_given_the_row_and_the_response(folder: Path) -> None:
    doc = documents(folder)[1]
    assert judge_item(doc, "It is 1.") == JudgeItem(
        index="2",
        question="What is 1?",
        answer="1",
        response="It is 1.",
        category="OCR",
        image=Path(doc["image_path"]),
        image_type="technical indicator chart",
        image_style="mobile photograph",
    )


def test_model_and_judge_see_one_picture(folder: Path) -> None:
    """A photograph lies on its side in its file; a judge would be sent the bytes, a local model the pixels."""
    note = made_mme.Image.Exif()
    note[0x0112] = 8
    made_mme.Image.linear_gradient("L").resize((40, 30)).save(folder / "MMfin" / "images" / "3.png", exif=note)
    before = facts(folder)
    doc = documents(folder)[3]
    (shown,) = picture(doc)
    sent = Picture(judge_item(doc, "It is 3.").image or Path()).data_address()
    with made_mme.Image.open(io.BytesIO(base64.b64decode(sent.partition(",")[2]))) as image:
        assert image.getexif().get(0x0112, 1) == 1
        assert image.convert("RGB").tobytes() == shown.tobytes()
    assert shown.size == (30, 40)
    assert shown.getpixel((1, 20))[0] < shown.getpixel((28, 20))[0], "what was on top is on the left"  # type: ignore[index]
    assert facts(folder)["hash"] == before["hash"]
    assert facts(folder)["left_out"] == {}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judge_reads_what_allowed_the_model_to_decline(folder: Path, language: str) -> None:
    docs = documents(folder, language=language, na=True)
    for doc, without in zip(docs, documents(folder, language=language), strict=True):
        also_told = judge_item(doc, "1").also_told
        assert without["prompt"] + (f"\n\n{also_told}" if also_told else "") == doc["prompt"]
        assert bool(also_told) is (doc["category"] != "Not Applicable")
        assert judge_item(without, "1").also_told == ""


def test_provenance_tells_settings_wordings_and_pictures_apart(folder: Path) -> None:
    plain, second, chinese = facts(folder), facts(folder, na=True), facts(folder, language="zh")
    assert (plain["rows"], plain["left_out"], plain["data"]["origin"]) == (11, {}, "data_dir")
    assert len({plain["hash"], second["hash"], chinese["hash"]}) == 3
    assert facts(folder)["hash"] == plain["hash"]
    changed = made_mme.Image.new("RGB", (41, 30))
    changed.save(folder / "MMfin" / "images" / "3.png")
    assert facts(folder)["hash"] != plain["hash"]


def test_a_row_without_its_picture_is_left_out_and_named(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "MMfin" / "images" / "3.png").unlink()
    found = facts(folder)
    assert found["rows"] == 10
    assert [ids for ids in found["left_out"].values()] == [["4"]]
    assert "rows left out" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "fr"}, "expected language to be one of en, zh, got 'fr'"),
        ({"split": "validation"}, "expected test, the only one of mme_finance, got 'validation'"),
    ],
)
def test_options_that_do_not_exist(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        documents(folder, **options)


def test_a_table_without_a_usable_row(folder: Path) -> None:
    table = folder / "MMfin.tsv"
    table.write_text(table.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="at least one usable row"):
        documents(folder)

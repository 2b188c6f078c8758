"""Predictions as three programs write them."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from fin_tasks.errors import DataError
from fin_tasks.judging.predictions import DEFECTS, OtherTableError, Predictions, read_predictions, read_table
from fin_tasks.settings import Settings

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
ODD = ["007.50", "N/A", "=1+1", "nan", "1e5", "TRUE", " two  blanks ", 'a "quote"\tand a tab', "two\nlines", "{=A1}"]


def row(index: object = 1, **fields: Any) -> dict[str, Any]:
    usual = {
        "index": index,
        "question": f"What was the closing price of day {index}?",
        "answer": "12.5",
        "prediction": "It closed at 12.5.",
        "task_category": "OCR",
        "image_type": "table",
        "image_style": "computer screenshot",
        "image_path": "images/a.png",
    }
    return usual | fields


def settings_at(folder: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(folder / "cache")})


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(PNG)
    return folder


def write_lines(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path


def write_delimited(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = "\t") -> Path:
    """As pandas writes it for VLMEvalKit."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_xlsx(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for one in rows:
        book.active.append(list(one.values()))
    book.save(path)
    return path


def read(path: Path, **options: Any) -> Predictions:
    return read_predictions(path, settings=settings_at(path.parent), **options)


def samples(rows: Sequence[Mapping[str, Any]], filters: Sequence[str] = ("paper", "robust")) -> list[dict[str, Any]]:
    lines = []
    for name in filters:
        for number, one in enumerate(rows):
            doc = {key: value for key, value in one.items() if key != "prediction"}
            doc["category"] = doc.pop("task_category")
            lines.append({"doc_id": number, "doc": doc, "resps": [[one["prediction"]]], "filter": name})
    return lines


FORMS = ["jsonl", "json", "tsv", "csv", "xlsx", "samples"]


def write(folder: Path, form: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / f"predictions.{'jsonl' if form == 'samples' else form}"
    if form in ("tsv", "csv"):
        return write_delimited(path, rows, "\t" if form == "tsv" else ",")
    if form == "xlsx":
        return write_xlsx(path, rows)
    if form == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path
    return write_lines(path, samples(rows) if form == "samples" else rows)


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same_items(here: Path, form: str) -> None:
    rows = [row(1), row(2, prediction="第二个答案", image_type="")]
    found = read(write(here, form, rows))
    assert found.form == form
    assert [item.index for item in found.items] == ["1", "2"]
    first = found.items[0]
    assert (first.question, first.answer, first.response) == (rows[0]["question"], "12.5", "It closed at 12.5.")
    assert (first.category, first.image_type, first.image_style) == ("OCR", "table", "computer screenshot")
    assert first.image == (here / "images" / "a.png").resolve()
    assert found.items[1].response == "第二个答案"
    assert found.defects == ()


@pytest.mark.parametrize("form", FORMS)
def test_the_content_tells_the_form_not_the_name(here: Path, form: str) -> None:
    path = write(here, form, [row(1)])
    renamed = path.rename(here / "predictions.dat")
    assert read(renamed).form == form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ODD)
def test_an_odd_text_is_read_as_it_was_written(here: Path, form: str, text: str) -> None:
    assert read(write(here, form, [row(1, prediction=text)])).items[0].response == text


def test_a_formula_written_as_one_is_not_evaluated(here: Path) -> None:
    from openpyxl.worksheet.formula import ArrayFormula

    book = openpyxl.Workbook()
    book.active.append(list(row()))
    book.active.append(list(row(1, prediction="=1+1").values()))
    book.active.append(list(row(2, prediction="").values()))
    book.active["D3"] = ArrayFormula("D3", "=SUM(A1:A2)")
    book.active.append(list(row(3, prediction=7).values()))
    book.active.append(list(row(4, prediction=None).values()))
    book.active.append(list(row(5, prediction="a_x000D_b").values()))
    book.save(here / "p.xlsx")
    responses = [item.response for item in read(here / "p.xlsx").items]
    assert responses == ["=1+1", "{=SUM(A1:A2)}", "7", "", "a\rb"]


def test_what_a_spreadsheet_cut_is_counted(here: Path) -> None:
    long = "x" * 32_767
    found = read(write_xlsx(here / "p.xlsx", [row(1, prediction=long), row(2)]))
    assert [(defect.kind, defect.row_id) for defect in found.defects] == [("cut-cell", "1")]
    write_lines(
        here / "p_responses.jsonl", [{"index": "1", "prediction": long + "y"}, {"index": "2", "prediction": ""}]
    )
    kept = read(here / "p.xlsx")
    assert [len(item.response) for item in kept.items] == [32_768, len(row()["prediction"])]
    assert kept.defects == ()
    write_lines(here / "p_responses.jsonl", [{"index": "1", "prediction": "of another run"}])
    assert [defect.kind for defect in read(here / "p.xlsx").defects] == ["cut-cell"]
    whole = read(write_delimited(here / "p.tsv", [row(1, prediction="x" * 200_000)]))
    assert (len(whole.items[0].response), whole.defects) == (200_000, ())


@pytest.mark.parametrize("value", [None, float("nan")])
def test_no_prediction_is_an_empty_response(here: Path, value: object) -> None:
    assert read(write_lines(here / "p.jsonl", [row(1, prediction=value)])).items[0].response == ""


def test_numbers_in_json_are_texts(here: Path) -> None:
    (item,) = read(write_lines(here / "p.jsonl", [row(3.0, answer=12.50, prediction=7)])).items
    assert (item.index, item.answer, item.response) == ("3", "12.5", "7")


def test_samples_hold_each_response_once_per_filter_and_are_judged_once(here: Path) -> None:
    lines = samples([row(1), row(2)])
    lines[0]["resps"] = [["first", "second"]]
    found = read(write_lines(here / "samples.jsonl", lines))
    assert [item.response for item in found.items] == ["first", "It closed at 12.5."]
    assert [(defect.kind, defect.row_id) for defect in found.defects] == [("several-responses", "1")]


def test_a_limit_takes_rows_from_the_start(here: Path) -> None:
    rows = [row(1), row(2, image_path="not there.png")]
    assert [item.index for item in read(write_lines(here / "p.jsonl", rows), limit=1).items] == ["1"]


BROKEN: list[tuple[str, str]] = [
    ('{"index": 1', "line 1: expected JSON"),
    ("{}", "line 1, index: expected this field, got only none"),
    (json.dumps(row()) + "\n[1]", "line 2: expected an object"),
    (json.dumps(row()) + "\n" + json.dumps(row()), "line 2, index: expected each row once, got '1' again"),
    (json.dumps(row(True)), "line 1, index: expected a text or a whole number, got True"),
    (json.dumps(row(1.5)), "line 1, index: expected a text or a whole number, got 1.5"),
    (json.dumps(row(question=" ")), "line 1, question: expected a text, got ' '"),
    (json.dumps(row(answer=["a"])), "line 1, answer: expected a text, got ['a']"),
    (json.dumps(row(prediction={"a": 1})), "line 1, prediction: expected a text"),
    (
        json.dumps({k: v for k, v in row().items() if k != "answer"}),
        "line 1, answer: expected this field, got only ind",
    ),
    (json.dumps({"doc": row(), "resps": []}), "line 1, resps: expected a list"),
    (json.dumps({"doc": row(), "resps": [["a"]]}) + "\n" + json.dumps(row()), "line 2: expected doc and resps"),
    ("[]", "expected at least one row"),
    ("[" * 100_000, "expected JSON"),
    ("index\tquestion\tprediction\n1\ta\n", "line 2: expected 3 cells as in the first line, got 2"),
    ("index\tindex\n1\t2\n", "expected each column once, got index more than once"),
    ('index\tanswer\n1\t"a', "cannot be read"),
    ("index,question\n", "expected at least one row"),
    ("What is this?", "expected VLMEvalKit's .xlsx"),
    ("", "expected VLMEvalKit's .xlsx"),
    ("PK\x03\x04 no zip", "expected an .xlsx workbook"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN, ids=[message[:40] for _, message in BROKEN])
def test_a_broken_file_is_named_with_line_and_field(here: Path, content: str, message: str) -> None:
    path = here / "p.dat"
    path.write_bytes(content.encode())
    with pytest.raises(DataError) as caught:
        read(path, images=False)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_bytes_that_are_no_utf8_are_named(here: Path) -> None:
    (here / "p.tsv").write_bytes(b"index\tquestion\n1\t\xff\n")
    with pytest.raises(DataError, match="expected UTF-8, got byte 0xff"):
        read(here / "p.tsv")
    (here / "p.jsonl").write_bytes(b'{"index": "\xff"}')
    with pytest.raises(DataError, match=r"line 1: expected JSON in UTF-8"):
        read(here / "p.jsonl")


@pytest.mark.parametrize(("form", "lead"), [("jsonl", "\ufeff"), ("json", "\ufeff "), ("tsv", "\ufeff")])
def test_a_byte_order_mark_is_no_part_of_the_text(here: Path, form: str, lead: str) -> None:
    path = write(here, form, [row(1)])
    path.write_text(lead + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert read(path).items[0].index == "1"


def test_line_ends_inside_json_texts_end_no_line(here: Path) -> None:
    path = here / "p.jsonl"
    path.write_text(json.dumps(row(prediction="a\u2028b\x85c"), ensure_ascii=False) + "\r\n\n", encoding="utf-8")
    assert read(path).items[0].response == "a\u2028b\x85c"


def test_only_regular_files_are_opened(here: Path) -> None:
    os.mkfifo(here / "pipe.jsonl")
    for path, found in ((here / "pipe.jsonl", "a pipe"), (here, "a folder"), (here / "none.jsonl", "No such file")):
        with pytest.raises(DataError, match=found):
            read(path)


def test_sizes_are_capped(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_lines(here / "p.jsonl", [row(1), row(2)])
    with monkeypatch.context() as patch:
        patch.setattr("fin_tasks.judging.predictions_files.MAX_BYTES", 10)
        with pytest.raises(DataError, match="expected at most 10 bytes"):
            read(path)
    with monkeypatch.context() as patch:
        patch.setattr("fin_tasks.judging.predictions_files.MAX_LINE", 10)
        with pytest.raises(DataError, match="line 1: expected at most 10 bytes"):
            read(path)
    with monkeypatch.context() as patch:
        patch.setattr("fin_tasks.judging.predictions_files.MAX_ROWS", 1)
        with pytest.raises(DataError, match="expected at most 1 rows"):
            read(path)
    book = write_xlsx(here / "p.xlsx", [row(1)])
    monkeypatch.setattr("fin_tasks.judging.predictions_tables._MAX_UNPACKED", 10)
    with pytest.raises(DataError, match="expected at most 10 bytes unpacked"):
        read(book)


# Pictures


def test_a_picture_that_is_not_there_is_an_error_unless_none_is_shown(here: Path) -> None:
    path = write_lines(here / "p.jsonl", [row(1), row(2, image_path="images/b.png"), row(3, image_path="a\0b")])
    with pytest.raises(DataError, match=r"2 pictures are not there.*line 2.*images/b.png.*--no-image"):
        read(path)
    elsewhere = write_lines(here / "q.jsonl", [row(1), row(2, image_path="/etc/passwd"), row(3, image_path=None)])
    # the judge is told that there is a picture it does not see
    assert [item.image is None for item in read(elsewhere, images=False).items] == [False, False, True]


def test_a_row_without_a_picture_is_counted_where_others_have_one(here: Path) -> None:
    mixed = read(write_lines(here / "p.jsonl", [row(1), row(2, image_path=None)]))
    assert [(defect.kind, defect.row_id) for defect in mixed.defects] == [("no-picture", "2")]
    none = read(write_lines(here / "q.jsonl", [row(1, image_path=None)]))
    assert none.defects == ()


@pytest.fixture
def private(tmp_path: Path) -> Path:
    path = tmp_path / "private" / "a.png"
    path.parent.mkdir()
    path.write_bytes(PNG)
    return path


def test_a_picture_elsewhere_is_not_sent(here: Path, private: Path) -> None:
    (here / "images" / "link.png").symlink_to(private)
    (here / "folder").symlink_to(private.parent)
    for named in (str(private), "../private/a.png", "images/link.png", "folder/a.png", "/etc/passwd", "../nothing.png"):
        with pytest.raises(DataError, match=r"line 1, image_path: expected a picture in .*--image-root"):
            read(write_lines(here / "p.jsonl", [row(1, image_path=named)]))


def test_a_folder_the_user_names_may_be_sent_from(here: Path, private: Path) -> None:
    named = write_lines(here / "p.jsonl", [row(1, image_path=str(private)), row(2, image_path="a.png")])
    assert {item.image for item in read(named, image_root=private.parent).items} == {private.resolve()}


def test_what_is_no_picture_is_not_sent(here: Path) -> None:
    (here / "images" / "b.png").write_text("user:secret")
    os.mkfifo(here / "images" / "pipe.png")
    for named in ("images/b.png", "images/pipe.png", "images"):
        with pytest.raises(DataError, match="expected a PNG, JPEG"):
            read(write_lines(here / "p.jsonl", [row(1, image_path=named)]))


def test_a_picture_goes_upright_and_in_a_format_judges_take(here: Path) -> None:
    note = Image.Exif()
    note[0x0112] = 6
    Image.new("RGB", (40, 30)).save(here / "images" / "b.jpg", exif=note)
    Image.new("RGB", (40, 30)).save(here / "images" / "c.bmp")
    names = ["a.png", "b.jpg", "c.bmp", "b.jpg"]
    rows = [row(n, image_path=f"images/{name}") for n, name in enumerate(names)]
    plain, turned, converted, again = (item.image for item in read(write_lines(here / "p.jsonl", rows)).items)
    assert (plain, again) == (here / "images" / "a.png", turned)
    assert turned is not None and converted is not None
    with Image.open(turned) as image:
        assert (image.format, image.size) == ("JPEG", (30, 40))
    with Image.open(converted) as image:
        assert (image.format, image.size) == ("PNG", (40, 30))
    (here / "images" / "d.bmp").write_bytes((here / "images" / "c.bmp").read_bytes()[:200])
    with pytest.raises(DataError, match="expected a PNG, JPEG"):
        read(write_lines(here / "p.jsonl", [row(1, image_path="images/d.bmp")]))


@pytest.mark.parametrize("start", [b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\x00\x00\x00\x00WEBPVP8 "])
def test_pictures_are_told_by_their_content(here: Path, start: bytes) -> None:
    (here / "images" / "a.png").write_bytes(start + bytes(20))
    assert read(write_lines(here / "p.jsonl", [row(1)])).items[0].image is not None


def test_a_picture_that_a_benchmarks_table_lists_may_be_sent(here: Path, private: Path) -> None:
    path = write_lines(here / "p.jsonl", [row(1, image_path=str(private))])
    write_delimited(private.parent / "MMfin.tsv", [row(1, image_path="./MMfin/other.png")])
    with pytest.raises(DataError, match="--image-root"):
        read(path, picture_tables=["MMfin.tsv"])
    write_delimited(private.parent / "MMfin.tsv", [row(1, image_path="./MMfin/a.png")])
    assert read(path, picture_tables=["MMfin.tsv"]).items[0].image == private.resolve()
    with pytest.raises(DataError, match="--image-root"):
        read(path)


def test_folders_of_fin_tasks_may_be_sent_from(here: Path, private: Path) -> None:
    path = write_lines(here / "p.jsonl", [row(1, image_path=str(private))])
    for variable in ("FIN_TASKS_DATA", "FIN_TASKS_CACHE"):
        environ = {"FIN_TASKS_CACHE": str(here / "cache"), variable: str(private.parent)}
        found = read_predictions(path, settings=Settings.from_environ(environ))
        assert found.items[0].image == private.resolve()


# The benchmark's own table


def table_at(here: Path, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    bare = [{key: value for key, value in one.items() if key != "prediction"} for one in rows]
    return dict(read_table(write_delimited(here / "table.tsv", bare), settings=settings_at(here)))


def test_all_but_the_prediction_comes_from_the_table(here: Path) -> None:
    table = table_at(here, [row(1, answer="007.50"), row(2), row(3)])
    path = write_xlsx(here / "p.xlsx", [{"index": 1, "prediction": "007.50"}, {"index": 2, "prediction": "b"}])
    found = read(path, table=table)
    assert [(item.index, item.answer, item.response) for item in found.items] == [
        ("1", "007.50", "007.50"),
        ("2", "12.5", "b"),
    ]
    assert found.items[0].image == (here / "images" / "a.png").resolve()
    assert [(defect.kind, defect.row_id) for defect in found.defects] == [("no-prediction", "3")]
    assert read(path, table=table, limit=1).defects == ()


def test_a_table_of_other_questions_is_refused(here: Path) -> None:
    rows = [row(number) for number in range(4)]
    table = table_at(here, rows)
    odd = [one | {"question": "=1+1"} if one["index"] == 0 else one for one in rows]
    found = read(write_lines(here / "p.jsonl", odd), table=table)
    assert [(defect.kind, defect.row_id) for defect in found.defects] == [("other-question", "0")]
    assert found.items[0].question == rows[0]["question"]
    other = [one | {"question": "Another one?"} for one in rows]
    with pytest.raises(OtherTableError, match=r"other ones in 4 of 4 rows"):
        read(write_lines(here / "p.jsonl", other), table=table)
    with pytest.raises(OtherTableError, match="got '9', which it does not have"):
        read(write_lines(here / "p.jsonl", [row(9)]), table=table)


# Who predicted


def test_the_model_is_named_by_file_folder_or_results(here: Path) -> None:
    assert read(write_lines(here / "p.jsonl", [row(1)])).model is None
    assert read(write_lines(here / "p.jsonl", [row(1, model="m"), row(2, model="m")])).model == "m"
    assert read(write_lines(here / "p.jsonl", [row(1, model="m"), row(2, model="n")])).model is None
    kit = here / "GPT4o" / "T20260101_G1234"
    kit.mkdir(parents=True)
    assert read(write_xlsx(kit / "GPT4o_MMEFinance.xlsx", [row(1)]), images=False).model == "GPT4o"
    path = write_lines(here / "samples_mme_finance_en_2026-01-01T00-00-00.123.jsonl", samples([row(1)]))
    assert read(path).model is None
    results = here / "results_2026-01-01T00-00-00.123.json"
    results.write_text(json.dumps({"model_name": "q/Qwen", "config": {"model_args": {"model": "q/Qwen"}}}))
    assert read(path).model == "q/Qwen"
    results.write_text(json.dumps({"model_name": "x7k2m9qa", "config": {"model": "dummy", "model_args": ""}}))
    assert read(path).model == "dummy"
    results.write_text("[")
    assert read(path).model is None


def test_every_kind_of_defect_is_explained() -> None:
    assert set(DEFECTS) == {"cut-cell", "no-picture", "no-prediction", "other-question", "several-responses"}


TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=['"', "\t", "\r", "\r\n", "\\N", "\ufeff", "NA", "=", "\u2028"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@pytest.mark.parametrize("form", ["jsonl", "tsv", "csv", "samples"])
def test_texts_survive(here: Path, form: str, texts: list[str]) -> None:
    rows = [row(number, prediction=text) for number, text in enumerate(texts)]
    assert [item.response for item in read(write(here, form, rows), images=False).items] == texts


@given(content=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@example(content=b"{}")
@example(content=b"PK\x03\x04")
@example(content=b'{"index":1,"doc":{},"resps":0}')
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_whatever_a_file_holds_the_error_is_ours(here: Path, content: bytes) -> None:
    (here / "p.dat").write_bytes(content)
    with pytest.raises(DataError, match=r"p\.dat"):
        read(here / "p.dat")

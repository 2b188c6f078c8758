import base64
import io
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from table_of import COLUMNS, GOOD, archive, picture, put, row, table

from fin_tasks.benchmarks.mme_finance import pictures
from fin_tasks.benchmarks.mme_finance.category_names import category_of
from fin_tasks.benchmarks.mme_finance.defects import DEFECTS, LEFT_OUT
from fin_tasks.benchmarks.mme_finance.files import locate
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.benchmarks.mme_finance.rows import Rows, read_rows
from fin_tasks.benchmarks.mme_finance.table import read_table
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

PICTURE = picture()
Read = Callable[..., Rows]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a table with these rows, or of this text, and a good picture for each index of 1 to 9."""

    def reader(
        rows: Iterable[Mapping[str, str]] | bytes, files: Mapping[str, bytes] | None = None, language: str = "en"
    ) -> Rows:
        stem = {"en": "MMfin", "zh": "MMfin_CN"}[language]
        text = rows if isinstance(rows, bytes) else table(rows)
        put(tmp_path / "data", {f"{stem}/{n}.jpg": PICTURE for n in range(1, 10)})
        put(tmp_path / "data", {f"{stem}.tsv": text, **(files or {})})
        settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})
        return read_rows(locate(language=language, data_dir=tmp_path / "data", settings=settings))

    return reader


def kinds(read: Rows) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for defect in read.defects:
        found.setdefault(defect.kind, []).append(defect.row_id)
    return found


def test_cells_stay_what_they_are(read: Read) -> None:
    odd = ["007.50", "N/A", "nan", "None", "=1+1", "1e5", "  two  ", 'a "quoted"\ttab\r\nand\nlines', "零", "-0"]
    rows = [row(n, answer=text, question=text, background=f"{text}!") for n, text in enumerate(odd, start=1)]
    rows[9]["image_path"] = "MMfin/1.jpg"
    found = read(rows)
    assert [(one.answer, one.question, one.background) for one in found.rows] == [
        (text, text, f"{text}!") for text in odd
    ]
    assert not found.defects
    assert [
        one.index
        for one in read(
            [row("007"), row("1.0"), row("NA")],
            dict.fromkeys(("MMfin/007.jpg", "MMfin/1.0.jpg", "MMfin/NA.jpg"), PICTURE),
        ).rows
    ] == ["007", "1.0", "NA"]


@pytest.mark.parametrize("text", ["nan", " NaN", "None", "N/A", "n/a ", "<NA>", "null"])
def test_a_background_that_is_a_programs_word_for_nothing(read: Read, text: str) -> None:
    found = read([row(1, background=text), row(2, background="None of it was paid."), row(3, background=" ")])
    assert [one.background for one in found.rows] == ["", "None of it was paid.", " "]
    assert (kinds(found), found.left_out) == ({"background-says-nothing": ["1"]}, {})


def test_what_pandas_writes_is_read(read: Read, tmp_path: Path) -> None:
    texts = ['"', "a\tb", "line\nline", "a\r\nb", "", "'", 'say "hi"', "\\", "图表"]
    frame = pandas.DataFrame([row(n, question=f"q{text}", background=text) for n, text in enumerate(texts, start=1)])
    frame.insert(0, "Unnamed: 0", range(len(texts)))
    frame.to_csv(tmp_path / "out.tsv", sep="\t", index=False)
    found = read((tmp_path / "out.tsv").read_bytes())
    assert [one.background for one in found.rows] == texts
    assert not found.defects


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1, max_size=4))
def test_any_cell_comes_back(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("any") / "t.tsv"
    frame = pandas.DataFrame([{**GOOD, "answer": text} for text in texts])
    path.write_text(frame.to_csv(sep="\t", index=False, lineterminator="\n"), encoding="utf-8", newline="")
    assert [record.cells["answer"] for record in read_table(path).records] == texts


def test_a_byte_order_mark_and_windows_line_ends(read: Read) -> None:
    text = b"\xef\xbb\xbf" + table([row(1), row(2)]).replace(b"\n", b"\r\n")
    found = read(text)
    assert ([one.index for one in found.rows], kinds(found)) == (["1", "2"], {"bom": [""]})


@pytest.mark.parametrize("missing", [name for name in COLUMNS if name != "background"])
def test_a_missing_column_is_an_error(read: Read, missing: str) -> None:
    columns = [name for name in COLUMNS if name != missing]
    with pytest.raises(DataError, match=f"missing.*{'both' if missing == 'image_path' else missing}"):
        read(table([{name: GOOD[name] for name in columns}], columns))


def test_optional_columns_and_strange_ones(read: Read) -> None:
    columns = [*(name for name in reversed(COLUMNS) if name != "background"), "truth", "note"]
    (found,) = read(table([{**{c: GOOD.get(c, "") for c in columns}, "truth": "{}"}], columns)).rows
    assert (found.background, found.truth, found.category) == ("", "{}", "OCR")


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"question": " \n"}, "empty-question"),
        ({"answer": ""}, "empty-answer"),
        ({"task_category": "Haiku"}, "unknown-category"),
        ({"task_category": ""}, "unknown-category"),
        ({"image_path": "MMfin/none.jpg"}, "picture-missing"),
        ({"image_path": ""}, "picture-missing"),
        ({"index": "1"}, "duplicate-index"),
        ({"index": " "}, "empty-index"),
    ],
)
def test_rows_that_cannot_be_asked_are_named(read: Read, changes: dict[str, str], kind: str) -> None:
    found = read([row(1), row(2, **changes), row(3)])
    assert [one.index for one in found.rows] == ["1", "3"]
    name = "line 3" if kind == "empty-index" else changes.get("index", "2")
    assert kinds(found) == {kind: [name]}
    assert found.left_out == {kind: (name,)}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"task_category": "ocr "}, "category-spelling"),
        ({"image_type": ""}, "empty-image-type"),
        ({"image_style": " "}, "empty-image-style"),
        ({"task_category": "Not Applicable", "answer": ""}, "unanswerable-without-answer"),
    ],
)
def test_rows_that_are_odd_but_asked(read: Read, changes: dict[str, str], kind: str) -> None:
    found = read([row(1, **changes)])
    assert (len(found.rows), kinds(found), found.left_out) == (1, {kind: ["1"]}, {})


def test_every_defect_is_explained_and_none_else() -> None:
    assert {"empty-question", "not-a-picture", "unknown-category"} <= LEFT_OUT <= set(DEFECTS)
    assert "category-spelling" not in LEFT_OUT


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((name, name) for name in CATEGORIES),
        *((category.short, name) for name, category in CATEGORIES.items()),
        ("N/A", "Not Applicable"),
        ("image_caption", "Image Caption"),
        ("\uff2f\uff23\uff32", "OCR"),
        ("Estimated Numerical Calculation", "Numerical Calculation"),
        ("精确数值计算", "Accurate Numerical Calculation"),
        (" 数值 计算", "Numerical Calculation"),
        ("投资建议", "Investment Advice"),
        ("原因解释", "Explain Reason"),
        ("Reason Explaination", "Explain Reason"),
        ("无法回答", "Not Applicable"),
        ("计算", None),
        ("", None),
    ],
)
def test_categories_by_any_name(text: str, name: str | None) -> None:
    assert category_of(text) == name


def test_chinese_rows(read: Read) -> None:
    changes = {
        "question": "收盘价是多少",
        "task_category": "风险提示",
        "image_type": "K线图",
        "image_style": "手机拍照",
    }
    found = read([row(1, **changes)], language="zh")
    assert [(one.category, one.image_type, one.image_style) for one in found.rows] == [
        ("Risk Warning", "K线图", "手机拍照")
    ], "types and styles are as in the file"


def test_a_row_with_too_many_or_too_few_cells(read: Read) -> None:
    good, cut = table([row(1)]), b"\t".join(table([row(3)]).splitlines()[1].split(b"\t")[:5])
    lines = [*good.splitlines(), table([row(2)]).splitlines()[1] + b"\tmore", cut]
    found = read(b"\n".join(lines))
    assert [one.index for one in found.rows] == ["1"]
    assert found.left_out == {"cell-count": ("2", "3")}


def test_a_trailing_tab_that_an_editor_took(read: Read) -> None:
    """Only the background is missing, and it was empty."""
    found = read(table([row(1)]).rstrip(b"\n").rstrip(b"\t"))
    assert (len(found.rows), found.defects) == (1, ())


def test_a_table_within_an_answer_is_no_row(read: Read) -> None:
    text = "as follows\n" + "\t".join("abcdefgh") + "\n1\tOCR\t2"
    assert [one.answer for one in read([row(1, answer=text)]).rows] == [text]


def test_a_row_that_a_lone_carriage_return_breaks(read: Read) -> None:
    """Pandas does not put quotes around it, and takes it for the end of the line as well."""
    found = read(table([row(1), row(2, answer="two"), row(3)]).replace(b"two", b"t\rwo"))
    assert [one.index for one in found.rows] == ["1", "3"]
    assert found.left_out["cell-count"] == ("2", "wo")


def test_a_quote_that_is_never_closed_swallows_nothing_in_silence(read: Read) -> None:
    text = table([row(n) for n in range(1, 6)]).replace(b"2\tWhat", b'2\t"What')
    with pytest.raises(DataError, match=r"each quote to be closed.*column question.*index '2'"):
        read(text)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "not-a-picture"),
        (b"<html>not found</html>", "not-a-picture"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n", "not-a-picture"),
        (PICTURE[:100], "picture-broken"),
        (PICTURE[:-40], "picture-broken"),
        (picture(1, "PNG", (200, 200))[:-400], "picture-broken"),
        (picture(1, "WEBP")[:-40], "picture-broken"),
        (b"%PDF-1.4", "not-a-picture"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "not-a-picture"),
    ],
)
def test_pictures_that_cannot_be_shown(read: Read, content: bytes, kind: str) -> None:
    found = read([row(1), row(2)], {"MMfin/1.jpg": content})
    assert (found.left_out, [one.index for one in found.rows]) == ({kind: ("1",)}, ["2"])


@pytest.mark.parametrize("form", ["PNG", "WEBP", "GIF", "BMP", "TIFF", "JPEG", "MPO"])
def test_a_picture_is_known_by_its_content(read: Read, form: str) -> None:
    found = read([row(1)], {"MMfin/1.jpg": picture(1, form)})
    assert kinds(found) == ({"picture-converted": ["1"]} if form in ("BMP", "TIFF") else {})
    (one,) = found.rows
    assert one.image_path.read_bytes()[:4] in (b"\x89PNG", b"RIFF", b"GIF8", b"\xff\xd8\xff\xe0")


def test_a_picture_that_is_stored_turned_is_shown_upright(read: Read, tmp_path: Path) -> None:
    note = Image.Exif()
    note[0x0112] = 6
    turned = picture(1, exif=note)
    found = read([row(1), row(2), row(3, image_path="MMfin/1.jpg")], {"MMfin/1.jpg": turned})
    assert (kinds(found), found.left_out) == ({"picture-turned": ["1", "3"]}, {})
    shown, other, same = (one.image_path for one in found.rows)
    assert (other, same) == (tmp_path / "data" / "MMfin" / "2.jpg", shown)
    assert shown.is_relative_to(tmp_path / "cache")
    with Image.open(shown) as image:
        assert (image.size, image.format, dict(image.getexif())) == ((30, 40), "JPEG", {})


def test_a_picture_that_cannot_be_turned_is_left_out(read: Read) -> None:
    broken = picture(1, "BMP")[:-400]
    found = read([row(1), row(2)], {"MMfin/1.jpg": broken})
    assert found.left_out == {"picture-broken": ("1",)}


def test_a_phone_may_write_more_behind_a_picture(read: Read) -> None:
    assert not read([row(1)], {"MMfin/1.jpg": PICTURE + bytes(5000)}).defects


def test_pictures_that_are_too_large(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(bomb, "PNG")
    large = {"MMfin/1.jpg": bomb.getvalue(), "MMfin/2.jpg": PICTURE + bytes(99_999)}
    monkeypatch.setattr(pictures, "MOST_BYTES", 99_999)
    found = read([row(1), row(2), row(3)], large)
    assert found.left_out == {"picture-too-large": ("1", "2")}


def test_pictures_in_the_table_itself(read: Read, tmp_path: Path) -> None:
    """As VLMEvalKit writes tables: base64, or the index of the row that has the picture."""
    columns = [*(name for name in COLUMNS if name != "image_path"), "image"]
    png = picture(1, "PNG", (300, 300))
    coded = base64.b64encode(png).decode()
    assert len(coded) > 131_072, "longer than the csv module allows by default"
    images = {1: coded, 2: "1", 3: f"data:image/png;base64,{coded}", 4: "9", 5: coded[:1000], 6: "", 7: "@@@@" * 50}
    rows = [{**{name: cell for name, cell in row(n).items() if name in columns}, "image": i} for n, i in images.items()]
    found = read(table(rows, columns))
    assert [one.index for one in found.rows] == ["1", "2", "3"]
    assert {one.image_path.read_bytes() for one in found.rows} == {png}
    assert len({one.image_path for one in found.rows}) == 1, "one file for one picture"
    assert found.rows[0].image_path.suffix == ".png"
    assert found.rows[0].image_path.is_relative_to(tmp_path / "cache")
    assert found.left_out == {"not-a-picture": ("4", "7"), "picture-broken": ("5",), "picture-missing": ("6",)}
    assert read(table(rows, columns)) == found


def test_a_picture_in_base64_has_a_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    coded = base64.b64encode(PICTURE).decode()
    assert pictures.decode(coded, tmp_path) is not None
    monkeypatch.setattr(pictures, "MOST_BYTES", len(PICTURE) - 3)
    assert pictures.decode(coded, tmp_path) is None


def test_the_whole_set_is_read_quickly(tmp_path: Path) -> None:
    names = [name for name, category in CATEGORIES.items() for _ in range(category.rows["en"])]
    rows = [row(n, task_category=name) for n, name in enumerate(names)]
    shots = [picture(n, "PNG" if n % 2 else "JPEG", (400, 300)) for n in range(5)]
    packed = archive({f"MMfin/{n}.jpg": shots[n % 5] for n in range(len(rows))})
    put(tmp_path / "data", {"MMfin.tsv": table(rows), "MMfin.zip": packed})
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})
    files = locate(language="en", data_dir=tmp_path / "data", settings=settings)
    start = time.thread_time()
    found = read_rows(files)
    assert time.thread_time() - start < 30  # a fraction of a second alone
    assert (len(found.rows), found.defects) == (1171, ())

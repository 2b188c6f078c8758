"""Characters that workbooks spell out, and letters that only look like it, come back as what was written."""

import csv
import json
import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fin_tasks.judging.kept_responses import WholeResponse, can_have_become, whole_response
from fin_tasks.judging.predictions import saved_responses
from fin_tasks.judging.predictions_tables import CELL_LIMIT, read_xlsx

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PARTS = {
    "[Content_Types].xml": """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
        <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
        <Default Extension="xml" ContentType="application/xml"/>
        <Override PartName="/xl/workbook.xml"
            ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
        <Override PartName="/xl/worksheets/sheet1.xml"
            ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>
        <Override PartName="/xl/sharedStrings.xml"
            ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>
        </Types>""",
    "_rels/.rels": """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
        <Relationship Id="a" Target="xl/workbook.xml"
            Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>
        </Relationships>""",
    "xl/_rels/workbook.xml.rels": """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
        <Relationship Id="b" Target="worksheets/sheet1.xml"
            Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>
        </Relationships>""",
    "xl/workbook.xml": f"""<workbook xmlns="{_MAIN}"
        xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">
        <sheets><sheet name="a" sheetId="1" r:id="b"/></sheets></workbook>""",
    "docProps/app.xml": """<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">
        <Application>Microsoft Excel</Application><AppVersion>16.0300</AppVersion></Properties>""",
}


def as_excel(path: Path, *texts: str, shared: bool = True) -> Path:
    """Write a workbook with texts as they stand in the file of a program that spells characters out, and marks."""
    strings = ["index", "prediction"]
    strings += [text for at, raw in enumerate(texts, start=1) for text in (str(at), raw)]
    items = [f'<t xml:space="preserve">{escape(text)}</t>' for text in strings]
    cells = [
        f'<c t="s"><v>{at}</v></c>' if shared else f'<c t="inlineStr"><is>{item}</is></c>'
        for at, item in enumerate(items)
    ]
    rows = "".join(f"<row>{one}{other}</row>" for one, other in zip(cells[::2], cells[1::2], strict=True))
    sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    table = f'<sst xmlns="{_MAIN}">{"".join(f"<si>{item}</si>" for item in items)}</sst>'
    with zipfile.ZipFile(path, "w") as parts:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": table}.items():
            parts.writestr(name, text)
    return path


def read(path: Path) -> list[str]:
    return [row.cells["prediction"] for row in read_xlsx(path)]


# what XlsxWriter 3.2 writes for a text, by which VLMEvalKit writes its workbooks; Excel and LibreOffice do the same
SPELT = {
    "_x0041_": "_x005F_x0041_",
    "_x005F_x0041_": "_x005F_x005F_x0041_",
    "_x005F_x005F_x0041_": "_x005F_x005F_x005F_x005F_x0041_",
    "_x005F_": "_x005F_x005F_",
    "a_x000D_b": "a_x005F_x000D_b",
    "a\r\nb": "a_x000D_\nb",
    "\x01c\x0b": "_x0001_c_x000B_",
    "_x0041\x01": "_x0041_x0001_",
    "_x00e9_": "_x005F_x00e9_",
    "\ufffe": "_xFFFE_",
    "fox005F_, a plain text": "fox005F_, a plain text",
    "\ttab\n": "\ttab\n",
}


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_spelt_out_is_read_once(tmp_path: Path, shared: bool) -> None:
    assert read(as_excel(tmp_path / "p.xlsx", *SPELT.values(), shared=shared)) == list(SPELT)


def test_half_of_a_pair_is_spelt_out(tmp_path: Path) -> None:
    assert read(as_excel(tmp_path / "p.xlsx", "_xD800_ half")) == ["\ud800 half"]


def test_letters_that_no_program_would_spell_are_letters(tmp_path: Path) -> None:
    """As writers that mark nothing leave them; whoever marks has `_x005F_` before it."""
    assert read(as_excel(tmp_path / "p.xlsx", "_x0041_", "_x005F_", "x_x00E9_")) == ["_x0041_", "_x005F_", "x_x00E9_"]


@given(st.text(st.sampled_from("_x05F41e\n é"), max_size=24))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_in_openpyxls_workbooks_are_as_they_are(tmp_path: Path, text: str) -> None:
    assume(not re.search("_x00[01]", text))
    book = openpyxl.Workbook()
    for cells in (("index", "prediction"), (1, f"a{text}")):
        book.active.append(cells)
    book.save(tmp_path / "p.xlsx")
    assert read(tmp_path / "p.xlsx") == [f"a{text}"]


@pytest.mark.parametrize("text", ["_x0041_", "_x005F_x0041_", "_x005F_", "_xD83D_", "_xFFFE_", "fox005F_", "_x00e9_"])
def test_pandas_writes_letters_that_are_letters(tmp_path: Path, text: str) -> None:
    import pandas as pd

    pd.DataFrame({"index": [1], "prediction": [text]}).to_excel(tmp_path / "p.xlsx", engine="openpyxl", index=False)
    assert read(tmp_path / "p.xlsx") == [text] == list(pd.read_excel(tmp_path / "p.xlsx")["prediction"])


def test_what_was_kept_of_a_cut_cell_is_cut_too() -> None:
    cut = "x" * CELL_LIMIT
    assert whole_response(cut, cut, form="xlsx").is_cut
    assert whole_response(cut, f"{cut} end", form="xlsx") == WholeResponse(text=f"{cut} end", is_cut=False)
    assert whole_response("nan", "", form="xlsx") == WholeResponse(text="", is_cut=False)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("7.5", "007.50"),
        ("2", "=1+1"),
        ("#NAME?", "=the answer"),
        ("", "N/A"),
        ("True", "true"),
        ("A", "_x0041_"),
        ("_x0001_c", "\x01c"),
        ("c", "\x01c"),
        ("a\nb", "a\r\nb"),
        ("spaces", "  spaces "),
        ("x" * CELL_LIMIT, "x" * (CELL_LIMIT + 1)),
    ],
)
def test_a_kept_response_counts_where_the_cell_is_what_became_of_it(tmp_path: Path, cell: str, text: str) -> None:
    assert can_have_become(cell, text)
    assert whole_response(cell, text, form="json").text == cell, "no spreadsheet writes JSON"
    path = tmp_path / "m_D.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([("index", "prediction"), ("1", cell)])
    assert saved_responses(path).responses == {"1": cell}
    (tmp_path / "m_D_responses.jsonl").write_text(json.dumps({"index": "1", "prediction": text}) + "\n")
    assert saved_responses(path).responses == {"1": text}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *(("a", "A"), ("7.6", "007.50"), ("another answer", "=1+1"), ("x", ""), ("", "x"), ("B", "_x0041_")),
        *(("x" * CELL_LIMIT, "x" * (CELL_LIMIT - 1)), ("y" + "x" * CELL_LIMIT, "x" * 40_000)),
    ],
)
def test_a_response_of_another_run_does_not(cell: str, text: str) -> None:
    assert not can_have_become(cell, text)
    assert whole_response(cell, text, form="xlsx").text == cell

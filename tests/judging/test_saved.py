"""Saved predictions as items to judge, and files that must not be read."""

import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.errors import DataError
from fin_tasks.judging.saved import read_items, read_rows
from fin_tasks.settings import Settings

RESPONSES = ["N/A", "nan", "007.50", "a\r\nb", "=1+1", "x" * 42_000, ""]
ROWS = [
    {
        "index": n,
        "question": f"{n}?",
        "answer": "7",
        "prediction": text,
        "task_category": "OCR",
    }
    for n, text in enumerate(RESPONSES)
]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


WRITERS: dict[str, Callable[[Path], object]] = {
    ".xlsx": lambda path: pd.DataFrame(ROWS[:4]).to_excel(path, index=False),
    ".tsv": lambda path: pd.DataFrame(ROWS).to_csv(path, sep="\t", index=False),
    ".csv": lambda path: pd.DataFrame(ROWS).to_csv(path, index=False),
    ".json": lambda path: path.write_text(json.dumps(ROWS)),
    ".jsonl": lambda path: write_lines(path, ROWS),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_form_is_read_as_text(
    tmp_path: Path, settings: Settings, suffix: str
) -> None:
    WRITERS[suffix](path := tmp_path / f"model_set{suffix}")
    items, rows = read_items(path, settings=settings)
    expected = RESPONSES[:4] if suffix == ".xlsx" else RESPONSES
    assert [item.response.replace("\r\n", "\n") for item in items] == [
        text.replace("\r\n", "\n") for text in expected
    ]
    assert [row["index"] for row in rows] == [str(n) for n in range(len(items))]
    assert (items[0].category, items[0].answer) == ("OCR", "7")


def test_whole_responses_beside_a_workbook(tmp_path: Path) -> None:
    short = pd.DataFrame(ROWS)
    short["prediction"] = short["prediction"].str[:100]
    short.to_excel(path := tmp_path / "model_set.xlsx", index=False)
    # Our adapter of VLMEvalKit writes first what was asked.
    write_lines(tmp_path / "model_set_responses.jsonl", [{"provenance": {}}, *ROWS])
    assert [row["prediction"] for row in read_rows(path)] == RESPONSES


def test_samples_of_lm_eval(tmp_path: Path, settings: Settings) -> None:
    doc = {
        "id": "a",
        "question": "1?",
        "answer": "7",
        "category": "OCR",
        "language": "zh",
        "na": True,
    }
    lines = [
        {"doc_id": 0, "doc": doc, "resps": [["Seven."]], "filter": name}
        for name in ("paper", "robust")
    ]
    items, rows = read_items(
        write_lines(tmp_path / "samples_x.jsonl", lines), settings=settings
    )
    assert [item.response for item in items] == ["Seven."]
    assert (rows[0]["index"], rows[0]["na"]) == ("a", "true")


def test_cut_off_responses_in_samples_of_lm_eval(
    tmp_path: Path, settings: Settings
) -> None:
    """As `--predict_only` writes them: the responses stand in place of readings."""
    lines = []
    for name, share in (("a", 1.0), ("b", 0.0)):
        doc = {"id": name, "question": "q", "answer": "x", "category": "OCR"}
        texts = {"resps": [["said"]], "filtered_resps": [["said"]], "filter": "none"}
        lines.append({"doc": doc, **texts, "cut_off": share})
    items, _ = read_items(
        write_lines(tmp_path / "samples_a.jsonl", lines), settings=settings
    )
    assert [is_cut_off(item.response) for item in items] == [True, False]


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
        write_lines(file, [{**ROWS[0], "image_path": name}])
        if expected is None:
            with pytest.raises(DataError, match="--image-root"):
                read_items(file, settings=settings)
        else:
            assert (
                read_items(file, settings=settings)[0][0].picture
                == tmp_path / "mine" / expected
            )
    write_lines(file, [{**ROWS[0], "image_path": "b.png"}])
    assert (
        read_items(file, settings=settings, image_root=tmp_path)[0][0].picture
        == tmp_path / "b.png"
    )
    assert read_items(file, settings=settings, pictures=False)[0][0].picture is None


def rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        WRITERS[".xlsx"](path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in parts.items():
                archive.writestr(name, change(data) if "sheet1" in name else data)

    return write


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (
            ".xlsx",
            rewritten(
                lambda data: data.replace(b'<row r="3"', b'<row r="999999999999"')
            ),
        ),
        (
            ".xlsx",
            rewritten(
                lambda data: data.replace(
                    b'<row r="3"', b"<row spans='1:2' r = '999999999999'"
                )
            ),
        ),
        (
            ".xlsx",
            rewritten(
                lambda data: data.replace(
                    b"</row></sheetData>", b"<c/>" * 5_000_000 + b"</row></sheetData>"
                )
            ),
        ),
        (
            ".xlsx",
            rewritten(
                lambda data: data.replace(
                    b"<sheetData>", b"<sheetData>" + b" " * 300_000_000
                )
            ),
        ),
        (".xlsx", lambda path: path.write_bytes(b"PK no workbook")),
        (".tsv", lambda path: path.write_bytes(b"index\tprediction\n1\t\xff\xfe\n")),
        (
            ".csv",
            lambda path: path.write_text(",".join(f"c{n}" for n in range(2000)) + "\n"),
        ),
        (".csv", lambda path: path.write_text("index,prediction\n1,a\n1,b\n")),
        (".csv", lambda path: path.write_text("number,text\n1,a\n")),
        (".json", lambda path: path.write_text("[" * 100_000)),
        (".json", lambda path: path.write_text('{"index": 1}')),
        (".jsonl", lambda path: path.write_text("")),
        (".pkl", lambda path: path.write_bytes(b"cos\nsystem\n")),
        (".jsonl", lambda path: path.mkdir()),
    ],
)
def test_files_that_are_refused_soon(
    tmp_path: Path, suffix: str, write: Callable[[Path], Any]
) -> None:
    write(path := tmp_path / f"hostile{suffix}")
    started = time.process_time()
    with pytest.raises(DataError, match="hostile"):
        read_rows(path)
    assert time.process_time() - started < 5


def test_rows_without_a_question_are_an_error(
    tmp_path: Path, settings: Settings
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [{**ROWS[0], "question": " "}])
    with pytest.raises(DataError, match="index 0: expected a text in question"):
        read_items(path, settings=settings)


@pytest.mark.parametrize("responses", [[], [[]]])
def test_a_sample_without_a_response_has_an_empty_one(
    tmp_path: Path, responses: Any
) -> None:
    sample = {"doc": {"id": "1", "question": "?", "answer": "7"}, "resps": responses}
    (row,) = read_rows(write_lines(tmp_path / "samples.jsonl", [sample]))
    assert row["prediction"] == ""

"""Files of saved responses in every form, and files that must not be read."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.answers.text import is_cut_off
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.errors import DataError
from fin_tasks.saved.files import SavedRow, read_saved_rows, texts_by_id
from fin_tasks.saved.matching import check_rows, match_rows

RESPONSES = ["N/A", "nan", "007.50", "a\r\nb", "=1+1", "x" * 42_000, ""]
ROWS = [
    {"index": n, "question": f"{n}?", "prediction": text}
    for n, text in enumerate(RESPONSES)
]
READ = json.dumps({"answer": 1.0, "cut_off": False})
CUT = json.dumps({"answer": None, "cut_off": True})


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


WRITERS: dict[str, Callable[[Path], object]] = {
    ".xlsx": lambda path: pd.DataFrame(ROWS[:4]).to_excel(path, index=False),
    ".tsv": lambda path: pd.DataFrame(ROWS).to_csv(path, sep="\t", index=False),
    ".csv": lambda path: pd.DataFrame(ROWS).to_csv(path, index=False),
    ".CSV": lambda path: pd.DataFrame(ROWS).to_csv(path, index=False),
    ".json": lambda path: path.write_text(json.dumps(ROWS)),
    ".jsonl": lambda path: write_lines(path, ROWS),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_form_is_read_as_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model_set{suffix}"
    WRITERS[suffix](path)
    rows = read_saved_rows(path)
    expected = RESPONSES[:4] if suffix == ".xlsx" else RESPONSES
    texts = [text for row in rows for text in row.texts]
    assert [(text or "").replace("\r\n", "\n") for text in texts] == [
        text.replace("\r\n", "\n") for text in expected
    ]
    assert [row.id for row in rows] == [str(n) for n in range(len(rows))]
    assert rows[0].fields["question"] == "0?" and "prediction" not in rows[0].fields


@pytest.mark.parametrize(
    "names",
    [
        ("id", "response"),
        ("ID", "output"),
        ("question_id", "model_response"),
        ("index", "prediction"),
        ("Sample-ID", "generated text"),
        ("id", "RESPONSE"),
        ("id", "Model Answer", "answer"),  # the surer name counts
        ("id", "output", "pred"),
    ],
)
def test_names_that_people_use(tmp_path: Path, names: tuple[str, ...]) -> None:
    row = dict(zip(names, (7, "b", "c"), strict=False))
    path = write_lines(tmp_path / "a.jsonl", [row])
    assert texts_by_id(read_saved_rows(path)) == {"7": ["b"]}


def test_several_responses_missing_ones_and_numbers(tmp_path: Path) -> None:
    responses: list[Any] = ["a", ["b", None], [["c"], ["d"]], None, [], [[]], 5, True]
    rows = [{"id": "x", "response": response} for response in responses]
    found = read_saved_rows(write_lines(tmp_path / "a.jsonl", rows))
    texts = [["a"], ["b", None], ["c", "d"], [None], [None], [None], ["5"], ["true"]]
    assert [row.texts for row in found] == texts
    assert len(texts_by_id(found)["x"]) == 10


@pytest.mark.parametrize("response", ["Let us see.", "", None])
def test_a_finish_reason_marks_what_was_cut_off(
    tmp_path: Path, response: str | None
) -> None:
    row = {"id": "x", "response": response, "finish_reason": "length"}
    (found,) = read_saved_rows(write_lines(tmp_path / "a.jsonl", [row]))
    (text,) = found.texts
    assert text is not None and is_cut_off(text)


def test_whole_responses_beside_a_workbook(tmp_path: Path) -> None:
    path = tmp_path / "model_set.xlsx"
    short = pd.DataFrame(ROWS)
    short["prediction"] = short["prediction"].str[:100]
    short.to_excel(path, index=False)
    # Our adapter of VLMEvalKit writes first what was asked.
    write_lines(tmp_path / "model_set_responses.jsonl", [{"provenance": {}}, *ROWS])
    assert [row.texts for row in read_saved_rows(path)] == [
        [text] for text in RESPONSES
    ]


def test_samples_are_read_once_for_all_filters(tmp_path: Path) -> None:
    doc = {"question_id": 1, "topic": "Bonds"}
    lines = [
        {"doc_id": 0, "doc": doc, "resps": [["a", "b"]], "filter": name}
        for name in ("paper", "robust")
    ]
    (row,) = read_saved_rows(write_lines(tmp_path / "samples.jsonl", lines))
    assert (row.id, row.texts, row.fields) == ("1", ["a", "b"], doc)
    assert row.is_sample


@pytest.mark.parametrize(
    ("sample", "marked"),
    [
        (
            {"resps": [["a", "b"]], "filtered_resps": [[READ, CUT]], "cut_off": 0.5},
            [False, True],
        ),
        (  # as `--predict_only` writes them: the responses stand in place of readings
            {"resps": [["a", "b"]], "filtered_resps": [["a", "b"]], "cut_off": 1.0},
            [True, True],
        ),
        (
            {"resps": [["a", "b"]], "filtered_resps": [["a", "5"]], "cut_off": 0.5},
            [False, False],
        ),
        ({"resps": [["a"]], "filtered_resps": [[CUT]], "cut_off": 0.0}, [False]),
        ({"resps": [["a"]], "filtered_resps": [[CUT]]}, [False]),
        ({"resps": [["a"]], "filtered_resps": "text", "cut_off": 1.0}, [False]),
    ],
)
def test_cut_off_responses_in_samples(
    tmp_path: Path, sample: dict[str, Any], marked: list[bool]
) -> None:
    line = {"doc": {"id": "x"}, **sample}
    (row,) = read_saved_rows(write_lines(tmp_path / "samples.jsonl", [line]))
    assert [is_cut_off(text or "") for text in row.texts] == marked


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a", "text": "b"}, "expected the columns id .* got id, text"),
        ({"number": 1, "response": "b"}, "expected the columns id"),
        ({"id": ["a"], "response": "b"}, r"row 1: expected a text as id, got \['a'\]"),
        ({"id": "a", "response": {"x": 1}}, "a: expected text as response, got {'x'"),
        (
            {"doc": {"name": "a"}, "resps": [["b"]]},
            "row 1: expected a document with id",
        ),
        ({"doc": {"id": "a"}, "resps": 5}, "a: expected text as response, got 5"),
    ],
)
def test_a_row_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_saved_rows(write_lines(tmp_path / "a.jsonl", [row]))
    assert "\n" not in str(caught.value)


# tests/data has workbooks and tables that are too large.
@pytest.mark.parametrize(
    ("suffix", "write"),
    [
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
    path = tmp_path / f"hostile{suffix}"
    write(path)
    started = time.process_time()
    with pytest.raises(DataError, match="hostile"):
        read_saved_rows(path)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("ours", "truth", "is_ours"),
    [("100", 100.1, True), ("100", "101", False), (0.0, "0", True), (0.0, 1, False)],
)
def test_a_truth_that_was_rounded_is_ours(
    ours: object, truth: object, is_ours: bool
) -> None:
    docs = [{"id": "a", "ground_truth": ours, "question": "How much?"}]
    row = SavedRow("a", ["It is 100."], {}, truth=truth)
    said = check_rows(match_rows([row], docs), docs, benchmark_named("xfinbench"), "f")
    assert (list(said) == []) == is_ours

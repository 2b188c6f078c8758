"""Files of the real schema, written here in every format, and every kind of defect."""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from fin_tasks.benchmarks.bizbench.cells import options_of, part_of
from fin_tasks.benchmarks.bizbench.defects import DEFECTS, LEFT_OUT
from fin_tasks.benchmarks.bizbench.files import Files
from fin_tasks.benchmarks.bizbench.options import index_base, resolve
from fin_tasks.benchmarks.bizbench.row import PARTS
from fin_tasks.benchmarks.bizbench.rows import Rows, read_rows, read_table
from fin_tasks.errors import DataError

Cells = dict[str, Any]

COLUMNS = ("question", "answer", "task", "context", "context_type", "options", "program")
STUB = 'def margin(profit, sales):\n    """Profit as a share of sales."""\n'


def cells(task: str, question: str = "How much?", answer: Any = "5", **more: Any) -> Cells:
    filled = {"context": "Sales: 5\nCosts: 3", "context_type": "text", "options": None, "program": None}
    return {"question": question, "answer": answer, "task": task, **filled, **more}


GOOD = (
    cells("FinCode", "A", "1,234.5", context=None, program="def solution():\n    return 1234.5"),
    cells("CodeFinQA", "B", "-0.0512", program="answer = -0.0512"),
    cells("CodeTATQA", "C", "(5.2)"),
    cells("ConvFinQA (E)", "D", "12.3%"),
    cells("TAT-QA (E)", "E", "$ 4.5 million"),
    cells("SEC-NUM", "Größe", "7", context="x\n" * 100_000),
    cells("FinKnow", "G", "Loan", context=None, context_type=None, options=["Cash, at hand", 'A "Tree"', "Loan"]),
    cells(
        "FormulaEval", STUB, "return profit / sales", context=None, options=["return sales", "return profit / sales"]
    ),
    cells("FormulaEval", STUB, "return profit / sales", context=None, options=[]),
)


def write_parquet(path: Path, rows: Sequence[Cells], *, text: pa.DataType | None = None, list_of: Any = None) -> Path:
    text = text or pa.string()
    fields = {name: pa.array([row[name] for row in rows], text) for name in COLUMNS if name != "options"}
    fields["options"] = pa.array([row["options"] for row in rows], list_of or pa.list_(text))
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(fields), path, row_group_size=4)
    return path


def write_csv(path: Path, rows: Sequence[Cells]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        out.writerows(
            {**row, "options": row["options"] if row["options"] is None else repr(row["options"])} for row in rows
        )
    return path


def read(folder: Path, *rows: Cells) -> Rows:
    """Rows through JSON lines, which hold any type of cell."""
    path = folder / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_table([path], prefix="test")


def kinds(found: Rows) -> list[tuple[str, str]]:
    return [(defect.kind, defect.row_id) for defect in found.defects]


def test_rows_of_the_real_schema(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "test-00000-of-00001.parquet", GOOD)
    found = read_rows(Files(origin="data_dir", split="test", paths=(path,)))
    assert found.defects == ()
    assert [row.part for row in found.rows] == [*PARTS, "formulaeval"]
    assert [row.id for row in found.rows] == [f"test_{place}" for place in range(len(GOOD))]
    assert [row.kind for row in found.rows] == ["number"] * 6 + ["choice", "choice", "code"]
    assert [row.correct for row in found.rows] == [None] * 6 + [2, 1, None]
    assert found.rows[6].options == ("Cash, at hand", 'A "Tree"', "Loan")
    assert (found.rows[0].context, found.rows[0].context_type, found.rows[2].program) == ("", "text", "")
    assert [row.answer for row in found.rows[:5]] == [row["answer"] for row in GOOD[:5]]
    assert found.part("secnum") == (found.rows[5],)


@pytest.mark.parametrize(
    ("text", "list_of"),
    [
        (pa.large_string(), None),
        (pa.string(), pa.large_list(pa.large_string())),
        (pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string())),
        (pa.string_view(), pa.list_(pa.string())),
    ],
)
def test_parquets_types_of_text_are_one(tmp_path: Path, text: Any, list_of: Any) -> None:
    plain = write_parquet(tmp_path / "a.parquet", GOOD)
    other = write_parquet(tmp_path / "b.parquet", GOOD, text=text, list_of=list_of)
    assert read_table([other], prefix="test") == read_table([plain], prefix="test")


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    expected = read_table([write_parquet(tmp_path / "test.parquet", GOOD)], prefix="test")
    (tmp_path / "test.json").write_text(json.dumps(GOOD), encoding="utf-8")
    (tmp_path / "lines.json").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in GOOD), "utf-8-sig")
    limit = csv.field_size_limit()
    assert read(tmp_path, *GOOD) == expected
    assert read_table([write_csv(tmp_path / "test.csv", GOOD)], prefix="test") == expected
    assert read_table([tmp_path / "test.json"], prefix="test") == expected
    assert read_table([tmp_path / "lines.json"], prefix="test") == expected
    assert csv.field_size_limit() == limit


def test_shards_are_counted_through(tmp_path: Path) -> None:
    shards = [write_parquet(tmp_path / f"{n}.parquet", rows) for n, rows in enumerate((GOOD[:4], GOOD[4:]))]
    whole = write_parquet(tmp_path / "whole.parquet", GOOD)
    assert read_table(shards, prefix="test") == read_table([whole], prefix="test")


def test_numbers_may_be_stored_as_numbers(tmp_path: Path) -> None:
    rows = [cells("FinCode", f"Q{n}", answer) for n, answer in enumerate((12.0, 0.05, 7, 1e300, math.nan))]
    found = read(tmp_path, *rows)
    assert [row.answer for row in found.rows] == ["12", "0.05", "7", "1e+300", ""]
    assert kinds(found) == [("answer-not-a-number", "test_4")]


@pytest.mark.parametrize("missing", ["question", "answer", "task", "context", "options", "program"])
def test_a_missing_column_is_an_error(tmp_path: Path, missing: str) -> None:
    rows = [{name: cell for name, cell in row.items() if name != missing} for row in GOOD[:2]]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    with pytest.raises(DataError, match=rf"test\.parquet: .*missing {missing}, got "):
        read_table([tmp_path / "test.parquet"], prefix="test")
    with pytest.raises(DataError, match=rf"test\.jsonl: .*missing {missing}, got "):
        read(tmp_path, *rows)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"PAR1 broken"),
        ("a.json", b"[{]"),
        ("a.jsonl", b"{}\n7\n"),
        ("a.json", b"[1]"),
        ("a.csv", b"\xff"),
    ],
)
def test_a_broken_file_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}.*expected"):
        read_table([tmp_path / name], prefix="test")


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (cells("SQuAD"), "unknown-task"),
        (cells(""), "unknown-task"),
        (cells("FinCode", "  "), "empty-question"),
        (cells("FinCode", None), "empty-question"),  # type: ignore[arg-type]
        (cells("FinCode", answer="yes"), "answer-not-a-number"),
        (cells("FinCode", answer=None), "answer-not-a-number"),
        (cells("TAT-QA (E)", answer="5 and 7"), "answer-not-a-number"),
        (cells("FinKnow", answer="Tree", options=["Cash", "Loan"]), "answer-not-an-option"),
        (cells("FinKnow", answer="loan", options=["Loan", "LOAN"]), "ambiguous-option"),
        (cells("FinKnow", answer="1", options=["Cash", "Loan", "Tree"]), "answer-by-index"),
        (cells("FinKnow", options=["5"]), "knowledge-without-options"),
        (cells("FinKnow", options="5 or 7"), "unreadable-options"),
        (cells("FormulaEval", STUB, "no idea"), "code-without-reference"),
        (cells("CodeTATQA", context=" "), "empty-context"),
        (cells("SEC-NUM", context=None), "empty-context"),
        (cells("FinCode", context={"a": 1}), "wrong-type"),
    ],
)
def test_every_defect_is_counted_and_named(tmp_path: Path, row: Cells, kind: str) -> None:
    found = read(tmp_path, cells("FinCode", "First"), row)
    assert (kind, "test_1") in kinds(found)
    assert kind in DEFECTS
    asked = [read.id for read in found.rows]
    assert asked == (["test_0"] if kind in LEFT_OUT else ["test_0", "test_1"])
    assert found.left_out == ({kind: ("test_1",)} if kind in LEFT_OUT else {})


def test_a_question_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, cells("FinCode", ["How much?"]))  # type: ignore[arg-type]
    assert (found.rows, kinds(found)) == ((), [("wrong-type", "test_0"), ("empty-question", "test_0")])


def test_rows_that_repeat_one(tmp_path: Path) -> None:
    first, again = cells("FinCode", "How much is it?"), cells("FinCode", "How  much\nis it?")
    found = read(
        tmp_path, first, again, {**first, "answer": "6"}, {**first, "context": "another"}, {**first, "task": "SEC-NUM"}
    )
    assert len(found.rows) == 5
    assert kinds(found) == [("duplicate-row", "test_1"), ("conflicting-answers", "test_2")]


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (("FinCode", "fincode", "Fin-Code"), "fincode"),
        (("CodeFinQA", "Code FinQA", "code_fin_qa"), "codefinqa"),
        (("CodeTATQA", "CodeTAT-QA", "Code-TAT-QA"), "codetatqa"),
        (
            ("ConvFinQA", "ConvFinQA (E)", "ConvFinQA(E)", "ConvFinQA-E", "ConvFinQA (Extract)", "ConvFinQA_E"),
            "convfinqa_e",
        ),
        (("TATQA", "TAT-QA", "TAT-QA (E)", "TATQA_E", "TAT-QA Extract", "TAT-QA (Extraction)"), "tatqa_e"),
        (("SEC-NUM", "SECNUM", "sec_num", "SEC NUM", "BizBench/SEC-NUM"), "secnum"),
        (("FinKnow", "FIN-KNOW"), "finknow"),
        (("FormulaEval", "Formula Eval", "formula_eval"), "formulaeval"),
    ],
)
def test_names_of_parts(names: Sequence[str], part: str) -> None:
    assert {part_of(name) for name in names} == {part}


def test_no_other_name_is_a_part() -> None:
    assert [part_of(name) for name in ("", "FinQA", "MultiHiertt", "ConvFinQA (X)", "Code")] == [None] * 5


# --- options ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=5))
def test_options_survive_every_way_to_write_a_list(items: list[str]) -> None:
    assert options_of(items) == tuple(items)
    assert options_of(json.dumps(items)) == tuple(items)
    assert options_of(repr(items)) == tuple(items)


def test_options_as_numpy_writes_them() -> None:
    assert options_of("['Cash' \"it's\"\n 'Loan']") == ("Cash", "it's", "Loan")
    assert [options_of(cell) for cell in (None, math.nan, "", "[]", "None")] == [()] * 5
    assert [options_of(cell) for cell in ("Cash or loan", "[Cash, Loan]", "['a'", "[exit(1)]", "{'a': 1}")] == [
        None
    ] * 5
    assert options_of([1, 2.5, None]) == ("1", "2.5", "")


OPTIONS = ("Cash", "A loan", "Trees (all of them)", "$1,000")


@pytest.mark.parametrize(
    ("answer", "options", "index", "how"),
    [
        ("A loan", OPTIONS, 1, "text"),
        (" a  LOAN ", OPTIONS, 1, "text"),
        ("B. A loan", OPTIONS, 1, "text"),
        ("A loan.", OPTIONS, 1, "text"),
        ("A loan", ("A. Cash", "B. A loan"), 1, "text"),
        ("1000.00", OPTIONS, 3, "number"),
        ("b", OPTIONS, 1, "letter"),
        ("(C)", OPTIONS, 2, "letter"),
        ("C)", OPTIONS, 2, "letter"),
        ("C: trees", OPTIONS, 2, "letter"),
        ("C: cash", OPTIONS, None, "none"),
        ("E", OPTIONS, None, "none"),
        ("0", OPTIONS, 0, "index"),
        ("3.0", OPTIONS, 3, "index"),
        ("4", OPTIONS, None, "none"),
        ("1", ("3", "1", "2"), 1, "text"),
        ("2.0", ("3", "1", "2"), 2, "number"),
        ("B", ("C", "A", "B"), 2, "text"),
        ("5%", ("5", "0.05", "5 percent"), 1, "number"),
        ("", OPTIONS, None, "none"),
        ("1", ("Pay 1 dollar", "Pay 2 dollars"), 1, "index"),
    ],
)
def test_which_option_an_answer_means(answer: str, options: Sequence[str], index: int | None, how: str) -> None:
    found = resolve(answer, options)
    assert (found.index, found.how) == (index, how)


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=6, unique_by=str.strip), st.data())
def test_an_options_own_text_always_wins(options: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(options) - 1))
    assert resolve(options[place], options).index == place


def test_a_file_shows_from_where_it_counts(tmp_path: Path) -> None:
    options = ["Cash", "Loan", "Tree"]
    assert index_base([("3", options), ("1", options)]) == 1
    assert index_base([("3", options), ("0", options)]) == 0
    assert index_base([("3", ["1", "2", "3"]), ("1", options)]) == 0, "an option's text is no index"
    rows = [cells("FinKnow", f"Q{n}", str(n), options=options) for n in (1, 3)]
    found = read(tmp_path, *rows)
    assert [row.correct for row in found.rows] == [0, 2]
    assert kinds(found) == [("answer-by-index", "test_0"), ("answer-by-index", "test_1")]

"""Rows of XFinBench: the real validation file where it is at hand, a small file with every known defect, the sample."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from fin_tasks.benchmarks.xfinbench import rows as xfinbench
from fin_tasks.benchmarks.xfinbench.cells import capability_codes, parse_choices
from fin_tasks.benchmarks.xfinbench.defects import DEFECTS
from fin_tasks.benchmarks.xfinbench.files import SPLITS, TEMPLATES
from fin_tasks.benchmarks.xfinbench.inspection import inspect
from fin_tasks.data.schema import ids_by_kind
from fin_tasks.data.sources import load_source
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

REAL = Path(__file__).resolve().parents[3].parent / "shared" / "data"
real_file = pytest.mark.skipif(
    not (REAL / "xfinbench" / "validation_set.csv").is_file(),
    reason="the real validation file is not beside this checkout",
)

GOOD = {
    "id": "q1",
    "task": "bool",
    "question": "Cash is an asset.",
    "choice": "",
    "ground_truth": "1.0",
    "figure": "",
    "fin_capability": "TU",
    "gold_fin_term_id": "term_1;term_2",
}


def settings(**environ: object) -> Settings:
    return Settings.from_environ({name: str(value) for name, value in environ.items()})


def table(rows: Iterable[dict[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(GOOD))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    def make(*rows: dict[str, str], layout: str = "", split: str = "validation") -> Path:
        path = tmp_path / layout / f"{split}_set.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(table({**GOOD, "id": f"q{i}", **row} for i, row in enumerate(rows, 1)), encoding="utf-8")
        return tmp_path

    return make


def read(folder: Path) -> xfinbench.Rows:
    return xfinbench.read_rows(xfinbench.locate(data_dir=folder, settings=settings(), split="validation"))


# The real file


@real_file
def test_the_real_file_counts_as_published() -> None:
    files = xfinbench.locate(source="data_dir", data_dir=REAL, settings=settings(), split="validation")
    split = inspect(files).splits[0]
    assert split.rows == 1000
    assert split.by_task == {"bool": 435, "mcq": 169, "calcu": 396}
    assert split.by_figure["mcq"] == {"with": 22, "without": 147}
    assert split.by_table["calcu"] == {"with": 59, "without": 337}
    assert split.by_capability == {"TU": 582, "TR": 222, "FF": 44, "SP": 69, "NM": 188}
    assert split.missing_figures == {"vali_figure_21": 18, "vali_figure_840": 2}
    assert split.usable_by_task == {"bool": 435, "mcq": 149, "calcu": 396}


@real_file
def test_the_real_file_has_these_defects() -> None:
    rows = read(REAL)
    found = ids_by_kind(rows.defects)
    assert {kind: len(ids) for kind, ids in found.items()} == {
        "bom": 1,
        "bool-truth-as-integer": 7,
        "colon-separated-capabilities": 5,
        "en-dash-minus": 2,
        "literal-newline-in-choices": 13,
        "missing-figure": 20,
        "scientific-notation": 1,
    }
    by_id = {row.id: row for row in rows.rows}
    assert by_id["vali_91"].truth.value == -6.0
    assert by_id["vali_189"].truth.value == 5e-05
    assert by_id[found["colon-separated-capabilities"][0]].capabilities == ("TR", "SP")


@real_file
def test_the_real_choices_are_all_read() -> None:
    rows = [row for row in read(REAL).rows if row.task == "mcq"]
    assert {len(row.choices) for row in rows} == {3}
    by_id = {row.id: row for row in rows}
    assert by_id["vali_21"].choices == ("Point A", "Point B", "Point C")
    for row in rows:
        # put together again, the texts are the cell, but for letters and white space
        letters = "".join(f"{letter}.{text}" for letter, text in zip("ABC", row.choices, strict=True))
        assert "".join(letters.split()) == "".join(
            row.choice_text.replace("\\n ", "").replace("\\nB.", "B.").replace("\\nC.", "C.").split()
        )


@real_file
def test_the_real_files_are_the_pinned_ones() -> None:
    report = inspect(xfinbench.locate(data_dir=REAL / "xfinbench", settings=settings(), split="validation"))
    states = {file.path: file.state for file in report.files}
    assert states["dataset/validation_set.csv"] == "pinned"
    assert states["dataset/figures/vali_figure_34.jpg"] == "pinned"
    assert set(states.values()) == {"pinned"}
    assert "dataset/test_set.csv" in report.absent
    assert report.licence == "MIT"


@real_file
def test_the_real_templates() -> None:
    files = xfinbench.locate(data_dir=REAL, settings=settings(), split="validation")
    templates = xfinbench.prompt_templates(files)
    assert set(templates) == set(TEMPLATES)
    assert "```python\ndef solution():" in templates["calcu_PoT.txt"]
    assert not any("\\n" in text for text in templates.values())


@real_file
def test_the_revision_covers_questions_and_figures(tmp_path: Path) -> None:
    files = xfinbench.locate(data_dir=REAL, settings=settings(), split="validation")
    figures = [row.figure_path for row in xfinbench.read_rows(files).rows if row.figure_path is not None]
    revision = xfinbench.revision_of(files, figures)
    assert list(revision.files) == [
        "dataset/figures/vali_figure_34.jpg",
        "dataset/figures/vali_figure_888.jpg",
        "dataset/validation_set.csv",
    ]
    lines = "".join(f"{sha256}  {path}\n" for path, sha256 in revision.files.items())
    assert str(revision) == hashlib.sha256(lines.encode()).hexdigest()[:16]
    changed = tmp_path / "vali_figure_34.jpg"
    changed.write_bytes(b"another picture")
    assert xfinbench.revision_of(files, [changed, figures[1]]).short != revision.short


# Cells


@pytest.mark.parametrize(
    ("cell", "choices"),
    [
        ("A. up\nB. down", ("up", "down")),
        ("A. up\r\nB. down\r\nC. flat", ("up", "down", "flat")),
        ("A. Line A\\n B. Line B\\n C. Line C", ("Line A", "Line B", "Line C")),
        ("A. the $\\nu$ of B. Smith\nB. none", ("the $\\nu$ of B. Smith", "none")),
        ("(A) up\n(B) down", ("up", "down")),
        ("A) up\nB) down\nC) C. Ltd\nD) all", ("up", "down", "C. Ltd", "all")),
        ("A. two\nlines\nB. one", ("two\nlines", "one")),
        ("A. up\nA. in a line\nB. down", ("up\nA. in a line", "down")),
        ("A. only", ()),
        ("A. up\nB. ", ()),
        ("Pick one:\nA. up\nB. down", ()),
        ("pick: A. up\nB. down", ()),
        ("up\ndown", ()),
        ("", ()),
    ],
)
def test_choices(cell: str, choices: tuple[str, ...]) -> None:
    assert parse_choices(cell) == choices


def test_capabilities_keep_their_order_and_come_once() -> None:
    assert capability_codes(" nm;TR ; NM") == ("NM", "TR")
    assert capability_codes("") == ()


# Defects: every kind, in a row that has it


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("bool-truth-as-integer", {"ground_truth": "0"}),
        ("colon-separated-capabilities", {"fin_capability": "TR: SP"}),
        ("empty-question", {"question": " \n"}),
        ("en-dash-minus", {"task": "calcu", "ground_truth": "\u20136.0"}),
        ("literal-newline-in-choices", {"task": "mcq", "ground_truth": "A", "choice": "A. a\\nB. b"}),
        ("mcq-without-choices", {"task": "mcq", "ground_truth": "13.07"}),
        ("missing-figure", {"task": "mcq", "ground_truth": "A", "choice": "A. a\nB. b", "figure": "figure_1"}),
        ("scientific-notation", {"task": "calcu", "ground_truth": "5e-05"}),
        ("several-numbers", {"task": "calcu", "ground_truth": "56.14, -85.77"}),
        ("truth-not-a-choice", {"task": "mcq", "ground_truth": "C", "choice": "A. a\nB. b"}),
        ("unknown-capability", {"fin_capability": "TU; XY"}),
        ("unknown-task", {"task": "essay"}),
        ("unreadable-choices", {"task": "mcq", "ground_truth": "A", "choice": "a or b"}),
        ("unusable-truth", {"ground_truth": "maybe"}),
        ("zero-truth", {"task": "calcu", "ground_truth": "0.00"}),
    ],
)
def test_a_defect_is_found_in_its_row_only(folder: Callable[..., Path], kind: str, row: dict[str, str]) -> None:
    found = ids_by_kind(read(folder({}, row, {"question": "Another question."})).defects)
    assert found[kind] == ("q2",)
    assert kind in DEFECTS
    unusable_as_well = {"mcq-without-choices": {"unusable-truth"}}
    assert set(found) - {"duplicate-question"} == {kind} | unusable_as_well.get(kind, set())


def test_duplicates(folder: Callable[..., Path]) -> None:
    rows = read(folder({}, {"question": "Cash  is an\nasset. "}, {"id": "q1", "question": "Other?"}))
    assert ids_by_kind(rows.defects) == {"duplicate-id": ("q1",), "duplicate-question": ("q2",)}
    assert [(row.question, row.usable) for row in rows.rows] == [
        ("Cash is an asset.", True),
        ("Cash  is an\nasset. ", True),
        ("Other?", False),
    ]
    assert rows.left_out("bool") == {"duplicate-id": ("q1",)}


def test_cell_count_and_empty_id(tmp_path: Path) -> None:
    good = table([GOOD])
    path = tmp_path / "validation_set.csv"
    path.write_text(good + "q2,bool,Short.\n,bool,No id.,,1.0,,TU,\n", encoding="utf-8")
    rows = read(tmp_path)
    assert ids_by_kind(rows.defects) == {"cell-count": ("q2",), "empty-id": ("",), "unusable-truth": ("q2",)}
    assert [row.id for row in rows.usable("bool")] == ["q1"]


def test_a_missing_column_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "validation_set.csv").write_text("id,task,question\n1,bool,x\n", encoding="utf-8")
    with pytest.raises(DataError, match="missing choice, ground_truth, figure, fin_capability, gold_fin_term_id"):
        read(tmp_path)


def test_unusable_truths_stay_and_unusable_rows_go(folder: Callable[..., Path]) -> None:
    rows = read(
        folder(
            {"task": "calcu", "ground_truth": "56.14, -85.77"},
            {"task": "mcq", "ground_truth": "13.07", "question": "b"},
            {"task": "mcq", "ground_truth": "A", "choice": "a or b", "question": "c"},
        )
    )
    assert [(row.id, row.truth.kind) for row in rows.usable("calcu")] == [("q1", "unusable")]
    assert [(row.id, row.choices) for row in rows.usable("mcq")] == [("q3", ("a or b",))]
    assert rows.left_out("mcq") == {"mcq-without-choices": ("q2",)}


def test_figures_by_name_in_any_format(folder: Callable[..., Path]) -> None:
    mcq = {"task": "mcq", "ground_truth": "A", "choice": "A. a\nB. b"}
    names = ["one", "two", "three", "gone", "../validation_set"]
    root = folder(*({**mcq, "figure": name, "question": name} for name in names), {**mcq, "question": "text"})
    (root / "figures").mkdir()
    for name in ("one.png", "one.jpg", "two.JPG", "three.jpeg", "notes.txt"):
        (root / "figures" / name).write_bytes(b"")
    rows = read(root)
    found = {row.figure: row.figure_path.name if row.figure_path else None for row in rows.rows}
    assert found == {
        "one": "one.png",
        "two": "two.JPG",
        "three": "three.jpeg",
        "gone": None,
        "../validation_set": None,
        None: None,
    }
    assert [row.figure for row in rows.usable("mcq", figure=True)] == ["one", "two", "three"]
    assert [row.figure for row in rows.usable("mcq", figure=False)] == [None]
    assert len(rows.usable("mcq")) == 4
    assert rows.left_out("mcq", figure=True) == {"missing-figure": ("q4", "q5")}
    assert rows.left_out("mcq", figure=False) == {}


def test_cells_as_read(folder: Callable[..., Path]) -> None:
    row = read(
        folder({"question": "\nA \\begin{tabular}{l} x \\end{tabular}", "task": "calcu", "ground_truth": "1,234.5"})
    ).rows[0]
    assert (row.has_table, row.question[0], row.truth_text, row.truth.value) == (True, "\n", "1,234.5", 1234.5)
    assert row.gold_terms == ("term_1", "term_2")


# Where the files are


@pytest.mark.parametrize("layout", ["", "dataset", "xfinbench", "xfinbench/dataset"])
def test_layouts_of_a_data_folder(folder: Callable[..., Path], layout: str) -> None:
    root = folder({}, layout=layout)
    files = xfinbench.locate(settings=settings(FIN_TASKS_DATA=root), split="validation")
    assert (files.origin, files.questions) == ("data_dir", root / layout / "validation_set.csv")
    assert xfinbench.locate(data_dir=root, settings=settings(FIN_TASKS_DATA="/nowhere"), split="validation") == files


def test_one_folder_is_searched_never_two(folder: Callable[..., Path]) -> None:
    root = folder({})
    (root / "xfinbench" / "figures").mkdir(parents=True)
    (root / "xfinbench" / "figures" / "one.png").write_bytes(b"")
    assert xfinbench.locate(data_dir=root, settings=settings(), split="validation").figures(["one"]) == {}


def test_a_split_that_is_not_there_names_the_places(folder: Callable[..., Path]) -> None:
    root = folder({})
    with pytest.raises(DataError) as caught:
        xfinbench.locate(data_dir=root, settings=settings(), split="test")
    for place in ("dataset/test_set.csv", "test_set.csv", "xfinbench/dataset/test_set.csv", "xfinbench/test_set.csv"):
        assert str(root / place) in str(caught.value)
    assert "FIN_TASKS_DATA" in str(caught.value)


def test_auto_without_a_folder_is_upstream(tmp_path: Path) -> None:
    offline = settings(FIN_TASKS_OFFLINE=1, FIN_TASKS_CACHE=tmp_path)
    with pytest.raises(FetchError, match=r"dataset/test_set\.csv.*FIN_TASKS_DATA"):
        xfinbench.locate(settings=offline, split="test")


def test_upstream_reads_the_cache_and_only_the_figures_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mcq = {**GOOD, "task": "mcq", "ground_truth": "A", "choice": "A. a\nB. b"}
    body = table([{**mcq, "figure": "vali_figure_34"}, {**mcq, "id": "q2", "figure": "vali_figure_21"}]).encode()
    path = SPLITS["validation"]
    pins = load_source("xfinbench")
    mine = tuple(
        replace(file, size=len(body), sha256=hashlib.sha256(body).hexdigest()) if file.path == path else file
        for file in pins.files
    )
    monkeypatch.setattr("fin_tasks.benchmarks.xfinbench.files.load_source", lambda _: replace(pins, files=mine))
    offline = settings(FIN_TASKS_OFFLINE=1, FIN_TASKS_CACHE=tmp_path)
    cached = tmp_path / "xfinbench" / pins.revision / path
    cached.parent.mkdir(parents=True)
    cached.write_bytes(body)
    files = xfinbench.locate(source="upstream", settings=offline, split="validation")
    with pytest.raises(FetchError, match=r"dataset/figures/vali_figure_34\.jpg"):
        xfinbench.read_rows(files)
    rows = xfinbench.read_rows(files, fetch_figures=False)
    assert [row.figure_path for row in rows.rows] == [cached.parent / "figures" / "vali_figure_34.jpg", None]
    assert inspect(files).splits[0].missing_figures == {"vali_figure_21": 1}
    assert [(file.path, file.state) for file in inspect(files).files] == [(path, "pinned")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "cloud"}, "expected one of auto, upstream, data_dir, sample, got 'cloud'"),
        ({"split": "train"}, "expected one of validation, test, got 'train'"),
        ({"source": "data_dir"}, "needs a folder"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        xfinbench.locate(settings=settings(), **{"split": "test", **options})


def test_the_sample_serves_any_split_without_defects() -> None:
    validation, test = (xfinbench.locate(source="sample", settings=settings(), split=s) for s in ("validation", "test"))
    assert validation.questions == test.questions
    rows = xfinbench.read_rows(test)
    assert ids_by_kind(rows.defects) == {}
    assert all(rows.usable("mcq", figure=figure) for figure in (True, False))
    assert {file.state for file in inspect(test).files} == {"sample"}
    terms = xfinbench.knowledge_bank(test).by_id.keys()
    assert all(set(row.gold_terms) <= terms and row.gold_terms for row in rows.rows)
    with pytest.raises(DataError, match="only the authors' files have"):
        xfinbench.prompt_templates(test)


def test_a_file_of_ones_own_is_read_and_marked(folder: Callable[..., Path]) -> None:
    report = inspect(xfinbench.locate(data_dir=folder({}), settings=settings(), split="validation"))
    assert [(file.path, file.state) for file in report.files] == [("dataset/validation_set.csv", "differs")]
    assert json.loads(json.dumps(report.to_dict()))["splits"][0]["by_task"] == {"bool": 1, "mcq": 0, "calcu": 0}


def test_rows_by_id_over_all_splits_there_are(folder: Callable[..., Path]) -> None:
    folder({"id": "v"})
    root = folder({"id": "t"}, split="test")
    assert sorted(xfinbench.rows_by_id(data_dir=root, settings=settings())) == ["t", "v"]
    (root / "test_set.csv").unlink()
    assert sorted(xfinbench.rows_by_id(settings=settings(FIN_TASKS_DATA=root))) == ["v"]
    (root / "validation_set.csv").unlink()
    with pytest.raises(DataError, match="found none of"):
        xfinbench.rows_by_id(data_dir=root, settings=settings())


def test_a_knowledge_bank_leaves_out_what_has_no_id_of_its_own(folder: Callable[..., Path]) -> None:
    root = folder({})
    body = "1,a,b\n1,c,d\n,e,f\n2, ,\n3,,g\n"
    (root / "knowledge_bank.csv").write_text("id,term_name,term_definition\n" + body, encoding="utf-8")
    files = xfinbench.locate(data_dir=root, settings=settings(), split="validation")
    bank = xfinbench.knowledge_bank(files)
    assert [(term.id, term.text) for term in bank.terms] == [("1", "a b"), ("3", " g")]
    left_out = {"duplicate-term-id": ["1"], "empty-term": ["2"], "term-without-id": [""]}
    assert bank.facts == {"n": 2, "sha256": bank.sha256, "left_out": left_out}
    (root / "knowledge_bank.csv").write_text("id,term_name,term_definition\n,a,b\n", encoding="utf-8")
    with pytest.raises(DataError, match="expected finance terms with an id each, got none"):
        xfinbench.knowledge_bank(files)


def test_every_explanation_is_for_a_defect_somebody_reports() -> None:
    folder = Path(xfinbench.__file__).parent
    code = "".join((folder / name).read_text(encoding="utf-8") for name in ("rows.py", "defects.py"))
    listing = code[code.index("DEFECTS: Mapping") : code.index("_SCIENTIFIC =")]
    for kind in DEFECTS:
        assert f'"{kind}"' in code.replace(listing, ""), kind

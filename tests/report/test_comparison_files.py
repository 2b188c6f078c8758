"""What `compare --out` writes, and what results may be compared by."""

import re
from pathlib import Path
from typing import Any

import pytest
from run_files import scored, with_decoding, write_run
from typer.testing import CliRunner

import fin_tasks
from fin_tasks import report
from fin_tasks.charts.figures import drawing
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.compare import Options, compare
from fin_tasks.report.figures import difference_figure

GOOD = [1.0] * 30 + [0.0] * 10
BAD = [1.0] * 10 + [0.0] * 30


def compared(folder: Path, factor: str) -> Any:
    reports = {"": report.read([folder])}
    return compare(reports, Options(factor=factor)).lines.set_index("run")


def test_modes_of_one_model(tmp_path: Path) -> None:
    for suffix, mode, values in (("", "cot", BAD), ("_pot", "pot", GOOD)):
        asked = {"mode": mode}
        tasks = {f"financemath{suffix}": scored(*values)}
        docs = [{"question_id": f"q{at}", "id": f"q{at}"} for at in range(40)]
        write_run(tmp_path / mode, tasks, model="m", provenance=asked, docs=docs)
    lines = compared(tmp_path, "mode")
    assert lines.loc["pot", "against"] == "cot"
    assert (lines.loc["pot", "pairs"], lines.loc["pot", "difference"]) == (40, 0.5)
    assert lines.loc["pot", "p"] < 0.001


def test_scorings_of_one_run(tmp_path: Path) -> None:
    write_run(tmp_path, {"financemath": scored(*GOOD)}, model="m")
    lines = compared(tmp_path, "scoring")
    assert list(lines["scoring"]) == ["paper", "robust"]
    robust = lines.loc["robust"]
    assert (robust["against"], robust["difference"]) == ("paper", 0.0)


@pytest.mark.parametrize("name", ["temperature", "limit", "judge"])
def test_settings_of_one_model(tmp_path: Path, name: str) -> None:
    for number, values in enumerate((GOOD, BAD)):
        folder = tmp_path / str(number)
        tasks = {"financemath": scored(*values)}
        judge = {"judge": {"model": f"j{number}"}} if name == "judge" else {}
        file = write_run(folder, tasks, model="m", metadata=judge)
        if name != "judge":
            option = {"limit": "max_gen_toks"}.get(name, name)
            with_decoding(file, do_sample=True, **{option: number + 1})
    lines = compared(tmp_path, name)
    assert len(lines) == 2
    assert lines["difference"].dropna().tolist() == [-0.5]


def test_results_that_do_not_differ_are_an_error(tmp_path: Path) -> None:
    write_run(tmp_path, {"financemath": scored(*GOOD)}, model="m")
    with pytest.raises(DataError, match="one model that differ in judge, got none"):
        compared(tmp_path, "judge")


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    names = {"a_model & 100 % more": GOOD, "b": BAD, "a name " + "x" * 80: GOOD[::-1]}
    folders = []
    for at, (model, values) in enumerate(names.items()):
        folder = tmp_path / f"r{at}"
        tasks = {"financemath": scored(*values), "financemath_pot": scored(*values)}
        write_run(folder, tasks, model=model)
        folders.append(folder)
    return folders


def test_out_writes_a_table_for_latex_and_a_figure_for_each_task(
    runs: list[Path], tmp_path: Path
) -> None:
    tables = {"compare.csv", "compare.tex"}
    # A run alone has no differences to draw.
    for folders, n_figures in ((runs[:1], 0), (runs, 4)):
        out = tmp_path / f"out{len(folders)}"
        words = ["compare", *map(str, folders), "--out", str(out)]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.exception
        figures = {file.name for file in out.iterdir()} - tables
        assert len(figures) == n_figures
        assert all(name.endswith((".pdf", ".png")) for name in figures)
    assert "one family, 4 in number" in done.stdout
    check_table((out / "compare.tex").read_text("utf-8"))


def check_table(text: str) -> None:
    """Check that a table is what LaTeX and booktabs need."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    opened = re.findall(r"\\begin\{(\w+)\}", body)
    closed = re.findall(r"\\end\{(\w+)\}", body)
    assert opened == closed[::-1] == ["table", "tabular"]
    without_escapes = re.sub(r"\\[&%$#_{}]", "", body)
    assert without_escapes.count("{") == without_escapes.count("}")
    assert without_escapes.count("$") % 2 == 0
    rows = re.findall(r"^(.*) \\\\$", without_escapes, re.MULTILINE)
    sizes = [row.count("&") + 1 for row in rows if "multicolumn" not in row]
    assert set(sizes) == {8} and len(sizes) == 7
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in body
    assert r"a\_model \& 100 \% more" in body
    assert r"\textbf{75.0" in body
    assert "$^{***}$" in body
    assert "corrected over the 4 tests of this table" in body


def test_all_labels_of_a_figure_are_inside(runs: list[Path]) -> None:
    reports = {str(folder): report.read([folder]) for folder in runs}
    lines = compare(reports, Options()).lines
    with drawing():
        title = "a long title of a task " * 5
        figure = difference_figure(lines, title)
        assert figure is not None
        figure.draw_without_rendering()
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in figure.texts]
        for box in [*boxes, axes.get_tightbbox()]:
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1


def test_compare_in_python(runs: list[Path]) -> None:
    table = fin_tasks.compare({"Ours": runs[0], "Theirs": runs[1]}, baseline="Theirs")
    assert list(table["run"].unique()) == ["Theirs", "Ours"]
    assert table["difference"].dropna().tolist() == [0.5, 0.5]
    assert "one family" in table.attrs["notes"][-1]
    by_scoring = fin_tasks.compare(runs[0], by="scoring")
    assert list(by_scoring["run"].unique()) == ["paper", "robust"]
    with pytest.raises(ConfigError, match="expected by as one of style, mode"):
        fin_tasks.compare(runs, by="color")

"""The tables of a report in LaTeX."""

from pathlib import Path

import pytest
from run_files import scored, write_run

from fin_tasks.report.latex import plain
from fin_tasks.report.write import write_report

GOOD = [1.0] * 30 + [0.0] * 10
BAD = [1.0] * 10 + [0.0] * 30


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of two models."""
    folder = tmp_path_factory.mktemp("latex")
    for model, values in (("good_1", GOOD), ("bad & old", BAD)):
        rows = scored(*values)
        tasks = {"financemath": rows, "xfinbench_mcq_visual": rows}
        write_run(folder / "runs" / model[:4], tasks, model=model)
    write_report(folder / "runs", folder / "out", samples=False)
    return folder / "out" / "tables"


def rows(file: Path) -> list[list[str]]:
    lines = file.read_text().splitlines()
    return [
        line.removesuffix(r" \\").split(" & ") for line in lines if line.endswith(r"\\")
    ]


def test_the_best_value_is_bold_and_names_are_plain(tables: Path) -> None:
    table = rows(tables / "financemath.tex")
    assert table[0][:2] == ["Model", "CoT"]
    shown = {row[0]: row[1] for row in table if len(row) > 1}
    assert shown[r"good\_1"].startswith(r"\textbf{75.0} [")
    assert shown[r"bad \& old"].startswith("25.0 [")


def test_two_hyphens_stay_two() -> None:
    assert plain("--no-samples, \u22125") == "-{}-no-samples, $-$5"


def test_the_papers_rows_are_marked(tables: Path) -> None:
    labels = [row[0] for row in rows(tables / "xfinbench_main.tex")]
    assert r"good\_1" in labels
    assert any(label.endswith(r"\emph{published}") for label in labels)


def test_a_wide_table_becomes_several(tables: Path) -> None:
    text = (tables / "xfinbench_main.tex").read_text()
    heads = [
        row[1:] for row in rows(tables / "xfinbench_main.tex") if row[0] == "Model"
    ]
    assert len(heads) > 1 and sum(map(len, heads)) > 4
    assert text.count(r"\begin{table}") > 1
    assert "part 2}" in text and r"\label{tab:xfinbench-main-2}" in text
    assert text.count("{") == text.count("}")
    for row in rows(tables / "xfinbench_main.tex"):
        assert len(row) <= 5
        assert set(row[1:]) != {"--"}

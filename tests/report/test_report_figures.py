"""Figures of a report: what stands in which panel, in which order, and which models are left out."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from made_boards import answers, run
from test_leaderboard import collected

from fin_tasks.report import figures, report_figures
from fin_tasks.report.dots import Dot
from fin_tasks.report.entry import RunRead
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.paper_tables import make
from fin_tasks.report.report_figures import write_figures

PAPER = {"source": "published", "date": "", "mode": "cot", "split": "test", "retrieval": "none"}
TITLE = "test split, scored robustly"


def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: Sequence[RunRead]) -> list[list[Dot]]:
    """The dots of each figure of capabilities."""
    pages: list[list[Dot]] = []

    def draw(dots: Sequence[Dot], stem: Path, **_: str) -> list[Path]:
        if stem.name.startswith("xfinbench_capabilities"):
            pages.append(list(dots))
        return []

    monkeypatch.setattr(report_figures, "draw_dots", draw)
    made = document(collected(*runs))
    write_figures(made, tmp_path, shapes=make(made))
    return pages


def test_what_a_paper_prints_over_other_rows_has_a_panel_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"acc_TU": [0.8], "acc_TR": [0.2]}
    runs = [
        run("text", "xfinbench_text", kinds, **PAPER),
        run("both", "xfinbench_text", kinds, marks=("over more rows",), **PAPER),
        run("odd", "xfinbench_text", kinds, marks=("in doubt: tables disagree",), **PAPER),
    ]
    (page,) = drawn(tmp_path, monkeypatch, runs)
    panels = {dot.panel: {one.series for one in page if one.panel == dot.panel} for dot in page}
    assert panels == {TITLE: {"text (published)"}, f"{TITLE}; over more rows": {"both (published)"}}
    assert all(dot.hollow for dot in page)


def test_rows_are_in_the_order_of_columns_whatever_the_first_model_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        run("a", "xfinbench_text", {"acc_TU": [0.7], "acc_TR": [0.9]}, **{**PAPER, "split": "validation"}),
        run("b", "xfinbench_text", {"acc_TR": [0.2], "acc_NM": [0.2]}, **PAPER),
        run("b", "xfinbench_text", {"acc_TU": [0.9]}, marks=("in doubt",), **PAPER),
        run("c", "xfinbench_text", {"acc_TU": [0.8], "acc_TR": [0.1]}, **PAPER),
    ]
    (page,) = drawn(tmp_path, monkeypatch, runs)
    rows = list(dict.fromkeys(dot.row for dot in page if dot.panel == TITLE))
    assert rows == ["TU", "TR", "NM"]


def test_the_first_models_of_each_panel_are_drawn_and_no_page_has_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        run(f"{split} {place:02}", "xfinbench_text", {"acc_TU": [place / 20]}, **{**PAPER, "split": split})
        for split in ("test", "validation")
        for place in range(16)
    ]
    pages = drawn(tmp_path, monkeypatch, runs)
    assert [len({dot.series for dot in page}) for page in pages] == [14, 14]
    assert min(dot.value for dot in pages[0]) == pytest.approx(0.1)


def test_published_lines_are_told_apart_and_one_window_keeps_its_room(tmp_path: Path) -> None:
    values = {"acc": answers(20), "bias_index": [0.3] * 40}
    bias = {"benchmark": "dynostock", "mode": "image"}
    paper = {**bias, "source": "published", "date": ""}
    runs = [
        run("gpt-4o", "dynostock_recency_w4", values, **bias),
        run("GPT-4o", "dynostock_recency_w4", {"acc": [0.5], "bias_index": [0.2]}, **paper),
    ]
    made = document(collected(*runs))
    points = list(report_figures._points(made))
    published = frozenset(one["id"] for one in made["runs"] if one["source"] == "published")
    names = {one["id"]: one["label"] for one in made["runs"]}
    lines = report_figures._lines(points, names, published)
    assert {line.name: line.published for line in lines} == {"gpt-4o": False, "GPT-4o (published)": True}

    from matplotlib.figure import Figure

    axes = Figure().subplots()
    report_figures._draw_panel(axes, lines, "acc")
    assert axes.get_xlim() == (0, 8)
    (filled, hollow) = axes.lines
    assert all(abs(x - 4) < 0.5 for line in axes.lines for x in line.get_xdata())
    dashed = {line.get_linestyle() for line in (filled, hollow)}
    assert dashed == {"-", "--"}


@pytest.mark.parametrize("name", ["gpt-4o (published)", "Qwen2.5-VL-7B_Instruct", "Žlutý kůň", "Модель 7", "l", "—…"])
def test_names_in_legends_are_as_wide_as_they_are_drawn(name: str) -> None:
    from matplotlib.textpath import TextPath

    with figures.drawing():
        drawn_width = TextPath((0, 0), name, size=8).get_extents().width
        assert figures._width(name, 8) == pytest.approx(drawn_width, abs=0.01)

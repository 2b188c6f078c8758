"""The plot of shares: the same bytes for the same numbers, any text in it; and what the commands draw and write."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from made_runs import write_run
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.cli import main
from fin_tasks.report.dots import Dot, draw_dots

ODD = "_a $model_{x}$ \x1b[31m" + "with a long name " * 12
DOTS = [
    Dot(panel="By task", row="all", series="bm25", value=0.5, low=0.4, high=0.6, n=90),
    Dot(panel="By task", row="all", series=ODD, value=0.7, low=None, high=None, n=1),
    Dot(panel=ODD, row=ODD, series=ODD, value=0.0, low=0.0, high=0.2, n=1200),
]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fin-tasks", *arguments])
    monkeypatch.setenv("COLUMNS", "80")
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def draw(stem: Path) -> tuple[bytes, str]:
    png, svg = draw_dots(DOTS, stem, title="Found", caption="Made up.", axis="share (%)")
    return png.read_bytes(), svg.read_text()


def test_the_same_numbers_give_the_same_bytes_whatever_the_settings(tmp_path: Path) -> None:
    first = draw(tmp_path / "first")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert draw(tmp_path / "second") == first
    assert first[0].startswith(b"\x89PNG")
    assert "\x1b" not in first[1]
    assert "2026" not in first[1]  # no date


def test_styles_are_drawn_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for place, style in enumerate(STYLES.values()):
        for task in ("xfinbench_bool", "xfinbench_mcq"):
            values = [float(row <= 2 * place) for row in range(20)]
            facts = {"style": {"mode": style.mode, "role": style.role}}
            write_run(tmp_path / str(place), task, values, provenance=facts, model="\x1b[31m")
    assert run(monkeypatch, "sensitivity", str(tmp_path), "--json", "--out", str(tmp_path / "out")) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    rows = list(csv.DictReader((tmp_path / "out" / "sensitivity.csv").read_text().splitlines()))
    assert [(row["task"], row["style"]) for row in rows] == [(one["task"], one["style"]) for one in group["styles"]]
    assert [float(row["accuracy"]) for row in rows] == [one["accuracy"] for one in group["styles"]]
    assert (rows[0]["difference"], rows[0]["model"]) == ("", "\\x1b[31m")
    assert float(rows[-1]["difference"]) == pytest.approx(6 / 20)
    assert (int(rows[-1]["paired"]), int(rows[-1]["gained"])) == (20, 6)
    assert (tmp_path / "out" / "sensitivity.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "out" / "sensitivity.svg").read_text()


def test_a_folder_that_cannot_be_made_is_said_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run(monkeypatch, "sensitivity", ".", "--out", str(tmp_path / "file")) == 1
    assert "expected a folder to write to" in capsys.readouterr().err


def test_a_figure_is_laid_out_once_for_both_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"layout": 0, "draw": 0}
    execute, drawn = ConstrainedLayoutEngine.execute, Figure.draw

    def counted_execute(self: ConstrainedLayoutEngine, figure: Figure) -> Any:
        counts["layout"] += 1
        return execute(self, figure)

    def counted_draw(self: Figure, renderer: Any) -> None:
        counts["draw"] += 1
        drawn(self, renderer)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", counted_execute)
    monkeypatch.setattr(Figure, "draw", counted_draw)
    draw(tmp_path / "once")
    assert counts == {"layout": 1, "draw": 2}

"""A file of printed figures: what is refused, and how figures are asked for."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from fin_tasks.data.printed_figures import FigureFile, FigureRow
from fin_tasks.errors import ConfigError, DataError


@dataclass(frozen=True)
class Share:
    model: str
    part: str
    value: float
    note: str


def parse(row: FigureRow) -> Share:
    row.check({"part": ("", "text")})
    return Share(row.cells["model"], row.cells["part"], row.number(high=100), row.cells["note"])


def written(folder: Path, *lines: str) -> FigureFile[Share]:
    path = folder / "shares.csv"
    path.write_text("\n".join(("model,part,value,note", *lines, "")), encoding="utf-8")
    return FigureFile(path=path, kind=Share, parse=parse)


def test_figures_are_asked_for_by_what_names_them(tmp_path: Path) -> None:
    file = written(tmp_path, "a,,50.5,", "a,text,0,read twice", "b,text,100,")
    assert [figure.value for figure in file.ask({})] == [50.5, 0.0, 100.0]
    assert file.ask({"model": "a", "part": "text"}) == (Share("a", "text", 0.0, "read twice"),)
    assert file.ask({"model": "b", "part": ""}) == ()
    with pytest.raises(ConfigError, match="expected one of model, part to ask by, got 'note'"):
        file.ask({"note": ""})
    with pytest.raises(ConfigError, match="model: expected one of a, b, got 'c'"):
        file.ask({"model": "c"})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b,table,1,", "line 3, column part: expected one of text, got 'table'"),
        ("b,,101,", "line 3, column value: expected a number from 0 to 100, got '101'"),
        ("b,,-1,", "column value"),
        ("b,,nan,", "column value"),
        ("b,,,", "column value"),
        ("b,,1,,,", "line 3: expected 4 cells, got 6"),
        ("b,,1", "line 3: expected 4 cells, got 3"),
        ("a,,51,", r"line 3: expected each figure once, got that of line 2 again \(a\)"),
    ],
)
def test_what_is_not_sound_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = written(tmp_path, "a,,50,", line)
    with pytest.raises(DataError, match=message):
        file.read(file.path)

"""`fin-tasks chart`, run as a user runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import FinTasksError

AAPL = ("AAPL", "--start", "2010-01-04", "--end", "2010-12-31", "--sample")


def test_draws_a_chart_and_prints_its_name(tmp_path: Path) -> None:
    program = [str(Path(sys.executable).with_name("fin-tasks")), "chart"]
    done = subprocess.run([*program, *AAPL], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "AAPL_2010-01-04_2010-12-31.png\n"
    with Image.open(tmp_path / "AAPL_2010-01-04_2010-12-31.png") as picture:
        assert picture.size == (3610, 1800)  # 361 days
    bad = subprocess.run([*program, "\x1b[31m", *AAPL[1:]], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stderr.count("\n")) == (1, 1) and "\x1b" not in bad.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("NONE",), "got 'NONE'. There are AAPL, FB, GOOG, IBM, MSFT."),
        (("AAPL", "--start", "1990-01-01", "--end", "1990-02-01"), "There are prices from 2000-03-01 to 2013-03-01"),
        (("AAPL", "--start", "2011-02-01"), "expected --start on or before --end"),
        (("AAPL", "--prices", "x.csv"), "expected no --prices"),
        (("AAPL", "--start", "2010-01-02", "--end", "2010-01-03"), "from 2010-01-02 to 2010-01-03, found none"),
    ],
)
def test_errors_say_what_there_is(options: tuple[str, ...], message: str) -> None:
    error = CliRunner().invoke(app, ["chart", *AAPL[1:], *options]).exception
    assert isinstance(error, FinTasksError) and message in str(error)

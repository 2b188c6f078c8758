"""`fin-tasks chart`, run as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.charts import candlestick
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, FinTasksError

PERIOD = ("--start", "2010-01-04", "--end", "2010-12-31")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {name: value for name, value in os.environ.items() if not name.startswith("FIN_TASKS")}
    env["FIN_TASKS_CACHE"] = str(cwd / "cache")
    return subprocess.run([program, "chart", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_draws_a_chart_and_prints_its_name(tmp_path: Path) -> None:
    done = run("AAPL", *PERIOD, "--sample", "--dpi", "50", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "AAPL_2010-01-04_2010-12-31.png\n"
    with Image.open(tmp_path / "AAPL_2010-01-04_2010-12-31.png") as picture:
        assert picture.size == (602, 300)  # 361 days


def test_draws_files_of_ones_own(tmp_path: Path) -> None:
    days = [f"2010-01-{day:02}" for day in range(4, 29)]
    rows = "".join(f"{day},X,{10 + n}\n" for n, day in enumerate(days))
    (tmp_path / "prices.csv").write_text("date,ticker,close\n" + rows)
    header = "ticker,fiscal_end,reported,eps,estimate,surprise,surprise_percentage\n"
    (tmp_path / "earnings.csv").write_text(header + "X,2009-12-31,2010-01-20,1.0,0.9,0.1,11.1\n")
    files = ("--prices", "prices.csv", "--earnings", "earnings.csv")
    done = run("x", *PERIOD, *files, "--adjust", "none", "--out", "x.png", "--dpi", "40", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "x.png\n"
    assert (tmp_path / "x.png").is_file()


def test_an_error_is_one_line_that_a_terminal_can_show(tmp_path: Path) -> None:
    done = run("\x1b[31m", *PERIOD, "--sample", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("fin-tasks: error: ticker: expected one with prices")
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_not_there_is_found_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candlestick, "draw", None)
    arguments = ["chart", "AAPL", *PERIOD, "--sample", "--out", str(tmp_path / "none" / "x.png")]
    assert isinstance(CliRunner().invoke(app, arguments).exception, ConfigError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AAPL", *PERIOD), "--sample uses the packaged sample"),
        (("NONE", *PERIOD, "--sample"), "got 'NONE'. There are AAPL, FB, GOOG, IBM, MSFT."),
        (
            ("AAPL", "--start", "1990-01-01", "--end", "1990-02-01", "--sample"),
            "found none. There are prices from 2000-03-01 to 2013-03-01",
        ),
        (("AAPL", "--start", "2010", "--end", "2010-02-01", "--sample"), "chart --start: expected a day such as"),
        (("AAPL", "--start", "2010-02-01", "--end", "2010-01-01", "--sample"), "expected --start on or before --end"),
        (
            ("AAPL", *PERIOD, "--sample", "--out", "none/x.png"),
            "expected a file in an existing folder, found no none",
        ),
        (("AAPL", *PERIOD, "--sample", "--dpi", "20", "--out", "."), "expected a file that can be written"),
        (("AAPL", *PERIOD, "--sample", "--prices", "x.csv"), "expected no --prices, --earnings or --adjust"),
        (("AAPL", *PERIOD, "--sample", "--adjust", "full"), "expected no --prices, --earnings or --adjust"),
        (("AAPL", "--start", "2010-01-02", "--end", "2010-01-03", "--sample"), "none of these days has a price"),
        (("AAPL", *PERIOD, "--sample", "--dpi", "6000"), "20 to 2000 dpi"),
    ],
)
def test_errors_say_what_there_is(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    result = CliRunner().invoke(app, ["chart", *arguments])
    assert isinstance(result.exception, FinTasksError)
    assert message in str(result.exception)
    assert not list(tmp_path.glob("*.png"))

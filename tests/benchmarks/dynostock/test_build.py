"""`fin-tasks build dynostock`, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.window_set import read_set

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "dynostock"
WIDE = REAL / "prices" / "adjclose_20_tickers_1990_2022.csv.gz"
FOUR = REAL / "prices" / "ohlcv_4_tickers_2000_2013.csv.gz"
real_files = pytest.mark.skipif(not REAL.is_dir(), reason=f"the real prices and earnings are not at {REAL}")


def build(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}
    env |= {"FIN_TASKS_CACHE": str(cwd / "cache"), "COLUMNS": "200"}
    command = [program, "build", "dynostock", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@real_files
def test_real_closes_and_earnings(tmp_path: Path) -> None:
    options = ("--prices", WIDE, "--earnings", REAL / "eps_history", "--start", "2000-01-01", "--no-charts")
    done = build(*options, "--samples", "0", "--out", "all", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    found = {(count["bias_type"], count["window"]): count["found"] for count in summary["counts"]}
    assert {size: n for (bias, size), n in found.items() if bias == "recency"} == {4: 148, 8: 14, 12: 8, 16: 6, 20: 6}
    assert {size: n for (bias, size), n in found.items() if bias == "authority"} == {
        4: 236,
        8: 68,
        12: 28,
        16: 16,
        20: 8,
    }
    assert summary["windows"] == sum(found.values())
    assert "ORLY" in summary["tickers_without_prices"]
    table = pd.read_parquet(tmp_path / "all" / "windows.parquet")
    assert table["start"].min() >= pd.Timestamp("1999-12-02")
    kept = build(*options, "--out", "some", cwd=tmp_path)
    assert kept.returncode == 0, kept.stderr
    assert "unknown-surprise: a report's surprise is not known" in kept.stdout
    few = read_set(tmp_path / "some")
    assert len(few.select("recency", 4)) == 100
    assert set(few.table["id"]) < set(table["id"])
    assert few.facts["parameters"]["samples"] == 100


@real_files
def test_real_candles(tmp_path: Path) -> None:
    options = ("--prices", FOUR, "--earnings", REAL / "eps_history", "--no-charts", "--windows", "4,5", "--out", "set")
    done = build(*options, "--bias", "authority", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert [(count["bias_type"], count["window"]) for count in summary["counts"]] == [
        ("authority", 4),
        ("authority", 5),
    ]
    assert (summary["tickers"], summary["tickers_without_reports"]) == (4, ["FB"])
    assert read_set(tmp_path / "set").market.has_candles


def test_the_sample_into_the_cache(tmp_path: Path) -> None:
    done = build("--sample", "--no-charts", "--windows", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "cache" / "dynostock" / "sample"
    assert f"123 windows in {folder}" in done.stdout
    assert len(read_set(folder).table) == 123


def test_one_window_of_ones_own(tmp_path: Path) -> None:
    own = ("--sample", "--ticker", "ibm", "--start", "2005-01-01", "--end", "2006-05-01", "--out", "own", "--no-charts")
    assert build(*own, cwd=tmp_path).returncode == 0
    (window,) = read_set(tmp_path / "own").select("plain")
    assert (str(window.start), str(window.end), window.window) == ("2005-01-01", "2006-05-01", 6)
    assert window.truth is not None


def test_charts_are_drawn_and_kept(tmp_path: Path) -> None:
    own = ("--sample", "--ticker", "IBM", "--start", "2005-01-01", "--end", "2005-05-01", "--out", "own", "--dpi", "60")
    done = build(*own, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {name: json.loads(done.stdout)[name] for name in ("charts", "drawn")} == {"charts": 1, "drawn": 1}
    (chart,) = (tmp_path / "own" / "charts").glob("*.png")
    written = chart.stat().st_mtime_ns
    again = build(*own, cwd=tmp_path)
    assert f"1 charts in {Path('own') / 'charts'}: 0 drawn, 1 already there" in again.stdout
    assert chart.stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "expected --prices and --earnings, or what `fin-tasks fetch dynostock` stores in"),
        (("--sample", "--prices", "x"), "--sample: expected no --prices"),
        (("--prices", "x", "--earnings", "y"), "expected files (.csv, .csv.gz, .parquet) at x"),
        (
            ("--sample", "--windows", "4,x"),
            "--windows: expected whole numbers with commas between, such as 4,8, got 'x'",
        ),
        (("--sample", "--windows", "1"), "windows: expected window sizes from 2 to 400 reports, such as 4, got 1"),
        (("--sample", "--bias", "herd"), "biases: expected some of recency, authority, got 'herd'"),
        (("--sample", "--engine", "dask"), "--engine: expected local or ray, got 'dask'"),
        (("--sample", "--start", "2001-02-30"), "--start: expected a day such as 2010-01-31, got '2001-02-30'"),
        (("--sample", "--end", "0001-01-01"), "--end: expected a day such as 2010-01-31, got '0001-01-01'"),
        (("--sample", "--start", "2002-01-01", "--end", "2001-01-01"), "expected --start before --end"),
        (("--sample", "--ticker", "IBM"), "--ticker: expected --start and --end too"),
        (("--sample", "--ticker", "IBM", "--samples", "5"), "expected no --bias, --windows, --samples or --share"),
        (("--sample", "--share", "nan"), "share: expected more than 0.5 and at most 1, got nan"),
        (("--sample", "--windows", ""), "--windows: expected whole numbers with commas between, such as 4,8, got ''"),
        (("--sample", "--bias", ""), "biases: expected some of recency, authority, got ''"),
        (("--sample", "--share", "0.5"), "share: expected more than 0.5 and at most 1"),
        (
            ("--sample", "--ticker", "I\x1b[2JBM", "--start", "2005-01-01", "--end", "2006-01-01"),
            "expected a ticker with prices and reports, one of AAPL, IBM, MSFT",
        ),
    ],
)
def test_options_that_mean_nothing(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = build(*options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("fin-tasks: error: ")
    assert message in done.stderr
    assert "\x1b" not in done.stderr
    assert not (tmp_path / "cache" / "dynostock" / "windows").exists()

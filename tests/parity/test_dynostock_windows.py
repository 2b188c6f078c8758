"""The authors' windows, labels and prompts, on the real prices and reports that are at hand."""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.benchmarks.dynostock.window_set import read_set
from fin_tasks.benchmarks.dynostock.windows import Window, find_windows
from fin_tasks.cli import app

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "dynostock"
# The authors' prices begin on the first day, and the file at hand ends on the last one.
FIRST = date(2000, 1, 1)
LAST = date(2022, 11, 30)
PRICES = DATA / "prices" / "adjclose_20_tickers_1990_2022.csv.gz"
EARNINGS = DATA / "eps_history"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}"
)


Place = tuple[str, int, str, date]
"""Bias, size, ticker and end of a window."""
Labels = tuple[date, int, int]
"""Start, signal and truth of a window."""


def recorded(paths: Iterable[Path]) -> dict[Place, Labels]:
    found = {}
    for path in paths:
        bias, size = path.stem.removeprefix("exp_").split("_")[:2]
        for row in json.loads(path.read_text()):
            start = date.fromisoformat(row["start_time"])
            end = date.fromisoformat(row["end_time"])
            found[bias, int(size), row["ticker"], end] = (start, row["bias"], row["gt"])
    return found


def labels_of(windows: Iterable[Window]) -> dict[Place, Labels]:
    labels = {}
    for window in windows:
        place = (window.bias_type, window.window, window.ticker, window.end)
        labels[place] = (window.start, window.signal, window.truth)
    return labels


def test_recorded_labels() -> None:
    """All labels but two come back; prices and reports of 20 tickers give 49 windows, those of 11 tickers 15."""
    market = read_market(PRICES, EARNINGS)
    ours = labels_of(find_windows(market).windows)
    n_compared = 0
    different = set()
    for place, labels in recorded(DATA.rglob("exp_*.json")).items():
        _, size, ticker, end = place
        if ticker in market.tickers and labels[0] >= FIRST and end <= LAST:
            n_compared += 1
            if ours.get(place) != labels:
                different.add((size, ticker, str(end)))
    assert n_compared >= 15
    assert different <= {(4, "PG", "2020-10-20"), (16, "GE", "2010-01-22")}


def test_windows_of_a_recording_are_rebuilt(tmp_path: Path) -> None:
    recordings = DATA / "recordings" / "recency" / "gpt-4o"
    command = ["build", "dynostock", f"--prices={PRICES}", f"--earnings={EARNINGS}"]
    command += [f"--from-recording={recordings}", f"--out={tmp_path}"]
    command += ["--no-charts", "--json"]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    not_rebuilt = json.loads(done.stdout)["not_rebuilt"]
    theirs = recorded(recordings.glob("*.json"))
    windows = read_set(tmp_path).windows
    assert len(windows) >= 10
    assert len(windows) + len(not_rebuilt) == len(theirs)
    assert labels_of(windows).items() <= theirs.items()
    for window in windows:
        assert window.n_contrary / window.n_same >= 0.6
    for reason in not_rebuilt.values():
        assert reason.startswith("no ")

"""The authors' windows, labels and prompts, on the real prices and reports that are at hand."""

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.benchmarks.dynostock.window_set import read_set
from fin_tasks.benchmarks.dynostock.windows import find_windows
from fin_tasks.cli import app

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "dynostock"
FIRST, LAST = (
    date(2000, 1, 1),
    date(2022, 11, 30),
)  # the authors' prices begin there, the file at hand ends there
MARKET = (
    DATA / "prices" / "adjclose_20_tickers_1990_2022.csv.gz",
    DATA / "eps_history",
)

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}"
)


def recorded(
    paths: Iterable[Path],
) -> dict[tuple[str, int, str, date], tuple[date, int, int]]:
    """Bias, size, ticker and end to start, signal and truth."""
    found = {}
    for path in paths:
        bias, size = path.stem.removeprefix("exp_").split("_")[:2]
        for row in json.loads(path.read_text(encoding="utf-8")):
            start, end = (
                date.fromisoformat(row[name]) for name in ("start_time", "end_time")
            )
            found[bias, int(size), row["ticker"], end] = (start, row["bias"], row["gt"])
    return found


def test_recorded_labels() -> None:
    """All labels but two come back; prices and reports of 20 tickers give 49 windows, those of 11 tickers 15."""
    market = read_market(*MARKET)
    ours = {
        (one.bias_type, one.window, one.ticker, one.end): one
        for one in find_windows(market).windows
    }
    at_hand = {
        place: labels
        for place, labels in recorded(DATA.rglob("exp_*.json")).items()
        if place[2] in market.tickers and labels[0] >= FIRST and place[3] <= LAST
    }
    found = {
        place: (one.start, one.signal, one.truth)
        for place, one in ours.items()
        if place in at_hand
    }
    other = {
        (place[1], place[2], str(place[3]))
        for place in at_hand
        if found.get(place) != at_hand[place]
    }
    assert (
        other <= {(4, "PG", "2020-10-20"), (16, "GE", "2010-01-22")}
        and len(at_hand) >= 15
    )


def test_windows_of_a_recording_are_rebuilt(tmp_path: Path) -> None:
    recordings = DATA / "recordings" / "recency" / "gpt-4o"
    market = [
        f"--{name}={path}"
        for name, path in zip(("prices", "earnings"), MARKET, strict=True)
    ]
    options = [
        *market,
        f"--from-recording={recordings}",
        f"--out={tmp_path}",
        "--no-charts",
        "--json",
    ]
    summary = json.loads(
        CliRunner()
        .invoke(app, ["build", "dynostock", *options], catch_exceptions=False)
        .stdout
    )
    theirs = recorded(recordings.glob("*.json"))
    windows = read_set(tmp_path).windows
    assert len(windows) >= 10 and len(windows) + len(summary["not_rebuilt"]) == len(
        theirs
    )
    for one in windows:
        assert theirs[one.bias_type, one.window, one.ticker, one.end] == (
            one.start,
            one.signal,
            one.truth,
        )
        assert one.n_contrary / one.n_same >= 0.6
    assert all(reason.startswith("no ") for reason in summary["not_rebuilt"].values())

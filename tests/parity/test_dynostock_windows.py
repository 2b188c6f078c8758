"""Every recorded recency sample whose ticker's prices and reports are at hand is found again, with its labels."""

import json
from datetime import date
from pathlib import Path

import pytest

from fin_tasks.benchmarks.dynostock.market import read_market
from fin_tasks.benchmarks.dynostock.window import windows_of
from fin_tasks.benchmarks.dynostock.windows import find_windows

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "dynostock"
FIRST, LAST = date(2000, 1, 1), date(2022, 11, 30)  # the authors' prices begin there, the file at hand ends there

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}")


def test_recorded_recency_samples() -> None:
    recordings = sorted(DATA.glob("recordings/recency/*/exp_recency_*.json"))
    sizes = {path: int(path.stem.removeprefix("exp_recency_")) for path in recordings}
    market = read_market(DATA / "prices" / "adjclose_20_tickers_1990_2022.csv.gz", DATA / "eps_history")
    found = find_windows(market, biases=["recency"], windows=set(sizes.values()))
    ours = {
        (window.window, window.ticker, window.end): (window.start, window.signal, window.truth)
        for window in windows_of(found.table)
    }
    theirs = [
        (
            (size, sample["ticker"], date.fromisoformat(sample["end_time"])),
            (date.fromisoformat(sample["start_time"]), sample["bias"], sample["gt"]),
        )
        for path, size in sizes.items()
        for sample in json.loads(path.read_text(encoding="utf-8"))
    ]
    at_hand = [
        (place, labels)
        for place, labels in theirs
        if place[1] in market.tickers and labels[0] >= FIRST and place[2] <= LAST
    ]
    assert (len(theirs), len(at_hand)) == (1500, 35)
    assert [(place, ours.get(place)) for place, _ in at_hand] == at_hand

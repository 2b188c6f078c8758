"""Nothing after a window's last day reaches a model: change it all, find the windows anew, and compare every byte."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shown_windows import sample_market

from fin_tasks.benchmarks.dynostock import data
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.statements import ARMS
from fin_tasks.benchmarks.dynostock.window import Window, frame_of, windows_of
from fin_tasks.benchmarks.dynostock.window_set import WindowSet
from fin_tasks.benchmarks.dynostock.windows import find_windows, plain_window

WINDOWS = ("recency-w04-AAPL-2007-04-25", "authority-w04-IBM-2009-10-15", "authority-w12-AAPL-2012-04-24")
DPI = 50

TEXT: tuple[dict[str, Any], ...] = (
    *({"arm": arm, "anonymise": hidden} for arm in ARMS for hidden in (False, True)),
    *(
        {"text": text, "frequency": often}
        for text in ("table", "narrative")
        for often in ("daily", "weekly", "monthly")
    ),
    {"prompt": "naive"},
)
IMAGE: tuple[dict[str, Any], ...] = (
    *({"arm": arm, "anonymise": hidden} for arm in ARMS for hidden in (False, True)),
    {"prompt": "naive"},
)


def changed(market: Market, after: pd.Timestamp, *, seed: int = 1) -> Market:
    """Another future: every price and every report later than a moment."""
    prices, reports = market.prices.copy(), market.reports.copy()
    later, told = prices["date"] > after, reports["reported"] > after
    rng = np.random.default_rng(seed)
    numbers = prices.columns[2:]
    prices.loc[later, numbers] = rng.uniform(1, 500, (later.sum(), len(numbers)))
    figures = ["eps", "estimate", "surprise", "surprise_percentage"]
    reports.loc[told, figures] = rng.uniform(-5, 5, (told.sum(), len(figures)))
    reports.loc[told, "fiscal_end"] -= pd.Timedelta(days=3)
    return Market.of(prices, reports)


def row_of(market: Market, name: str) -> Window:
    if name.startswith("plain"):
        ticker, day = name.split("-", 2)[1:]
        end = pd.Timestamp(day).date()
        return plain_window(market, ticker, (pd.Timestamp(day) - pd.Timedelta(days=400)).date(), end)
    bias, size = name.split("-")[0], int(name.split("-")[1][1:])
    table = find_windows(market, biases=[bias], windows=[size]).table
    (window,) = windows_of(table[table["id"] == name])
    return window


def asked(market: Market, name: str, cache: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, ...]:
    """All that a model gets of one window, and its truth."""
    window = row_of(market, name)
    found = WindowSet(table=frame_of([window]), market=market, charts=cache / "built", facts={})
    monkeypatch.setattr(data, "sample_set", lambda settings: found)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(cache))
    ((doc,),) = data.load(bias=window.bias_type, source="sample", dpi=DPI, **options).values()
    picture = Path(doc["chart"]).read_bytes() if doc["chart"] else b""
    return (doc["system"], doc["prompt"], doc["cue"], doc["statement"], picture), doc["truth"]


@pytest.mark.parametrize("name", [*WINDOWS, "plain-MSFT-2008-12-01"])
@pytest.mark.parametrize("mode", ["text", "image"])
def test_another_future_changes_no_byte(name: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = sample_market()
    end = pd.Timestamp(name[-10:])
    future = changed(market, end)
    compared = 0
    for options in TEXT if mode == "text" else IMAGE:
        if name.startswith("plain") and options.get("arm", "none") in ("aligned", "flipped"):
            continue
        here, _ = asked(market, name, tmp_path / "a", monkeypatch, mode=mode, **options)
        there, _ = asked(future, name, tmp_path / "b", monkeypatch, mode=mode, **options)
        assert here == there, options
        assert (here[-1] != b"") == (mode == "image")
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("mode", ["text", "image"])
def test_another_last_day_does_change_what_is_shown(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit above would notice: a change of the last day alone is seen in words and in the picture."""
    market, name = sample_market(), WINDOWS[0]
    other = market.prices.copy()
    last = (other["ticker"] == "AAPL") & (other["date"] == pd.Timestamp(name[-10:]))
    other.loc[last, ["high", "volume"]] *= 1.2
    here, _ = asked(market, name, tmp_path / "a", monkeypatch, mode=mode)
    there, _ = asked(Market.of(other, market.reports), name, tmp_path / "b", monkeypatch, mode=mode)
    assert (here[1] != there[1]) == (mode == "text")
    assert (here[-1] != there[-1]) == (mode == "image")


def test_another_future_does_change_the_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market = sample_market()
    later = market.prices["date"] > pd.Timestamp(WINDOWS[0][-10:])
    futures = [market.prices.assign(close=market.prices["close"].mask(later, price)) for price in (1.0, 400.0)]
    truths = [
        asked(Market.of(prices, market.reports), WINDOWS[0], tmp_path, monkeypatch, mode="text")[1]
        for prices in futures
    ]
    assert truths == [0, 1]

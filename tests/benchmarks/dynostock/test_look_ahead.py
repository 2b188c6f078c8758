"""Nothing after a window's last day reaches a model: change it all, find the windows anew, and compare every byte."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock import data
from fin_tasks.benchmarks.dynostock.market import Market, sample_market
from fin_tasks.benchmarks.dynostock.prompts import ARMS
from fin_tasks.benchmarks.dynostock.window_set import WindowSet
from fin_tasks.benchmarks.dynostock.windows import Window, find_windows, frame_of, plain_window, windows_of

WINDOWS = ("recency-w04-AAPL-2007-04-25", "authority-w04-IBM-2009-10-15", "authority-w12-AAPL-2012-04-24")
ARMED = [{"arm": arm, "anonymise": hidden} for arm in ARMS for hidden in (False, True)]
TEXTS = [{"text": text, "frequency": often} for text in ("table", "narrative") for often in ("daily", "monthly")]


def changed(market: Market, after: pd.Timestamp) -> Market:
    """Another future: every price and report is another, and each stock splits 7 for 1."""
    prices, reports = market.prices.copy(), market.reports.copy()
    later, told = prices["date"] > after, reports["reported"] > after
    rng, figures = np.random.default_rng(1), ["open", "high", "low", "close", "volume"]
    prices.loc[later, figures] = rng.uniform(1, 500, (later.sum(), len(figures)))
    reports.loc[told, ["eps", "estimate", "surprise", "surprise_percentage"]] = rng.uniform(-5, 5, (told.sum(), 4))
    reports.loc[told, "fiscal_end"] -= pd.Timedelta(days=3)
    prices.loc[~later, figures] *= np.array([1 / 7, 1 / 7, 1 / 7, 1 / 7, 7])
    prices.loc[~later, "splits_after"] *= 7
    return Market.of(prices, reports)


def window_of(market: Market, name: str) -> Window:
    if name.startswith("plain"):
        day = pd.Timestamp(name[-10:])
        return plain_window(market, name.split("-")[1], (day - pd.Timedelta(days=400)).date(), day.date())
    bias, size = name.split("-")[0], int(name.split("-")[1][1:])
    table = find_windows(market, biases=[bias], windows=[size]).table
    (window,) = windows_of(table[table["id"] == name])
    return window


def asked(market: Market, name: str, cache: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, ...]:
    """All that a model gets of one window."""
    window = window_of(market, name)
    found = WindowSet(table=frame_of([window]), market=market, charts=cache / "built", facts={})
    monkeypatch.setattr(data, "find_set", lambda **_: found)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(cache))
    ((doc,),) = data.load(bias=window.bias_type, source="sample", dpi=50, **options).values()
    picture = Path(doc["chart"]).read_bytes() if doc["chart"] else b""
    return doc["system"], doc["prompt"], doc["cue"], doc["statement"], picture


@pytest.mark.parametrize("name", [*WINDOWS, "plain-MSFT-2008-12-01"])
@pytest.mark.parametrize("mode", ["text", "image"])
def test_another_future_changes_no_byte(name: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    market, plain = sample_market(), name.startswith("plain")
    future = changed(market, pd.Timestamp(name[-10:]))
    many = [{"prompt": "naive"}, *([{}, {"anonymise": True}] if plain else ARMED), *(TEXTS if mode == "text" else [])]
    for options in many:
        here, there = (
            asked(one, name, tmp_path / folder, monkeypatch, mode=mode, **options)
            for one, folder in ((market, "a"), (future, "b"))
        )
        assert here == there, options
        assert (here[-1] != b"") == (mode == "image")


@pytest.mark.parametrize("mode", ["text", "image"])
def test_another_last_day_is_seen(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would notice: a change of the last day alone is seen in words and in the picture."""
    market, prices = sample_market(), sample_market().prices.copy()
    prices.loc[(prices["ticker"] == "AAPL") & (prices["date"] == WINDOWS[0][-10:]), ["high", "volume"]] *= 1.2
    here, there = (
        asked(one, WINDOWS[0], tmp_path / folder, monkeypatch, mode=mode)
        for one, folder in ((market, "a"), (Market.of(prices, market.reports), "b"))
    )
    assert (here[1] != there[1]) == (mode == "text")
    assert (here[-1] != there[-1]) == (mode == "image")

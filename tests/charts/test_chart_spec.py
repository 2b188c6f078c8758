"""What a picture depends on, and nothing else, is in its key."""

import re
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.charts import spec as module
from fin_tasks.charts.spec import ChartSpec, Mark
from fin_tasks.errors import ConfigError, DataError

MARKS = (Mark(date(2010, 3, 1), "meet", "a"), Mark(date(2010, 2, 1), "fiscal", "b"))


@pytest.fixture
def spec(prices: pd.DataFrame) -> ChartSpec:
    return ChartSpec(title="T", stem="T_1", prices=prices, marks=MARKS)


@pytest.mark.parametrize(
    "change",
    [
        {"title": "U"},
        {"width": 10.5},
        {"height": 6.5},
        {"dpi": 301},
        {"marks": MARKS[:1]},
        {"marks": (replace(MARKS[0], label="b"), MARKS[1])},
        {"marks": (replace(MARKS[0], kind="miss"), MARKS[1])},
        {"marks": (replace(MARKS[0], date=date(2010, 3, 2)), MARKS[1])},
    ],
)
def test_every_part_of_the_picture_changes_the_key(spec: ChartSpec, change: dict[str, Any]) -> None:
    assert replace(spec, **change).key() != spec.key()


def test_prices_change_the_key(spec: ChartSpec) -> None:
    prices = spec.prices.copy()
    prices.iloc[7, 3] = np.nextafter(prices.iloc[7, 3], 0)
    later = spec.prices.set_axis(spec.prices.index + pd.Timedelta(days=1))
    variants = (prices, later, spec.prices.iloc[1:], spec.prices[["close"]])
    assert len({spec.key(), *(replace(spec, prices=variant).key() for variant in variants)}) == 5


def test_versions_change_the_key(spec: ChartSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    before = spec.key()
    monkeypatch.setattr(module, "version", lambda name: f"{name} 99")
    others = spec.key()
    monkeypatch.setattr(module, "RENDERER", 10**6)
    assert len({before, others, spec.key()}) == 3


def test_what_does_not_show_leaves_the_key_alone(spec: ChartSpec) -> None:
    same = [replace(spec, stem="other"), replace(spec, marks=MARKS[::-1])]
    same += [replace(spec, prices=spec.prices.set_axis(spec.prices.index.as_unit(unit))) for unit in ("s", "us", "ns")]
    assert {other.key() for other in same} == {spec.key()}


def test_any_nan_is_the_same(spec: ChartSpec) -> None:
    keys = set()
    for bits in (0x7FF8000000000000, 0x7FF8000000000001):
        prices = spec.prices.copy()
        prices.iloc[3, 4] = np.array([bits], dtype=np.uint64).view(np.float64)[0]
        keys.add(replace(spec, prices=prices).key())
    assert len(keys) == 1


@given(stem=st.text(max_size=100))
def test_names_are_safe_for_any_file_system(stem: str) -> None:
    prices = pd.DataFrame({"close": [1.0]}, index=pd.to_datetime(["2010-01-04"]))
    name = ChartSpec(title="", stem=stem, prices=prices).file_name
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}_[0-9a-f]{12}\.png", name)


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (pd.DataFrame({"open": [1.0]}, index=pd.to_datetime(["2010-01-04"])), "expected the price columns"),
        (pd.DataFrame({"close": [1.0]}), "indexed by dates without a zone"),
        (pd.DataFrame({"close": [1.0]}, index=pd.to_datetime(["2010-01-04"], utc=True)), "dates without a zone"),
        (pd.DataFrame({"close": [1.0, 2.0]}, index=pd.to_datetime(["2010-01-05", "2010-01-04"])), "oldest first"),
        (pd.DataFrame({"close": [1.0, 2.0]}, index=pd.to_datetime(["2010-01-05", "2010-01-05"])), "one row per day"),
        (pd.DataFrame({"close": [float("nan")]}, index=pd.to_datetime(["2010-01-05"])), "at least one day with known"),
        (pd.DataFrame({"close": []}, index=pd.to_datetime([])), "got none of 0"),
    ],
)
def test_prices_that_cannot_be_drawn(prices: pd.DataFrame, message: str) -> None:
    with pytest.raises(DataError, match=f"chart 'T':.*{message}"):
        ChartSpec(title="T", stem="T", prices=prices)


def test_sizes_that_cannot_be_drawn(spec: ChartSpec) -> None:
    for change in ({"width": 5.0}, {"height": 3.9}, {"dpi": 0}, {"width": float("nan")}):
        with pytest.raises(ConfigError, match=r"expected at least 7\.5 by 4 inches"):
            replace(spec, **change)
    with pytest.raises(ConfigError, match=r"at most 65535 pixels a side, got 66000 by 13200\. Lower the dpi"):
        replace(spec, width=30.0, dpi=2200)


def test_marks_of_no_known_kind(spec: ChartSpec) -> None:
    with pytest.raises(DataError, match="got 'split'"):
        replace(spec, marks=(replace(MARKS[0], kind="split"),))  # type: ignore[arg-type]

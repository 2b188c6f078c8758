"""Documents of DynoStock: prompts, arms, options, charts, and nothing after a window's last day."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock import data
from fin_tasks.benchmarks.dynostock.anonymous import ANONYMOUS_TICKER
from fin_tasks.benchmarks.dynostock.chart_files import chart_of
from fin_tasks.benchmarks.dynostock.data import SAMPLE_SHARE, load
from fin_tasks.benchmarks.dynostock.market import Market, sample_market
from fin_tasks.benchmarks.dynostock.prompts import ARMS
from fin_tasks.benchmarks.dynostock.window_set import WindowSet, write_set
from fin_tasks.benchmarks.dynostock.windows import FoundWindows, find_windows
from fin_tasks.charts.pool import draw_charts
from fin_tasks.errors import ConfigError, DataError

pytestmark = pytest.mark.usefixtures("shared_cache")


FEW: dict[str, Any] = {
    "bias": "recency",
    "window": 4,
    "mode": "text",
    "source": "sample",
    "frequency": "monthly",
    "sample_n": 3,
}
"""A few windows of the sample, in few words."""


def loaded(**options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the documents, and what the provenance says of them."""
    documents = load(**FEW | options)["test"]
    return documents.to_list(), json.loads(documents.info.description)


def documents(**options: Any) -> list[dict[str, Any]]:
    return loaded(**options)[0]


@pytest.mark.parametrize("bias", ["recency", "authority"])
def test_arms_differ_in_the_last_fact_only(bias: str) -> None:
    docs_by_arm = [documents(bias=bias, arm=arm) for arm in ARMS]
    for docs in zip(*docs_by_arm, strict=True):
        doc_by_arm = dict(zip(ARMS, docs, strict=True))
        without = doc_by_arm.pop("none")
        assert without["statement"] is None
        facts = {}
        for arm, doc in doc_by_arm.items():
            lines = doc["prompt"].split("\n")
            (facts[arm],) = set(lines) - set(without["prompt"].split("\n"))
            lines.remove(facts[arm])
            assert "\n".join(lines) == without["prompt"]
            signal = doc["signal"]
            assert doc["statement"] == (signal if arm == "signal" else 1 - signal)
        assert len(set(facts.values())) == 3
        movement = r"a rise|go up" if signal else r"a fall|go down"
        assert re.search(movement, facts["signal"])
        assert not re.search(movement, facts["flipped"])
    shown = documents(bias=bias, frequency="daily")[0]
    assert shown["arm"] == "signal"
    reports = shown["prompt"].partition("Reported,")[2].partition("\n\n")[0]
    header, *rows = reports.splitlines()
    assert header.count(",") == 5
    assert {row.count(",") for row in rows} == {6}


def test_a_naive_prompt_has_no_statement(tmp_path: Path) -> None:
    doc = documents(prompt="naive")[0]
    assert doc["arm"] == "none" and "Facts:" not in doc["prompt"]
    with pytest.raises(ConfigError, match="naive has no statement"):
        documents(prompt="naive", arm="flipped")
    market = sample_market()
    found = find_windows(market, biases=["authority"], windows=[8])
    write_set(tmp_path, found, market, parameters={})
    with pytest.raises(DataError, match="recency windows of 4"):
        documents(source="auto", windows_dir=str(tmp_path))


def test_wrong_options_are_errors_and_arguments_of_models_are_not() -> None:
    names = "bias mode source arm prompt prompts text frequency pixels chart"
    wrong: list[dict[str, Any]] = [{name: "x"} for name in names.split()]
    wrong += [
        {"anonymise": True},
        {"prompts": "upstream", "prompt": "naive", "arm": "signal"},
        {"windows_dir": "/nowhere"},
        {"sample_n": 0},
        {"sample_n": "3"},
        {"n": 3},
    ]
    for options in wrong:
        with pytest.raises(ConfigError):
            documents(**options)
    for name in ("retrieval", "knowledge", "variants"):
        with pytest.raises(ConfigError, match=f"expected no {name}"):
            documents(**{name: "x"})
    of_models = "pretrained model dtype max_length base_url seed"
    assert documents(**dict.fromkeys(of_models.split(), "x"))


def test_provenance_tells_questions_apart() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"arm": "none"},
        {"window": 8},
        {"anonymize": True},
        {"text": "narrative"},
    ]
    changes += [{"frequency": "weekly"}, {"prompt": "naive"}, {"pixels": 720}]
    *found, same = [loaded(**change)[1] for change in changes]
    for name in ("asked", "hash"):
        assert len({facts[name] for facts in found}) == len(found)
    assert found[0]["prompts"]["set"] == "house"
    assert found[0]["data"]["market"]["basis"] == "split-adjusted"
    assert same["hash"] == found[0]["hash"], "there is no picture"


@pytest.mark.parametrize(
    ("text", "arm"), [("table", "signal"), ("narrative", "aligned")]
)
def test_an_anonymous_prompt_names_neither_share_nor_time(text: str, arm: str) -> None:
    docs = documents(anonymize=True, text=text, arm=arm)
    docs += documents(bias="authority", window=12, anonymize=True)
    for doc in docs:
        words = f"{doc['system']} {doc['prompt']} {doc['cue']}"
        assert doc["ticker"] not in words and ANONYMOUS_TICKER in words
        assert doc["anonymized"]
        years = re.findall(r"(?<![\d.,-])(\d{4})-\d\d-\d\d", words)
        assert max(map(int, years)) < 1992


def changed(market: Market, after: pd.Timestamp) -> Market:
    """Another future: every price and report is another, and each stock splits 7 for 1."""
    prices, reports = market.prices.copy(), market.reports.copy()
    later, told = prices["date"] > after, reports["reported"] > after
    rng, figures = np.random.default_rng(1), ["open", "high", "low", "close", "volume"]
    prices.loc[later, figures] = rng.uniform(1, 500, (later.sum(), len(figures)))
    reports.loc[told, ["eps", "estimate", "surprise", "surprise_percentage"]] = (
        rng.uniform(-5, 5, (told.sum(), 4))
    )
    reports.loc[told, "fiscal_end"] -= pd.Timedelta(days=3)
    prices.loc[~later, figures] *= np.array([1 / 7, 1 / 7, 1 / 7, 1 / 7, 7])
    prices.loc[~later, "splits_after"] *= 7
    reports.loc[~told, ["eps", "estimate", "surprise"]] /= 7
    return Market.of(prices, reports)


@pytest.mark.parametrize(
    "name", ["recency-w04-AAPL-2007-04-25", "authority-w04-MSFT-2002-04-18"]
)
def test_another_future_changes_no_byte(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bias, _, ticker, day = name.split("-", 3)
    sample = sample_market()
    prices = sample.prices[sample.prices["ticker"] == ticker]
    reports = sample.reports[sample.reports["ticker"] == ticker]
    market = Market.of(prices, reports)
    other_last_day = prices.assign(high=prices["high"].mask(prices["date"] == day, 1e4))
    markets = [
        market,
        changed(market, pd.Timestamp(day)),
        Market.of(other_last_day, reports),
    ]
    sets = []
    for number, known in enumerate(markets):
        windows = find_windows(
            known, biases=[bias], windows=[4], share=SAMPLE_SHARE
        ).windows
        own = [window for window in windows if window.id == name]
        sets.append(WindowSet(own, known, tmp_path / str(number), {"market": {}}))

    def asked(number: int, **options: Any) -> tuple[Any, ...]:
        monkeypatch.setattr(data, "find_set", lambda **_: sets[number])
        monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / f"cache{number}"))
        whole = {"window": None, "sample_n": None, "frequency": "daily"}
        (doc,) = documents(bias=bias, **whole | options)
        picture = Path(doc["chart"]).read_bytes() if doc["chart"] else b""
        return doc["system"], doc["prompt"], doc["cue"], doc["statement"], picture

    pictures = [{"mode": "image", "pixels": 256}] if bias == "recency" else []
    for options in (
        *({"arm": arm} for arm in ARMS),
        {"anonymize": True},
        {"prompt": "naive"},
        {"text": "narrative", "frequency": "weekly"},
        *pictures,
    ):
        assert asked(0, **options) == asked(1, **options), options
    for options in ({}, *pictures):
        assert asked(0, **options) != asked(2, **options), "the last day is seen"


def test_charts_of_a_set_elsewhere_are_in_the_cache_too(
    own_cache: Path, tmp_path: Path
) -> None:
    """Reports look for pictures in the cache, and name a document by its title."""
    market = sample_market()
    windows = find_windows(market, biases=["recency"], windows=[4]).windows[:2]
    folder = tmp_path / "elsewhere"
    made = write_set(folder, FoundWindows(windows), market, parameters={})
    charts = []
    for window in made.windows:
        excerpt = made.market.excerpt(window.ticker, window.start, window.end)
        charts.append(chart_of(excerpt, 256))
    draw_charts(charts, made.charts)
    options = {"windows_dir": str(folder), "mode": "image", "pixels": 256}
    docs = documents(source="auto", **options)
    for doc in docs:
        chart = Path(doc["chart"])
        assert chart.parent == folder / "charts"
        (copy,) = own_cache.rglob(chart.name)
        assert copy.read_bytes() == chart.read_bytes()
        assert doc["title"] == f"{doc['ticker']}, 4 reports until {doc['end']}"


def test_windows_after_a_models_training() -> None:
    every: dict[str, Any] = {"window": 20, "sample_n": None}
    ends = sorted(doc["end"] for doc in documents(**every))
    middle = ends[len(ends) // 2]
    later, facts = loaded(**every, after=middle[:7])
    expected = [end for end in ends if end[:7] > middle[:7]]
    assert sorted(doc["end"] for doc in later) == expected
    assert facts["after"] == middle[:7]
    with pytest.raises(DataError, match="newest is after 2999-01"):
        documents(after="2999-01")
    with pytest.raises(ConfigError, match="after"):
        documents(after="June 2025")


def test_a_random_sample_is_the_same_under_each_arm() -> None:
    def ids(**options: Any) -> list[str]:
        return [doc["id"] for doc in documents(window=20, **options)]

    drawn = ids()
    assert len(drawn) == 3
    assert drawn == [name for name in ids(sample_n=None) if name in drawn]
    assert drawn == ids(arm="none")
    assert drawn != ids(sample_seed=1)
    recalled, facts = loaded(bias="recall", after="2012-01", sample_n=2)
    assert len(recalled) == 2
    assert facts["sample"] == {"n": 2, "seed": 0}


def test_the_picture_may_stand_behind_the_text() -> None:
    options = {"mode": "image", "pixels": 256, "sample_n": 1}
    first, facts_of_first = loaded(**options)
    last, facts = loaded(
        picture="last", system_role="user", sampling="paper_claude", **options
    )
    for doc, other in zip(first, last, strict=True):
        text = doc["prompt"].removeprefix("<image>\n")
        assert other["prompt"] == f"{doc['system']}\n{text}<image>\n"
        assert (other["chart"], other["system"]) == (doc["chart"], "")
    assert facts["picture"] == "last" and facts["sampling"] == "paper_claude"
    assert facts["system_role"] == "user" and facts["asked"] != facts_of_first["asked"]

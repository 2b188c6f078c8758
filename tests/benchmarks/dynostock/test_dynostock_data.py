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
    by_arm = {arm: documents(bias=bias, arm=arm) for arm in ARMS}
    for docs in zip(*by_arm.values(), strict=True):
        lines = dict(
            zip(ARMS, (doc["prompt"].split("\n") for doc in docs), strict=True)
        )
        place = next(
            i
            for i, (a, b) in enumerate(
                zip(lines["signal"], lines["none"], strict=False)
            )
            if a != b
        )
        said = {arm: text.pop(place) for arm, text in lines.items() if arm != "none"}
        assert (
            len({tuple(text) for text in lines.values()}) == 1
            and len(set(said.values())) == 3
        )
        signal = docs[0]["signal"]
        assert [doc["statement"] for doc in docs] == [
            signal,
            None,
            1 - signal,
            1 - signal,
        ]
        words = ("a rise", "go up") if signal else ("a fall", "go down")
        assert any(word in said["signal"] for word in words) and not any(
            word in said["flipped"] for word in words
        )
    shown = documents(bias=bias, frequency="daily")[0]
    header, *table = (
        shown["prompt"].partition("Reported,")[2].partition("\n\n")[0].splitlines()
    )
    assert shown["arm"] == "signal" and {line.count(",") for line in table} == {
        header.count(",") + 1
    } == {6}


def test_a_naive_prompt_has_no_statement(tmp_path: Path) -> None:
    doc = documents(prompt="naive")[0]
    assert doc["arm"] == "none" and "Facts:" not in doc["prompt"]
    with pytest.raises(ConfigError, match="naive has no statement"):
        documents(prompt="naive", arm="flipped")
    market = sample_market()
    write_set(
        tmp_path,
        find_windows(market, biases=["authority"], windows=[8]),
        market,
        parameters={},
    )
    with pytest.raises(DataError, match="recency windows of 4"):
        documents(source="auto", windows_dir=str(tmp_path))


def test_wrong_options_are_errors_and_arguments_of_models_are_not() -> None:
    names = (
        "bias",
        "mode",
        "source",
        "arm",
        "prompt",
        "prompts",
        "text",
        "frequency",
        "pixels",
        "chart",
    )
    wrong: list[dict[str, Any]] = [
        *({name: "x"} for name in names),
        {"anonymise": True},
    ]
    for options in (
        *wrong,
        {"prompts": "upstream", "prompt": "naive", "arm": "signal"},
        {"windows_dir": "/nowhere"},
        {"sample_n": 0},
        {"sample_n": "3"},
        {"n": 3},
    ):
        with pytest.raises(ConfigError):
            documents(**options)
    for name in ("retrieval", "knowledge", "variants"):
        with pytest.raises(ConfigError, match=f"expected no {name}"):
            documents(**{name: "x"})
    assert documents(
        **dict.fromkeys(
            ("pretrained", "model", "dtype", "max_length", "base_url", "seed"), "x"
        )
    )


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
    assert (
        len({facts["asked"] for facts in found})
        == len({facts["hash"] for facts in found})
        == len(found)
    )
    assert (found[0]["prompts"]["set"], found[0]["data"]["market"]["basis"]) == (
        "house",
        "split-adjusted",
    )
    assert same["hash"] == found[0]["hash"], "there is no picture"


@pytest.mark.parametrize(
    ("text", "arm"), [("table", "signal"), ("narrative", "aligned")]
)
def test_an_anonymous_prompt_names_neither_share_nor_time(text: str, arm: str) -> None:
    for doc in documents(anonymize=True, text=text, arm=arm) + documents(
        bias="authority", window=12, anonymize=True
    ):
        words = f"{doc['system']} {doc['prompt']} {doc['cue']}"
        assert doc["ticker"] not in words and ANONYMOUS_TICKER in words
        assert doc["anonymized"]
        years = {
            int(year) for year in re.findall(r"(?<![\d.,-])(\d{4})-\d\d-\d\d", words)
        }
        assert years and max(years) < 1992


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
    bias, size, _, day = name.split("-", 3)
    sample = sample_market()
    own_prices, own_reports = [
        table[table["ticker"] == name.split("-")[2]]
        for table in (sample.prices, sample.reports)
    ]
    market = Market.of(own_prices, own_reports)
    last = market.prices.assign(
        high=market.prices["high"].mask(market.prices["date"] == day, 1e4)
    )
    sets = []
    for number, known in enumerate(
        (
            market,
            changed(market, pd.Timestamp(day)),
            Market.of(last, market.reports),
        )
    ):
        windows = find_windows(
            known, biases=[bias], windows=[int(size[1:])], share=SAMPLE_SHARE
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
    drawn = [
        chart_of(made.market.excerpt(window.ticker, window.start, window.end), 256)
        for window in made.windows
    ]
    draw_charts(drawn, made.charts)
    options = {
        "source": "auto",
        "windows_dir": str(folder),
        "mode": "image",
        "pixels": 256,
    }
    docs = documents(**options)
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
    assert sorted(doc["end"] for doc in later) == [
        end for end in ends if end[:7] > middle[:7]
    ]
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

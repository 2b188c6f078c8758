"""Documents of DynoStock: prompts, arms, options, provenance."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fin_tasks.benchmarks.dynostock.data import ANONYMOUS_TICKER, chart, load
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.prompts import ARMS
from fin_tasks.benchmarks.dynostock.window_set import write_set
from fin_tasks.benchmarks.dynostock.windows import Found, find_windows, frame_of, plain_window, windows_of
from fin_tasks.errors import ConfigError, DataError


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))


def documents(**options: Any) -> list[dict[str, Any]]:
    return load(**{"bias": "recency", "window": 4, "mode": "text", "source": "sample", **options})["test"].to_list()


def provenance(**options: Any) -> dict[str, Any]:
    fixed: dict[str, Any] = {"bias": "recency", "window": 4, "mode": "text", "source": "sample", "frequency": "monthly"}
    return dict(json.loads(load(**{**fixed, **options})["test"].info.description))


@pytest.mark.parametrize("bias", ["recency", "authority"])
def test_arms_differ_in_the_last_fact_only(bias: str) -> None:
    by_arm = {arm: documents(bias=bias, arm=arm, frequency="monthly") for arm in ARMS}
    for docs in zip(*by_arm.values(), strict=True):
        lines = dict(zip(ARMS, (doc["prompt"].split("\n") for doc in docs), strict=True))
        place = next(i for i, (a, b) in enumerate(zip(lines["signal"], lines["none"], strict=False)) if a != b)
        said = {arm: text.pop(place) for arm, text in lines.items() if arm != "none"}
        assert len({tuple(text) for text in lines.values()}) == 1 and len(set(said.values())) == 3
        signal = docs[0]["signal"]
        assert [doc["statement"] for doc in docs] == [signal, None, 1 - signal, 1 - signal]
        words = ("a rise", "go up") if signal else ("a fall", "go down")
        assert any(word in said["signal"] for word in words) and not any(word in said["flipped"] for word in words)
    assert documents(bias=bias)[0]["arm"] == "signal"


def test_a_naive_prompt_and_a_plain_window_have_no_statement(tmp_path: Path) -> None:
    market = sample_market()
    end = market.reports["reported"].iloc[30].date()
    window = plain_window(market, "AAPL", end.replace(year=end.year - 2), end)
    write_set(tmp_path, Found(frame_of([window])), market, parameters={})
    own: dict[str, Any] = {"bias": "plain", "window": None, "source": "auto", "windows_dir": str(tmp_path)}
    (doc,) = documents(**own)
    assert (doc["arm"], doc["statement"], doc["signal"]) == ("none", None, None)
    assert documents(prompt="naive")[0]["arm"] == "none" and "Facts:" not in documents(prompt="naive")[0]["prompt"]
    for options in (own, {"prompt": "naive"}):
        for arm in ("signal", "flipped"):
            with pytest.raises(ConfigError, match="has no statement"):
                documents(**options, arm=arm)
    with pytest.raises(DataError, match="dynostock_forecast_text"):
        documents(**{**own, "bias": "recency"})


@pytest.mark.parametrize(
    "options",
    [
        *({name: "x"} for name in ("bias", "mode", "source", "arm", "prompt", "prompts", "text", "frequency", "dpi")),
        *({"anonymise": 1}, {"anonymize": True}, {"prompts": "upstream", "prompt": "naive"}),
        {"windows_dir": "/nowhere"},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        documents(**options)


def test_arguments_of_models_are_ignored() -> None:
    names = (
        "pretrained",
        "model",
        "dtype",
        "max_length",
        "num_concurrent",
        "tokenizer",
        "base_url",
        "temperature",
        "seed",
    )
    assert documents(**dict.fromkeys(names, "x"))


def test_provenance_tells_questions_apart() -> None:
    changes: list[dict[str, Any]] = [{}, {"arm": "none"}, {"window": 8}, {"anonymise": True}, {"text": "narrative"}]
    found = [provenance(**change) for change in [*changes, {"frequency": "weekly"}, {"prompt": "naive"}]]
    assert len({facts["asked"] for facts in found}) == len({facts["hash"] for facts in found}) == len(found)
    assert (found[0]["prompts"]["set"], found[0]["data"]["origin"]) == ("house", "sample")
    assert provenance(dpi=72)["hash"] == found[0]["hash"]  # there is no picture


@pytest.mark.parametrize(("text", "arm"), [("table", "signal"), ("narrative", "aligned")])
def test_an_anonymous_prompt_names_neither_share_nor_time(text: str, arm: str) -> None:
    for doc in documents(anonymise=True, text=text, arm=arm) + documents(bias="authority", window=12, anonymise=True):
        words = f"{doc['system']} {doc['prompt']} {doc['cue']}"
        assert doc["ticker"] not in words and ANONYMOUS_TICKER in words
        years = {int(year) for year in re.findall(r"(?<![\d.,-])(\d{4})-\d\d-\d\d", words)}
        assert years and max(years) < 1992


def test_charts_are_drawn_once() -> None:
    docs = documents(mode="image", dpi=40, window=20)
    written = [Path(doc["chart"]).stat().st_mtime_ns for doc in docs]
    assert docs[0]["prompt"].startswith("<image>\n") and "see the chart" in docs[0]["prompt"]
    assert [Path(doc["chart"]).stat().st_mtime_ns for doc in documents(mode="image", dpi=40, window=20)] == written
    (picture,) = chart(docs[0])
    assert isinstance(picture, Image.Image)


def test_the_sample_has_every_size() -> None:
    table = find_windows(sample_market()).table
    assert {window.ticker for window in windows_of(table)} <= {"AAPL", "IBM", "MSFT"}
    for bias in ("recency", "authority"):
        assert {doc["window"] for doc in documents(bias=bias, window=None, frequency="monthly")} == {4, 8, 12, 16, 20}

"""Windows as lm-eval documents."""

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image
from shown_windows import plain, sample_market, sample_windows

from fin_tasks.benchmarks.dynostock import data
from fin_tasks.benchmarks.dynostock.anonymous import ANONYMOUS_TICKER, anonymise
from fin_tasks.benchmarks.dynostock.charting import chart_of
from fin_tasks.benchmarks.dynostock.data import chart, load
from fin_tasks.benchmarks.dynostock.statements import ARMS
from fin_tasks.benchmarks.dynostock.window import BIASES, frame_of
from fin_tasks.benchmarks.dynostock.window_set import WindowSet, write_set
from fin_tasks.benchmarks.dynostock.windows import Found
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.resources import task_yaml_dir
from fin_tasks.settings import Settings

REAL = Path(__file__).parents[4] / "shared" / "data"
FIELDS = [
    *("id", "bias_type", "window", "ticker", "start", "end", "signal", "truth", "outcome", "n_same", "n_contrary"),
    *("authority", "arm", "statement", "anonymised", "mode", "chart", "system", "prompt", "cue", "target"),
]

needs_real_files = pytest.mark.skipif(
    not (REAL / "dynostock" / "config").is_dir(), reason="the authors' files are not beside the checkout"
)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


def documents(**options: Any) -> list[dict[str, Any]]:
    return load(**{"bias": "recency", "window": 4, "mode": "text", "source": "sample", **options})["test"].to_list()


def provenance(**options: Any) -> dict[str, Any]:
    fixed: dict[str, Any] = {"bias": "recency", "window": 4, "mode": "text", "source": "sample", "frequency": "monthly"}
    return dict(json.loads(load(**{**fixed, **options})["test"].info.description))


def written(folder: Path, *, n: int = 2) -> Path:
    windows = [*sample_windows()[:n], plain()]
    write_set(folder, Found(frame_of(windows), ()), sample_market(), parameters={"n": n})
    return folder


def test_a_document_has_what_scores_and_figures_read() -> None:
    docs = documents()
    assert all(list(doc) == FIELDS for doc in docs)
    table = {window.id: window for window in sample_windows()}
    for doc in docs:
        window = table[doc["id"]]
        assert (doc["signal"], doc["truth"], doc["statement"]) == (window.signal, window.truth, window.signal)
        assert (doc["start"], doc["end"]) == (str(window.start), str(window.end))
        assert (doc["n_same"], doc["n_contrary"], doc["outcome"]) == (window.n_same, window.n_contrary, window.outcome)
        assert doc["target"] == f"Final prediction: {window.truth}"
        assert (doc["mode"], doc["arm"], doc["chart"], doc["anonymised"]) == ("text", "signal", "", False)
        assert not doc["prompt"].startswith("<image>")


def test_the_sample_has_windows_of_both_biases_and_every_size() -> None:
    sizes = (4, 8, 12, 16, 20)
    counts = {bias: [len(documents(bias=bias, window=w, frequency="monthly")) for w in sizes] for bias in BIASES}
    assert all(count >= 10 for of_bias in counts.values() for count in of_bias)
    assert len(documents(window=None, frequency="monthly")) == sum(counts["recency"])


def test_arms_show_the_same_windows() -> None:
    by_arm = {arm: documents(arm=arm, frequency="monthly") for arm in ARMS}
    ids = [doc["id"] for doc in by_arm["signal"]]
    for arm, docs in by_arm.items():
        assert [doc["id"] for doc in docs] == ids
        assert {doc["arm"] for doc in docs} == {arm}
    for signal, none, aligned, flipped in zip(*by_arm.values(), strict=True):
        assert none["statement"] is None
        assert aligned["statement"] == flipped["statement"] == 1 - signal["statement"]
        assert len({doc["signal"] for doc in (signal, none, aligned, flipped)}) == 1


def test_a_naive_prompt_carries_no_statement() -> None:
    (doc, *_) = documents(prompt="naive")
    assert (doc["arm"], doc["statement"], doc["system"]) == ("none", None, "")
    assert provenance(prompt="naive")["arm"] == "none"
    with pytest.raises(ConfigError, match="a naive prompt has no statement, so expected none, got 'flipped'"):
        documents(prompt="naive", arm="flipped")


def test_harness_options_that_are_not_ours_are_ignored() -> None:
    assert documents(pretrained="gpt2", dtype="float32", version=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "video"}, "mode: expected one of image, text, got 'video'"),
        ({"bias": "anchor"}, "bias: expected one of recency, authority, plain, got 'anchor'"),
        ({"arm": "both"}, "arm: expected one of signal, none, aligned, flipped, got 'both'"),
        ({"prompt": "long"}, "prompt: expected one of structured, naive"),
        ({"prompts": "mine"}, "prompts: expected one of house, upstream"),
        ({"text": "poem"}, "text: expected one of table, narrative"),
        ({"frequency": "hourly"}, "frequency: expected one of daily, weekly, monthly"),
        ({"anonymise": "yes"}, "anonymise: expected true or false, got 'yes'"),
        ({"dpi": 0}, "dpi: expected a whole number from 1 on, got 0"),
        ({"dpi": True}, "dpi: expected a whole number from 1 on, got True"),
        ({"source": "web"}, "source: expected one of auto, sample, got 'web'"),
        ({"prompts": "upstream", "prompt": "naive"}, "hold no naive prompt"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        documents(**options)


def test_no_windows_of_a_kind_say_what_there_is(tmp_path: Path) -> None:
    folder = str(written(tmp_path / "own"))
    with pytest.raises(
        DataError, match=r"recency windows of 20 reports .* found none\. It has authority 4: 2, plain 4: 1\."
    ):
        documents(source="auto", windows_dir=folder, window=20)
    with pytest.raises(DataError, match="at least one of the plain in the set"):
        documents(bias="plain", window=None)


def test_no_windows_of_a_size_name_the_tasks_that_work(tmp_path: Path) -> None:
    windows = sample_windows()
    there = [next(w for w in windows if w.bias_type == "recency"), *(w for w in windows if w.window == 8), plain()]
    odd = replace(there[0], id="odd", window=5)  # no task is of this size
    folder = tmp_path / "own"
    write_set(folder, Found(frame_of([*there, odd]), ()), sample_market(), parameters={})
    for mode, end in (("text", "_text"), ("image", "")):
        with pytest.raises(DataError) as caught:
            documents(source="auto", windows_dir=str(folder), window=20, mode=mode)
        _, names = str(caught.value).split("Tasks that work with it: --tasks ")
        expected = [f"dynostock_recency_w4{end}", f"dynostock_authority_w8{end}", f"dynostock_forecast{end}"]
        assert names.split(",") == expected
        assert all((task_yaml_dir() / "dynostock" / f"{name}.yaml").is_file() for name in expected)
    write_set(folder, Found(frame_of([odd]), ()), sample_market(), parameters={})
    with pytest.raises(DataError, match=r"It has recency 5: 1\. .* or ask for what it has\.$"):
        documents(source="auto", windows_dir=str(folder))


def test_the_sample_and_a_folder_are_not_both_meant() -> None:
    with pytest.raises(ConfigError, match="windows_dir: expected none with source: sample, got '/sets/mine'"):
        documents(windows_dir="/sets/mine")


def test_no_set_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path / "data"))
    with pytest.raises(ConfigError, match=r"(?s)data/dynostock/windows and .*fetch dynostock.*build dynostock.*sample"):
        documents(source="auto")
    with pytest.raises(DataError, match="nowhere"):
        documents(source="auto", windows_dir=str(tmp_path / "nowhere"))


def test_sets_are_found_where_they_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options: dict[str, Any] = {"source": "auto", "bias": "authority"}
    written(tmp_path / "cache" / "dynostock" / "windows", n=1)
    assert len(documents(**options)) == 1
    written(tmp_path / "env" / "dynostock" / "windows", n=2)
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path / "env"))
    assert len(documents(**options)) == 2
    written(tmp_path / "data" / "dynostock" / "windows", n=3)
    assert len(documents(**options, data_dir=str(tmp_path / "data"))) == 3
    written(tmp_path / "own", n=4)
    assert len(documents(**options, data_dir=str(tmp_path / "data"), windows_dir=str(tmp_path / "own"))) == 4
    written(tmp_path / "own", n=5)
    assert len(documents(**options, windows_dir=str(tmp_path / "own"))) == 5


def test_a_forecast_of_ones_own_window(tmp_path: Path) -> None:
    folder = str(written(tmp_path / "own"))
    (doc,) = documents(source="auto", windows_dir=folder, bias="plain", window=None)
    assert (doc["signal"], doc["truth"], doc["statement"], doc["arm"]) == (None, None, None, "none")
    assert doc["target"] == ""
    assert "1 of the 3 earlier reports" in doc["prompt"]
    with pytest.raises(ConfigError, match="a plain window has no statement"):
        documents(source="auto", windows_dir=folder, bias="plain", window=None, arm="flipped")


def test_provenance_tells_questions_apart_and_nothing_else() -> None:
    plain_facts = provenance()
    assert provenance() == plain_facts
    assert plain_facts["rows"] == len(documents())
    assert plain_facts["data"]["origin"] == "sample"
    changes: list[dict[str, Any]] = [
        {"arm": "none"},
        {"anonymise": True},
        {"text": "narrative"},
        {"frequency": "weekly"},
        {"prompt": "naive"},
        {"bias": "authority"},
    ]
    others = [provenance(**change) for change in changes]
    assert len({facts["hash"] for facts in [plain_facts, *others]}) == 1 + len(others)
    assert len({facts["asked"] for facts in [plain_facts, *others]}) == 1 + len(others)
    assert provenance(dpi=72)["hash"] == plain_facts["hash"]  # there is no picture


@needs_real_files
def test_the_authors_template() -> None:
    facts = provenance(prompts="upstream", data_dir=str(REAL))
    assert facts["prompts"]["set"] == "upstream"
    assert facts["prompts"]["upstream_model"] == "gpt-4o"
    assert set(facts["prompts"]["files"]) == {"config/prompt.json", "config/celebrity.json"}
    (doc, *_) = documents(prompts="upstream", data_dir=str(REAL), upstream_model="llava", bias="authority")
    assert (doc["system"], doc["cue"]) == ("", "")
    assert "Thought: {" in doc["prompt"] and "{}" not in doc["prompt"]
    assert "Share prices in dollars" in doc["prompt"]
    with pytest.raises(ConfigError, match=r"upstream_model: expected one of .*gpt-4o"):
        documents(prompts="upstream", data_dir=str(REAL), upstream_model="gpt-5")


def test_the_authors_template_is_not_at_hand(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"config/(prompt|celebrity)\.json"):
        documents(prompts="upstream")


def shown_dates(doc: dict[str, Any]) -> set[str]:
    """Return every day of the window, and its years, as a prompt could write them."""
    first, last = date.fromisoformat(doc["start"]), date.fromisoformat(doc["end"])
    days = {first + timedelta(days=i) for i in range(-150, (last - first).days + 10)}
    return {str(day) for day in days} | {str(day.year) for day in days}


@pytest.mark.parametrize(("text", "arm"), [("table", "signal"), ("narrative", "aligned")])
def test_an_anonymous_prompt_names_neither_share_nor_time(text: str, arm: str) -> None:
    docs = documents(bias="recency", anonymise=True, text=text, arm=arm)
    docs += documents(bias="authority", window=12, anonymise=True, text=text, arm=arm, frequency="weekly")
    assert {doc["bias_type"] for doc in docs} == {"recency", "authority"}
    for doc in docs:
        words = f"{doc['system']} {doc['prompt']} {doc['cue']}"
        assert doc["ticker"] not in words
        assert ANONYMOUS_TICKER in words
        # a volume or a price may hold the digits of a year, so only what is no part of a number counts
        assert not shown_dates(doc) & set(re.findall(r"(?<![\d.,-])\d{4}(?:-\d\d-\d\d)?(?![\d.])", words))
        assert doc["anonymised"] is True


def test_an_anonymous_chart_names_neither_share_nor_time() -> None:
    for window in sample_windows():
        spec = chart_of(*anonymise(sample_market(), window), dpi=50)
        years = {int(f"{day:%Y}") for day in spec.prices.index} | {mark.date.year for mark in spec.marks}
        assert max(years) < 1990
        words = " ".join([spec.title, spec.stem, *(mark.label for mark in spec.marks)])
        assert window.ticker not in words
        assert not re.search(r"20\d\d-", words)


def test_charts_are_drawn_once_into_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = WindowSet(frame_of(sample_windows()[:2]), sample_market(), tmp_path / "built", {"origin": "test"})
    monkeypatch.setattr(data, "sample_set", lambda settings: found)
    options: dict[str, Any] = {"bias": "authority", "mode": "image", "dpi": 50}
    docs = documents(**options)
    cache = tmp_path / "cache" / "dynostock" / "charts"
    assert [Path(doc["chart"]).parent for doc in docs] == [cache, cache]
    assert all(doc["prompt"].startswith("<image>\n") and "see the chart" in doc["prompt"] for doc in docs)
    (picture,) = chart(docs[0])
    assert isinstance(picture, Image.Image) and picture.mode == "RGB"
    assert picture.size == chart_of(sample_market(), sample_windows()[0], dpi=50).pixels
    before = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert [doc["chart"] for doc in documents(**options)] == [doc["chart"] for doc in docs]
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == before


def test_charts_built_with_the_set_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = sample_windows()[:2]
    found = WindowSet(frame_of(windows), sample_market(), tmp_path / "built", {"origin": "test"})
    monkeypatch.setattr(data, "sample_set", lambda settings: found)
    (tmp_path / "built").mkdir()
    built = tmp_path / "built" / chart_of(sample_market(), windows[0], dpi=50).file_name
    Image.new("RGB", (20, 10), "white").save(built)
    docs = documents(bias="authority", mode="image", dpi=50)
    assert docs[0]["chart"] == str(built)
    assert Path(docs[1]["chart"]).parent == tmp_path / "cache" / "dynostock" / "charts"
    assert chart(docs[0])[0].size == (20, 10)
    facts = provenance(bias="authority", mode="image", dpi=50)
    assert facts["dpi"] == 50 and "renderer" in facts and "text" not in facts


def test_the_sample_of_the_package_is_what_is_loaded() -> None:
    found = data.sample_set(Settings.from_environ())
    assert isinstance(found.table, pd.DataFrame)
    assert {doc["id"] for doc in documents()} <= set(found.table["id"])

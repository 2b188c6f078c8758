"""Scenes: the same for the same seed, real where they say so, with amounts that add up."""

import re
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from fin_tasks.benchmarks.mme_finance.row import IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scene_making.prices import SPLITS, stretches
from fin_tasks.benchmarks.mme_finance.scenes import (
    CandleScene,
    DocumentScene,
    IndicatorScene,
    MixedScene,
    Scene,
    StatisticsScene,
    TableScene,
)
from fin_tasks.errors import ConfigError
from fin_tasks.resources import stock_prices_file

SEEDS = range(60)


def scenes(image_type: str, language: Language = "en") -> list[Scene]:
    return [make_scene(image_type, language=language, seed=seed) for seed in SEEDS]


@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_a_seed_makes_the_same_scene_and_another_one_another(image_type: str) -> None:
    made = scenes(image_type)
    assert made == scenes(image_type)
    assert len({repr(scene) for scene in made}) == len(made)


@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_both_languages_show_the_same_numbers(image_type: str) -> None:
    for english, chinese in zip(scenes(image_type), scenes(image_type, "zh"), strict=True):
        assert numbers(english) == numbers(chinese)


def numbers(scene: Scene) -> list[object]:
    if isinstance(scene, MixedScene):
        return [numbers(part) for part in scene.parts]
    if isinstance(scene, CandleScene):
        return [replace(scene.prices, name=""), scene.averages]
    if isinstance(scene, IndicatorScene):
        return [replace(scene.prices, name=""), scene.indicator, scene.lines, scene.header]
    if isinstance(scene, StatisticsScene):
        return [scene.form, list(scene.series.values())]
    if isinstance(scene, TableScene):
        return list(scene.rows.values())
    return [scene.values]


@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_english_scenes_have_no_chinese_words_and_the_other_way_round(image_type: str) -> None:
    for scene in scenes(image_type):
        assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", repr(scene))
    for scene in scenes(image_type, "zh"):
        texts = re.sub(r"^\w+Scene|[A-Za-z]+(Scene|Prices)\(|\b[a-z_]+(=|'?:)", "", repr(scene))
        assert not re.search(r"\b(Revenue|Open|Rating|Q\d \d{4}|million|profit)\b", texts)


def test_prices_are_those_of_the_file() -> None:
    frames = dict(stretches())  # of a stock with several stretches, the last
    checked = 0
    for scene in scenes("candlestick chart"):
        assert isinstance(scene, CandleScene)
        shown, frame = scene.prices, frames[scene.prices.symbol]
        if pd.Timestamp(shown.days[0]) not in frame.index:
            continue
        rows = frame.loc[pd.Timestamp(shown.days[0]) : pd.Timestamp(shown.days[-1])]
        assert list(rows["close"]) == list(shown.close)
        assert list(rows["volume"]) == list(shown.volume)
        before = frame[frame.index <= rows.index[-1]]["close"]
        cents = sum(round(100 * close) for close in before.iloc[-20:])
        assert scene.header["MA20"] == f"{cents / 2000:.2f}"
        assert scene.header["Change"] == f"{100 * (before.iloc[-1] / before.iloc[-2] - 1):+.2f}%"
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("image_type", ["candlestick chart", "technical indicator chart"])
def test_windows_are_whole_and_cross_no_split(image_type: str) -> None:
    for scene in scenes(image_type):
        assert isinstance(scene, CandleScene | IndicatorScene)
        prices = scene.prices
        days = [day.isoformat() for day in prices.days]
        assert days == sorted(set(days))
        assert 36 <= len(days) <= 100
        assert not any(days[0] < split <= days[-1] for split in SPLITS.get(prices.symbol, ()))
        for figures in zip(prices.low, prices.open, prices.close, prices.high, strict=True):
            assert min(figures) == figures[0] > 0
            assert max(figures) == figures[-1]
            assert all(round(figure, 2) == figure for figure in figures)
        lines = scene.averages if isinstance(scene, CandleScene) else scene.lines
        assert all(len(line) == len(days) and all(value is not None for value in line) for line in lines.values())


def test_no_stretch_holds_a_split() -> None:
    table = pd.read_csv(stock_prices_file(), parse_dates=["Date"])
    for symbol, rows in table.groupby("Ticker"):
        adjusted = rows["Close"] / rows["Adj Close"]
        jumps = rows["Date"][(adjusted / adjusted.shift() - 1).abs() > 0.2]
        assert tuple(str(day.date()) for day in jumps) == SPLITS.get(str(symbol), ())


def test_all_stocks_and_indicators_come_up() -> None:
    made = [scene for scene in scenes("technical indicator chart") if isinstance(scene, IndicatorScene)]
    assert {scene.indicator for scene in made} == {"macd", "rsi", "kdj", "bollinger"}
    assert {symbol for symbol, _ in stretches()} == {"AAPL", "FB", "GOOG", "IBM", "MSFT"}


def test_statements_add_up() -> None:
    seen = set()
    for scene in scenes("table"):
        assert isinstance(scene, TableScene)
        rows = {name: [round(10 * value) for value in values] for name, values in scene.rows.items()}
        for at in range(len(scene.columns) - 1):
            column = {name: values[at] for name, values in rows.items()}
            if "Gross profit" in column:
                assert column["Gross profit"] == column["Revenue"] - column["Cost of sales"]
                assert column["Operating profit"] == column["Gross profit"] - column["Operating expenses"]
                assert column["Profit before tax"] == column["Operating profit"] - column["Interest expense"]
                assert column["Net profit"] == column["Profit before tax"] - column["Income tax"]
                seen.add("income")
            elif "Total" in column:
                assert column.pop("Total") == sum(column.values())
                seen.add("segments")
            else:
                inflow = column["Net profit"] + column["Depreciation"] + column["Change in working capital"]
                assert column["Operating cash flow"] == inflow
                outflow = column["Investing cash flow"] + column["Financing cash flow"]
                assert column["Net change in cash"] == inflow + outflow
                seen.add("cash")
        if "Total" in rows:
            assert all(sum(values[:-1]) == values[-1] for values in rows.values())
    assert seen == {"income", "segments", "cash"}


def test_slices_add_up_and_differ() -> None:
    pies = [
        scene for scene in scenes("statistical chart") if isinstance(scene, StatisticsScene) and scene.form == "pie"
    ]
    assert pies
    for pie in pies:
        ((_, values),) = pie.series.items()
        assert sum(round(10 * value) for value in values) == 1000
        assert all(before > after >= 4 for before, after in pairwise(values))


def test_a_report_says_what_its_facts_are() -> None:
    for language in LANGUAGES:
        for scene in scenes("document", language):
            assert isinstance(scene, DocumentScene)
            page = " ".join((scene.publisher, scene.title, scene.day, *scene.paragraphs, *scene.box.values()))
            assert all(fact in page for fact in scene.facts.values())
            assert len(scene.headings) == len(scene.paragraphs)
            upside = scene.values["target_price"] / scene.values["price"] - 1
            best = upside >= 0.15
            assert (scene.facts["rating"] in {"Buy", "买入"}) == best
            assert scene.facts["rating"] != scene.facts["rating_before"]


def test_months_sum_up_the_days() -> None:
    found = [scene for scene in scenes("mixed chart") if isinstance(scene, MixedScene)]
    stocks = [scene.parts for scene in found if isinstance(scene.parts[0], CandleScene)]
    assert stocks
    for candles, table in stocks:
        assert isinstance(candles, CandleScene)
        assert isinstance(table, TableScene)
        frame = pd.DataFrame({"low": candles.prices.low, "high": candles.prices.high, "close": candles.prices.close})
        months = frame.groupby([f"{day:%Y-%m}" for day in candles.prices.days])
        for month, days in months:
            _, high, low, close = table.rows[str(month)]
            assert (high, low, close) == (days["high"].max(), days["low"].min(), days["close"].iloc[-1])
        assert len(table.rows) == len(months)


def test_only_known_types_and_languages() -> None:
    with pytest.raises(ConfigError, match=r"candlestick chart, .* got 'radar chart'"):
        make_scene("radar chart", language="en", seed=1)
    with pytest.raises(ConfigError, match="en, zh, got 'fr'"):
        make_scene("table", language="fr", seed=1)  # type: ignore[arg-type]

"""References that a judge grades by: they tell what the picture shows, once, and do not contradict themselves."""
# ruff: noqa: RUF001 - answers in Chinese

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest

from fin_tasks.benchmarks.mme_finance.questions.ask import ask
from fin_tasks.benchmarks.mme_finance.questions.readings import read_off
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scenes import (
    CandleScene,
    IndicatorScene,
    MixedScene,
    Scene,
    StatisticsScene,
    TableScene,
)

SUBJECTIVE = [name for name, category in CATEGORIES.items() if category.kind == "subjective"]
SEEDS = range(40)


def told(image_type: str, language: Language, *categories: str) -> Iterator[tuple[Scene, str]]:
    for seed in SEEDS:
        scene = make_scene(image_type, language=language, seed=seed)
        for category in categories or SUBJECTIVE:
            if (question := ask(scene, category, seed=seed)) is not None:
                yield scene, question.answer


def prices_told(answer: str) -> list[str]:
    """Numbers with two places that are said without `about`; per cent are no prices."""
    return re.findall(r"(?<!about )(?<![约\d.+-])-?\d+\.\d\d(?![\d%])", answer)


@pytest.mark.parametrize("language", LANGUAGES)
def test_references_about_indicators_tell_what_is_drawn(language: Language) -> None:
    for scene, answer in told("technical indicator chart", language):
        assert isinstance(scene, IndicatorScene)
        assert not re.search(r"trading was|shares changed|成交最|成交量最大", answer)
        printed = {value.lstrip("-") for value in (*scene.header.values(), f"{scene.prices.close[-1]:.2f}")}
        assert {value.lstrip("-") for value in prices_told(answer)} <= printed, answer


@pytest.mark.parametrize("language", LANGUAGES)
def test_references_about_candles_quote_printed_prices_only(language: Language) -> None:
    for scene, answer in told("candlestick chart", language):
        assert isinstance(scene, CandleScene)
        marked = (f"{max(scene.prices.high):.2f}", f"{min(scene.prices.low):.2f}")
        printed = {re.sub(r"[^\d.]", "", value) for value in (*scene.header.values(), *marked)}
        assert set(prices_told(answer)) <= printed, answer


def test_charts_without_printed_values_carry_no_references_with_values() -> None:
    for seed in SEEDS:
        scene = make_scene("statistical chart", language="en", seed=seed)
        assert isinstance(scene, StatisticsScene)
        plain = replace(scene, printed=False)
        assert all(ask(plain, category, seed=seed) is None for category in SUBJECTIVE)


def test_reasons_point_the_same_way_as_what_they_explain() -> None:
    asked = 0
    for scene, answer in told("technical indicator chart", "en", "Explain Reason"):
        assert isinstance(scene, IndicatorScene)
        rose = " rose by " in answer
        assert rose != (" fell by " in answer)
        value = {name: float(shown) for name, shown in scene.header.items()}
        up = {
            "macd": lambda v: v["DIF"] > v["DEA"],
            "kdj": lambda v: v["K"] > v["D"],
            "rsi": lambda v: v["RSI"] > 50,
            "bollinger": lambda v, close=scene.prices.close[-1]: close > v["MID"],
        }[scene.indicator]
        assert up(value) == rose, answer
        asked += 1
    for scene, answer in told("candlestick chart", "en", "Explain Reason"):
        assert isinstance(scene, CandleScene)
        above = float(scene.header["MA5"]) > float(scene.header["MA20"])
        change = re.search(r"change of about ([+-])\d+% over", answer)
        assert change
        assert (change[1] == "+") == above, answer
        asked += 1
    assert asked > 40


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_no_sentence_is_said_twice(image_type: str, language: Language) -> None:
    for _, answer in told(image_type, language, "Risk Warning", "Investment Advice"):
        parts = [part.strip() for part in re.split(r"[.;:](?:\s|$)|[。；：]", answer) if len(part.strip()) > 12]
        assert len(parts) == len(set(parts)), answer


def test_weak_points_of_tables_are_weak() -> None:
    """What is called a weak point fell, is negative, or is a cost that outgrew sales."""
    seen = 0
    for scene, answer in told("table", "en", "Risk Warning"):
        assert isinstance(scene, TableScene)
        if "no result fell" in answer:
            continue
        listed = answer.partition(": ")[2].partition(". Should")[0].split("; ")
        for point in listed:
            assert re.search(r" fell by | fell, | is negative | grew by .+ while Revenue changed ", point), answer
            seen += 1
    assert seen > 20


def test_the_least_good_row_of_a_table_is_that() -> None:
    for scene, answer in told("table", "en", "Investment Advice"):
        assert isinstance(scene, TableScene)
        rows = re.findall(r"best one: (.+?) (?:rose|fell|stayed)|least good one: (.+?) (?:rose|fell|stayed)", answer)
        names = [best or worst for best, worst in rows]
        if len(names) == 2 and "Total" in scene.rows:  # revenue by segment and quarter
            changes = {name: row[3] / row[0] for name, row in scene.rows.items() if name != "Total"}
            assert names == [max(changes, key=changes.__getitem__), min(changes, key=changes.__getitem__)], answer


@pytest.mark.parametrize("image_type", ["candlestick chart", "technical indicator chart"])
def test_estimates_cannot_be_had_from_the_middle_of_the_axis(image_type: str) -> None:
    trivial = asked = 0
    for seed in range(150):
        scene = make_scene(image_type, language="en", seed=seed)
        assert isinstance(scene, CandleScene | IndicatorScene)
        question = ask(scene, "Numerical Calculation", seed=seed)
        assert question is not None
        assert question.truth is not None
        assert question.truth.value is not None
        lines = scene.averages if isinstance(scene, CandleScene) else {}
        bands = scene.lines if isinstance(scene, IndicatorScene) and scene.indicator == "bollinger" else {}
        drawn = [value for line in (*lines.values(), *bands.values()) for value in line if value is not None]
        candles = isinstance(scene, CandleScene) or bool(bands)
        drawn += [*scene.prices.high, *scene.prices.low] if candles else scene.prices.close
        middle = (max(drawn) + min(drawn)) / 2
        asked += 1
        trivial += abs(middle - question.truth.value) <= 0.1 * question.truth.value
    assert trivial <= 0.05 * asked, (trivial, asked)


def test_chinese_references_and_titles_use_chinese_marks() -> None:
    for image_type in IMAGE_TYPES:
        for scene, answer in told(image_type, "zh"):
            assert not re.search(r"[(),:;?]\s?[\u4e00-\u9fff]|[\u4e00-\u9fff]\s?[(),:;?]", answer), answer
            if isinstance(scene, IndicatorScene):
                assert " " not in scene.parameters
            if isinstance(scene, MixedScene):
                assert not re.search(r"[(),:]", scene.title)


def test_a_midpoint_is_rounded_as_decimals_are() -> None:
    from fin_tasks.benchmarks.mme_finance.questions.estimates import CANDLES

    form = next(form for form in CANDLES["Numerical Calculation"] if form.__name__ == "_first_middle")
    for seed in range(200):
        scene = make_scene("candlestick chart", language="en", seed=seed)
        assert isinstance(scene, CandleScene)
        prices = scene.prices
        wide = replace(  # 58.71 and 57.30 lie 58.005 apart, in binary a hair less
            prices,
            high=(58.71, *(3 * high for high in prices.high[1:])),
            low=(57.30, *(3 * low for low in prices.low[1:])),
        )
        question = form(replace(scene, prices=wide), Random(0))  # noqa: S311
        if question is not None:
            assert question.answer == "About 58.01 USD"
            return
    raise AssertionError("no panel was wide enough")


@pytest.mark.parametrize(
    ("value", "room", "expected"),
    [(83.47, 20.0, "83"), (83.47, 19.9, "83.5"), (0.2345, 0.1, "0.235"), (1283.0, 900.0, "1280"), (-3.3, 8.0, "-3.4")],
)
def test_what_can_be_read_off_an_axis(value: float, room: float, expected: str) -> None:
    read = read_off(value, room=room)
    assert abs(read - Decimal(str(value))) <= Decimal(str(room)) / 40
    assert f"{read:f}" == expected or read == Decimal(expected)

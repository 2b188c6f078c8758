"""The published figures are whole and fit each other, except where their notes say otherwise."""

from collections.abc import Sequence

import pytest

from fin_tasks.benchmarks.mme_finance.published import IMPLIED_ROWS, Figure, published
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.errors import ConfigError

ROWS = {language: {one.short: getattr(one, language) for one in CATEGORIES.values()} for language in ("en", "zh")}


def rows_of(figure: Figure) -> int:
    return {**ROWS[figure.language], **IMPLIED_ROWS[figure.language]}[figure.name]


def weighted(figures: Sequence[Figure]) -> float:
    return sum(rows_of(one) * one.value for one in figures) / sum(map(rows_of, figures))


@pytest.mark.parametrize(("table", "models"), [("2", 19), ("7", 14), ("9", 14)])
def test_overall_is_the_mean_of_the_categories_over_rows(table: str, models: int) -> None:
    overall = {figure.model: figure.value for figure in published(table=table, by="overall")}
    assert len(overall) == models
    for model, value in overall.items():
        found = published(table=table, model=model, by="category")
        assert len(found) == len(CATEGORIES)
        assert weighted(found) == pytest.approx(value, abs=0.02), model


def test_rows_add_up() -> None:
    for language, rows in (("en", 1171), ("zh", 1103)):
        implied = IMPLIED_ROWS[language]
        assert sum(ROWS[language].values()) == rows
        assert sum(implied[name] for name in IMAGE_TYPES) == sum(implied[name] for name in IMAGE_STYLES) == rows


def test_figures_that_are_no_whole_points_of_their_rows_are_flagged_and_no_others() -> None:
    scores = [one for one in published(metric="score") if one.by != "overall"]
    steps = {id(one): 100 / (5 * rows_of(one)) for one in scores}
    odd = {id(one) for one in scores if abs(round(one.value / steps[id(one)]) * steps[id(one)] - one.value) > 0.0101}
    assert odd == {id(one) for one in scores if "whole number of points" in one.note}
    assert len(odd) == 24
    swapped = {"Qwen2VL-2B", "Qwen2VL-7B"}
    for table in ("9", "10"):
        assert {one.model for one in published(table=table) if "swapped" in one.note} == swapped


def test_later_rows_have_their_date() -> None:
    later = {one.model: (one.value, one.judge) for one in published(date="2025-08-01")}
    values = {"GPT-4o": 72.79, "Gemini-2.5-Pro": 79.28, "InternVL3-78B": 71.24, "Qwen2.5VL-72B": 68.20}
    assert later == {model: (value, "") for model, value in values.items()}
    keys = [(one.table, one.model, one.language, one.judge, one.by, one.name, one.metric) for one in published()]
    assert len(set(keys)) == len(keys) == 1068
    with pytest.raises(ConfigError, match=r"model: expected one of .* got 'GPT4o'"):
        published(model="GPT4o")

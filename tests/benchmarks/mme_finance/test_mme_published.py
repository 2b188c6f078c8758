"""The published figures are whole and fit each other, except where their notes say otherwise."""

from pathlib import Path

import pandas as pd
import pytest

import fin_tasks
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES

FILE = Path(fin_tasks.__file__).with_name("benchmarks") / "mme_finance" / "published.csv"
# Rows by image type and style, which the paper draws without numbers: only these make its scores whole points.
IMPLIED_ROWS = {
    "en": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (143, 176, 291, 262, 278, 21, 554, 474, 66, 77), strict=True)),
    "zh": dict(zip((*IMAGE_TYPES, *IMAGE_STYLES), (140, 181, 202, 248, 270, 62, 422, 448, 161, 72), strict=True)),
}
ROWS = {
    language: {**{one.short: getattr(one, language) for one in CATEGORIES.values()}, **IMPLIED_ROWS[language]}
    for language in ("en", "zh")
}


@pytest.fixture(scope="module")
def printed() -> pd.DataFrame:
    table = pd.read_csv(FILE, dtype={"table": str}, keep_default_na=False)
    rows = [ROWS.get(one.language, {}).get(one.name) for one in table.itertuples()]
    return table.assign(rows=rows)


@pytest.mark.parametrize(("table", "models"), [("2", 19), ("7", 14), ("9", 14)])
def test_overall_is_the_mean_of_the_categories_over_rows(printed: pd.DataFrame, table: str, models: int) -> None:
    found = printed[printed["table"] == table]
    overall = found[found["by"] == "overall"].set_index("model")["value"]
    assert len(overall) == models
    for model, rows in found[found["by"] == "category"].groupby("model"):
        assert len(rows) == len(CATEGORIES)
        mean = (rows["rows"] * rows["value"]).sum() / rows["rows"].sum()
        assert mean == pytest.approx(overall[model], abs=0.02), model


def test_rows_add_up() -> None:
    for language, rows in (("en", 1171), ("zh", 1103)):
        for names in ([one.short for one in CATEGORIES.values()], IMAGE_TYPES, IMAGE_STYLES):
            assert sum(ROWS[language][name] for name in names) == rows


def test_figures_that_are_no_whole_points_of_their_rows_are_flagged_and_no_others(printed: pd.DataFrame) -> None:
    scores = printed[(printed["metric"] == "score") & (printed["by"] != "overall")]
    step = 100 / (5 * scores["rows"])
    odd = ((scores["value"] / step).round() * step - scores["value"]).abs() > 0.0101
    assert odd.equals(scores["note"].str.contains("whole number of points")) and odd.sum() == 24
    for table in ("9", "10"):
        swapped = printed[(printed["table"] == table) & printed["note"].str.contains("swapped")]
        assert {*swapped["model"]} == {"Qwen2VL-2B", "Qwen2VL-7B"}


def test_later_rows_have_their_date(printed: pd.DataFrame) -> None:
    later = printed[printed["date"] == "2025-08-01"]
    values = {"GPT-4o": 72.79, "Gemini-2.5-Pro": 79.28, "InternVL3-78B": 71.24, "Qwen2.5VL-72B": 68.20}
    assert dict(zip(later["model"], later["value"], strict=True)) == values
    assert {*later["judge"]} == {""}
    keys = ["table", "model", "language", "judge", "by", "name", "metric"]
    assert len(printed) == 1068 and not printed.duplicated(keys).any()

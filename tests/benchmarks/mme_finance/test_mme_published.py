"""The published figures are whole and fit each other."""

from pathlib import Path

import pandas as pd
import pytest

import fin_tasks
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES

FILE = (
    Path(fin_tasks.__file__).with_name("benchmarks") / "mme_finance" / "published.csv"
)


@pytest.fixture(scope="module")
def printed() -> pd.DataFrame:
    return pd.read_csv(FILE, dtype={"table": str}, keep_default_na=False)


@pytest.mark.parametrize(("table", "models"), [("2", 19), ("7", 14), ("9", 14)])
def test_overall_is_the_mean_of_the_categories_over_rows(
    printed: pd.DataFrame, table: str, models: int
) -> None:
    found = printed[printed["table"] == table]
    overall = found[found["by"] == "overall"].set_index("model")["value"]
    assert len(overall) == models
    for model, rows in found[found["by"] == "category"].groupby("model"):
        assert len(rows) == len(CATEGORIES)
        counts = rows["rows"].astype(int)
        assert counts.sum() == {"en": 1171, "zh": 1103}[rows["language"].iloc[0]]
        mean = (counts * rows["value"]).sum() / counts.sum()
        assert mean == pytest.approx(overall[model], abs=0.02), model


def test_later_rows_have_their_date(printed: pd.DataFrame) -> None:
    later = printed[printed["date"] == "2025-08-01"]
    values = {
        "GPT-4o": 72.79,
        "Gemini-2.5-Pro": 79.28,
        "InternVL3-78B": 71.24,
        "Qwen2.5VL-72B": 68.20,
    }
    assert dict(zip(later["model"], later["value"], strict=True)) == values
    assert {*later["judge"]} == {""}

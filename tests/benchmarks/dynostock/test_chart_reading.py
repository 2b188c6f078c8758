"""Questions about charts: the answers follow from the data, and rules alone score them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.chart_answers import (
    FORMS,
    are_right,
    numbers_of,
)
from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.score import compare, read
from fin_tasks.errors import ConfigError

Doc = dict[str, Any]


pytestmark = pytest.mark.usefixtures("shared_cache")


def loaded(**options: Any) -> list[Doc]:
    usual: dict[str, Any] = {
        "bias": "reading",
        "window": 4,
        "mode": "text",
        "source": "sample",
        "after": "2012-04",
    }
    docs: list[Doc] = load(**usual | options)["test"].to_list()
    return docs


@pytest.fixture(scope="module")
def docs() -> list[Doc]:
    return loaded(after="2011-03")


def is_right(doc: Doc, response: str) -> bool | None:
    return compare(doc, read(doc, response, scoring="robust")).correct


def test_every_kind_of_question_has_the_answer_of_the_data(docs: list[Doc]) -> None:
    assert {doc["category"] for doc in docs} == set(FORMS)
    market = sample_market()
    for doc in docs:
        ticker, start, _, end = doc["title"].split(":")[0].replace(",", "").split()
        first, last = pd.Timestamp(start).date(), pd.Timestamp(end).date()
        excerpt = market.excerpt(ticker, first, last)
        closes = excerpt.prices["close"]
        known = {
            "last close": f"{closes.iloc[-1]:.2f}",
            "highest close": f"{closes.max():.2f}",
            "month of the highest close": f"{closes.idxmax():%Y-%m}",
            "reports that met": str((excerpt.reports["surprise"] >= 0).sum()),
            "largest volume": f"{excerpt.prices['volume'].idxmax():%Y-%m-%d}",
        }
        if doc["category"] in known:
            assert doc["truth"] == known[doc["category"]], doc["id"]
        assert is_right(doc, f"I looked.\n\nFinal answer: {doc['truth']}")
        assert not is_right(doc, "I cannot see a chart.")


def test_a_fixed_verdict_is_right_about_half_of_the_time(docs: list[Doc]) -> None:
    for kind in ("direction", "above the average"):
        truths = Counter(doc["truth"] for doc in docs if doc["category"] == kind)
        assert 0.3 < truths["yes"] / truths.total() < 0.7


def test_a_direction_is_that_of_the_closes(docs: list[Doc]) -> None:
    closes = sample_market().prices.set_index(["ticker", "date"])["close"]
    for doc in docs:
        if doc["category"] != "direction":
            continue
        question = doc["prompt"].split("Question: ")[1].split("?")[0].split()
        second, side, first = question[5], question[6], question[9]
        before = closes[doc["ticker"], pd.Timestamp(first)]
        after = closes[doc["ticker"], pd.Timestamp(second)]
        is_so = after > before if side == "higher" else after < before
        assert doc["truth"] == ("yes" if is_so else "no")


@pytest.mark.parametrize(
    ("kind", "truth", "right", "wrong"),
    [
        ("last close", "40.00", "Final answer: $41.90", "Final answer: 42.5"),
        ("reports that met", "4", "Final answer: 4", "Final answer: 3"),
        ("month of the highest close", "2007-04", "In **April 2007**.", "2007-05"),
        (
            "largest volume",
            "2007-04-25",
            "It rose on 2007-01-03.\nFinal answer: May 2nd, 2007",
            "Final answer: 2007-05-03",
        ),
        ("largest volume", "2007-04-25", "25/4? no, 2007-04-20", "2007-04"),
        ("direction", "no", "Final answer: No.", "Final answer: yes"),
    ],
)
def test_tolerances(kind: str, truth: str, right: str, wrong: str) -> None:
    doc = {"category": kind, "bias_type": "reading", "truth": truth}
    assert is_right(doc, right) and not is_right(doc, wrong)


def test_answers_are_compared_in_all_pairs_too() -> None:
    answers = numbers_of("price", ["40", "90", "none"])
    truths = numbers_of("price", ["41", "88"])
    found = are_right("price", answers[:, None], truths)
    assert found.tolist() == [[True, False], [False, True], [False, False]]
    assert np.isnan(answers[2])


def test_charts_without_names_and_days_ask_about_what_they_show() -> None:
    docs = loaded(anonymize=True)
    for doc in docs:
        question = doc["prompt"].split("Question: ")[1]
        assert doc["ticker"] not in doc["prompt"]
        assert not any(f"{year}-" in question for year in range(2000, 2014))
        if FORMS[doc["category"]] in ("month", "day"):
            assert int(doc["truth"][:4]) < 1991


def test_windows_of_a_chart_share_its_picture_and_a_draw_draws_no_others(
    own_cache: Path,
) -> None:
    docs = loaded(mode="image", sample_n=3, pixels=256)
    assert len(docs) == 3
    for doc in docs:
        assert doc["prompt"].startswith("<image>")
    charts = {Path(doc["chart"]).name for doc in docs}
    assert {path.name for path in own_cache.rglob("*.png")} == charts


def test_prices_of_months_do_not_answer_questions_about_days() -> None:
    with pytest.raises(ConfigError, match="daily prices"):
        loaded(frequency="monthly")

"""Verdicts to metrics."""

from typing import Any

import pytest

from fin_tasks.benchmarks.mme_finance.doc_scores import score_judged
from fin_tasks.benchmarks.mme_finance.metrics import image_style_of, image_type_of, metric_values, metrics_of
from fin_tasks.benchmarks.mme_finance.row import IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.judging.item import Verdict
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.stats.metric import Metric

DOC = {
    "language": "en",
    "category": "OCR",
    "image_type": "Candlestick",
    "image_style": "Computer Screenshot",
    "truth": "",
}
TRUTH = '{"kind": "number", "value": 7.0}'


def judged(verdict: Verdict, *, response: str = "7", stands: bool = True) -> JudgedResponse:
    percent = None if verdict.score is None else verdict.score * 20.0
    return JudgedResponse(response=response, verdict=verdict, percent=percent, stands=stands, record={"raw": "r"})


def values(verdict: Verdict, *, variant: str = "robust", doc: dict[str, Any] = DOC, **how: Any) -> dict[str, Any]:
    return metric_values(doc, [score_judged(doc, judged(verdict, **how), variant=variant)])


SCORED = Verdict(score=3, raw="3", tries=1)
UNREADABLE = Verdict(error="no score in five tries", failed="reply", tries=5)
SILENT = Verdict(error="no connection", failed="judge")
EMPTY = Verdict(error="the response is empty", failed="response")


@pytest.mark.parametrize("variant", ["paper", "robust"])
def test_a_score_counts_for_its_category_type_and_style(variant: str) -> None:
    found = values(SCORED, variant=variant)
    named = {"score", "score_OCR", "score_type_candlestick_chart", "score_style_computer_screenshot"}
    assert {name for name, value in found.items() if value == 60.0} == named
    assert (found["unscored"], found["judge_error"], found["no_response"], found["n_scored"]) == (0.0, 0.0, 0.0, 1.0)
    assert found.keys() == metrics_of().keys()


@pytest.mark.parametrize(
    ("verdict", "judge_error", "no_response"),
    [(UNREADABLE, 1.0, 0.0), (SILENT, 1.0, 0.0), (EMPTY, None, 1.0)],
)
def test_what_failed_is_zero_in_the_paper_s_way_and_missing_in_ours(
    verdict: Verdict, judge_error: float | None, no_response: float
) -> None:
    paper, robust = values(verdict, variant="paper"), values(verdict)
    assert (paper["score"], paper["unscored"], paper["n_scored"]) == (0.0, 0.0, 1.0)
    assert (robust["score"], robust["score_OCR"], robust["unscored"], robust["n_scored"]) == (None, None, 1.0, 0.0)
    for found in (paper, robust):
        assert (found["judge_error"], found["no_response"]) == (judge_error, no_response)


@pytest.mark.parametrize("variant", ["paper", "robust"])
@pytest.mark.parametrize(
    ("verdict", "judge_error"),
    [(SCORED, 0.0), (SILENT, 1.0), (Verdict(error="no judge is configured"), None), (EMPTY, None)],
)
def test_verdicts_that_do_not_stand_score_nothing(variant: str, verdict: Verdict, judge_error: float | None) -> None:
    found = values(verdict, variant=variant, stands=False)
    assert (found["score"], found["unscored"], found["judge_error"]) == (None, 1.0, judge_error)


def test_exact_truths_are_compared_without_a_judge() -> None:
    doc = {**DOC, "truth": TRUTH}
    off = Verdict(error="no judge is configured")
    assert [values(off, doc=doc, stands=False, response=text)["exact"] for text in ("7", "8")] == [1.0, 0.0]
    assert values(off, stands=False)["exact"] is None


def test_several_responses_are_averaged() -> None:
    scores = [score_judged(DOC, judged(verdict), variant="robust") for verdict in (SCORED, SILENT, SCORED)]
    found = metric_values(DOC, scores)
    assert (found["score"], found["unscored"], found["judge_error"]) == (
        60.0,
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )


def test_the_number_of_scored_documents_is_a_sum() -> None:
    count = metrics_of()["n_scored"]
    assert isinstance(count, Metric)
    assert count.aggregate([1.0, 0.0, 1.0, None]) == 2.0


@pytest.mark.parametrize("name", IMAGE_TYPES)
def test_our_types_are_themselves(name: str) -> None:
    assert image_type_of(name) == image_type_of(name.upper().replace(" ", "_")) == name


@pytest.mark.parametrize("name", IMAGE_STYLES)
def test_our_styles_are_themselves(name: str) -> None:
    assert image_style_of(name) == image_style_of(name.upper().replace(" ", "_")) == name


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Candlestick Chart", "candlestick chart"),
        ("k-line", "candlestick chart"),
        ("技术指标图", "technical indicator chart"),
        ("tabular data", "table"),
        ("统计图表", "statistical chart"),
        ("表格", "table"),
        ("文档", "document"),
        ("mixed chart and table", "mixed chart"),
        ("", "other"),
        ("Stable coin logo", "other"),
    ],
)
def test_files_may_name_types_otherwise(name: str, ours: str) -> None:
    assert image_type_of(name) == ours


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("PC screenshot", "computer screenshot"),
        ("photo taken by phone", "mobile photograph"),
        ("horizontal screen mobile screenshot", "horizontal screenshot on mobile"),
        ("手机竖屏截图", "vertical screenshot on mobile"),
        ("电脑截图", "computer screenshot"),
        ("painting", "other"),
    ],
)
def test_files_may_name_styles_otherwise(name: str, ours: str) -> None:
    assert image_style_of(name) == ours

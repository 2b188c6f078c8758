"""Verdicts to metrics."""

from typing import Any

import pytest

from fin_tasks.benchmarks.mme_finance.doc_scores import score_judged
from fin_tasks.benchmarks.mme_finance.metrics import image_style_of, image_type_of, metric_values, metrics_of
from fin_tasks.benchmarks.mme_finance.row import IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_item import Verdict
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
    assert [values(off, doc=doc, stands=False, response=text)["exact"] for text in ("Answer: 7", "Answer: 8")] == [
        1.0,
        0.0,
    ]
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
    metrics = metrics_of()
    stands, count = metrics["judging_stands"], metrics["n_scored"]
    assert isinstance(stands, Metric) and isinstance(count, Metric)
    assert stands.aggregate([[1, 0, 0.2]] * 3 + [None]) == 1.0
    assert count.aggregate([1.0, 0.0, 1.0, None]) == 2.0


@pytest.mark.parametrize(
    ("reported", "stands", "score", "unscored"),
    [
        ([[1, 0, 0.25], [1, 0, 0.25], [1, 0, 0.25], [1, 1, 0.25]], 1.0, 60.0, 0.25),
        ([[1, 0, 0.25], [2, 1, 0.25], [1, 1, 0.25]], 0.0, "N/A", 1.0),
        ([[1, 1, 1.0], [1, 1, 1.0]], 0.0, "N/A", 1.0),  # all failed: nothing is allowed enough
        ([[0, 0, 0.2], [0, 0, 0.2]], 1.0, 60.0, 0.25),  # no response to judge: nothing failed
        ([None, None], "N/A", "N/A", 1.0),  # nobody was asked
    ],
)
def test_whether_scores_stand_is_decided_over_all_documents(
    reported: list[Any], stands: float | str, score: float | str, unscored: float
) -> None:
    metrics = metrics_of()
    decided, part, missing = (metrics[name] for name in ("judging_stands", "score_OCR", "unscored"))
    assert isinstance(decided, Metric) and isinstance(part, Metric) and isinstance(missing, Metric)
    assert part.aggregate([60.0]) == "N/A"  # before it is decided
    assert decided.aggregate(reported) == stands
    assert part.aggregate([60.0, None, 60.0]) == score
    assert missing.aggregate([0.0, 0.0, 0.0, 1.0]) == unscored


def test_a_document_reports_what_deciding_takes() -> None:
    answers = [
        {**score_judged(DOC, judged(verdict), variant="paper"), "max_failed": 0.2}
        for verdict in (SCORED, SILENT, UNREADABLE, EMPTY)
    ]
    assert metric_values(DOC, answers)["judging_stands"] == [3, 2, 0.2]
    assert metric_values(DOC, [score_judged(DOC, judged(SCORED), variant="paper")])["judging_stands"] is None


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
        ("Financial statement", "table"),
        ("财务报表", "table"),
        ("表", "table"),
        ("统计图表", "statistical chart"),
        ("技术图", "technical indicator chart"),
        ("技术图表", "technical indicator chart"),
        ("Technical index chart", "technical indicator chart"),
        ("bar chart", "statistical chart"),
        ("Line Chart", "statistical chart"),
        ("pie-chart", "statistical chart"),
        ("柱状图", "statistical chart"),
        ("折线图", "statistical chart"),
        ("candle line chart", "candlestick chart"),
        ("PDF", "document"),
        ("文字", "document"),
        ("图文混合", "mixed chart"),
        ("technical document", "document"),
        ("pages of a report", "document"),
        ("图表", "other"),
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
        ("手机摄影", "mobile photograph"),
        ("翻拍", "mobile photograph"),
        ("camera", "mobile photograph"),
        ("网页截图", "computer screenshot"),
        ("屏幕截图", "computer screenshot"),
        ("计算机截图", "computer screenshot"),
        ("laptop screenshot", "computer screenshot"),
        ("手机横屏屏幕截图", "horizontal screenshot on mobile"),
        ("Web page", "computer screenshot"),
        ("手机网页截图", "other"),
        ("手机屏幕截图", "other"),  # held which way?
        ("Mobile screenshot", "other"),
        ("painting", "other"),
    ],
)
def test_files_may_name_styles_otherwise(name: str, ours: str) -> None:
    assert image_style_of(name) == ours

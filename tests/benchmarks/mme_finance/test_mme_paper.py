"""How the authors read a judge's replies: the case file, and texts that hypothesis makes up."""

from typing import Any

import pytest
from case_files import rows
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.mme_finance.paper import read_verdict, score_of
from fin_tasks.judging.item import Judged, Reply
from fin_tasks.judging.rubric import load_rubric

EN = load_rubric("mme_finance_en")
MT = load_rubric("mme_finance_mt_zh")
CASES = rows("judge_replies")


@pytest.mark.parametrize("case", [case for case in CASES if "reply" in case], ids=str)
def test_one_reply(case: dict[str, Any]) -> None:
    for name in ("mme_finance_en", "mme_finance_zh"):
        assert score_of(load_rubric(name), case["reply"]) == case["paper"]


@pytest.mark.parametrize("case", [case for case in CASES if "replies" in case], ids=str)
def test_all_replies_of_a_response(case: dict[str, Any]) -> None:
    replies = tuple(Reply(text=text, temperature=0.0) for text in case["replies"])
    judged = Judged(case.get("response", "Friday."), replies, case.get("error", ""))
    assert read_verdict(EN, judged).score == case["paper"]


@pytest.mark.parametrize("case", [case for case in CASES if "seven" in case], ids=str)
def test_seven_dimensions(case: dict[str, Any]) -> None:
    expected = dict(zip(MT.dimensions, (1, 2, 3, 4, 5, 6, 10), strict=True))
    assert score_of(MT, case["seven"]) == (expected if case["paper"] else None)


def test_a_conversation_without_a_score_has_the_lowest_in_all_dimensions() -> None:
    judged = Judged(" ")
    assert read_verdict(MT, judged).score == dict.fromkeys(MT.dimensions, 0)


@given(st.text())
def test_no_reply_raises(reply: str) -> None:
    for rubric in (EN, MT):
        score = score_of(rubric, reply)
        assert score is None or (isinstance(score, int) and 0 <= score <= 5)

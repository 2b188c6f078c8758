"""FinanceMath's readings, comparisons and metrics, and the optional judge."""

import json
import math
from typing import Any

import pytest
from case_files import name_of, rows
from figures import figures_of, score_with

from fin_tasks.benchmarks.financemath import score as scorer
from fin_tasks.judging.item import Judged
from fin_tasks.sandbox import Outcome, Ran, Status

TRUTHS = {"ground_truth": 0.154, "exact_truth": 0.15372}
DOC: dict[str, Any] = {
    "question_id": "1",
    "topic_name": "risk",
    "mode": "cot",
    **TRUTHS,
}
POT = {**DOC, "mode": "pot"}
OK: dict[str, Any] = {"status": Status.ok, "is_number": True}
UNREAD = "<think>5</think>either 1,250.5 or 15.3% or 7, hard to say ("


@pytest.mark.parametrize("case", rows("financemath"), ids=name_of)
def test_case(case: dict[str, Any]) -> None:
    paper, robust = (
        score_with(scorer, DOC, case["response"], scoring)
        for scoring in ("paper", "robust")
    )
    assert (paper.answer, robust.answer) == (case["written"], case["value"])


@pytest.mark.parametrize("row", rows("financemath_equal"), ids=lambda row: row["text"])
def test_both_scorings(row: dict[str, Any]) -> None:
    text = f"Therefore, the answer is {row['text']}."
    right = [
        scoring
        for scoring in ("paper", "robust")
        if score_with(scorer, DOC, text, scoring).correct
    ]
    assert right == row["right"]


@pytest.mark.parametrize(
    ("outcome", "answer", "correct", "values"),
    [
        (
            Outcome(**OK, value="0.154", number=0.15372),
            0.154,
            True,
            {"acc": 1.0, "execution_rate": 1.0},
        ),
        (
            Outcome(**OK, value="0.152", number=0.15249),
            0.152,
            False,
            {"acc": 0.0, "no_answer": 0.0},
        ),
        (
            Outcome(status=Status.ok, value="0.15372", number=0.15372),
            "0.15372",
            True,
            {"acc_risk": 1.0},
        ),
        (
            Outcome(status=Status.ok, value="(1, 2)"),
            "(1, 2)",
            False,
            {"execution_rate": 1.0, "no_answer": 1.0},
        ),
        (
            Outcome(status=Status.timeout),
            None,
            False,
            {"execution_rate": 0.0, "timeout": 1.0, "syntax": 0.0},
        ),
        (
            Outcome(status=Status.broken, detail="gone"),
            None,
            None,
            {"acc": None, "unscored": 1.0, "no_answer": None},
        ),
    ],
)
def test_programs(
    outcome: Outcome,
    answer: object,
    correct: bool | None,
    values: dict[str, float | None],
) -> None:
    for scoring in ("paper", "robust"):
        reading = scorer.read(POT, Ran("", (outcome,)), scoring=scoring)
        found = scorer.compare(POT, reading)
        assert found.correct is correct
        assert scoring == "robust" or found.answer == answer
        assert figures_of("financemath", POT, [reading]).items() >= values.items()
        assert (
            " ".join(scorer.metric_values(POT, [reading]))
            == "acc execution_rate no_answer cut_off unscored"
        )
        assert reading.to_dict()["status"] == outcome.status.value


def test_nan_is_right_in_paper_and_no_answer_in_robust() -> None:
    ran = Ran("", (Outcome(**OK, value="nan", number=math.nan),))
    readings = {
        name: scorer.read(POT, ran, scoring=name) for name in ("paper", "robust")
    }
    scores = {name: scorer.compare(POT, reading) for name, reading in readings.items()}
    assert (scores["paper"].answer, scores["paper"].correct) == ("nan", True)
    assert (scores["robust"].answer, scores["robust"].correct) == (None, False)
    values = {name: scorer.metric_values(POT, [readings[name]]) for name in readings}
    assert (values["paper"]["no_answer"], values["robust"]["no_answer"]) == (0.0, 1.0)
    assert (
        values["paper"]["execution_rate"] == values["robust"]["execution_rate"] == 1.0
    )
    text = json.dumps(readings["paper"].to_dict(), allow_nan=False)
    assert json.loads(text)["is_nan"] is True


@pytest.mark.parametrize(("scoring", "number"), [("paper", 1), ("robust", 2)])
def test_scorings_take_different_programs(scoring: str, number: int) -> None:
    text = "".join(f"```python\ndef solution():\n    return {n}\n```\n" for n in (1, 2))
    assert scorer.programs(POT, text, scoring=scoring) == (
        f"def solution():\n    return {number}",
    )
    assert scorer.programs(DOC, text, scoring=scoring) == ()


@pytest.mark.parametrize("scoring", ["paper", "robust"])
def test_a_model_reads_for_both_scorings(scoring: str) -> None:
    assert scorer.reader_item(DOC, "Therefore, the answer is 0.154.") is None
    item = scorer.reader_item(DOC, UNREAD)
    assert (
        item is not None
        and "1,250.5" in item.response
        and "<think>" not in item.response
    )
    judged = Judged(UNREAD, ("15.3%",))
    rules, model = (
        scorer.read(DOC, response, scoring=scoring)
        for response in (Judged("The answer is 0.154."), judged)
    )
    assert (rules.by, model.by) == ("rules", "model")
    assert (
        scorer.compare(DOC, model).answer == {"paper": 15.3, "robust": 0.153}[scoring]
    )
    values = figures_of("financemath", DOC, [rules, model])
    assert (values["read_by_model"], values["unscored"], values["acc"]) == (
        0.5,
        0.0,
        0.5,
    )
    broken = scorer.read(DOC, Judged(UNREAD, (), "no connection"), scoring=scoring)
    assert (broken.unscored, broken.reason) == (True, "no connection")
    assert figures_of("financemath", DOC, [broken])["read_by_model"] == 0.0

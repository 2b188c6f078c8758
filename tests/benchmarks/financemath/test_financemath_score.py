"""FinanceMath's readings, comparisons and metrics, and the optional judge."""

import json
import math
from typing import Any

import pytest
from case_files import name_of, rows
from figures import figures_of, score_with

from fin_tasks.benchmarks.financemath import score as scorer
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.judging.item import Judged
from fin_tasks.sandbox import Outcome, Ran, Status

DOC: dict[str, Any] = {
    "topic_name": "risk",
    "mode": "cot",
    "ground_truth": 0.154,
    "exact_truth": 0.15372,
}
POT = {**DOC, "mode": "pot"}
OK: dict[str, Any] = {"status": Status.ok, "is_number": True}
UNREAD = "<think>5</think>either 1,250.5 or 15.3% or 7, hard to say ("


@pytest.mark.parametrize("case", rows("financemath"), ids=name_of)
def test_case(case: dict[str, Any]) -> None:
    for scoring, answer in (("paper", case["written"]), ("robust", case["value"])):
        assert score_with(scorer, DOC, case["response"], scoring).answer == answer


@pytest.mark.parametrize("row", rows("financemath_equal"), ids=lambda row: row["text"])
def test_both_scorings(row: dict[str, Any]) -> None:
    text = f"Therefore, the answer is {row['text']}."
    for scoring in ("paper", "robust"):
        score = score_with(scorer, DOC, text, scoring)
        assert score.correct is (scoring in row["right"])


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
        score = scorer.compare(POT, reading)
        assert score.correct is correct
        assert scoring == "robust" or score.answer == answer
        assert figures_of("financemath", POT, [reading]).items() >= values.items()
        metrics = list(scorer.metric_values(POT, [reading]))
        assert metrics == list(TaskFile("financemath_pot").metrics)
        assert reading.to_dict()["status"] == outcome.status.value


def test_nan_is_right_in_paper_and_no_answer_in_robust() -> None:
    ran = Ran("", (Outcome(**OK, value="nan", number=math.nan),))
    paper = scorer.read(POT, ran, scoring="paper")
    robust = scorer.read(POT, ran, scoring="robust")
    for reading, answer, is_right in ((paper, "nan", True), (robust, None, False)):
        score = scorer.compare(POT, reading)
        assert (score.answer, score.correct) == (answer, is_right)
        values = scorer.metric_values(POT, [reading])
        assert (values["no_answer"], values["execution_rate"]) == (not is_right, 1.0)
    text = json.dumps(paper.to_dict(), allow_nan=False)
    assert json.loads(text)["is_nan"] is True


@pytest.mark.parametrize(("scoring", "number"), [("paper", 1), ("robust", 2)])
def test_scorings_take_different_programs(scoring: str, number: int) -> None:
    text = "".join(f"```python\ndef solution():\n    return {n}\n```\n" for n in (1, 2))
    (program,) = scorer.programs(POT, text, scoring=scoring)
    assert program == f"def solution():\n    return {number}"
    assert scorer.programs(DOC, text, scoring=scoring) == ()


@pytest.mark.parametrize("scoring", ["paper", "robust"])
def test_a_model_reads_for_both_scorings(scoring: str) -> None:
    assert scorer.reader_item(DOC, "Therefore, the answer is 0.154.") is None
    item = scorer.reader_item(DOC, UNREAD)
    assert item is not None
    assert item.response.startswith("either 1,250.5")
    rules = scorer.read(DOC, Judged("The answer is 0.154."), scoring=scoring)
    model = scorer.read(DOC, Judged(UNREAD, ("15.3%",)), scoring=scoring)
    assert (rules.by, model.by) == ("rules", "model")
    answers = {"paper": 15.3, "robust": 0.153}
    assert scorer.compare(DOC, model).answer == answers[scoring]
    values = figures_of("financemath", DOC, [rules, model])
    assert (values["read_by_model"], values["acc"]) == (0.5, 0.5)
    assert values["unscored"] == 0.0
    broken = scorer.read(DOC, Judged(UNREAD, (), "no connection"), scoring=scoring)
    assert (broken.unscored, broken.reason) == (True, "no connection")
    assert figures_of("financemath", DOC, [broken])["read_by_model"] == 0.0

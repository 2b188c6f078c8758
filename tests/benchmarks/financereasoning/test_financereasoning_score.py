"""FinanceReasoning's programs, readings and scores, `paper` held against the facts of its authors' code."""

import random
from typing import Any

import pytest
from figures import score_with

from fin_tasks.benchmarks.financereasoning import paper
from fin_tasks.benchmarks.financereasoning import score as scorer
from fin_tasks.benchmarks.programs_paper import program_in
from fin_tasks.sandbox import Outcome, Ran, Status, shared_runner

NUMBER: dict[str, Any] = {"kind": "number", "ground_truth": 12.5, "mode": "cot"}
POT = {**NUMBER, "mode": "pot"}
VERDICT: dict[str, Any] = {"kind": "verdict", "ground_truth": 1.0, "mode": "cot"}
PIECES = (
    "```python",
    "```",
    "```py",
    "\n",
    "\r\n",
    "def solution():",
    "    return 1",
    "return 2",
    "import argparse",
    "Here is the program: ",
    " ",
    "`",
    "\t",
)


def reference_program(response: str) -> str | None:
    """Take the program out of a response, word by word as PROTOCOLS tells it."""
    if response.strip() == "" or "argparse" in response:
        return None
    blank = "` \t\r\n"
    for fence in ("```python", "```"):
        _, opened, rest = response.partition(fence)
        block, closed, _ = rest.partition("```")
        if opened and closed:
            return block.strip("\r\n").strip(blank)
    has_head = "def solution():" in response
    body = response
    if response.count("```") == 1 and not has_head:
        body = response[: response.index("```")]
    if not has_head:
        body = "def solution():\n" + ("" if body[:4] == "    " else "    ") + body
    return body.strip(blank)


def test_programs_are_taken_out_as_the_authors_do() -> None:
    draw = random.Random(7)  # noqa: S311 - no secret is drawn
    for _ in range(20_000):
        response = "".join(draw.choices(PIECES, k=draw.randint(0, 9)))
        assert program_in(response) == reference_program(response), repr(response)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.5", 12.5),
        ("$1,250.50", 1250.5),
        ("12.5 %", 12.5),
        ("12.5 million dollars", 12.5),
        ("x = 12.5", 12.5),
        ("≈ -3", -3.0),
        ("(12.5, 'years')", 12.5),
        ("[7, 8]", 7.0),
        ("(np.float64(1.5), np.float64(2.0))", 1.5),
        ("[-1e3, 2]", -1000.0),
        ("(7,)", 7.0),
        ("[True, 3]", True),
        ("[Fraction(37, 10), 2]", 3.7),
        ("('$5', 2)", None),
        ("['5']", None),
        ("[[1, 2], 3]", None),
        ("((1, 2), 3)", None),
        ("{'answer': 5}", None),
        ("{5}", None),
        ("(3.7+0j)", None),
        ("about $12.5", 12.5),
        ("The yield is 12.5", None),
        ("12.5 dollars or 13 dollars", None),
        ("yield is = 12.5 %", 12.5),
        ("()", None),
        ("True", True),
        ("'Yes'", True),
        ("no", False),
        ("nothing", None),
        ("1e3", 1000.0),
        ("(" * 5000, None),
        ("9" * 20_000, None),
    ],
)
def test_values_of_returned_texts(text: str, value: float | None) -> None:
    assert paper.value_in(text) == value


@pytest.mark.parametrize(
    ("result", "paper_answer", "robust_answer"),
    [
        ("Fraction(37, 10)", 3.7, 3.7),
        ("Decimal('3.7')", 3.7, 3.7),
        ("np.float64(3.7)", 3.7, 3.7),
        ("[3.7, 'years']", 3.7, 3.7),
        ("np.array([3.7, 1])", 3.7, 3.7),
        ("'$3.7'", 3.7, 3.7),
        ("'x ≈ 3.7 years'", 3.7, 3.7),
        ("3.7 + 0j", None, None),
        ("np.complex128(3.7)", None, None),
        ("[[3.7], 1]", None, None),
        ("['3.7']", None, None),
        ("{'a': 1, 'b': 2}", None, None),
        ("{1, 2}", None, None),
        ("'The yield is 3.7.'", None, 3.7),
        ("float('nan')", None, None),
        ("None", None, None),
    ],
)
def test_types_of_results(
    result: str, paper_answer: float | None, robust_answer: float | None
) -> None:
    imports = "from decimal import Decimal\nfrom fractions import Fraction\nimport numpy as np"
    program = f"{imports}\ndef solution():\n    return {result}"
    (outcome,) = shared_runner().run([program])
    assert outcome.status is Status.ok, outcome
    for scoring, answer in (("paper", paper_answer), ("robust", robust_answer)):
        assert score_with(scorer, POT, Ran("", (outcome,)), scoring).answer == answer


@pytest.mark.parametrize(
    ("number", "is_near"),
    [(100.2, True), (99.8, True), (100.21, False), (-100, False), (10_000, False)],
)
def test_a_number_is_right_within_two_per_mille(number: float, is_near: bool) -> None:
    assert paper.is_near(number, 100.0) is is_near


@pytest.mark.parametrize(
    ("doc", "answer", "right"),
    [
        (NUMBER, "12.5", ["paper", "robust"]),
        (NUMBER, "12.5%", ["paper", "robust"]),
        (NUMBER, "0.125", []),
        ({**NUMBER, "ground_truth": 0.125}, "12.5%", ["robust"]),
        (VERDICT, "True", ["paper", "robust"]),
        (VERDICT, "False", []),
        (VERDICT, "unclear", []),
    ],
)
def test_answers_in_words(doc: dict[str, Any], answer: str, right: list[str]) -> None:
    for scoring in ("paper", "robust"):
        response = f"Therefore, the answer is {answer}."
        is_right = scoring in right
        assert score_with(scorer, doc, response, scoring).correct is is_right


@pytest.mark.parametrize(
    ("doc", "outcome", "values"),
    [
        (
            NUMBER,
            Outcome(status=Status.ok, value="12.5", number=12.5, is_number=True),
            {"acc": 1.0, "no_answer": 0.0, "execution_rate": 1.0},
        ),
        (NUMBER, Outcome(status=Status.ok, value="about $12.5"), {"acc": 1.0}),
        (NUMBER, Outcome(status=Status.ok, value="(12.5, 3)"), {"acc": 1.0}),
        (
            NUMBER,
            Outcome(status=Status.ok, value="nan", number=float("nan"), is_number=True),
            {"acc": 0.0, "no_answer": 1.0},
        ),
        (VERDICT, Outcome(status=Status.ok, value="True", number=1.0), {"acc": 1.0}),
        (
            {**VERDICT, "ground_truth": 0.0},
            Outcome(status=Status.ok, value="0.5", number=0.5, is_number=True),
            {"acc": 0.0},
        ),
        (NUMBER, Outcome(status=Status.timeout), {"acc": 0.0, "execution_rate": 0.0}),
        (NUMBER, Outcome(status=Status.broken), {"acc": None, "unscored": 1.0}),
    ],
)
def test_results_of_programs(
    doc: dict[str, Any], outcome: Outcome, values: dict[str, float | None]
) -> None:
    for scoring in ("paper", "robust"):
        reading = scorer.read(doc, Ran("", (outcome,)), scoring=scoring)
        assert scorer.metric_values(doc, [reading]).items() >= values.items()

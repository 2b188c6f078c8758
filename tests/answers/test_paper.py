"""The authors' readings, defects included; more of them are rows of the case files."""

from typing import Any

import pytest

from fin_tasks.answers import paper

FENCED = "```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("answer", "truth", "near"),
    [(100.0, 100.4, True), (1.0, 100.0, True), (100.0, 1.0, True), (100.0, 101.0, False), (0.0, 0.0, False)],
)
def test_the_tolerance_is_blind_to_a_factor_of_100(answer: float, truth: float, near: bool) -> None:
    assert paper.near_marked(answer, truth) is near


@pytest.mark.parametrize(
    ("extract", "response", "program"),
    [
        (paper.xfinbench_program, f"{FENCED}\n```python\nuse math\n``` done", "import math\n\nuse math\n"),
        (paper.xfinbench_program, "```python\nscipy math", "import math\nimport scipy\n\nscipy math"),
        (paper.xfinbench_program, "no fence ```\ny\n```", "no fence ```\ny\n```"),
        (paper.financemath_program, "", None),
        (paper.financemath_program, "import argparse", None),
        (paper.financemath_program, f"```\nfirst\n```\n{FENCED}\n```python\nlast\n```", "x = 1"),
        (paper.financemath_program, "```Python\nx\n```", "Python\nx"),
        (paper.financemath_program, "    x = 1\n    return x\n```\nOne.", "def solution():\n    x = 1\n    return x"),
        (paper.financemath_program, "return 1", "def solution():\n    return 1"),
        (
            paper.financemath_program,
            "```python\ndef solution():\n    return 1",
            "python\ndef solution():\n    return 1",
        ),
    ],
)
def test_programs(extract: Any, response: str, program: str | None) -> None:
    assert extract(response) == program

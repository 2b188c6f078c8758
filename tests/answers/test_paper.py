"""The authors' readings, defects included."""

import pytest

from fin_tasks.answers.paper import (
    financemath_program,
    marked_letter,
    marked_number,
    marked_verdict,
    near_marked,
    xfinbench_program,
)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Therefore, my answer is true.", 1),
        ("Therefore, my answer is FALSE", 0),
        ("Therefore, my answer is incorrect.", 1),
        ("Therefore, my answer is. True", None),
        ("The answer is true.", None),
        ("Therefore, my answer is true. Therefore, my answer is false.", 0),
    ],
)
def test_a_verdict_is_read_up_to_the_first_full_stop(reply: str, verdict: int | None) -> None:
    assert marked_verdict(reply)[0] == verdict


@pytest.mark.parametrize(
    ("reply", "letter"),
    [("Therefore, my answer is C.", "C"), ("Therefore, my answer is D, not A.", "A"), ("C", None)],
)
def test_the_first_letter_of_the_alphabet_wins(reply: str, letter: str | None) -> None:
    assert marked_letter(reply)[0] == letter


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Therefore, my answer is [12.5%].", 12.5),
        ("Therefore, my answer is 12", 12.0),
        ("Therefore, my answer is [1] or [-2]", -2.0),
        ("Therefore, my answer is [1/2]", None),
        ("Therefore, my answer is [" + "9" * 400 + "]", None),
        ("[3]", None),
    ],
)
def test_a_number_is_read_from_the_last_brackets(reply: str, number: float | None) -> None:
    value, reason = marked_number(reply)
    assert value == number
    assert bool(reason) == (number is None)


@pytest.mark.parametrize(
    ("answer", "truth", "near"),
    [(100.0, 100.4, True), (1.0, 100.0, True), (100.0, 1.0, True), (100.0, 101.0, False), (0.0, 0.0, False)],
)
def test_the_tolerance_is_blind_to_a_factor_of_100(answer: float, truth: float, near: bool) -> None:
    assert near_marked(answer, truth) is near


FENCED = "```python\nx = 1\n```"


@pytest.mark.parametrize(
    ("response", "program"),
    [
        (f"{FENCED}\nBetter:\n```python\nuse math\n``` done", "import math\n\nuse math\n"),
        ("```python\nscipy math", "import math\nimport scipy\n\nscipy math"),
        ("no fence ```\ny\n```", "no fence ```\ny\n```"),
    ],
)
def test_xfinbench_runs_the_last_python_fence(response: str, program: str) -> None:
    assert xfinbench_program(response) == program


@pytest.mark.parametrize(
    ("response", "program"),
    [
        ("", None),
        ("import argparse", None),
        (f"```\nfirst\n```\n{FENCED}\n```python\nlast\n```", "x = 1"),
        ("```Python\nx\n```", "Python\nx"),
        ("    x = 1\n    return x\n```\nIt is one.", "def solution():\n    x = 1\n    return x"),
        ("return 1", "def solution():\n    return 1"),
        ("```python\ndef solution():\n    return 1", "python\ndef solution():\n    return 1"),
    ],
)
def test_financemath_runs_the_first_fence(response: str, program: str | None) -> None:
    assert financemath_program(response) == program

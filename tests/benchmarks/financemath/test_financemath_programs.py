"""Extraction, by the authors' rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.financemath.programs import extract_program

DEFINED = "def solution():\n    return 2"


@pytest.mark.parametrize(
    ("output", "program"),
    [
        ("", None),
        (" \n\t", None),
        (f"Here:\n```python\n{DEFINED}\n```\nDone.", DEFINED),
        (f"```\n{DEFINED}\n```", DEFINED),
        (f"```\nprint(1)\n```\n```python\n{DEFINED}\n```", DEFINED),
        (f"```python\n{DEFINED}\n```\n```python\nprint(solution())\n```", DEFINED),
        ("```Python\nx = 1\n```", "Python\nx = 1"),
        ("```python\nx = 1\n```", "x = 1"),
        ("```python\n    x = 1\n```", "    x = 1"),
        (DEFINED, DEFINED),
        (f"{DEFINED}\n```", DEFINED),
        (f"{DEFINED}\n```\nProse.", f"{DEFINED}\n```\nProse."),
        (f"```python\n{DEFINED}", f"python\n{DEFINED}"),
        ("    x = 1\n    return x\n```\nProse.", "def solution():\n    x = 1\n    return x"),
        ("    x = 1\n    return x", "def solution():\n    x = 1\n    return x"),
        (" x = 1\n return x", "def solution():\n    x = 1\n return x"),
        ("return 3", "def solution():\n    return 3"),
        (f"import math\n\n{DEFINED}", f"import math\n\n{DEFINED}"),
    ],
)
def test_extract(output: str, program: str | None) -> None:
    assert extract_program(output) == program


@given(st.text(st.sampled_from("`p \nxython#")))
def test_any_text_gives_a_text_or_nothing(output: str) -> None:
    assert (extract_program(output) is None) == (not output.strip())

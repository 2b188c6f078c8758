"""What XFinBench's authors make of programs; tests/cases/xfinbench.jsonl has their readings of words."""

from typing import Any

import pytest
from case_files import name_of, rows

from fin_tasks.benchmarks.short_answers import (
    MARKER,
    RETURN_RESULT,
    sandboxed_program,
)


@pytest.mark.parametrize("row", rows("xfinbench_programs"), ids=name_of)
def test_programs(row: dict[str, Any]) -> None:
    ours = sandboxed_program(row["response"])
    imports, found, rest = ours.partition(row["program"])
    assert (found, rest) == (row["program"], RETURN_RESULT)
    assert all(" import " in f" {line}" for line in imports.splitlines())


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("return '5'", f"{MARKER} 5"),
        ("return 'x' * 3000 + '[5]'", f"{MARKER} {'x' * 797}[5]"),
        ("return [5]", [5]),
        ("return 5", 5),
    ],
)
def test_only_a_text_goes_behind_the_marker(code: str, result: object) -> None:
    names: dict[str, Any] = {}
    exec(sandboxed_program(f"```python\ndef solution():\n    {code}\n```"), names)  # noqa: S102 - our own code
    assert names["solution"]() == result


@pytest.mark.parametrize(
    ("body", "imported"),
    [
        ("return np.sum([1])", "import numpy as np\n"),
        ("return pd .Series([1]).sum()", "import pandas as pd\n"),
        ("pd = 0.5; return pd", ""),
        ("return datetime", "from datetime import datetime\n"),
    ],
)
def test_only_names_in_use_are_imported(body: str, imported: str) -> None:
    program = f"\ndef solution():\n    {body}\n"
    assert sandboxed_program(f"```python{program}```").startswith(imported + program)

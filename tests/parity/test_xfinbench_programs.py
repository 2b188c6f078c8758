"""Programs in the sandbox give the answers that a plain interpreter gives them by the authors' rules."""

import contextlib
import csv
import io
import json
import math
import os
import random
import signal
import sys
import warnings
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fin_tasks.benchmarks.xfinbench.score import programs, read
from fin_tasks.sandbox import Ran, Runner, open_runner

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "financemath" / "pot"
MARKER = "Therefore, my answer is"
TIME_LIMIT_S = 3
DOC = {"task": "calcu", "mode": "pot", "choices": []}
SCRIPT_NAMES = {
    "np": np,
    "pd": pd,
    "random": random,
    "json": json,
    "csv": csv,
    "os": os,
    "sys": sys,
    "datetime": datetime,
}

FENCED = "```python\ndef solution():\n    {}\n```"
HAND_MADE = [
    "def solution():\n    return 4\n```\nIt returns 4.",
    "def solution():\n    return 4",
    "```\ndef solution():\n    return 4\n```",
    "Text.\n```py\ndef solution():\n    return 4\n```",
    "    return 4\n```",
    "return 4",
    "",
    "```python\n```",
    "The answer is 4.",
    "```python\ndef solution():\n    return 1\n```\n```python\ndef solution():\n    return 2\n```",
    "```python\ndef solution():\n    return 1\n```\n```python\nprint(solution())\n```",
    FENCED.format("return np.mean([1, 2, 4])"),
    FENCED.format("return np.int64(3)"),
    FENCED.format("return np.float32(0.1)"),
    FENCED.format("return float(pd.Series([1, 2]).sum())"),
    FENCED.format("random.seed(3); return random.randint(1, 1000)"),
    FENCED.format("return datetime(2024, 3, 1).toordinal()"),
    FENCED.format("return datetime.datetime(2024, 3, 1).day"),
    FENCED.format("return len(json.dumps([1]))"),
    FENCED.format("return math.sqrt(2)"),
    FENCED.format("return scipy.stats.norm.cdf(0.5)"),
    FENCED.format("return statistics.mean([1, 2])"),
    FENCED.format("return '5'"),
    FENCED.format("return 'the result is [12.5]'"),
    FENCED.format("return '[3]'"),
    FENCED.format("return '[1] [2'"),
    FENCED.format("return '$1,234.50'"),
    FENCED.format("return '12.5%'"),
    FENCED.format("return '1/2'"),
    FENCED.format("return '1.2.3'"),
    FENCED.format("return 'no digits'"),
    FENCED.format("return ''"),
    FENCED.format("return '5\\n6'"),
    FENCED.format("return 'first [1]. Therefore, my answer is [2]. So'"),
    FENCED.format("return 'x' * 5000 + '[7]'"),
    FENCED.format("return [3]"),
    FENCED.format("return (3,)"),
    FENCED.format("return {'answer': 3}"),
    FENCED.format("return None"),
    FENCED.format("return True"),
    FENCED.format("return 10 ** 400"),
    FENCED.format("return float('inf')"),
    FENCED.format("return -0.0"),
    FENCED.format("return 5e-324"),
    FENCED.format("return 1 / 0"),
    FENCED.format("raise SystemExit"),
    FENCED.format("return undefined"),
    "```python\nimport datetime\ndef solution():\n    return datetime.date(2024, 1, 2).day\n```",
    "```python\npd = 0.02\ndef solution():\n    return pd * 100\n```",
    "```python\nx = 'unclosed\ndef solution():\n    return 1\n```",
    '```python\n"""unclosed\ndef solution():\n    return 1\n```',
    "```python\ndef solution():\n    return 1\n# the end```",
    "```python\ndef solution(x):\n    return x\n```",
    "```python\nsolution = 4\n```",
    "```python\nsolution = lambda: 4\n```",
    "```python\ndef solution():\n    return 4\nval_ = '9'\n```",
]


def run_plainly(response: str) -> object:
    """Return what `solution()` returns in this process; 0 if the program fails."""
    # On a busy machine, to import it first takes longer than a program may.
    import scipy.stats  # noqa: F401

    program = response.split("```python")[-1].split("```")[0]
    program += "\nval_ = solution()"
    if "scipy" in program:
        program = f"import scipy\n{program}"
    if "math" in program:
        program = f"import math\n{program}"
    names: dict[str, Any] = {**SCRIPT_NAMES, "__name__": "program"}

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(TIME_LIMIT_S)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(program, names)  # noqa: S102 - recorded programs
    except BaseException:  # noqa: BLE001 - a program may fail in any way
        return 0
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return names["val_"]


def expected_answer(response: str) -> float | None:
    """Return the authors' answer: a text is read behind the marker, every other result is a number or none."""
    result = run_plainly(response)
    if isinstance(result, str):
        behind = f"{MARKER} {result}".split(MARKER)[-1]
        written = behind.split("[")[-1].split("]")[0]
        result = "".join(char for char in written if char in "-./0123456789")
    try:
        number = float(result)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def sandboxed_answers(responses: list[str], runner: Runner) -> list[float | None]:
    made = [programs(DOC, response, scoring="paper")[0] for response in responses]
    answers = []
    for response, outcome in zip(responses, runner.run(made), strict=True):
        reading = read(DOC, Ran(response, (outcome,)), scoring="paper")
        assert not reading.unscored, outcome
        answers.append(reading.answer)
    return answers


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner(workers=2) as opened:
        yield opened


def test_hand_made_programs(runner: Runner) -> None:
    expected = [expected_answer(response) for response in HAND_MADE]
    answers = sandboxed_answers(HAND_MADE, runner)
    for response, answer, right in zip(HAND_MADE, answers, expected, strict=True):
        assert answer == right, response


@pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}"
)
@pytest.mark.parametrize(
    "file", sorted(DATA.glob("*.json")), ids=lambda file: file.stem
)
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.thorough)])
def test_recorded_programs(file: Path, step: int, runner: Runner) -> None:
    rows = json.loads(file.read_text(encoding="utf-8"))[::step]
    responses = [row["output"][0] for row in rows]
    expected = [expected_answer(response) for response in responses]
    answers = sandboxed_answers(responses, runner)
    for response, answer, right in zip(responses, answers, expected, strict=True):
        assert answer == right, response

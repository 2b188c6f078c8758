"""A program that forges its result cannot make a scorer fail."""

import json
from typing import Any

import pytest
from forged_frames import forged_frames
from hypothesis import example, given, settings

from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.sandbox import Outcome, Ran, Status, open_runner
from fin_tasks.sandbox.process import decode_frame

FORGERIES = {
    "text as a number": """\
import os
def solution():
    os.write(3, b'ok\\n1\\n3.0\\nabc')
    os._exit(0)
""",
    "text as a number that has no float": """\
import os
def solution():
    os.write(3, b'ok\\n1\\n\\nabc')
    os._exit(0)
""",
    "round replaced": """\
import builtins
class Poison(float):
    def __repr__(self):
        return 'abc'
def solution():
    builtins.round = lambda *_: Poison(3)
    return 3.25
""",
    "repr replaced": """\
import builtins
def solution():
    builtins.repr = lambda _: 'abc'
    return 3.25
""",
}
REFERENCE = Outcome(status=Status.ok, value=str([[float(n)] for n in range(1, 25)]))


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    with open_runner(workers=1) as runner:
        return runner.run(list(FORGERIES.values()))


TASKS = (
    "xfinbench_calc_pot",
    "financemath_pot",
    "financereasoning_easy_pot",
    "bizbench_fincode",
    "bizbench_formulaeval",
)


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> tuple[Any, Document]:
    """Return the scorer of a task, and a document that asks for a program."""
    file = TaskFile(request.param)
    docs, _ = file.load({"source": "sample"})
    return file.scorer, docs[0]


@pytest.mark.parametrize("scoring", ["paper", "robust"])
def test_a_forged_result_is_scored(
    task: tuple[Any, Document], scoring: str, outcomes: list[Outcome]
) -> None:
    for outcome in outcomes:
        assert_scored(*task, outcome, scoring)


@pytest.mark.parametrize("scoring", ["paper", "robust"])
@settings(max_examples=25)
@given(frame=forged_frames())
@example(frame=b"ok\n1\n3.0\nabc")
def test_no_frame_makes_a_scorer_fail(
    task: tuple[Any, Document], scoring: str, frame: bytes
) -> None:
    assert_scored(*task, decode_frame(frame), scoring)


def assert_scored(scorer: Any, doc: Document, outcome: Outcome, scoring: str) -> None:
    outcomes = (outcome, REFERENCE) if doc.get("kind") == "code" else (outcome,)
    reading = scorer.read(doc, Ran("", outcomes), scoring=scoring)
    assert json.dumps(reading.to_dict(), allow_nan=False)
    scorer.compare(doc, reading)
    values = scorer.metric_values(doc, [reading])
    assert values["acc"] in (0.0, 1.0, None)

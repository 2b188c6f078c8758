"""A program that forges its result cannot make a scorer fail."""

import json
from typing import Any

import pytest
from forged_frames import forged_frames
from hypothesis import example, given, settings

from fin_tasks.benchmarks.bizbench import data as bizbench_data
from fin_tasks.benchmarks.bizbench import score as bizbench
from fin_tasks.benchmarks.financemath import data as financemath_data
from fin_tasks.benchmarks.financemath import score as financemath
from fin_tasks.benchmarks.xfinbench import data as xfinbench_data
from fin_tasks.benchmarks.xfinbench import score as xfinbench
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


def first_document(splits: dict[str, Any]) -> dict[str, Any]:
    (documents,) = splits.values()
    document: dict[str, Any] = documents[0]
    return document


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    with open_runner(workers=1) as runner:
        return runner.run(list(FORGERIES.values()))


@pytest.fixture(
    scope="module", params=["xfinbench", "financemath", "fincode", "formulaeval"]
)
def scorer(request: pytest.FixtureRequest) -> tuple[Any, dict[str, Any]]:
    """Return a benchmark's scorer, and a document that asks for a program."""
    if request.param == "xfinbench":
        splits = xfinbench_data.load(subset="calc", mode="pot", source="sample")
        return xfinbench, first_document(splits)
    if request.param == "financemath":
        return financemath, first_document(
            financemath_data.load(mode="pot", source="sample")
        )
    mode = {"fincode": "pot", "formulaeval": "code"}[request.param]
    splits = bizbench_data.load(part=request.param, mode=mode, source="sample")
    return bizbench, first_document(splits)


@pytest.mark.parametrize("scoring", ["paper", "robust"])
def test_a_forged_result_is_scored(
    scorer: tuple[Any, dict[str, Any]], scoring: str, outcomes: list[Outcome]
) -> None:
    module, document = scorer
    for outcome in outcomes:
        assert_scored(module, document, outcome, scoring)


@pytest.mark.parametrize("scoring", ["paper", "robust"])
@settings(max_examples=25)
@given(frame=forged_frames())
@example(frame=b"ok\n1\n3.0\nabc")
def test_no_frame_makes_a_scorer_fail(
    scorer: tuple[Any, dict[str, Any]], scoring: str, frame: bytes
) -> None:
    module, document = scorer
    assert_scored(module, document, decode_frame(frame), scoring)


def assert_scored(
    module: Any, document: dict[str, Any], outcome: Outcome, scoring: str
) -> None:
    outcomes = (outcome, REFERENCE) if document.get("kind") == "code" else (outcome,)
    response = Ran("", outcomes)
    reading = module.read(document, response, scoring=scoring)
    assert json.dumps(reading.to_dict(), allow_nan=False)
    module.compare(document, reading)
    values = module.metric_values(document, [reading])
    assert values["acc"] in (0.0, 1.0, None)

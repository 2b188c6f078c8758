"""Functions: found in questions and responses, tried on the same arguments, compared by what they return."""

import ast
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks import sandbox
from fin_tasks.benchmarks.bizbench.formulas import programs_of, reference_of, score_function
from fin_tasks.benchmarks.bizbench.functions import finished, read_stub
from fin_tasks.benchmarks.bizbench.inputs import CALLS, Call, calls_for
from fin_tasks.sandbox import Outcome, Status

MARGIN = "def margin(profit, sales):\n    '''Profit as a share of sales.'''\n"
RIGHT = "return profit / sales"


@pytest.fixture(scope="module")
def runner() -> Iterator[sandbox.Runner]:
    with sandbox.open_runner() as opened:
        yield opened


def doc(stub: str = MARGIN, reference: str = RIGHT) -> dict[str, Any]:
    return {"kind": "code", "stub": stub, "program": reference_of(stub, [reference])}


def calls(signature: str) -> tuple[tuple[Call, ...], ...]:
    (function,) = ast.parse(f"def f({signature}): pass").body
    assert isinstance(function, ast.FunctionDef)
    return calls_for(function.args, "f")


def score(runner: sandbox.Runner, document: dict[str, Any], response: str) -> Any:
    return score_function(document, runner.run(programs_of(document, response)))


class TestStubs:
    @pytest.mark.parametrize(
        ("question", "head", "begun", "broken_off"),
        [
            (MARGIN, "def margin(profit, sales):", False, False),
            (f"Finish it.\n\n```python\n{MARGIN}    pass\n```\nThanks.", "def margin(profit, sales):", False, False),
            ("def f(a):\n    '''Text.\n\nat the margin\n    '''\n    return", "def f(a):", False, False),
            (
                "def f(a,\n      b=2) -> float:\n    raise NotImplementedError",
                "def f(a,\n      b=2) -> float:",
                False,
                False,
            ),
            ("def f(a):\n    b = a * 2\n    return", "def f(a):", True, True),
            ("def f(a):\n    b = a * 2\n    return b", "def f(a):", True, False),
            ("def f(a):\n    b =", "def f(a):", False, True),
            ("def f(a): return a", "def f(a):", True, False),
            ("def f(a):  # doubles: it\n    ...", "def f(a):", False, False),
        ],
    )
    def test_what_a_question_shows(self, question: str, head: str, begun: bool, broken_off: bool) -> None:
        stub = read_stub(question)
        assert stub is not None
        assert stub.head == head
        assert (bool(stub.begun), bool(stub.broken_off)) == (begun, broken_off)

    def test_code_above_the_function_comes_along(self) -> None:
        stub = read_stub(
            "Use it:\n\nimport math\n\ndef half(x):\n    return x / 2\n\ndef f(x):\n    '''Root of half.'''\n"
        )
        assert stub is not None
        assert (stub.name, stub.before) == ("f", "import math\n\ndef half(x):\n    return x / 2")
        source = finished(stub, "    return math.sqrt(half(x))")
        namespace: dict[str, Any] = {}
        exec(source or "", namespace)  # noqa: S102 - the code above
        assert namespace["f"](8) == 2.0

    @pytest.mark.parametrize(
        "question", ["", "Write a function.", "def broken(", "def f(a, a):\n    pass x", "class A:\n"]
    )
    def test_no_function(self, question: str) -> None:
        stub = read_stub(question)
        assert stub is None or stub.name == "f"

    @given(st.text(alphabet="def f(a):\n  '\"`#=,returnimport0 "))
    def test_any_text_is_read(self, text: str) -> None:
        stub = read_stub(f"def f(a):\n{text}")
        assert stub is None or stub.name
        margin = read_stub(MARGIN)
        assert margin is not None
        source = finished(margin, text)
        assert source is None or source

    def test_nested_brackets_without_end_do_no_harm(self) -> None:
        margin = read_stub(MARGIN)
        assert margin is not None
        assert finished(margin, "(" * 100_000) is None
        assert finished(margin, "-" * 15_000 + "1") is None


class TestArguments:
    def test_names_defaults_and_annotations_decide(self) -> None:
        likely = calls(
            "cash_flows, rate, years, price, n: float, units: int, x=0.05, k=3, on=True, how='end', w: list = None"
        )
        values = likely[0][0].positional
        assert [type(value) for value in values] == [list, float, int, float, float, int, float, int, bool, str, list]
        assert 0.01 <= values[1] <= 0.3 and 2 <= values[2] <= 9 and 10 <= values[3] <= 1000
        assert 0.01 <= values[6] <= 0.3 and values[9] == "end"

    def test_a_name_may_mislead(self) -> None:
        shapes = calls("dividends, earnings")
        assert [[type(value) for value in shape[0].positional] for shape in shapes] == [
            [list, float],
            [list, list],
            [float, float],
        ]

    def test_the_same_in_every_run_and_by_place(self) -> None:
        assert calls("a, b") == calls("a, b")
        assert [call.positional for call in calls("a, b")[0]] == [call.positional for call in calls("c, d")[0]]
        assert len({call.positional for call in calls("a, b")[0]}) == CALLS

    def test_stars_and_names(self) -> None:
        (call, *_) = calls("a, *values, rate, months=12")[0]
        assert len(call.positional) == 4
        assert [name for name, _ in call.named] == ["rate", "months"]


class TestScores:
    def test_the_reference_may_be_whole_or_what_is_missing(self) -> None:
        whole = "def margin(profit, sales):\n    return profit / sales"
        assert reference_of(MARGIN, ["", whole]) == whole
        for text in (RIGHT, f"    {RIGHT}", "profit / sales", f"```python\n{RIGHT}\n```"):
            assert ast.dump(ast.parse(reference_of(MARGIN, [text]))) == ast.dump(ast.parse(whole))
        assert reference_of("Write the margin.", [whole]) == whole
        assert reference_of(MARGIN, ["12.5", "see above", ""]) == ""

    def test_the_model_never_shares_a_process_with_the_truth(self) -> None:
        mine, reference = programs_of(doc(), "return 1 - sales / sales")
        assert mine is not None and reference is not None
        assert "profit / sales" not in mine
        assert "profit / sales" in reference

    def test_a_program_that_tells_what_was_never_asked_is_wrong(self, runner: sandbox.Runner) -> None:
        takes_over = "```python\ndef margin(profit, sales):\n    raise SystemExit\n```"
        result, outcome = score(runner, doc(), takes_over)
        assert (result.correct, outcome.status) == (False, Status.exception)
        lying = Outcome(status=Status.ok, value="[1.0, 2.0]")
        (_, reference) = runner.run(programs_of(doc(), RIGHT))
        assert score_function(doc(), (lying, reference))[0].correct is False
        for value in ("[" * 5000, "__import__('os')", "", None, "{1: 2}"):
            odd = Outcome(status=Status.ok, value=value)
            assert score_function(doc(), (odd, reference))[0].correct is False

    def test_one_call_that_disagrees_is_wrong(self, runner: sandbox.Runner) -> None:
        result, _ = score(runner, doc(), "return profit / sales if sales > 300 else 0")
        assert result.correct is False
        assert result.reason.startswith("wrong: agrees on ")

    @pytest.mark.parametrize(("factor", "right"), [("(1 + 1e-8)", True), ("(1 + 1e-5)", False)])
    def test_agreement_is_relative(self, runner: sandbox.Runner, factor: str, right: bool) -> None:
        assert score(runner, doc(), f"return profit / sales * {factor}")[0].correct is right

    def test_lists_and_texts_are_compared_part_by_part(self, runner: sandbox.Runner) -> None:
        growth = doc("def growth(values):\n    pass", "return [b / a - 1 for a, b in zip(values, values[1:])]")
        same = "return [(b - a) / a for a, b in zip(values, values[1:])]"
        assert score(runner, growth, same)[0].answer == f"{CALLS}/{CALLS}"
        assert score(runner, growth, "return values")[0].correct is False
        named = doc("def verdict(npv):\n    pass", "return 'accept' if npv > 0 else 'reject'")
        assert score(runner, named, "return 'accept'")[0].correct is True
        assert score(runner, named, "return 'reject'")[0].correct is False
        both = doc("def both(a, b):\n    pass", "return {'sum': a + b, 'gap': a - b}")
        assert score(runner, both, "return {'sum': b + a, 'gap': a - b}")[0].correct is True

    def test_numpy_is_there_where_the_sandbox_has_it(self, runner: sandbox.Runner) -> None:
        if runner.tier == "monty":
            pytest.skip("this tier has no numpy")
        mean = doc("def mean(values):\n    pass", "return np.mean(values)")
        assert score(runner, mean, "return sum(values) / len(values)")[0].correct is True

    @pytest.mark.parametrize("reference", ["", "return missing", "return None", "return float('nan')"])
    def test_without_a_reference_that_gives_anything_a_row_is_unscored(
        self, runner: sandbox.Runner, reference: str
    ) -> None:
        result, outcome = score(runner, doc(reference=reference), RIGHT)
        assert result.correct is None
        assert result.reason.startswith("unscored: reference: ")
        assert outcome.status is Status.ok

    def test_calls_on_which_the_reference_raises_do_not_count(self, runner: sandbox.Runner) -> None:
        partly = doc(reference="return profit / sales if profit > 300 else 1 / 0")
        result, _ = score(runner, partly, RIGHT)
        agreed, counted = map(int, str(result.answer).split("/"))
        assert result.correct is True
        assert 0 < agreed == counted < CALLS

    @pytest.mark.parametrize("status", [Status.broken, Status.unsupported])
    def test_what_could_not_be_tried_is_unscored(self, runner: sandbox.Runner, status: Status) -> None:
        (mine, reference) = runner.run(programs_of(doc(), RIGHT))
        failed = Outcome(status=status, detail="no luck")
        assert score_function(doc(), (failed, reference))[0].correct is None
        assert score_function(doc(), (mine, failed))[0].correct is None

    def test_answers_go_into_the_samples_file(self, runner: sandbox.Runner) -> None:
        result, _ = score(runner, doc(), RIGHT)
        assert json.dumps(result.answer) == f'"{CALLS}/{CALLS}"'

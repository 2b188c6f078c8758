"""What the model is asked."""

from typing import Any

import pytest

from fin_tasks.benchmarks.bizbench import prompts
from fin_tasks.benchmarks.bizbench.prompts import MARKER, fill, sha256
from fin_tasks.benchmarks.bizbench.targets import as_solution, target_of

STUB = "def ratio(a, b):\n    '''Divide a by b.'''\n"


@pytest.mark.parametrize(("kind", "mode"), [("choice", "cot"), ("number", "cot"), ("number", "pot"), ("code", "code")])
def test_the_document_stands_before_the_question_and_the_form_behind(kind: Any, mode: str) -> None:
    prompt = fill(kind=kind, mode=mode, question="How much?", context="Sales: 5", options=("low", "high"))
    assert prompt.user.startswith("Document:\nSales: 5\n\n")
    assert prompt.user.index("Sales") < prompt.user.index("How much?")
    assert (MARKER in prompt.user) == (mode == "cot")
    assert ("A. low\nB. high" in prompt.user) == (kind == "choice")
    assert ("[<number>]" in prompt.user) == (kind == "number" and mode == "cot")
    assert ("def solution():" in prompt.user) == (mode == "pot")
    assert prompt.system and prompt.cue


def test_without_a_document_nothing_speaks_of_one() -> None:
    for kind, mode in (("choice", "cot"), ("number", "cot"), ("number", "pot"), ("code", "code")):
        prompt = fill(kind=kind, mode=mode, question="How much?", context="\n", options=("a", "b"))  # type: ignore[arg-type]
        assert "ocument" not in prompt.user


def test_field_names_in_a_question_are_left_as_they_are() -> None:
    question = "Is {options} or {document} {0} meant?"
    prompt = fill(kind="choice", mode="cot", question=question, context="{question}", options=("{hint}", "x"))
    assert question in prompt.user
    assert "Document:\n{question}\n" in prompt.user
    assert "A. {hint}" in prompt.user


def test_letters_before_options_stand_once() -> None:
    prompt = fill(kind="choice", mode="cot", question="Which?", options=("A. low", "B. high"))
    assert "\nA. low\nB. high\n" in prompt.user


def test_code_is_fenced_and_begun_for_base_models() -> None:
    prompt = fill(kind="code", mode="code", question=STUB)
    assert f"```python\n{STUB.rstrip()}\n```" in prompt.user
    assert prompt.cue == "```python\ndef ratio(a, b):"
    fenced = fill(kind="code", mode="code", question=f"Do it:\n```python\n{STUB}```")
    assert fenced.user.count("```") == 2
    assert fill(kind="choice", mode="cot", question=STUB).user.startswith("Question: \n```python\ndef ratio")


def test_the_hash_covers_every_template(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {sha256()}
    monkeypatch.setitem(prompts._SYSTEM, "cot", "x")
    before.add(sha256())
    monkeypatch.setitem(prompts._USER, ("number", "pot"), "x")
    before.add(sha256())
    monkeypatch.setattr(prompts, "_DOCUMENT", "x")
    before.add(sha256())
    assert len(before) == 4


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("1,234", "[1,234]"),
        ("(5.2)", "[-5.2]"),
        ("$ 4.5 million", "[$ 4.5 million]"),
        ("1e-05", "[0.00001]"),
        ("12.3%", "[12.3%]"),
    ],
)
def test_targets_say_what_the_authors_reading_takes_for_the_truth(answer: str, target: str) -> None:
    assert target_of(kind="number", mode="cot", answer=answer) == f"{MARKER} {target}."


@pytest.mark.parametrize(
    "program",
    [
        "x = 2\nanswer = x * 3",
        "x = 2\nprint(x * 3)",
        "\n\nx = 2\nx * 3",
        "x = 2\nx *= 3",
        "x: int = 6",
        "def six():\n    return 6\nprint('it is', six())",
        "def solution():\n    return 6",
    ],
)
def test_gold_programs_of_any_form_become_a_solution(program: str) -> None:
    namespace: dict[str, Any] = {}
    exec(as_solution(program), namespace)  # noqa: S102 - the programs above
    assert namespace["solution"]() == 6


@pytest.mark.parametrize("program", ["", "x = (", "import math", "for i in range(3):\n    pass", "print()"])
def test_what_is_no_gold_program(program: str) -> None:
    assert as_solution(program) == ""

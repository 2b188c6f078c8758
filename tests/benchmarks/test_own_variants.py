"""Variants of a user's own questions: found by their programs, and asked with all else that a question has."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks import own_variants
from fin_tasks.benchmarks import target_score as scorer
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.benchmarks.own_variants import changed_questions, own_sources
from fin_tasks.errors import DataError
from fin_tasks.variants.build import Variant
from fin_tasks.variants.folder import write_variants

BANK = Benchmark(name="bank", title="Bank", description="", version=1, package="bank")
PROGRAM = "def solution():\n    return 200 * 0.05"
QUESTION: dict[str, Any] = {
    "id": "q1",
    "topic": "Loans",
    "kind": "number",
    "question": "What does 5 percent of 200 come to?",
    "answer": "10",
    "target": "Therefore, my answer is 10.",
    "program": PROGRAM,
}


class OneTask:
    """A task file of the benchmark."""

    benchmark = BANK
    scorer = scorer
    docs: tuple[dict[str, Any], ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name

    def load(self, metadata: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        return list(self.docs), {"data": {"revision": "r1"}}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the benchmark have these documents."""

    def set_documents(*docs: dict[str, Any]) -> None:
        monkeypatch.setattr(OneTask, "docs", docs)
        monkeypatch.setattr(own_variants, "task_names", lambda: ["bank"])
        monkeypatch.setattr(own_variants, "TaskFile", OneTask)

    return set_documents


def test_questions_with_a_program_are_sources(ask: Any) -> None:
    with_picture = {**QUESTION, "id": "q2", "image_path": "chart.png"}
    without_program = {**QUESTION, "id": "q3", "program": None}
    ask(QUESTION, with_picture, without_program)
    (source,), revisions = own_sources(BANK)
    assert (source.id, source.truth, source.program) == ("q1", 10.0, PROGRAM)
    assert revisions == {"bank": "r1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"program": None}, "expected questions with a number as answer"),
        (
            {"kind": "verdict", "target": "Therefore, my answer is true."},
            "q1: expected a number as answer beside its program",
        ),
    ],
)
def test_questions_without_a_number(
    ask: Any, change: dict[str, Any], message: str
) -> None:
    ask({**QUESTION, **change})
    with pytest.raises(DataError, match=message):
        own_sources(BANK)


def test_a_variant_has_all_else_of_its_question(tmp_path: Path) -> None:
    variant = Variant(
        id="q1~1",
        source="q1",
        question="What does 4 percent of 300 come to?",
        program="def solution():\n    return 300 * 0.04",
        truth=12.0,
        published_truth=10.0,
        changes=[],
        fields={},
    )
    write_variants(tmp_path, [variant], "bank", {"seed": 1})
    (changed,) = changed_questions([QUESTION], tmp_path, "bank")
    expected = {"id": "q1~1", "answer": "12", "topic": "Loans", "published_id": "q1"}
    assert changed["question"] == variant.question
    assert changed["program"] == variant.program
    assert json.loads(json.dumps(changed)).items() >= expected.items()
    assert changed["published_truth"] == 10.0
    with pytest.raises(DataError, match="got one of 'q1'"):
        changed_questions([{**QUESTION, "id": "q9"}], tmp_path, "bank")
    with pytest.raises(DataError, match="expected variants of other"):
        changed_questions([QUESTION], tmp_path, "other")

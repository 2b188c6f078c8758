"""The careful reader on labelled free-form responses: ours, and those of the shared data."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from case_files import rows

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY.parent / "shared" / "data"
QUESTIONS = DATA / "xfinbench" / "validation_set.csv"
LABELLED = DATA / "reader" / "labelled_responses.jsonl"
WILD = DATA / "reader" / "wild_responses.jsonl"
READER = runpy.run_path(str(REPOSITORY / "perf" / "reader.py"))


def rows_of(file: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, file.read_text().splitlines()))


def assert_reads(
    labelled: list[dict[str, Any]], *, precision: float, coverage: float
) -> None:
    """Let the reader have at least this precision and coverage."""
    outcomes = [result.outcome for result in READER["measure"](labelled)]
    n_right = outcomes.count("right")
    n_labelled = sum(row["label"] is not None for row in labelled)
    assert n_right / (n_right + outcomes.count("wrong")) >= precision
    assert n_right / n_labelled >= coverage


@pytest.mark.skipif(
    not QUESTIONS.is_file(), reason=f"the questions are not at {QUESTIONS}"
)
def test_our_labelled_responses() -> None:
    labelled = READER["with_choices"](rows("free_form"), QUESTIONS)
    ordinary = [row for row in labelled if row["set"] == "ordinary"]
    assert_reads(ordinary, precision=0.99, coverage=0.97)
    assert_reads(labelled, precision=0.98, coverage=0.85)


@pytest.mark.skipif(
    not LABELLED.is_file(), reason=f"the labelled responses are not at {LABELLED}"
)
def test_shared_labelled_responses() -> None:
    assert_reads(rows_of(LABELLED), precision=0.98, coverage=0.90)


@pytest.mark.skipif(not WILD.is_file(), reason=f"the responses are not at {WILD}")
@pytest.mark.parametrize(
    ("kind", "precision", "coverage"),
    [("number", 0.96, 0.91), ("letter", 0.99, 0.95), ("verdict", 0.99, 0.96)],
)
def test_recorded_responses_of_many_models(
    kind: str, precision: float, coverage: float
) -> None:
    of_kind = [row for row in rows_of(WILD) if row["kind"] == kind]
    assert_reads(of_kind, precision=precision, coverage=coverage)

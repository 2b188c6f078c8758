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


def precision_and_coverage(labelled: list[dict[str, Any]]) -> tuple[float, float]:
    outcomes = [result.outcome for result in READER["measure"](labelled)]
    n_right = outcomes.count("right")
    n_labelled = sum(row["label"] is not None for row in labelled)
    return n_right / (n_right + outcomes.count("wrong")), n_right / n_labelled


@pytest.mark.skipif(
    not QUESTIONS.is_file(), reason=f"the questions are not at {QUESTIONS}"
)
def test_our_labelled_responses() -> None:
    labelled = READER["with_choices"](rows("free_form"), QUESTIONS)
    ordinary = [row for row in labelled if row["set"] == "ordinary"]
    precision, coverage = precision_and_coverage(ordinary)
    assert (precision >= 0.99, coverage >= 0.97) == (True, True)
    precision, coverage = precision_and_coverage(labelled)
    assert (precision >= 0.98, coverage >= 0.85) == (True, True)


@pytest.mark.skipif(
    not LABELLED.is_file(), reason=f"the labelled responses are not at {LABELLED}"
)
def test_shared_labelled_responses() -> None:
    labelled = [
        json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()
    ]
    precision, coverage = precision_and_coverage(labelled)
    assert (precision >= 0.98, coverage >= 0.90) == (True, True)


@pytest.mark.skipif(not WILD.is_file(), reason=f"the responses are not at {WILD}")
@pytest.mark.parametrize(
    ("kind", "least_precision", "least_coverage"),
    [("number", 0.96, 0.91), ("letter", 0.99, 0.95), ("verdict", 0.99, 0.96)],
)
def test_recorded_responses_of_many_models(
    kind: str, least_precision: float, least_coverage: float
) -> None:
    labelled = [
        json.loads(line) for line in WILD.read_text(encoding="utf-8").splitlines()
    ]
    of_kind = [row for row in labelled if row["kind"] == kind]
    precision, coverage = precision_and_coverage(of_kind)
    assert (precision >= least_precision, coverage >= least_coverage) == (True, True)

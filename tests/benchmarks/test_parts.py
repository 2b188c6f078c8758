"""Figures of parts, of documents and of tasks, and how few metrics a task has."""

import json
from dataclasses import replace
from typing import Any

import pytest
from figures import figures_of
from hypothesis import example, given
from hypothesis import strategies as st

from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import all_benchmarks, benchmark_named, benchmark_of, contract
from fin_tasks.benchmarks.scored_task import document_values, summarize
from fin_tasks.benchmarks.task_file import TaskFile, task_names

TEXT = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
WORDS = "calc multi_turn paper_quantity fincode OCR recency TU risk paper"
VALUES = JSON | st.sampled_from(WORDS.split())


def dicts_with(fields: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(fields.split()), VALUES)


DOCS = dicts_with(
    "subset part capabilities math_types has_table topic_name category image_type "
    "image_style truth signal bias_type published_truth"
)
READINGS = st.lists(
    dicts_with("answer status by unscored probability scores reason units scoring"),
    max_size=3,
)
HEADLINES = st.sampled_from(["acc", "score"])


def test_a_task_has_at_most_six_metrics() -> None:
    for task in map(TaskFile, task_names()):
        metrics = list(task.metrics)
        assert len(metrics) <= 6
        assert metrics[0] in task.benchmark.headlines
        assert {"cut_off", "unscored"} <= set(metrics)


@example("bizbench", {"published_truth": 10**400}, [{"answer": 0.5}], "acc")
@example("bizbench", {"published_truth": 1}, [{"units": 1}], "acc")
@given(st.sampled_from(sorted(all_benchmarks())), DOCS, READINGS, HEADLINES)
def test_any_sample_of_a_stranger_has_figures(
    name: str, doc: dict[str, Any], readings: list[dict[str, Any]], headline: str
) -> None:
    """Numbers that are no shares are refused later, when the rows are read."""
    metrics = {headline: 1.0, "acc_err": 0.5, "bias_index": [0.5, 0.25, 0.25]}
    values = document_values(benchmark_named(name), doc, readings, metrics)
    assert all(isinstance(figure, str) for figure in values)


def test_a_task_belongs_to_the_benchmark_with_the_longest_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bizbench = benchmark_named("bizbench")
    german = replace(bizbench, name="bizbench_de")
    known = {"bizbench": bizbench, "bizbench_de": german}
    monkeypatch.setattr(contract, "all_benchmarks", lambda: known)
    assert benchmark_of("bizbench_de_fincode") is benchmark_of("bizbench_de") is german
    assert benchmark_of("bizbench_fincode") is bizbench
    assert benchmark_of("bizbenches") is None


def test_means_are_over_the_documents_of_a_part() -> None:
    rows: list[dict[str, Any]] = [{"acc_TU": 1.0}, {"acc_TU": 0.0, "acc_TR": None}, {}]
    figures = summarize(benchmark_named("xfinbench"), rows)
    assert figures == {"acc_TU": {"value": 0.5, "n": 2}}


def test_the_calibration_error_is_over_all_pairs() -> None:
    one = {"ece": [[0.9, 1]], "mean_probability": 0.9}
    rows = [one, {"ece": [[0.7, 0], [0.7, 1]]}, {}]
    figures = summarize(benchmark_named("dynostock"), rows)
    assert figures["ece"] == {"value": pytest.approx((0.1 + 0.4) / 3), "n": 2}
    assert figures["mean_probability"] == {"value": 0.9, "n": 1}


def test_dimensions_of_a_conversation() -> None:
    doc = {"part": "multi_turn", "image_type": "table", "image_style": ""}
    read = {"scoring": "paper", "scores": {"overall": 6, "creativity": 3}}
    unread: dict[str, Any] = {"scoring": "paper", "scores": {}}
    mme_finance = benchmark_named("mme_finance")
    values = document_values(mme_finance, doc, [read, unread], {"score": 30.0})
    assert (values["score_creativity"], values["score_creativity_read"]) == (15.0, 30.0)
    assert (values["score_richness"], values["score_richness_read"]) == (0.0, None)
    assert values["score_type_table"] == 30.0
    unread["scoring"] = "robust"
    robust = document_values(mme_finance, doc, [unread], {"score": None})
    assert robust["score_creativity"] is None


def test_a_category_without_a_group() -> None:
    doc = {"part": "open", "category": "Not Applicable"}
    values = document_values(benchmark_named("mme_finance"), doc, [], {"score": 80.0})
    assert values == {"score_NA": 80.0}


def test_a_failed_program_is_no_response_that_a_model_read() -> None:
    doc = {"topic_name": "risk", "mode": "pot", "exact_truth": 1.0, "ground_truth": 1.0}
    timeout = Reading(scoring="paper", answer=None, status="timeout")
    figures = figures_of("financemath", doc, [timeout])
    assert (figures["timeout"], figures["exception"]) == (1.0, 0.0)
    assert figures["acc_risk"] == 0.0
    assert "read_by_model" not in figures
    json.dumps(figures, allow_nan=False)

"""Task files, read without lm-eval, against what lm-eval makes of them."""

import importlib
import re
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from datasets import Dataset
from in_process import manager
from lm_eval.tasks._yaml_loader import load_yaml

from fin_tasks.benchmarks import task_file
from fin_tasks.benchmarks.task_file import TaskFile, task_names, version_of
from fin_tasks.errors import ConfigError

SAMPLE = {"source": "sample"}
ROW = {"id": "a", "prompt": "How much?", "target": "Two."}


def resolved(value: Any) -> Any:
    """Replace names of ours by what they name."""
    if isinstance(value, dict):
        return {key: resolved(part) for key, part in value.items()}
    if isinstance(value, list):
        return list(map(resolved, value))
    is_name = isinstance(value, str) and value.startswith("fin_tasks.")
    return resolve_name(value) if is_name else value


def test_a_file_is_read_as_lm_eval_reads_it() -> None:
    assert sorted(task_names()) == manager().all_subtasks != []
    for name in task_names():
        theirs = load_yaml(manager().task_index[name].yaml_path)
        ours = dict(TaskFile(name).config)
        ours.pop("include", None)
        assert resolved(ours) == resolved(theirs), name


def test_all_tasks_of_a_benchmark_have_its_version() -> None:
    for name in task_names():
        package = TaskFile(name).benchmark.package
        assert version_of(name) == importlib.import_module(package).VERSION


@pytest.mark.parametrize("name", ["xfinbench_text", "financemath", "mme_finance"])
def test_results_name_the_version_of_the_benchmark(name: str) -> None:
    loaded = manager().load([name])
    expected = {version_of(task) for task in loaded["tasks"]}
    assert len(expected) == 1
    assert {task.VERSION for task in loaded["tasks"].values()} == expected
    assert {group.version for group in loaded["groups"].values()} <= {str(*expected)}
    for task in loaded["tasks"].values():
        assert {task.config.metadata["provenance"]["scorer"]} == expected


@pytest.mark.parametrize("name", ["no_task", "xfinbench", "_base", "../secret", ""])
def test_a_group_or_an_unknown_name_is_no_task(name: str) -> None:
    assert version_of(name) is None
    with pytest.raises(ConfigError, match="expected a task of fin-tasks"):
        TaskFile(name)


@pytest.mark.parametrize(
    ("name", "runs_programs", "asks"),
    [
        ("xfinbench_calc", False, "answer_reader"),
        ("xfinbench_calc_pot", True, ""),
        ("bizbench_fincode", True, ""),
        ("bizbench_formulaeval", True, "answer_reader"),
        ("financemath", False, "answer_reader"),
        ("financereasoning_hard", False, "answer_reader"),
        ("financemath_pot", True, ""),
        ("mme_finance_en", False, "judge"),
        ("mme_finance_binary_zh", False, ""),
    ],
)
def test_a_task_judges_and_runs_programs_as_its_file_says(
    name: str, runs_programs: bool, asks: str
) -> None:
    task = TaskFile(name)
    assert task.runs_programs == runs_programs
    assert bool(task.judge) == (asks == "judge")
    assert task.has_answer_reader == (asks == "answer_reader")


def test_the_metrics_are_those_of_the_file() -> None:
    metrics = TaskFile("dynostock_recency_w4_text").metrics
    assert next(iter(metrics)) == "acc"
    assert not metrics["bias_index"].higher_is_better
    assert metrics["acc"].aggregate([1.0, None, 0.0]) == 0.5
    assert metrics["bias_index"].aggregate([[0.0, 1.0, 0.0], None]) == 1.0


WITHOUT_CHARTS = [
    name
    for name in task_names()
    if not re.search(r"_w\d+$|_w(?!4_)|_reading|_statement$", name)
]
"""Windows of other sizes have the metrics of the smallest. Questions about charts have their own tests."""


@pytest.mark.parametrize("name", WITHOUT_CHARTS)
def test_documents_have_the_metrics_of_the_file(name: str, own_cache: Path) -> None:
    file = TaskFile(name)
    # Drawing and wording all of them would take minutes.
    few = {"sample_n": 3, "after": "2011-06"}
    part = few if file.benchmark.name == "dynostock" else {}
    (doc, *_), _ = file.load({**SAMPLE, **part})
    reading = file.scorer.read(doc, "", scoring="robust")
    assert set(file.scorer.metric_values(doc, [reading])) >= set(file.metrics)


def test_a_task_of_ones_own_has_any_name() -> None:
    config = {**TaskFile("financemath").config, "dataset_kwargs": {"mode": "pot"}}
    task = TaskFile("mine", {**config, "task": "mine"})
    assert (task.benchmark.name, task.options) == ("financemath", {"mode": "pot"})


def test_a_task_without_our_filters() -> None:
    with pytest.raises(ConfigError, match="expected a filter_list"):
        TaskFile("unknown_task", {"task": "unknown_task"})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"prompt": "", "target": ""}], "expected documents with id or question_id"),
        ([{"id": "", "prompt": ""}], "prompt and target, got id, prompt"),
        ([ROW, {**ROW, "id": "b"}, ROW], "different ids, got 'a' more than once"),
    ],
)
def test_documents_that_no_harness_can_ask(
    rows: list[dict[str, str]], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits = {"test": Dataset.from_list(rows)}
    load = "fin_tasks.benchmarks.financemath.data.load"
    monkeypatch.setattr(load, lambda **_: splits)
    with pytest.raises(ConfigError, match=message):
        TaskFile("financemath").load({})


@pytest.mark.parametrize("text", [b"task: [", b"task: \xff", b"include: none.yaml"])
def test_a_broken_task_file_is_named(
    text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.yaml").write_bytes(text)
    monkeypatch.setattr(task_file, "task_folders", lambda: [tmp_path])
    task_file._configs.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"\.yaml: expected a task file in YAML"):
            TaskFile("broken")
    finally:
        task_file._configs.cache_clear()


def test_metadata_for_what_the_task_fixes() -> None:
    with pytest.raises(ConfigError, match="metadata sets mode, which this task fixes"):
        TaskFile("financemath").load({"mode": "pot"})


GREEDY = {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0}


@pytest.mark.parametrize(
    ("task", "sampling", "changes"),
    [
        (
            "xfinbench_mcq_visual",
            "paper",
            {"do_sample": True, "temperature": 0.6, "top_p": 0.9},
        ),
        (
            "financemath_pot",
            "paper",
            {"do_sample": True, "temperature": 1.0, "top_p": 1.0, "max_gen_toks": 512},
        ),
        ("financereasoning_hard", "paper", {"max_gen_toks": 8192}),
        ("dynostock_recency_w4", "paper", {"max_gen_toks": 512}),
        ("dynostock_authority_w20_text", "paper", {"max_gen_toks": 512}),
        (
            "dynostock_recency_w8",
            "paper_mini_gemini",
            {"do_sample": True, "temperature": 0.2, "max_gen_toks": 512},
        ),
        (
            "dynostock_recency_w8",
            "paper_minicpm",
            {"do_sample": True, "temperature": 0.7, "max_gen_toks": 512},
        ),
        (
            "dynostock_recency_w8",
            "paper_api",
            {"do_sample": True, "temperature": 1.0, "max_gen_toks": 512},
        ),
        (
            "dynostock_recency_w8",
            "paper_claude",
            {"do_sample": True, "temperature": 1.0, "max_gen_toks": 1024},
        ),
    ],
)
def test_sampling_as_the_authors_set_it(
    task: str, sampling: str, changes: dict[str, Any]
) -> None:
    metadata = {"sampling": sampling}
    expected = {**GREEDY, **changes}
    assert TaskFile(task).generation_kwargs(metadata) == expected
    theirs = TaskFile(task, load_yaml(manager().task_index[task].yaml_path))
    assert theirs.generation_kwargs(metadata) == expected


def test_all_tasks_are_asked_alike_unless_they_are_told_otherwise() -> None:
    for name in task_names():
        assert TaskFile(name).generation_kwargs({}) == GREEDY, name


@pytest.mark.parametrize("sampling", ["hot", "paper_claude", ["paper"]])
def test_other_sampling_is_refused(sampling: object) -> None:
    with pytest.raises(ConfigError, match="financemath expected one of greedy, paper"):
        TaskFile("financemath").generation_kwargs({"sampling": sampling})


def test_a_system_message_in_the_users_turn() -> None:
    for task in ("financemath", "financereasoning_easy", "bizbench_fincode"):
        own_messages, _ = TaskFile(task).load(SAMPLE)
        in_one, facts = TaskFile(task).load({**SAMPLE, "system_role": "user"})
        for doc, joined in zip(own_messages, in_one, strict=True):
            assert doc["system"]
            assert joined["system"] == ""
            assert joined["prompt"] == f"{doc['system']}\n{doc['prompt']}"
        assert facts["system_role"] == "user"
    options = {**SAMPLE, "system_role": "user"}
    (doc, *_), _ = TaskFile("xfinbench_mcq_visual").load(options)
    assert doc["prompt"].startswith("<image>\nYou")
    with pytest.raises(ConfigError, match="system_role: expected system or user, got"):
        TaskFile("financemath").load({**SAMPLE, "system_role": "none"})
    with pytest.raises(ConfigError, match="mme_finance system_role: expected system"):
        TaskFile("mme_finance_en").load(options)

"""What a task file may leave out, and documents that no harness can ask."""

from typing import Any

import pytest
from datasets import Dataset

from fin_tasks.adapters.task_defaults import complete, load_documents
from fin_tasks.benchmarks.financemath import VERSION
from fin_tasks.errors import ConfigError

ROW = {"id": "a", "prompt": "How much?", "target": "Two."}


def test_two_lines_are_enough() -> None:
    config = complete({"task": "financemath_new"})
    package = "fin_tasks.benchmarks.financemath"
    assert config["custom_dataset"] == f"{package}.data.load"
    assert config["reader"] == f"{package}.score.read"
    assert config["metadata"] == {"version": VERSION}
    assert config["test_split"] == "validation"


def test_a_file_changes_what_it_names() -> None:
    own = {"generation_kwargs": {"max_gen_toks": 9}, "num_fewshot": 2, "metadata": {"split": "x"}}
    config = complete({"task": "financemath", "reader": len, **own})
    generation = {"until": [], "max_gen_toks": 9, "do_sample": False, "temperature": 0.0}
    assert config["generation_kwargs"] == generation
    assert config["metadata"] == {"version": VERSION, "split": "x"}
    assert (config["reader"], config["num_fewshot"]) == (len, 2)


def test_a_task_of_no_benchmark() -> None:
    with pytest.raises(ConfigError, match="begins with a benchmark's"):
        complete({"task": "unknown_task"})


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({"test": {"prompt": "", "target": ""}}, "expected documents with id or question_id"),
        ({"test": {"id": "", "prompt": ""}}, "prompt and target, got id, prompt"),
        ({"test": ROW, "train": ROW}, r"documents of one split, got \['test', 'train'\]"),
    ],
)
def test_documents_that_no_harness_can_ask(splits: dict[str, Any], message: str) -> None:
    def load(**_: Any) -> dict[str, Any]:
        return {split: Dataset.from_list([row]) for split, row in splits.items()}

    with pytest.raises(ConfigError, match=message):
        load_documents("t", load, {}, {})


def test_metadata_for_what_the_task_fixes() -> None:
    with pytest.raises(ConfigError, match="metadata sets mode, which this task fixes"):
        load_documents("t", dict, {"mode": "cot"}, {"mode": "pot"})

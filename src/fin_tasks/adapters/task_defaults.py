"""What a task file leaves out follows from its benchmark; a task file names its class and its task.

lm-eval's task class and the reader of task files both fill in the rest here.
"""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks import benchmark_of
from fin_tasks.benchmarks.contract import Load
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset

_GREEDY = {"until": [], "max_gen_toks": 1024, "do_sample": False, "temperature": 0.0}
_ID_FIELDS = ("id", "question_id")
_NEEDED_FIELDS = ("prompt", "target")


def complete(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's settings, those of its file and the usual ones for the rest.

    A function that the file does not name is given by its name; `function_of` resolves it.
    """
    task = config["task"]
    benchmark = benchmark_of(task)
    if benchmark is None:
        expected = "expected a name that begins with a benchmark's, found no such benchmark"
        raise ConfigError(f"task {task!r:.80}: {expected}. docs/own_benchmark.md registers one.")
    usual = {
        "custom_dataset": f"{benchmark.package}.data.load",
        "metrics": f"{benchmark.package}.score.metrics_of",
        "process_results": f"{benchmark.package}.score.metric_values",
        "reader": f"{benchmark.package}.score.read",
        "dataset_kwargs": {},
        "output_type": "generate_until",
        "test_split": benchmark.usual_split,
        "description": "system",
        "doc_to_text": "prompt",
        "doc_to_target": "target",
        "num_fewshot": 0,
    }
    generation = {**_GREEDY, **config.get("generation_kwargs", {})}
    metadata = {"version": benchmark.version, **config.get("metadata", {})}
    return {**usual, **config, "generation_kwargs": generation, "metadata": metadata}


def function_of(value: Any) -> Any:
    """Return a function that is given by its name or as itself."""
    return resolve_name(value) if isinstance(value, str) else value


def load_documents(
    task: str, load: Load, options: Mapping[str, Any], metadata: Mapping[str, Any]
) -> "tuple[str, Dataset]":
    """Return the split of a task and its documents, which have the fields that a harness needs."""
    fixed = sorted(metadata.keys() & options.keys())
    if fixed:
        raise ConfigError(
            f"{task}: metadata sets {', '.join(fixed)}, which this task fixes. "
            "Choose the task with the value you want."
        )
    splits = load(**metadata, **options)
    if len(splits) != 1:
        raise ConfigError(f"{task}: expected documents of one split, got {sorted(splits)}.")
    ((split, documents),) = splits.items()
    fields = set(documents.column_names)
    has_id = not fields.isdisjoint(_ID_FIELDS)
    if not has_id or not fields.issuperset(_NEEDED_FIELDS):
        expected = f"{' or '.join(_ID_FIELDS)}, {' and '.join(_NEEDED_FIELDS)}"
        got = ", ".join(sorted(fields))
        raise ConfigError(f"{task}: expected documents with {expected}, got {got}.")
    return split, documents

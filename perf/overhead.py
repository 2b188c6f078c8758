"""Our share of an lm-eval run: data, prompts, filters, metrics and the loading of tasks.

lm-eval's dummy model answers the 978 validation rows of XFinBench without figures, in turn through our tasks and
through plain YAML tasks over the same documents and prompts with `exact_match`. Processor time is compared, as half of
a run is lm-eval waiting for `pip list`. Goal: at most 10 % more than the plain tasks.
"""

import contextlib
import io
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from timing import in_turn

DATA = Path(os.environ.get("FIN_TASKS_DATA") or Path(__file__).parents[2] / "shared" / "data")
SUBSETS, RUNS, GOAL = ("bool", "mcq", "calc"), 9, 1.10
PLAIN = """\
task: plain_{subset}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: prompt
doc_to_target: ground_truth
generation_kwargs: {{until: [], max_gen_toks: 1024, do_sample: false}}
filter_list:
  - name: strict-match
    filter: [{{function: regex, regex_pattern: "answer is (.*)"}}, {{function: take_first}}]
  - name: flexible-extract
    filter: [{{function: regex, group_select: -1, regex_pattern: "(-?[0-9.,]+)|true"}}, {{function: take_first}}]
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
metadata: {{version: 1.0}}
"""


def main() -> int:
    if not (DATA / "xfinbench" / "validation_set.csv").exists():
        print(f"{DATA}: expected xfinbench/validation_set.csv, found none; nothing is measured.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HOME": folder, "HF_HUB_OFFLINE": "1", "FIN_TASKS_DATA": str(DATA), "TQDM_DISABLE": "1"}
        logging.disable(logging.WARNING)
        write_plain_tasks(Path(folder))
        works = [partial(evaluate, prefix, folder) for prefix in ("xfinbench", "plain")]
        ours, plain = map(statistics.median, in_turn(works, RUNS, clock=time.process_time))
    ratio = ours / plain
    print(f"medians of {RUNS} runs: plain tasks {plain:.3f} s, ours {ours:.3f} s of processor time")
    print(f"ours / plain = {ratio:.3f}; goal {GOAL}")
    return 0 if ratio <= GOAL else 1


def write_plain_tasks(folder: Path) -> None:
    """Write the same documents as JSON lines, and a plain task over each file."""
    from fin_tasks.benchmarks.xfinbench.data import load

    for subset in SUBSETS:
        (documents,) = load(subset=subset, split="validation").values()
        lines = [json.dumps(doc) for doc in documents]
        (folder / f"{subset}.jsonl").write_text("\n".join(lines) + "\n")
        (folder / f"plain_{subset}.yaml").write_text(PLAIN.format(subset=subset, rows=folder / f"{subset}.jsonl"))


def evaluate(prefix: str, folder: str) -> None:
    """Load and evaluate three tasks with the dummy model."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    from fin_tasks.resources import task_yaml_dir

    metadata = {"split": "validation"} if prefix == "xfinbench" else {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        manager = TaskManager(include_path=[task_yaml_dir(), folder], include_defaults=False, metadata=metadata)
        names = [f"{prefix}_{subset}" for subset in SUBSETS]
        result = simple_evaluate(model="dummy", tasks=list(names), task_manager=manager, log_samples=True)
    assert result is not None and set(result["results"]) == set(names)


if __name__ == "__main__":
    sys.exit(main())

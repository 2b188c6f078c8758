"""Our share of the time of an lm-eval run: data, prompts, filters and metrics.

lm-eval's dummy model answers the validation rows of XFinBench (978 of the 1,000: it cannot be shown figures), once
through our tasks and once through plain YAML tasks over the same rows and prompts with `exact_match`. Both sides run
alternately in this process through `simple_evaluate`, task loading included. Goal: at most 10 % over the plain tasks.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")
PLAIN = """\
task: plain_{task}
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
    """Measure both sides and print the ratio; status 1 above the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with xfinbench/")
    parser.add_argument("--runs", type=int, default=9, help="runs per side")
    options = parser.parse_args()
    if not (options.data / "xfinbench" / "validation_set.csv").exists():
        print(f"{options.data}: no xfinbench/validation_set.csv there; nothing measured")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HF_HOME": folder, "FIN_TASKS_DATA": str(options.data), "TQDM_DISABLE": "1"}
        rows = write_plain_tasks(Path(folder))
        ours, plain = measure(Path(folder), options.runs)
    low = min(a / b for a, b in zip(ours, plain, strict=True))
    high = max(a / b for a, b in zip(ours, plain, strict=True))
    # The fastest run of a side is the least disturbed one: half of a run is lm-eval waiting for `pip list`.
    mine, theirs = min(ours), min(plain)
    print(f"{rows} rows, fastest of {options.runs}: plain tasks {theirs:.3f} s, ours {mine:.3f} s")
    ratio = mine / theirs
    medians = statistics.median(ours) / statistics.median(plain)
    print(f"ours / plain = {ratio:.3f} (of medians {medians:.3f}, single pairs {low:.3f} to {high:.3f}); goal 1.10")
    return 0 if ratio <= 1.10 else 1


def write_plain_tasks(folder: Path) -> int:
    """Write the same rows and prompts as JSON lines, and a plain task over each; return how many rows."""
    from fin_tasks.benchmarks.xfinbench.data import load

    total = 0
    for task, subset in zip(TASKS, ("bool", "mcq", "calc"), strict=True):
        (documents,) = load(subset=subset, split="validation").values()
        kept = [{name: d[name] for name in ("prompt", "ground_truth")} for d in documents]
        lines = [json.dumps(row) for row in kept]
        (folder / f"{task}.jsonl").write_text("\n".join(lines) + "\n")
        (folder / f"plain_{task}.yaml").write_text(PLAIN.format(task=task, rows=folder / f"{task}.jsonl"))
        total += len(lines)
    return total


def measure(folder: Path, runs: int) -> tuple[list[float], list[float]]:
    """Time both sides in turn."""
    ours: list[float] = []
    plain: list[float] = []
    for number in range(runs + 1):
        for names, taken in ((TASKS, ours), (tuple(f"plain_{task}" for task in TASKS), plain)):
            seconds = evaluate(names, folder)
            if number:  # the first run fills caches on both sides
                taken.append(seconds)
    return ours, plain


def evaluate(names: tuple[str, ...], folder: Path) -> float:
    """Load and evaluate tasks with the dummy model; return the wall time."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    from fin_tasks.resources import task_yaml_dir

    metadata: dict[str, Any] = {"split": "validation"} if names == TASKS else {}
    logging.disable(logging.WARNING)
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        manager = TaskManager(include_path=[task_yaml_dir(), folder], include_defaults=False, metadata=metadata)
        result = simple_evaluate(model="dummy", tasks=list(names), task_manager=manager, log_samples=True)
    taken = time.perf_counter() - started
    assert result is not None and set(result["results"]) == set(names)
    return taken


if __name__ == "__main__":
    sys.exit(main())

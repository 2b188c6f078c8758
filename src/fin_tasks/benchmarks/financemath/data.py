"""FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import hashlib
import json
import logging
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, FiniteFloat, StringConstraints

import fin_tasks
from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.data.documents import dataset_of, draw, refuse_typos
from fin_tasks.data.fetch import locate
from fin_tasks.data.tables import read_models
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import open_runner
from fin_tasks.settings import Settings

SCORER_VERSION = 2  # goes up with every change that moves a score; part of the provenance
_SAMPLE = Path(__file__).with_name("sample")
_OPTIONS = ("split", "source", "data_dir", "n", "seed", "sampling", "judge_model", "judge_base_url", "judge_key")
_SYSTEM = {
    "cot": "You are a finance professional who works problems out on paper. Go through the calculation in order, then "
    'close with one line of the form "Therefore, the answer is X.", where X is the number asked for and nothing but a '
    "number with its sign and, where it has one, its unit.",
    "pot": "You are a finance professional who solves problems in Python. Write one function `solution()` that takes "
    "no arguments, names the given quantities, computes the result step by step and returns it as a single number. "
    "Standard library and numpy only; no input, no printing. Give the program alone, in a Python code block.",
}
_ASK = {"cot": "Solve this step by step.", "pot": "Write the function that computes this."}
_CUE = {"cot": "Let us go step by step.", "pot": "```python\ndef solution():"}


class Row(BaseModel, coerce_numbers_to_str=True):
    """What scoring needs to know of a question."""

    question_id: str
    ground_truth: FiniteFloat
    python_solution: str | None = None
    topic: str | None = None


class _Question(Row):
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    tables: list[str] = []


def load(
    *,
    mode: str,
    split: str = "validation",
    source: str = "auto",
    data_dir: str | Path | None = None,
    n: int | None = None,
    seed: int = 0,
    **unknown: Any,
) -> dict[str, Any]:
    """Load the documents of one task, `cot` or `pot`, as `{split: Dataset}` with the provenance in `info.description`.

    `source` and `data_dir` are those of `data.fetch.locate`; `n` and `seed` name a random sample. The authors publish
    no truths of the test split, so it needs a file of yours. lm-eval adds the arguments of the model.
    """
    refuse_typos("financemath", unknown, _OPTIONS)
    name = f"data/{'validation' if source == 'sample' else split}.json"
    settings = Settings.from_environ()
    files = locate("financemath", [name], source=source, data_dir=data_dir, settings=settings, sample=_SAMPLE)
    questions = read_models(files.files[name], _Question, "question_id")
    questions = draw("financemath", questions, n, seed, lambda row: row.question_id)
    docs, run = scoring_docs(questions, mode)
    wording = json.dumps([_SYSTEM[mode], _ASK[mode], _CUE[mode]])
    facts = {
        **{"fin_tasks": fin_tasks.__version__, "scorer": SCORER_VERSION, "split": split, "mode": mode},
        "prompts": {"set": "house", "sha256": hashlib.sha256(wording.encode()).hexdigest()},
        "data": files.provenance(),
        "truths": {"paper": "python_solution for programs, else ground_truth", "robust": "python_solution", **run},
        **({} if n is None else {"n": n, "seed": seed}),
        "rows": len(docs),
    }
    docs = [doc | _prompt(row, mode) for doc, row in zip(docs, questions, strict=True)]
    return {split: dataset_of(docs, facts)}


def scoring_docs(rows: Sequence[Row], mode: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return documents with what scoring needs, and the sandbox that ran each row's own program for the exact truth.

    Rows whose program gives no number, and all rows if no sandbox works, keep the file's truth, rounded to 3 decimals.
    """
    settings = Settings.from_environ()
    try:
        programs = tuple(row.python_solution or None for row in rows)
        tier, exact = _run(programs, settings.sandbox, settings.sandbox_workers)
    except SandboxError as error:
        logging.getLogger(__name__).warning("financemath: truths are rounded, as no sandbox works here. %s", error)
        tier, exact = None, (None,) * len(rows)
    docs = [
        {
            **row.model_dump(include=set(Row.model_fields)),
            "topic_name": TOPICS.get(row.topic or "", ""),
            "mode": mode,
            "exact_truth": row.ground_truth if number is None else number,
        }
        for row, number in zip(rows, exact, strict=True)
    ]
    rounded = [row.question_id for row, number in zip(rows, exact, strict=True) if number is None]
    return docs, {"sandbox": tier, "rounded": rounded}


@lru_cache(maxsize=4)
def _run(programs: tuple[str | None, ...], tier: str, workers: int) -> tuple[str | None, tuple[float | None, ...]]:
    with open_runner(tier=tier, workers=workers) as runner:
        numbers = [outcome.number if outcome.ran else None for outcome in runner.run(programs)]
        return runner.tier, tuple(n if n is not None and math.isfinite(n) else None for n in numbers)


def _prompt(row: _Question, mode: str) -> dict[str, Any]:
    several = len(row.tables) > 1
    tables = [f"Table{f' {at}' if several else ''}:\n{text.strip()}" for at, text in enumerate(row.tables, start=1)]
    words = f"Therefore, the answer is {row.ground_truth:.12g}."
    return {
        "has_table": bool(row.tables),
        "target": words if mode == "cot" else f"```python\n{row.python_solution}\n```",
        "system": _SYSTEM[mode],
        "prompt": "\n\n".join([f"Question: {row.question}", *tables, _ASK[mode]]),
        "cue": _CUE[mode],
    }

"""FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import hashlib
import json
import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.benchmarks.financemath import VERSION
from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.data.documents import dataset_of, draw_rows, refuse_typos
from fin_tasks.data.locate import locate
from fin_tasks.data.tables import read_json
from fin_tasks.errors import DataError, SandboxError
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings

_log = logging.getLogger(__name__)
_SAMPLE = Path(__file__).with_name("sample")
_OPTIONS = ("split", "source", "data_dir", "n", "seed", "sampling", *READER_OPTIONS)
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

    `source` and `data_dir` are those of `data.locate.locate`; `n` and `seed` name a random sample. The authors publish
    no truths of the test split, so it needs a file of yours. lm-eval adds the arguments of the model.
    """
    refuse_typos("financemath", unknown, _OPTIONS)
    name = f"data/{'validation' if source == 'sample' else split}.json"
    settings = Settings.from_environ()
    files = locate(
        "financemath", [name], source=source, data_dir=data_dir, settings=settings, sample=_SAMPLE
    )
    rows = draw_rows(
        "financemath",
        read_rows(files.files[name], "question"),
        n,
        seed,
        lambda row: str(row["question_id"]),
    )
    docs, rounded = scoring_docs(rows, mode)
    wording = json.dumps([_SYSTEM[mode], _ASK[mode], _CUE[mode]])
    facts = {
        **{"scorer": VERSION, "split": split, "mode": mode},
        "prompts": {"set": "house", "sha256": hashlib.sha256(wording.encode()).hexdigest()},
        "data": files.provenance(),
        "truths": {"rounded": rounded},
        **({} if n is None else {"n": n, "seed": seed}),
    }
    return {
        split: dataset_of(
            [doc | _prompt(row, mode) for doc, row in zip(docs, rows, strict=True)], facts
        )
    }


def read_rows(path: Path, column: str) -> list[dict[str, Any]]:
    """Read questions or recordings, which have their text in `column`."""
    aliases = {"question_id": "id", "output": "model_response"}
    rows = read_json(path, ("question_id", "ground_truth", column), aliases=aliases)
    for row in rows:
        with suppress(TypeError, ValueError):
            row |= {
                "question_id": str(row["question_id"]),
                "ground_truth": float(row["ground_truth"]),
            }
        if not isinstance(row["ground_truth"], float) or not math.isfinite(row["ground_truth"]):
            expected = "expected a finite number as ground_truth"
            raise DataError(
                f"{path}, {row['question_id']}: {expected}, got {row['ground_truth']!r}."
            )
    return rows


def scoring_docs(
    rows: Sequence[dict[str, Any]], mode: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return documents with what scoring needs, and the ids whose own program gives no number for the exact truth.

    Their exact truth is that of the file, which is rounded to 3 decimals.
    """
    programs = [row.get("python_solution") for row in rows]
    numbers: list[float | None] = [None] * len(rows)
    try:
        if any(programs):
            numbers = [
                outcome.number
                for outcome in run_programs(programs, settings=Settings.from_environ())
            ]
    except SandboxError as error:
        _log.warning(
            "financemath: truths stay rounded to 3 decimals, as no sandbox works: %s", error
        )
    docs, rounded = [], []
    for row, exact in zip(rows, numbers, strict=True):
        doc = {
            name: row.get(name)
            for name in ("question_id", "ground_truth", "python_solution", "topic")
        }
        if exact is None or not math.isfinite(exact):
            rounded.append(row["question_id"])
            exact = row["ground_truth"]
        docs.append(
            {
                **doc,
                "exact_truth": exact,
                "topic_name": TOPICS.get(row.get("topic") or "", ""),
                "mode": mode,
            }
        )
    return docs, rounded


def _prompt(row: dict[str, Any], mode: str) -> dict[str, Any]:
    texts = row.get("tables") or []
    tables = [
        f"Table{f' {n}' if len(texts) > 1 else ''}:\n{text.strip()}"
        for n, text in enumerate(texts, start=1)
    ]
    words = f"Therefore, the answer is {row['ground_truth']:.12g}."
    return {
        "has_table": bool(tables),
        "target": words if mode == "cot" else f"```python\n{row.get('python_solution')}\n```",
        "system": _SYSTEM[mode],
        "prompt": "\n\n".join([f"Question: {row['question'].strip()}", *tables, _ASK[mode]]),
        "cue": _CUE[mode],
    }

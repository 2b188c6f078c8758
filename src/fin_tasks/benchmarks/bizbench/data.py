"""BizBench's rows as documents of lm-eval."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypedDict

import pandas as pd

from fin_tasks.benchmarks.bizbench import VERSION, prompts
from fin_tasks.benchmarks.bizbench.formulas import reference_of
from fin_tasks.benchmarks.bizbench.score import PAPER_PARTS
from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.data.documents import (
    SAMPLE_OPTIONS,
    dataset_of,
    draw_rows,
    refuse_typos,
    sample_facts,
)
from fin_tasks.data.locate import locate
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

PARTS = (
    "fincode",
    "codefinqa",
    "codetatqa",
    "convfinqa_e",
    "tatqa_e",
    "secnum",
    "finknow",
    "formulaeval",
)
_SAMPLE = Path(__file__).with_name("sample")
_COLUMNS = ["question", "answer", "task", "context", "options", "program"]
_OPTIONS = ("split", "source", "data_dir", "data_revision", *SAMPLE_OPTIONS, *READER_OPTIONS)
_PAPER_ROWS = 500
# Of the paper's 500 rows 141 have choices. That number alone fits all figures of its Table 3.
_SHARE_OF_CHOICES = 141 / 500


class Row(TypedDict):
    """A row of the file."""

    id: str
    part: str
    """Empty if it is none of ours."""
    kind: prompts.Kind
    question: str
    answer: str
    context: str
    options: list[str]
    program: str


def load(
    *,
    part: str,
    mode: prompts.Mode,
    split: str = "test",
    source: str = "auto",
    data_dir: str | None = None,
    data_revision: str | None = None,
    sample_n: int | None = None,
    sample_seed: int = 0,
    **unknown: Any,
) -> dict[str, Any]:
    """Load `{split: Dataset}` of one task, with the provenance as JSON in `info.description`.

    `part` is one of `PARTS`, or a column of the long XFinBench paper (`PAPER_PARTS`); these two are
    drawn together, 500 rows if `sample_n` is None. `mode` is `cot`, `pot` (a program computes the
    number) or `code` (the function asked for).
    `source`, `data_dir` and `data_revision` are those of `data.locate.locate`; `unknown` are the model's arguments.
    """
    refuse_typos("bizbench", unknown, _OPTIONS)
    file_split = "test" if source == "sample" else split
    files = locate(
        "bizbench",
        [f"data/{file_split}-*.parquet|*{file_split}*.parquet|{file_split}.jsonl"],
        source=source,
        data_dir=data_dir,
        revision=data_revision,
        sample=_SAMPLE,
        settings=Settings.from_environ(),
    )
    prefix = "sample" if files.origin == "sample" else split
    rows = []
    left_out: dict[str, list[str]] = {}
    for row in _read(list(files.files.values()), prefix):
        if row["part"] and row["question"].strip():
            rows.append(row)
        else:
            flaw = "empty-question" if row["part"] else "unknown-task"
            left_out.setdefault(flaw, []).append(row["id"])
    if part in PAPER_PARTS and sample_n is None:
        sample_n = _PAPER_ROWS
    candidates, n_rows = _candidates(rows, part, sample_n)
    drawn = draw_rows("bizbench", candidates, n_rows, sample_seed, lambda row: row["id"])
    if not drawn:
        parts = ", ".join(sorted({row["part"] for row in rows})) or "none"
        raise DataError(
            f"bizbench {part}: expected rows in {', '.join(files.files)}, got none (parts: {parts})."
        )
    facts = {
        "scorer": VERSION,
        "split": split,
        "part": part,
        "mode": mode,
        "data": files.provenance(),
        # The authors publish no prompts with the data.
        "prompts": {"set": "house", "sha256": prompts.sha256()},
        **sample_facts(sample_n, sample_seed),
        "left_out": left_out,
    }
    return {split: dataset_of([_document(row, part, mode) for row in drawn], facts)}


def _candidates(
    rows: Iterable[Row],
    part: str,
    n: int | None,
) -> tuple[list[Row], int | None]:
    """Return the rows that a task draws from, and how many it draws: of n rows, if two tasks share them."""
    if part not in PAPER_PARTS:
        return [row for row in rows if row["part"] == part], n
    choices = []
    numbers = []
    for row in rows:
        if row["kind"] == "choice":
            choices.append(row)
        elif row["kind"] == "number" and row["part"] in PAPER_PARTS["paper_quantity"]:
            numbers.append(row)
    if type(n) is not int:
        return choices, n  # `draw_rows` refuses it
    n_choices = max(round(n * _SHARE_OF_CHOICES), n - len(numbers))
    n_choices = min(len(choices), n_choices)
    return (choices, n_choices) if part == "paper_choice" else (numbers, n - n_choices)


def _read(paths: Sequence[Path], prefix: str) -> list[Row]:
    try:
        table = pd.concat(map(_read_table, paths))
        texts = table[_COLUMNS].drop(columns="options").fillna("").astype(str)
    except (OSError, ValueError, KeyError) as error:
        expected = f"Parquet or JSON lines with the columns {', '.join(_COLUMNS)}"
        raise DataError(
            f"{paths[0]}: expected {expected}, got {error}. Fetch the file again."
        ) from error
    rows = []
    records = zip(texts.to_dict("records"), table["options"], strict=True)
    for position, (cells, options) in enumerate(records):
        part = _part_named(cells["task"])
        is_missing = isinstance(options, float | str | None)  # NaN is a float
        texts_of_options = [] if is_missing else list(map(str, options))
        row: Row = {
            "id": f"{prefix}_{position}",
            "part": part,
            "kind": _kind_of(part, texts_of_options),
            "question": cells["question"],
            "answer": cells["answer"],
            "context": cells["context"],
            "options": texts_of_options,
            "program": cells["program"],
        }
        rows.append(row)
    return rows


def _read_table(path: Path) -> pd.DataFrame:
    if path.suffix == ".jsonl":
        return pd.read_json(path, lines=True, dtype=False)
    return pd.read_parquet(path)


def _part_named(task: str) -> str:
    """Return a part by its name in the file, such as `TAT-QA (Extract)`; empty if it is none of ours."""
    letters = re.sub(r"[\W_]", "", task).lower()
    name = re.sub(r"qae(xtract\w*)?$", "qa", letters)
    for part in PARTS:
        if part.removesuffix("_e") == name:
            return part
    return ""


def _kind_of(part: str, options: Sequence[str]) -> prompts.Kind:
    if part in PAPER_PARTS["paper_choice"] and len(options) > 1:
        return "choice"
    return "code" if part == "formulaeval" else "number"


def _mode_of(kind: prompts.Kind, task_mode: prompts.Mode) -> prompts.Mode:
    # A row that is a choice or a function is asked in its own way, whatever the task's mode.
    if kind == "code":
        return "code"
    if kind == "choice" or task_mode == "code":
        return "cot"
    return task_mode


def _document(
    row: Row,
    subset: str,
    task_mode: prompts.Mode,
) -> dict[str, Any]:
    kind = row["kind"]
    mode = _mode_of(kind, task_mode)
    doc: dict[str, Any] = {
        "id": row["id"],
        "part": row["part"],
        "subset": subset,
        "kind": kind,
        "mode": mode,
        "task_mode": task_mode,
        "ground_truth": row["answer"],
        "letter": "",
        "options": [],
        "stub": "",
        "program": "",
    }
    if kind == "choice":
        doc["letter"] = _letter_of(row["answer"], row["options"])
        doc["options"] = row["options"]
    if kind == "code":
        doc["stub"] = row["question"]
        doc["program"] = reference_of(row["question"], (row["program"], row["answer"]))
    program = doc["program"] or row["program"]
    doc["target"] = prompts.target_of(
        kind, mode, answer=row["answer"], letter=doc["letter"], program=program
    )
    prompt = prompts.fill(
        kind,
        mode,
        question=row["question"],
        context=row["context"],
        options=row["options"],
    )
    return doc | prompt


def _letter_of(answer: str, options: Sequence[str]) -> str:
    """Return the letter of the right option, which the file gives by its text, letter or number."""
    n_options = len(options)
    names = [*options, *ascii_uppercase[:n_options], *map(str, range(n_options))]
    plain_names = list(map(_plain, names))
    if _plain(answer) not in plain_names:
        return ""
    return ascii_uppercase[plain_names.index(_plain(answer)) % n_options]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()

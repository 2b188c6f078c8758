"""BizBench's rows as documents of lm-eval."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

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
    there = "test" if source == "sample" else split
    names = f"data/{there}-*.parquet|*{there}*.parquet|{there}.jsonl"
    place: dict[str, Any] = {
        "source": source,
        "data_dir": data_dir,
        "revision": data_revision,
        "sample": _SAMPLE,
    }
    files = locate("bizbench", [names], settings=Settings.from_environ(), **place)
    rows, left_out = _read(
        list(files.files.values()), "sample" if files.origin == "sample" else split
    )
    n = 500 if sample_n is None and part in PAPER_PARTS else sample_n
    chosen, drawn = [row for row in rows if row["part"] == part], n
    if part in PAPER_PARTS and type(n) is int:
        choices = [row for row in rows if row["kind"] == "choice"]
        numbers = [
            row
            for row in rows
            if row["kind"] == "number" and row["part"] in PAPER_PARTS["paper_quantity"]
        ]
        # Of the paper's 500 rows 141 have choices, as that number alone fits all figures of its Table 3.
        n_choices = min(len(choices), max(round(n * 141 / 500), n - len(numbers)))
        chosen, drawn = (choices, n_choices) if part == "paper_choice" else (numbers, n - n_choices)
    chosen = draw_rows("bizbench", chosen, drawn, sample_seed, lambda row: str(row["id"]))
    if not chosen:
        found = ", ".join(sorted({row["part"] for row in rows})) or "none"
        raise DataError(
            f"bizbench {part}: expected rows in {', '.join(files.files)}, got none (parts: {found})."
        )
    docs = [_doc(row, part, mode) for row in chosen]
    facts = {
        **{
            "scorer": VERSION,
            "split": split,
            "part": part,
            "mode": mode,
            "data": files.provenance(),
        },
        "prompts": {
            "set": "house",
            "sha256": prompts.sha256(),
        },  # the authors publish no prompts with the data
        **sample_facts(n, sample_seed),
        "left_out": left_out,
    }
    return {split: dataset_of(docs, facts)}


def _read(paths: Sequence[Path], prefix: str) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    import pandas

    readers = {".jsonl": partial(pandas.read_json, lines=True, dtype=False)}
    try:
        table = pandas.concat(
            readers.get(path.suffix, pandas.read_parquet)(path) for path in paths
        )[_COLUMNS]
    except (OSError, ValueError, KeyError) as error:
        wanted = f"Parquet or JSON lines with the columns {', '.join(_COLUMNS)}"
        raise DataError(
            f"{paths[0]}: expected {wanted}, got {error}. Fetch the file again."
        ) from error
    rows: list[dict[str, Any]] = []
    left_out: dict[str, list[str]] = {}
    for place, cells in enumerate(table.to_dict("records")):
        options = cells.pop("options")
        row: dict[str, Any] = {
            name: "" if pandas.isna(cell) else str(cell) for name, cell in cells.items()
        }
        name = re.sub(r"qae(xtract\w*)?$", "qa", re.sub(r"[\W_]", "", row["task"]).lower())
        part = next((part for part in PARTS if part.removesuffix("_e") == name), "")
        row |= {"id": f"{prefix}_{place}", "part": part}
        row["options"] = (
            [] if options is None or isinstance(options, float | str) else [*map(str, options)]
        )
        chooses = part in PAPER_PARTS["paper_choice"] and len(row["options"]) > 1
        row["kind"] = "choice" if chooses else "code" if part == "formulaeval" else "number"
        if part and row["question"].strip():
            rows.append(row)
        else:
            left_out.setdefault("empty-question" if part else "unknown-task", []).append(row["id"])
    return rows, left_out


def _mode_of(kind: prompts.Kind, task_mode: prompts.Mode) -> prompts.Mode:
    # A row that is a choice or a function is asked in its own way, whatever the task's mode.
    if kind == "code":
        return "code"
    if kind == "choice" or task_mode == "code":
        return "cot"
    return task_mode


def _doc(row: Mapping[str, Any], subset: str, task_mode: prompts.Mode) -> dict[str, Any]:
    kind, question, answer, options = row["kind"], row["question"], row["answer"], row["options"]
    mode = _mode_of(kind, task_mode)
    letter = ""
    if kind == "choice":  # the answer is an option's text, letter or index
        names = [*options, *ascii_uppercase[: len(options)], *map(str, range(len(options)))]
        texts = [" ".join(text.split()).casefold() for text in (*names, answer)]
        place = texts.index(texts[-1])
        letter = ascii_uppercase[place % len(options)] if place < len(names) else ""
    program = reference_of(question, (row["program"], answer)) if kind == "code" else ""
    return {
        **{
            "id": row["id"],
            "part": row["part"],
            "subset": subset,
            "kind": kind,
            "mode": mode,
            "task_mode": task_mode,
        },
        **{
            "ground_truth": answer,
            "letter": letter,
            "options": options if kind == "choice" else [],
        },
        **{"stub": question if kind == "code" else "", "program": program},
        "target": prompts.target_of(
            kind, mode, answer=answer, letter=letter, program=program or row["program"]
        ),
        **prompts.fill(kind, mode, question=question, context=row["context"], options=options),
    }

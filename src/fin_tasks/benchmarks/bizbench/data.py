"""Load BizBench's rows as documents of lm-eval."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AliasChoices, BeforeValidator, Field

from fin_tasks.answers.choices import choice_texts, lettered
from fin_tasks.answers.numbers import as_written
from fin_tasks.data.locate import Located
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.variants.build import Source
from fin_tasks.variants.program import as_function

from ..request import MARKER, Documents, Prompts, QuestionRow, Request, rows_of
from ..xfinbench_protocol import protocol_facts, protocol_prompts, question_below
from . import prompts
from .formulas import head_of, reference_of
from .score import PAPER_PARTS, number_truth

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
# Of the paper's 500 rows 141 have choices. That number alone fits all figures of its Table 3.
_SHARE_OF_CHOICES = 141 / 500


def _as_text(value: object) -> str:
    """Return a cell as a text; an empty one if it is missing."""
    is_nan = isinstance(value, float) and math.isnan(value)
    if value is None or is_nan:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _as_list(value: Any) -> list[str]:
    if isinstance(value, float | str | None):  # NaN is a float
        return []
    return list(map(str, value))


_Text = Annotated[str, BeforeValidator(_as_text)]


class Row(QuestionRow):
    """A row of the file, or a variant of one."""

    id: str
    task: _Text
    question: _Text
    answer: _Text = Field(validation_alias=AliasChoices("answer", "ground_truth"))
    context: _Text
    options: Annotated[list[str], BeforeValidator(_as_list)] = Field([])
    program: _Text

    @property
    def part(self) -> str:
        """The part by its name in the file, such as `TAT-QA (Extract)`; empty if it is none of ours."""
        letters = re.sub(r"[\W_]", "", self.task).lower()
        name = re.sub(r"qae(xtract\w*)?$", "qa", letters)
        return next((part for part in PARTS if part.removesuffix("_e") == name), "")

    @property
    def kind(self) -> prompts.Kind:
        """Which answer is right."""
        if self.part in PAPER_PARTS["paper_choice"] and len(self.options) > 1:
            return "choice"
        if self.part == "formulaeval":
            return "code"
        return "number"


def load(
    *,
    part: str,
    mode: prompts.Mode,
    protocol: str | None = None,
    **metadata: Any,
) -> Documents:
    """Load the documents of one task; `Request` names the other metadata.

    `part` is one of `PARTS`, or a column of the long XFinBench paper (`PAPER_PARTS`). The two columns
    share one sample, of 500 rows if `sample_n` is None. `mode` is `cot`, `pot` (a program computes the
    number) or `code` (the function asked for). With the `protocol` `xfinbench`, questions are asked as in
    that paper.
    """
    # The authors publish no prompts with the data; those of XFinBench's authors can be read.
    fixed = {} if protocol else {"prompts": "house"}
    request = Request.of(
        "bizbench", metadata, split="test", others=["protocol"], fixed=fixed
    )
    if part in PAPER_PARTS and request.sample_n is None:
        request = replace(request, sample_n=500)
    if request.variants:
        all_rows, data = request.variant_rows(Row)
    else:
        files, all_rows = _locate_rows(request)
        data = files.provenance()
    rows = []
    left_out: dict[str, list[str]] = {}
    for row in all_rows:
        if row.part and row.question.strip():
            rows.append(row)
        else:
            flaw = "empty-question" if row.part else "unknown-task"
            left_out.setdefault(flaw, []).append(row.id)
    candidates, n_drawn = _candidates(rows, part, request.sample_n)
    drawn = replace(request, sample_n=n_drawn).draw(candidates, "id")
    if not drawn:
        parts = ", ".join(sorted({row.part for row in rows})) or "none"
        raise DataError(
            f"bizbench {part}: expected rows in {', '.join(data['files'])}, got none (parts: {parts})."
        )
    facts: dict[str, Any] = {
        "part": part,
        "mode": mode,
        "data": data,
        "prompts": {"set": "house", "sha256": prompts.sha256()},
        "left_out": left_out,
    }
    docs = [_document(row, part, mode) for row in drawn]
    if protocol:
        templates = _protocol_templates(request, protocol, part, mode)
        facts |= protocol_facts(request, templates)
        for row, doc in zip(drawn, docs, strict=True):
            question = question_below(row.context, prompts.shown(row.question, mode))
            choices = lettered(choice_texts(doc["options"]))
            doc |= templates.fill(question=question, choices=choices)
    return request.documents(docs, facts)


def _protocol_templates(
    request: Request, protocol: str, part: str, mode: prompts.Mode
) -> Prompts:
    """Return the templates with which XFinBench's paper asks a column; it asks no other parts."""
    if part not in PAPER_PARTS or mode == "code":
        raise ConfigError(
            f"bizbench protocol: expected the tasks {', '.join(PAPER_PARTS)}, which XFinBench's paper asks, "
            f"got {part}. Leave protocol out."
        )
    task: Literal["mcq", "calcu"] = "mcq" if part == "paper_choice" else "calcu"
    return protocol_prompts(request, protocol, task=task, mode=mode)


def variant_sources(request: Request) -> tuple[Located, list[Source]]:
    """Return the files, and the rows that variants are made of: numbers with a reference program."""
    files, rows = _locate_rows(request)
    sources = []
    for row in rows:
        truth = number_truth(row.answer)
        if row.kind != "number" or not row.program or truth is None:
            continue
        sources.append(
            Source(
                id=row.id,
                question=row.question,
                texts=(row.context,),
                texts_column="context",
                program=as_function(row.program, row.context) or "",
                truth=as_written(truth),
                fields={"task": row.task},
            )
        )
    return files, sources


def _locate_rows(request: Request) -> tuple[Located, list[Row]]:
    """Find and read the file of a split."""
    split = request.split
    prefix = request.split
    if request.source == "sample":
        split = "test"
        prefix = "sample"
    files = request.locate([f"data/{split}-*.parquet|*{split}*.parquet|{split}.jsonl"])
    paths = list(files.files.values())
    try:
        table = pd.concat(map(_read_table, paths))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{paths[0]}: expected Parquet or JSON lines, got {error}. Fetch the file again."
        ) from error
    table["id"] = [f"{prefix}_{position}" for position in range(len(table))]
    return files, rows_of(Row, paths[0], table.to_dict("records"))


def _candidates(
    rows: Sequence[Row],
    part: str,
    n: int | str | None,
) -> tuple[list[Row], int | str | None]:
    """Return the rows that a task draws from, and how many it draws; the paper's two columns share n rows."""
    if part not in PAPER_PARTS:
        return [row for row in rows if row.part == part], n
    choices = [row for row in rows if row.kind == "choice"]
    sources = PAPER_PARTS["paper_quantity"]
    numbers = [row for row in rows if row.kind == "number" and row.part in sources]
    if type(n) is not int:
        return choices, n  # `Request.draw` refuses it
    n_choices = round(n * _SHARE_OF_CHOICES)
    if part == "paper_choice":
        return choices, n_choices
    return numbers, n - n_choices


def _read_table(path: Path) -> pd.DataFrame:
    if path.suffix == ".jsonl":
        return pd.read_json(path, lines=True, dtype=False)
    return pd.read_parquet(path)


def _document(
    row: Row,
    task_part: str,
    task_mode: prompts.Mode,
) -> dict[str, Any]:
    kind = row.kind
    # A row that is a choice or a function is asked in its own way, whatever the task's mode.
    mode = task_mode
    options = []
    letter = ""
    stub = ""
    head = ""
    reference = ""
    if kind == "choice":
        mode = "cot"
        options = row.options
        letter = _letter_of(row.answer, options)
    elif kind == "code":
        mode = "code"
        stub = row.question
        head = head_of(stub)
        reference = reference_of(stub, (row.program, row.answer))
    elif mode == "code":
        mode = "cot"  # no function is asked for
    messages = prompts.messages_of(
        kind,
        mode,
        question=row.question,
        context=row.context,
        options=options,
        head=head,
    )
    return messages | {
        "id": row.id,
        "part": row.part,
        "subset": task_part,
        "kind": kind,
        "mode": mode,
        "task_mode": task_mode,
        "ground_truth": row.answer,
        "letter": letter,
        "options": options,
        "stub": stub,
        "program": reference,
        "published_id": row.published_id,
        "published_truth": row.published_truth,
        "target": _target_of(row, mode, letter, reference),
    }


def _target_of(row: Row, mode: prompts.Mode, letter: str, reference: str) -> str:
    """Return the right answer as a response, for few-shot examples; empty if the row has no usable truth."""
    if letter:
        return f"{MARKER} {letter}."
    program = reference or row.program
    if row.kind == "number":
        truth = number_truth(row.answer)
        if truth is None:
            return ""
        digits = f"{Decimal(repr(as_written(truth))):f}".removesuffix(".0")
        if mode == "cot":
            return f"{MARKER} [{digits}]."
        if "def solution(" not in program:
            program = f"def solution():\n    return {digits}"
    if not program or row.kind == "choice":
        return ""
    return f"```python\n{program.strip()}\n```"


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

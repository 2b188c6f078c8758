"""FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, FiniteFloat

from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_json
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings
from fin_tasks.variants.build import Source

from ..request import Documents, QuestionRow, Request, rows_of
from .prompts import (
    UPSTREAM_FILE,
    HousePrompts,
    Mode,
    UpstreamPrompts,
    house_prompts,
    upstream_prompts,
)
from .score import TOPICS

_ALIASES = {"question_id": "id", "output": "model_response"}
_COPIED = {
    "question_id",
    "ground_truth",
    "python_solution",
    "topic",
    "published_id",
    "published_truth",
}
_log = logging.getLogger(__name__)


class Row(QuestionRow):
    """A question, or a recorded response to one."""

    question_id: Annotated[str, BeforeValidator(str)]
    question: str = ""
    tables: list[str] | None = None
    ground_truth: FiniteFloat
    """Rounded to 3 decimals."""
    python_solution: str | None = None
    topic: str | None = None
    output: Any = None
    finish_reason: Any = None


def load(*, mode: Mode, **metadata: Any) -> Documents:
    """Load the documents of one task, `cot` or `pot`; `Request` names the metadata.

    The authors publish no truths of the test split, so it needs a file of yours.
    """
    request = Request.of("financemath", metadata, split="validation")
    split = "validation" if request.source == "sample" else request.split
    files, rows = read_questions(request, split)
    data: Mapping[str, Any] = files.provenance()
    if request.variants:
        rows, data = request.variant_rows(Row)
    rows = request.draw(rows, "question_id")
    wording: HousePrompts | UpstreamPrompts = house_prompts(mode)
    if request.prompts == "upstream":
        located = request.locate_authors_file(files, UPSTREAM_FILE)
        wording = upstream_prompts(located.files[UPSTREAM_FILE], mode)
    docs, rounded = scoring_docs(rows, mode)
    for doc, row in zip(docs, rows, strict=True):
        doc["has_table"] = bool(row.tables)
        doc["target"] = _target_of(row, mode)
        doc |= wording.fill(row.question, row.tables or ())
    facts = {
        "mode": mode,
        "prompts": {"set": request.prompts, "sha256": wording.sha256},
        "data": data,
        "truths": {"rounded": rounded},
    }
    return request.documents(docs, facts)


def variant_sources(request: Request) -> tuple[Located, list[Source]]:
    """Return the files, and the questions that variants are made of, with their programs."""
    files, rows = read_questions(request, request.split)
    sources = [
        Source(
            id=row.question_id,
            question=row.question,
            texts=tuple(row.tables or ()),
            texts_column="tables",
            program=row.python_solution or "",
            truth=row.ground_truth,
            fields={"topic": row.topic},
        )
        for row in rows
    ]
    return files, sources


def read_questions(request: Request, split: str) -> tuple[Located, list[Row]]:
    """Find and read the questions of a split."""
    name = f"data/{split}.json"
    files = request.locate([name])
    return files, read_rows(files.files[name], "question")


def read_rows(path: Path, column: str) -> list[Row]:
    """Read questions or recordings, which have their text in `column`."""
    records = read_json(path, ("question_id", "ground_truth", column), aliases=_ALIASES)
    return rows_of(Row, path, records)


def scoring_docs(
    rows: Sequence[Row], mode: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return documents with what scoring needs, and the ids whose own program gives no number for the exact truth.

    Their exact truth is that of the file, which is rounded to 3 decimals.
    """
    docs = []
    rounded = []
    for row, result in zip(rows, _results_of_programs(rows), strict=True):
        exact_truth = row.ground_truth
        if result is not None and math.isfinite(result):
            exact_truth = result
        else:
            rounded.append(row.question_id)
        doc = row.model_dump(include=_COPIED)
        doc["exact_truth"] = exact_truth
        doc["topic_name"] = TOPICS.get(row.topic or "", "")
        doc["mode"] = mode
        docs.append(doc)
    return docs, rounded


def _results_of_programs(rows: Sequence[Row]) -> list[float | None]:
    """Return what the reference programs return; None for a row without a result."""
    programs = [row.python_solution for row in rows]
    try:
        outcomes = run_programs(programs, settings=Settings.from_environ())
    except SandboxError as error:
        _log.warning(
            "financemath: truths stay rounded to 3 decimals, as no sandbox works: %s",
            error,
        )
        return [None] * len(rows)
    return [outcome.number for outcome in outcomes]


def _target_of(row: Row, mode: Mode) -> str:
    """Return the right answer as a response; empty for a program that the file lacks."""
    if mode == "cot":
        return f"Therefore, the answer is {row.ground_truth:.12g}."
    program = row.python_solution
    return f"```python\n{program}\n```" if program else ""

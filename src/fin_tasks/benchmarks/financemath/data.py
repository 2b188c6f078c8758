"""FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, FiniteFloat

from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_json
from fin_tasks.variants.build import Source

from ..authors_code import assigned_texts, function_named, not_found
from ..prompts import Prompts, read_prompts
from ..request import Documents, QuestionRow, Request, rows_of
from .score import TOPICS

Mode = Literal["cot", "pot"]

_HERE = Path(__file__).parent
_UPSTREAM_FILE = "utils/model_input_utils.py"
_TRUTH_DECIMALS = 3
"""To which the file rounds its truths."""


class Row(QuestionRow):
    """A question."""

    question_id: Annotated[str, BeforeValidator(str)]
    question: str = ""
    tables: list[str] | None = None
    ground_truth: FiniteFloat
    """Rounded to 3 decimals."""
    python_solution: str | None = None
    topic: str | None = None


def load(*, mode: Mode, **metadata: Any) -> Documents:
    """Load the documents of one task, `cot` or `pot`; `Request` names the metadata.

    The authors publish no truths of the test split, so it needs a file of yours.
    """
    # The files are those of the pinned commit.
    fixed = {"data_revision": None}
    request = Request.of("financemath", metadata, split="validation", fixed=fixed)
    files = _locate_questions(request)
    if request.variants:
        rows, data = request.variant_rows(Row)
    else:
        (file,) = files.files.values()
        rows = read_rows(file)
        data = files.provenance()
    rows = request.draw(rows, "question_id")
    prompts = read_prompts(_HERE / "house.yaml", mode)
    if request.prompts == "upstream":
        located = request.locate_authors_file(files, _UPSTREAM_FILE)
        prompts = upstream_prompts(located.files[_UPSTREAM_FILE], mode)
    docs = []
    for row in rows:
        if request.prompts == "upstream":
            between_tables = "\n" if mode == "pot" else "\n\n"
            question = row.question
            context = between_tables.join(row.tables or ())
        else:
            question = row.question.strip()
            context = _titled(row.tables or ())
        messages = prompts.fill(question=question, context=context)
        docs.append(document_of(row, mode) | messages)
    facts = {
        "mode": mode,
        "prompts": {"set": request.prompts, "sha256": prompts.sha256},
        "data": data,
    }
    return request.documents(docs, facts)


def document_of(row: Row, mode: str) -> dict[str, Any]:
    """Return the document of a question, still without its messages."""
    target = f"Therefore, the answer is {row.ground_truth:.12g}."
    if mode == "pot":
        program = row.python_solution
        target = f"```python\n{program}\n```" if program else ""
    return {
        "question_id": row.question_id,
        "ground_truth": row.ground_truth,
        "exact_truth": _exact_truth(row),
        "python_solution": row.python_solution,
        "topic": row.topic,
        "topic_name": TOPICS.get(row.topic or "", ""),
        "published_id": row.published_id,
        "published_truth": row.published_truth,
        "mode": mode,
        "has_table": bool(row.tables),
        "target": target,
    }


def _exact_truth(row: Row) -> float:
    """Return what the question's program returns; the truth of the row if that is not the rounded result."""
    exact = _exact_truths().get(row.question_id, row.ground_truth)
    is_of_this_row = round(exact, _TRUTH_DECIMALS) == row.ground_truth
    return exact if is_of_this_row else row.ground_truth


@cache
def _exact_truths() -> Mapping[str, float]:
    """Return the exact truths of questions by id, where they are not the rounded ones."""
    text = (_HERE / "exact_truths.json").read_text("utf-8")
    truths: dict[str, float] = json.loads(text)["truths"]
    return truths


def _titled(tables: Sequence[str]) -> str:
    """Return tables with a title before each, which has a number if there are several."""
    titled = []
    for number, table in enumerate(tables, start=1):
        title = "Table" if len(tables) == 1 else f"Table {number}"
        titled.append(f"{title}:\n{table.strip()}")
    return "\n\n".join(titled)


def upstream_prompts(file: Path, mode: Mode) -> Prompts:
    """Read the authors' wording from the function that puts their messages together."""
    function = function_named(file, f"prepare_{mode}_model_input")
    names = ["system_input", "program_prefix_input"]
    if mode == "pot":
        names.append("table_input")  # `cot` has the word `Table:` before the tables
    texts = assigned_texts(function)
    for name in names:
        if name not in texts:
            raise not_found(file, f"a text in {name} of {function.name}")
    before_tables = texts["table_input"] if mode == "pot" else "Table:\n"
    return Prompts(
        system=texts["system_input"],
        user=f"{{context}}\nQuestion: {{question}}\n\n{texts['program_prefix_input']}",
        context=f"{before_tables}{{context}}\n",
    )


def read_rows(path: Path) -> list[Row]:
    """Read a file of questions."""
    records = read_json(path, ("question_id", "question", "ground_truth"))
    return rows_of(Row, path, records)


def variant_sources(request: Request) -> tuple[Located, list[Source]]:
    """Return the files, and the questions that variants are made of, with their programs."""
    files = _locate_questions(request)
    (file,) = files.files.values()
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
        for row in read_rows(file)
    ]
    return files, sources


def _locate_questions(request: Request) -> Located:
    """Find the file of the request's split; the sample has one split."""
    split = "validation" if request.source == "sample" else request.split
    return request.locate([f"data/{split}.json"])

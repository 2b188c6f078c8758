"""Load FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, FiniteFloat

from fin_tasks.data.documents import hash_of
from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_json
from fin_tasks.variants.build import Source

from ..authors_code import assigned_texts, function_named
from ..request import (
    MARKER,
    Documents,
    Prompts,
    QuestionRow,
    Request,
    read_prompts,
    rows_of,
)
from ..xfinbench_protocol import (
    PROTOCOL,
    protocol_facts,
    protocol_prompts,
    question_below,
)
from .score import TOPICS

Mode = Literal["cot", "pot"]

_HERE = Path(__file__).parent
_UPSTREAM_FILE = "utils/model_input_utils.py"
_BETWEEN_UPSTREAM_TABLES = {"cot": "\n\n", "pot": "\n"}
_EXACT_TRUTHS: Mapping[str, float] = json.loads(
    (_HERE / "exact_truths.json").read_text("utf-8")
)["truths"]
"""What the reference programs return, by question, where that is not the rounded truth of the file."""
_TRUTH_DECIMALS = 3
"""The decimals of the truths in the file."""


class Row(QuestionRow):
    """A question."""

    question_id: Annotated[str, BeforeValidator(str)]
    question: str = ""
    tables: list[str] | None = None
    ground_truth: FiniteFloat
    """Rounded to 3 decimals."""
    python_solution: str | None = None
    topic: str | None = None


def load(*, mode: Mode, protocol: str | None = None, **metadata: Any) -> Documents:
    """Load the documents of one task, `cot` or `pot`; `Request` names the other metadata.

    The authors publish no truths of the test split, so it needs a file of yours. With the `protocol` `xfinbench`,
    questions are asked and scored as in the long XFinBench paper.
    """
    # The files are those of the pinned commit.
    fixed = {"data_revision": None}
    request = Request.of(
        "financemath", metadata, split="validation", others=["protocol"], fixed=fixed
    )
    files, rows = _read_questions(request)
    data: Mapping[str, Any] = files.provenance()
    if request.variants:
        rows, data = request.variant_rows(Row)
    rows = request.draw(rows, "question_id")
    if protocol:
        templates = protocol_prompts(request, protocol, task="calcu", mode=mode)
        docs = [_protocol_document(row, mode, templates) for row in rows]
        facts = {"mode": mode, "data": data, **protocol_facts(request, templates)}
        return request.documents(docs, facts)
    prompts = read_prompts(_HERE / "house.yaml", mode)
    if request.prompts == "upstream":
        located = request.locate_authors_file(files, _UPSTREAM_FILE)
        prompts = upstream_prompts(located.files[_UPSTREAM_FILE], mode)
    docs = []
    for row in rows:
        if request.prompts == "upstream":
            question = row.question
            context = _BETWEEN_UPSTREAM_TABLES[mode].join(row.tables or ())
        else:
            question = row.question.strip()
            context = _titled(row.tables or ())
        messages = prompts.fill(question=question, context=context)
        docs.append(document_of(row, mode) | messages)
    facts = {
        "mode": mode,
        "prompts": {"set": request.prompts, "sha256": hash_of(*prompts)},
        "data": data,
    }
    return request.documents(docs, facts)


def document_of(row: Row, mode: str) -> dict[str, Any]:
    """Return the document of a question, still without its messages."""
    exact_truth = _EXACT_TRUTHS.get(row.question_id, row.ground_truth)
    # A recording may write 0.9380000000000001.
    if round(exact_truth, _TRUTH_DECIMALS) != round(row.ground_truth, _TRUTH_DECIMALS):
        exact_truth = row.ground_truth  # another question under the same id
    target = f"Therefore, the answer is {row.ground_truth:.12g}."
    if mode == "pot" and row.python_solution:
        target = f"```python\n{row.python_solution}\n```"
    elif mode == "pot":
        target = ""
    return {
        "question_id": row.question_id,
        "ground_truth": row.ground_truth,
        "exact_truth": exact_truth,
        "python_solution": row.python_solution,
        "topic": row.topic,
        "topic_name": TOPICS.get(row.topic or "", ""),
        "published_id": row.published_id,
        "published_truth": row.published_truth,
        "mode": mode,
        "has_table": bool(row.tables),
        "target": target,
    }


def _protocol_document(row: Row, mode: str, templates: Prompts) -> dict[str, Any]:
    """Return the document of a question that is asked and scored as XFinBench's."""
    question = question_below(_titled(row.tables or ()), row.question)
    doc = document_of(row, mode) | templates.fill(question=question)
    if mode == "cot":
        doc["target"] = f"{MARKER} [{row.ground_truth:.12g}]."
    return doc | {"protocol": PROTOCOL}


def _titled(tables: Sequence[str]) -> str:
    """Return tables with a title before each; the titles have numbers if there are several tables."""
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
        names.append("table_input")
    texts = assigned_texts(file, function, names)
    before_tables = "Table:\n"
    if mode == "pot":
        before_tables = texts["table_input"]
    return Prompts(
        system=texts["system_input"],
        user=f"{{context}}Question: {{question}}\n\n{texts['program_prefix_input']}",
        context=f"{before_tables}{{context}}\n\n",
    )


def variant_sources(request: Request) -> tuple[Located, list[Source]]:
    """Return the files, and the questions that variants are made of, with their programs."""
    files, rows = _read_questions(request)
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


def _read_questions(request: Request) -> tuple[Located, list[Row]]:
    """Find and read the file of the request's split; the sample has one split."""
    split = request.split
    if request.source == "sample":
        split = "validation"
    files = request.locate([f"data/{split}.json"])
    (file,) = files.files.values()
    records = read_json(file, ("question_id", "question", "ground_truth"))
    return files, rows_of(Row, file, records)

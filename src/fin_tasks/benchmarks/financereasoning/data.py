"""FinanceReasoning's questions as documents of lm-eval."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, FiniteFloat, StrictBool

from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_json
from fin_tasks.variants.build import Source
from fin_tasks.variants.program import as_function

from ..request import Documents, QuestionRow, Request, rows_of
from .prompts import UPSTREAM_CODE, UPSTREAM_FILE, Mode, house_prompts, upstream_prompts
from .score import Level

LEVELS: Sequence[Level] = get_args(Level)


def _as_text(value: object) -> object:
    return value or ""


_Text = Annotated[str, BeforeValidator(_as_text)]


class Row(QuestionRow):
    """A question."""

    question_id: Annotated[str, BeforeValidator(str)]
    level: str
    question: _Text
    context: _Text = ""
    python_solution: _Text = ""
    ground_truth: FiniteFloat | StrictBool
    source: _Text = ""
    """Data set of the question and its number there; of a variant, the published question."""
    origin: str = ""

    @property
    def data_set(self) -> str:
        """The data set that the question stems from."""
        return self.origin or self.source.partition("-test")[0].partition("-valid")[0]

    @property
    def program(self) -> str:
        """The authors' program as a function; empty if there is none."""
        return as_function(self.python_solution, self.context) or ""


def load(*, level: Level, mode: Mode, **metadata: Any) -> Documents:
    """Load the documents of one level; `Request` names the metadata."""
    request = Request.of("financereasoning", metadata, split="test")
    if request.variants:
        files = locate_levels(request, [])
        variants, data = request.variant_rows(Row)
        rows = [row for row in variants if row.level == level]
    else:
        files = locate_levels(request, [level])
        rows = read_levels(files)
        data = files.provenance()
    rows = request.draw(rows, "question_id")
    wording = house_prompts(mode)
    if request.prompts == "upstream":
        located = request.locate_authors_file(files, UPSTREAM_FILE)
        code = located.with_files([UPSTREAM_CODE], optional=True).files.get(
            UPSTREAM_CODE
        )
        wording = upstream_prompts(located.files[UPSTREAM_FILE], code, mode)
    docs = [
        _document(row, mode) | wording.fill(row.question, row.context) for row in rows
    ]
    facts = {
        "level": level,
        "mode": mode,
        "prompts": {"set": request.prompts, "sha256": wording.sha256},
        "data": data,
    }
    return request.documents(docs, facts)


def variant_sources(request: Request) -> tuple[Located, list[Source]]:
    """Return the files, and the questions that variants are made of, with their programs."""
    files = locate_levels(request, LEVELS)
    sources = [
        Source(
            id=row.question_id,
            question=row.question,
            texts=(row.context,),
            texts_column="context",
            program=row.program,
            truth=row.ground_truth,
            fields={"level": row.level, "origin": row.data_set},
        )
        for row in read_levels(files)
    ]
    return files, sources


def other_truths() -> dict[str, dict[str, float]]:
    """Return the truths that the authors give to questions of other benchmarks, by benchmark and question."""
    request = Request(benchmark="financereasoning", split="test")
    truths = {}
    for row in read_levels(locate_levels(request, LEVELS)):
        data_set, _, question_id = row.source.partition("-")
        if data_set == "FinanceMath":
            truths[question_id] = float(row.ground_truth)
    return {"financemath": truths}


def locate_levels(request: Request, levels: Iterable[Level]) -> Located:
    """Find the files of some levels."""
    return request.locate(
        [f"data/FinanceReasoning/{level}.json|{level}.json" for level in levels]
    )


def read_levels(files: Located) -> list[Row]:
    """Read the questions of located files."""
    rows = []
    for path in files.files.values():
        records = read_json(path, ("question_id", "question", "ground_truth"))
        rows += rows_of(
            Row, path, [record | {"level": path.stem} for record in records]
        )
    return rows


def _document(row: Row, mode: Mode) -> dict[str, Any]:
    kind = "number"
    answer = f"{row.ground_truth:.12g}"
    if isinstance(row.ground_truth, bool):
        kind = "verdict"
        answer = str(row.ground_truth)
    target = f"Therefore, the answer is {answer}."
    if mode == "pot":
        target = f"```python\n{row.program}\n```" if row.program else ""
    return {
        "id": row.question_id,
        "question": row.question,
        "ground_truth": float(row.ground_truth),
        "kind": kind,
        "level": row.level,
        "origin": row.data_set,
        "mode": mode,
        "published_id": row.published_id,
        "published_truth": row.published_truth,
        "context": row.context,
        "python_solution": row.python_solution,
        "target": target,
    }

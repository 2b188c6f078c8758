"""Load FinanceReasoning's questions as documents of lm-eval."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, FiniteFloat, StrictBool

from fin_tasks.data.documents import hash_of
from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_json
from fin_tasks.variants.build import Source
from fin_tasks.variants.program import as_function

from ..authors_code import assigned_texts, parse_code
from ..request import Documents, Prompts, QuestionRow, Request, read_prompts, rows_of
from .score import Level

Mode = Literal["cot", "pot"]

LEVELS: Sequence[Level] = get_args(Level)

_HOUSE_FILE = Path(__file__).with_name("house.yaml")
_UPSTREAM_FILE = "utils/prompts.py"
"""The authors' file of prompts."""
_UPSTREAM_CODE = "inference.py"
"""The authors' code, which holds the sentence before a document."""


def _empty_if_missing(value: object) -> object:
    return value or ""


_Text = Annotated[str, BeforeValidator(_empty_if_missing)]


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
    # There is one split, and the files are those of the pinned commit.
    fixed = {"split": "test", "data_revision": None}
    request = Request.of("financereasoning", metadata, split="test", fixed=fixed)
    if request.variants:
        files = locate_levels(request, [])
        variants, data = request.variant_rows(Row)
        rows = [row for row in variants if row.level == level]
    else:
        files = locate_levels(request, [level])
        rows = read_levels(files)
        data = files.provenance()
    prompts = read_prompts(_HOUSE_FILE, mode)
    if request.prompts == "upstream":
        located = request.locate_authors_file(files, _UPSTREAM_FILE)
        located = located.with_files([_UPSTREAM_CODE], optional=True)
        code = located.files.get(_UPSTREAM_CODE)
        prompts = upstream_prompts(located.files[_UPSTREAM_FILE], code, mode)
    docs = []
    for row in request.draw(rows, "question_id"):
        messages = prompts.fill(question=row.question, context=row.context)
        docs.append(document_of(row, mode) | messages)
    facts = {
        "level": level,
        "mode": mode,
        "prompts": {"set": request.prompts, "sha256": hash_of(*prompts)},
        "data": data,
    }
    return request.documents(docs, facts)


def upstream_prompts(file: Path, code: Path | None, mode: Mode) -> Prompts:
    """Read the authors' wording from their file of prompts.

    The sentence before a document stands in their code. Without that file, ours takes its place.
    """
    system = f"{mode.upper()}_SYSTEM_INPUT"
    ask = f"{mode.upper()}_PROGRAM_PREFIX_INPUT"
    texts = assigned_texts(file, parse_code(file), [system, ask])
    before_context = "Document:\n"
    if code:
        # The code puts this sentence into the variable, and then adds the document.
        code_texts = assigned_texts(code, parse_code(code), ["context_input"])
        before_context = code_texts["context_input"]
    return Prompts(
        system=texts[system],
        user=f"{{context}}Question: {{question}}\n\n{texts[ask]}",
        context=f"{before_context}{{context}}\n\n",
    )


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


def document_of(row: Row, mode: Mode) -> dict[str, Any]:
    """Return the document of a question, still without its messages."""
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

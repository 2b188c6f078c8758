"""XFinBench's questions as documents of lm-eval; `docs/xfinbench.md` explains the options."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from fin_tasks.answers.choices import lettered
from fin_tasks.benchmarks.request import Request
from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.benchmarks.xfinbench.document import TASKS, Subset
from fin_tasks.benchmarks.xfinbench.draw import choose_rows
from fin_tasks.benchmarks.xfinbench.math_types import read_labels
from fin_tasks.benchmarks.xfinbench.prompts import (
    PromptSet,
    Style,
    house_prompts,
    style_named,
    upstream_prompts,
)
from fin_tasks.benchmarks.xfinbench.rows import SPLITS, Row
from fin_tasks.benchmarks.xfinbench.terms import BANK, CONDITIONS, Term, find_terms
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from datasets import Dataset

_IMAGE_MARK = "<image>\n"
_BLANK_SIZE = (336, 336)  # pixels


def load(
    *,
    subset: Subset,
    mode: str = "cot",
    style: str | None = None,
    blank_image: bool = False,
    knowledge: str = "none",
    top_k: int = 3,
    encoder: str | None = None,
    math_types: str | None = None,
    **metadata: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one subset; `Request` names the other metadata."""
    options = set(load.__kwdefaults__ or ()) - {"mode"}  # `model` is no typo of it
    request = Request.of("xfinbench", metadata, split="test", others=options)
    _check("split", request.split, SPLITS)
    _check("knowledge", knowledge, CONDITIONS)
    asked_style = style_named(style, mode=mode)
    table = SPLITS["validation" if request.source == "sample" else request.split]
    files = request.locate([table])
    rows, shown_files, left_out = choose_rows(request, files, table, subset)
    wording = house_prompts() if request.prompts == "house" else upstream_prompts(files)
    shows_terms = knowledge != "none"
    facts: dict[str, Any] = {
        "style": asked_style._asdict(),
        "blank_image": blank_image,
        "data": shown_files.provenance(),
        "left_out": left_out,
        "prompts": {"set": request.prompts, "sha256": wording.sha256(knowledge=shows_terms)},
    }
    terms: list[list[Term]] = [[] for _ in rows]
    if shows_terms:
        bank = files.with_files([BANK]).files[BANK]
        terms, facts["retrieval"] = find_terms(rows, bank, knowledge, top_k=top_k, encoder=encoder)
    docs = []
    for row, terms_of_row in zip(rows, terms, strict=True):
        docs.append(_document(row, terms_of_row, subset, wording, asked_style))
    if subset == "mcq_visual" or blank_image:
        for doc in docs:
            doc["prompt"] = _IMAGE_MARK + doc["prompt"]
    if math_types and subset == "calc":
        labels = Path(math_types)
        facts["math_types"] = sha256_of(labels)
        types_by_id = read_labels(labels, [doc["id"] for doc in docs])
        for doc in docs:
            doc["math_types"] = types_by_id.get(doc["id"], [])
    return request.documents(docs, facts)


def _check(name: str, value: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise ConfigError(f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}.")


def _document(
    row: Row,
    terms: Sequence[Term],
    subset: Subset,
    wording: PromptSet,
    style: Style,
) -> dict[str, Any]:
    question = row.question
    choices = row.choice.replace("\\n", "\n")  # some cells spell it out
    if wording.name == "house":
        question = question.strip()
        choices = lettered(row.choices)
    task = TASKS[subset]
    prompt = wording.fill(task, style, question=question, choices=choices, terms=terms)
    copied = row.model_dump(exclude={"choice", "flaw"})
    named_terms = [{"id": term.id, "name": term.name, "score": term.score} for term in terms]
    return (
        copied
        | prompt
        | {
            "subset": subset,
            "mode": style.mode,
            "target": _target_of(row),
            "terms": named_terms,
        }
    )


def _target_of(row: Row) -> str:
    """Return the right answer as a response."""
    truth = row.ground_truth
    if row.task == "calcu":
        return f"{MARKER} [{truth}]"
    if row.task == "bool":
        truth = "true" if parse_truth("bool", truth).value else "false"
    return f"{MARKER} {truth}."


def figure(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Return a white picture for a question that has no figure."""
    del doc
    return [Image.new("RGB", _BLANK_SIZE, "white")]

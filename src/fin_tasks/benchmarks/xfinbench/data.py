"""XFinBench's questions as documents of lm-eval; `docs/xfinbench.md` explains the options."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from fin_tasks.answers.choices import lettered
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import Located
from fin_tasks.errors import DataError

from ..request import Documents, Request
from ..short_answers_paper import MARKER
from .document import TASKS, Mode, Subset, Task
from .prompts import (
    PromptSet,
    Style,
    check_option,
    house_prompts,
    style_named,
    upstream_prompts,
)
from .rows import SPLITS, Row, read_labels, read_rows
from .terms import BANK, CONDITIONS, Term, find_terms
from .truth import parse_truth

STUDIES: Mapping[str, Mapping[Task, int]] = {
    "human": {"bool": 400, "mcq": 170, "calcu": 430},
    "sensitivity": {"bool": 180, "mcq": 67, "calcu": 253},
}
"""How many rows of the test set the studies of the paper asked; its figures fit no other numbers."""

_FIGURES = "dataset/figures"
_log = logging.getLogger(__name__)


def load(
    *,
    subset: Subset,
    mode: Mode = "cot",
    style: str | None = None,
    blank_image: bool = False,
    knowledge: str = "none",
    top_k: int = 3,
    encoder: str | None = None,
    math_types: str | None = None,
    **metadata: Any,
) -> Documents:
    """Load the documents of one subset; `Request` names the other metadata."""
    options = set(load.__kwdefaults__ or ()) - {"mode"}  # `model` is no typo of it
    request = Request.of("xfinbench", metadata, split="test", others=options)
    check_option("split", request.split, SPLITS)
    check_option("knowledge", knowledge, CONDITIONS)
    asked_style = style_named(style, mode=mode)
    table = SPLITS["validation" if request.source == "sample" else request.split]
    left_out: dict[str, list[str]] = {}
    if request.variants:
        files = request.locate([])
        variants, data = request.variant_rows(Row)
        rows = [row for row in variants if row.task == TASKS[subset]]
        for row in rows:
            row.ground_truth = f"{float(row.ground_truth):.12g}"
        rows = request.draw(rows, "id")
    else:
        files = request.locate([table])
        rows, used_files, left_out = _choose_rows(request, files, table, subset)
        data = used_files.provenance()
    wording = house_prompts() if request.prompts == "house" else upstream_prompts(files)
    shows_terms = knowledge != "none"
    facts: dict[str, Any] = {
        "style": asked_style._asdict(),
        "blank_image": blank_image,
        "data": data,
        "left_out": left_out,
        "prompts": {
            "set": request.prompts,
            "sha256": wording.sha256(knowledge=shows_terms),
        },
    }
    terms: list[list[Term]] = [[] for _ in rows]
    if shows_terms:
        bank = files.with_files([BANK]).files[BANK]
        terms, facts["retrieval"] = find_terms(
            rows, bank, knowledge, top_k=top_k, encoder=encoder
        )
    docs = []
    for row, terms_of_row in zip(rows, terms, strict=True):
        doc = _document(row, terms_of_row, subset, wording, asked_style)
        if subset == "mcq_visual" or blank_image:
            doc["prompt"] = "<image>\n" + doc["prompt"]
        docs.append(doc)
    if math_types and subset == "calc":
        facts["math_types"] = sha256_of(Path(math_types))
        types_by_id = read_labels(Path(math_types), [row.id for row in rows])
        for doc in docs:
            doc["math_types"] = types_by_id[doc["id"]]
    return request.documents(docs, facts)


def _choose_rows(
    request: Request,
    files: Located,
    table: str,
    subset: Subset,
) -> tuple[list[Row], Located, dict[str, list[str]]]:
    """Return the rows to ask, the files that they need, and the ids of unusable rows by their flaw.

    `sample_n` of the request is the size of a sample, or the name of a study. A study draws from
    all choices at once, with a figure and without.
    """
    task = TASKS[subset]
    study_name = str(request.sample_n)
    study = STUDIES.get(study_name)
    # A row of no known task stays, because it is named as malformed.
    other_tasks = set(TASKS.values()) - {task}
    rows = [row for row in read_rows(files.files[table]) if row.task not in other_tasks]
    if subset == "mcq_visual" or (study and task == "mcq"):
        _find_figures(files, rows)
    subset_rows = [row for row in rows if _is_in_subset(row, subset)]
    left_out: dict[str, list[str]] = {}
    for row in subset_rows:
        if row.flaw:
            left_out.setdefault(row.flaw, []).append(row.id)
    counts = ", ".join(f"{flaw} {len(ids)}" for flaw, ids in left_out.items())
    if counts:
        _log.warning("xfinbench %s: rows of %s left out: %s", subset, table, counts)
    candidates = subset_rows
    if study:
        candidates = rows
        request = replace(request, sample_n=study[task])
    usable = [row for row in candidates if not row.flaw]
    drawn = request.draw(usable, "id")
    chosen = [row for row in drawn if _is_in_subset(row, subset)]
    drawn_text = f"{len(drawn):,} of {len(usable):,} usable rows ({task}) of {files.files[table]}"
    if study:
        # lm-eval shows nothing below a warning.
        message = "xfinbench %s: sample_n %s draws %s; this task asks %d of them"
        _log.warning(message, subset, study_name, drawn_text, len(chosen))
    if not chosen:
        raise DataError(
            f"xfinbench {subset}: expected a row to ask, got none among {drawn_text}. "
            "Leave out this task, or take another sample_seed."
        )
    if subset == "mcq_visual":
        names = {Path(row.figure_path).name for row in rows if row.figure_path}
        files = files.with_files(f"{_FIGURES}/{name}" for name in sorted(names))
    return chosen, files, left_out


def _is_in_subset(row: Row, subset: Subset) -> bool:
    """Return whether a row of the task belongs to the subset, which has the choices with a figure or those without."""
    shows_figures = subset == "mcq_visual"
    return row.task != "mcq" or bool(row.figure) == shows_figures


def _find_figures(files: Located, rows: Sequence[Row]) -> None:
    """Add the file of its figure to each row; mark rows whose figure nobody has."""
    for row in rows:
        if row.figure:
            name = re.sub(r"[^\w-]", "?", row.figure)
            paths = files.matches(f"{_FIGURES}/{name}.*")
            row.figure_path = str(paths[-1]) if paths else ""
            row.flaw = row.flaw if paths else "missing-figure"


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
    named_terms = [
        {"id": term.id, "name": term.name, "score": term.score} for term in terms
    ]
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
    return [Image.new("RGB", (336, 336), "white")]

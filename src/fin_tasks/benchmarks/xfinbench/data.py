"""XFinBench's questions as documents of lm-eval; `docs/xfinbench.md` explains the options."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from fin_tasks.answers.choices import lettered
from fin_tasks.data.documents import IMAGE_MARK, hash_of
from fin_tasks.data.locate import Located, sha256_of
from fin_tasks.errors import ConfigError, DataError

from ..request import MARKER, Documents, Prompts, Request
from .rows import (
    BANK,
    SPLITS,
    TASKS,
    Mode,
    Row,
    Subset,
    Task,
    parse_truth,
    read_labels,
    read_rows,
)

if TYPE_CHECKING:
    from PIL.Image import Image

    from .terms import Term

STUDIES: Mapping[str, Mapping[Task, int]] = {
    "human": {"bool": 400, "mcq": 170, "calcu": 430},
    "sensitivity": {"bool": 180, "mcq": 67, "calcu": 253},
}
"""How many rows of the test set the studies of the paper asked; its figures fit no other numbers."""

KNOWLEDGE = ("none", "bm25", "dense", "oracle")
"""Which finance terms stand before a question."""
_FIGURES = "dataset/figures"
_BLANK = (336, 336)
_AUTHORS_BLANK = (285, 248)
"""Pixels of the white pictures for questions without a figure: ours, and the authors' `blank_image.png`."""
_TERMS = "Finance terms that may be of use:\n\n{context}"
"""What stands before a question if finance terms are shown."""
_log = logging.getLogger(__name__)


class Style(NamedTuple):
    """How a question is asked."""

    mode: Mode
    role: bool
    """Whether a system message gives the model the role of a finance expert."""


STYLES: Mapping[str, Style] = {
    "cot_role": Style("cot", role=True),
    "da_role": Style("da", role=True),
    "cot": Style("cot", role=False),
    "da": Style("da", role=False),
}
"""The four styles of the paper's sensitivity study."""


def load(
    *,
    subset: Subset,
    mode: Mode = "cot",
    style: str | None = None,
    blank_image: bool | str = False,
    knowledge: str = "none",
    top_k: int = 3,
    encoder: str | None = None,
    math_types: str | None = None,
    **metadata: Any,
) -> Documents:
    """Load the documents of one subset; `Request` names the other metadata."""
    # `mode` is left out, because lm-eval's `model` is no misspelling of it.
    options = set(load.__kwdefaults__ or ()) - {"mode"}
    request = Request.of("xfinbench", metadata, split="test", others=options)
    for name, value, allowed in (
        ("split", request.split, SPLITS),
        ("knowledge", knowledge, KNOWLEDGE),
        ("blank_image", blank_image, (False, True, "upstream")),
        ("style", style, [None, *STYLES]),
    ):
        if value not in list(allowed):
            known = ", ".join(str(name) for name in allowed if name is not None)
            raise ConfigError(
                f"xfinbench {name}: expected one of {known}, got {value!r}."
            )
    asked_style = _style_of(style, mode) if style else Style(mode, role=True)
    table = SPLITS["validation" if request.source == "sample" else request.split]
    left_out: dict[str, list[str]] = {}
    if request.variants:
        files = request.locate([])
        rows, data = _choose_variants(request, subset)
    else:
        files = request.locate([table])
        rows, used_files, left_out = _choose_rows(request, files, table, subset)
        data = used_files.provenance()
    shows_terms = knowledge != "none"
    prompts, prompts_hash = _prompts(
        request, files, subset, asked_style, shows_terms=shows_terms
    )
    facts: dict[str, Any] = {
        "style": asked_style._asdict(),
        "blank_image": blank_image,
        "data": data,
        "left_out": left_out,
        "prompts": {"set": request.prompts, "sha256": prompts_hash},
    }
    terms: list[list[Term]] = [[] for _ in rows]
    if shows_terms:
        from .terms import find_terms

        bank = files.with_files([BANK]).files[BANK]
        terms, facts["retrieval"] = find_terms(
            rows, bank, knowledge, top_k=top_k, encoder=encoder
        )
    has_picture = subset == "mcq_visual" or blank_image
    docs = []
    for row, terms_of_row in zip(rows, terms, strict=True):
        doc = _document(row, terms_of_row, prompts, request.prompts)
        if has_picture:
            doc["prompt"] = IMAGE_MARK + doc["prompt"]
        if blank_image == "upstream":
            doc["blank_image"] = "upstream"
        docs.append({**doc, "subset": subset, "mode": asked_style.mode})
    if math_types and subset == "calc":
        file = Path(math_types)
        facts["math_types"] = sha256_of(file)
        types_by_id = read_labels(file, [row.id for row in rows])
        for doc in docs:
            doc["math_types"] = types_by_id[doc["id"]]
    return request.documents(docs, facts)


def _choose_variants(
    request: Request, subset: Subset
) -> tuple[list[Row], Mapping[str, Any]]:
    """Return the variants to ask, and their provenance."""
    variants, data = request.variant_rows(Row)
    rows = [row for row in variants if row.task == TASKS[subset]]
    for row in rows:
        row.ground_truth = f"{float(row.ground_truth):.12g}"
    return request.draw(rows, "id"), data


def _style_of(name: str, mode: Mode) -> Style:
    """Return the style in which a task of this mode asks; a task for programs asks for them in any style."""
    style = STYLES[name]
    if mode == "da" and style.mode == "cot":
        raise ConfigError(
            f"xfinbench style: expected da or da_role, got {name!r}. Use the task without _da."
        )
    return style._replace(mode="pot") if mode == "pot" else style


def _prompts(
    request: Request,
    files: Located,
    subset: Subset,
    style: Style,
    *,
    shows_terms: bool,
) -> tuple[Prompts, str]:
    """Return the templates for a subset, and the hash of those of all subsets and modes.

    The layout of finance terms counts in the hash only if they are shown.
    """
    file = Path(__file__).with_name("house.yaml")
    texts = yaml.safe_load(file.read_text("utf-8"))
    context = f"{_TERMS}\n\n"
    if request.prompts == "upstream":
        from ..xfinbench_protocol import authors_texts

        context = _TERMS  # the templates have a blank line there
        texts = authors_texts(files, texts["user"])
    prompts = Prompts(
        system=texts["system"][style.mode] if style.role else "",
        user=texts["user"][TASKS[subset]][style.mode],
        cue=texts["cue"][style.mode],
        context=context,
    )
    layout = context if shows_terms else ""
    return prompts, hash_of(request.prompts, texts, layout)


def _choose_rows(
    request: Request,
    files: Located,
    table: str,
    subset: Subset,
) -> tuple[list[Row], Located, dict[str, list[str]]]:
    """Return the rows to ask, the files that they need, and the ids of unusable rows by their flaw.

    `sample_n` of the request is the size of a sample, or the name of a study. A study draws from
    all multiple-choice questions together, with a figure and without.
    """
    task = TASKS[subset]
    study_name = str(request.sample_n)
    study = STUDIES.get(study_name)
    # A row of an unknown task stays, so that it is listed as malformed.
    other_tasks = set(TASKS.values()) - {task}
    rows = [row for row in read_rows(files.files[table]) if row.task not in other_tasks]
    if subset == "mcq_visual" or (study and task == "mcq"):
        _find_figures(files, rows)
    subset_rows = rows
    if task == "mcq":
        shows_figures = subset == "mcq_visual"
        subset_rows = [row for row in rows if bool(row.figure) == shows_figures]
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
    subset_ids = {row.id for row in subset_rows}
    chosen = [row for row in drawn if row.id in subset_ids]
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


def _find_figures(files: Located, rows: Sequence[Row]) -> None:
    """Add the file of its figure to each row; mark the rows whose figure is missing."""
    for row in rows:
        if row.figure:
            name = re.sub(r"[^\w-]", "?", row.figure)
            paths = files.matches(f"{_FIGURES}/{name}.*")
            row.figure_path = str(paths[-1]) if paths else ""
            row.flaw = row.flaw if paths else "missing-figure"


def _document(
    row: Row, terms: Sequence["Term"], prompts: Prompts, wording: str
) -> dict[str, Any]:
    """Return the messages about a question, and what scoring needs; the target is the right answer as a response."""
    question = row.question
    # In some cells the two characters `\n` stand for a line break. The authors send them as they are.
    choices = row.choice
    if wording == "house":
        question = question.strip()
        choices = lettered(row.choices) if row.choices else ""
    context = "\n\n".join(term.text for term in terms)
    messages = prompts.fill(context=context, question=question, choices=choices)
    target = f"{MARKER} {row.ground_truth}."
    if row.task == "calcu":
        target = f"{MARKER} [{row.ground_truth}]"
    elif row.task == "bool":
        verdict = "true" if parse_truth("bool", row.ground_truth).value else "false"
        target = f"{MARKER} {verdict}."
    named_terms = []
    for term in terms:
        named_terms.append({"id": term.id, "name": term.name, "score": term.score})
    fields = row.model_dump(exclude={"choice", "flaw"})
    return {**fields, **messages, "target": target, "terms": named_terms}


def figure(doc: Mapping[str, Any]) -> "list[Image]":
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> "list[Image]":
    """Return a white picture for a question that has no figure."""
    from PIL import Image

    size = _AUTHORS_BLANK if doc.get("blank_image") == "upstream" else _BLANK
    return [Image.new("RGB", size, "white")]

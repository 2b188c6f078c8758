"""XFinBench's questions as documents of lm-eval; `docs/xfinbench.md` explains the options."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.benchmarks.xfinbench import VERSION
from fin_tasks.benchmarks.xfinbench.document import TASKS, AskedDocument, Subset
from fin_tasks.benchmarks.xfinbench.draw import Chosen, choose_rows
from fin_tasks.benchmarks.xfinbench.math_types import read_labels
from fin_tasks.benchmarks.xfinbench.prompts import (
    PromptSet,
    Style,
    house_prompts,
    style_named,
    upstream_prompts,
)
from fin_tasks.benchmarks.xfinbench.rows import SPLITS, Row, lettered
from fin_tasks.benchmarks.xfinbench.terms import BANK, CONDITIONS, Term, find_terms
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.data.documents import dataset_of, refuse_typos, sample_facts
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import locate
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

_PROMPT_SETS = ("house", "upstream")
_SAMPLE = Path(__file__).with_name("sample")
_IMAGE_MARK = "<image>\n"
_BLANK_SIZE = (336, 336)  # pixels


def load(
    *,
    subset: Subset,
    mode: str = "cot",
    split: str = "test",
    source: str = "auto",
    data_dir: str | None = None,
    prompts: str = "house",
    style: str | None = None,
    blank_image: bool = False,
    knowledge: str = "none",
    top_k: int = 3,
    encoder: str | None = None,
    sample_n: int | str | None = None,
    sample_seed: int = 0,
    sampling: str | None = None,
    math_types: str | None = None,
    **unknown: Any,
) -> dict[str, Any]:
    """Return `{split: datasets.Dataset}` of one subset; `info.description` holds the provenance as JSON."""
    options = set(load.__kwdefaults__ or ()) - {"mode"}  # `model` is no typo of it
    refuse_typos("xfinbench", unknown, [*sorted(options), *READER_OPTIONS])
    _check("subset", subset, TASKS)
    _check("split", split, SPLITS)
    _check("knowledge", knowledge, CONDITIONS)
    _check("prompts", prompts, _PROMPT_SETS)
    asked_style = style_named(style, mode=mode)
    settings = Settings.from_environ()
    table = SPLITS["validation" if source == "sample" else split]
    files = locate(
        "xfinbench", [table], source=source, data_dir=data_dir, settings=settings, sample=_SAMPLE
    )
    chosen = choose_rows(files, table, subset, sample_n=sample_n, sample_seed=sample_seed)
    templates = house_prompts() if prompts == "house" else upstream_prompts(files)
    shows_terms = knowledge != "none"
    facts: dict[str, Any] = {
        "scorer": VERSION,
        "split": split,
        "style": asked_style._asdict(),
        "blank_image": blank_image,
        "data": chosen.data,
        "left_out": chosen.left_out,
        "prompts": {"set": prompts, "sha256": templates.sha256(knowledge=shows_terms)},
        **sample_facts(sample_n, sample_seed),
    }
    if sampling is not None:
        facts["sampling"] = sampling
    terms: list[list[Term]] = [[] for _ in chosen.rows]
    if shows_terms:
        bank = files.with_files([BANK]).files[BANK]
        terms, facts["retrieval"] = find_terms(
            chosen.rows, bank, knowledge, top_k=top_k, encoder=encoder, settings=settings
        )
    docs = _documents(chosen, terms, subset, templates, asked_style)
    if subset == "mcq_visual" or blank_image:
        for doc in docs:
            doc["prompt"] = _IMAGE_MARK + doc["prompt"]
    if math_types and subset == "calc":
        labels = Path(math_types)
        facts["math_types"] = sha256_of(labels)
        _add_labels(docs, labels)
    return {split: dataset_of(docs, facts)}


def _check(name: str, value: str, allowed: Sequence[str] | Mapping[Any, Any]) -> None:
    if value not in allowed:
        raise ConfigError(f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}.")


def _documents(
    chosen: Chosen,
    terms: Sequence[Sequence[Term]],
    subset: Subset,
    templates: PromptSet,
    style: Style,
) -> list[AskedDocument]:
    docs: list[AskedDocument] = []
    for row, terms_of_row in zip(chosen.rows, terms, strict=True):
        question = row["question"]
        choices = row["choice"].replace("\\n", "\n")  # some cells spell it out
        if templates.name == "house":
            question = question.strip()
            choices = lettered(row["choices"])
        task = TASKS[subset]
        prompt = templates.fill(task, style, question=question, choices=choices, terms=terms_of_row)
        doc: AskedDocument = {
            "id": row["id"],
            "task": task,
            "subset": subset,
            "mode": style.mode,
            "question": row["question"],
            "choices": row["choices"],
            "ground_truth": row["ground_truth"],
            "target": _target_of(row),
            "capabilities": row["capabilities"],
            "has_table": row["has_table"],
            "figure": row["figure"],
            "figure_path": chosen.figure_paths.get(row["figure"], ""),
            "gold_terms": row["gold_terms"],
            "terms": [
                {"id": term.id, "name": term.name, "score": term.score} for term in terms_of_row
            ],
            "system": prompt["system"],
            "prompt": prompt["prompt"],
            "cue": prompt["cue"],
        }
        docs.append(doc)
    return docs


def _target_of(row: Row) -> str:
    """Return the right answer as a response."""
    truth = row["ground_truth"]
    if row["task"] == "calcu":
        return f"{MARKER} [{truth}]"
    if row["task"] == "bool":
        truth = "true" if parse_truth("bool", truth).value else "false"
    return f"{MARKER} {truth}."


def _add_labels(docs: Sequence[AskedDocument], labels: Path) -> None:
    types_by_id = read_labels(labels, [doc["id"] for doc in docs])
    for doc in docs:
        doc["math_types"] = types_by_id.get(doc["id"], [])


def figure(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Return a white picture for a question that has no figure."""
    del doc
    return [Image.new("RGB", _BLANK_SIZE, "white")]

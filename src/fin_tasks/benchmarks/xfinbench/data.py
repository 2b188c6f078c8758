"""XFinBench's rows as documents of lm-eval."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import fin_tasks
from fin_tasks.benchmarks.xfinbench import prompts as prompting
from fin_tasks.benchmarks.xfinbench.augmentation import CONDITIONS, Augmentation, Options, Shown, augment
from fin_tasks.benchmarks.xfinbench.files import Files, locate, prompt_templates, revision_of
from fin_tasks.benchmarks.xfinbench.knowledge import knowledge_bank
from fin_tasks.benchmarks.xfinbench.rows import Row, Rows, read_rows
from fin_tasks.benchmarks.xfinbench.truths import Task
from fin_tasks.data.documents import dataset_of
from fin_tasks.data.schema import ids_by_kind
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

__all__ = ["SUBSETS", "blank_image", "figure", "load"]

_log = logging.getLogger(__name__)

SUBSETS: Mapping[str, Task] = {"bool": "bool", "mcq": "mcq", "mcq_visual": "mcq", "calc": "calcu"}
"""Task family to the value of the file's `task` column."""

IMAGE_MARK = "<image>\n"
"""Where lm-eval's multimodal models put the picture."""

SCORER_VERSION = 1
"""Goes up with every change that moves a score; part of the provenance hash."""


def load(
    *,
    subset: str,
    mode: str = "cot",
    knowledge: str = "none",
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    prompts: str = "house",
    style: str | None = None,
    blank_image: bool = False,
    top_k: int = 3,
    ties: str = "paper",
    tokeniser: str = "whitespace",
    encoder: str | None = None,
    **_: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one task; lm-eval calls this as `custom_dataset` with the task's metadata.

    Args:
        subset: `bool`, `mcq` (without figures), `mcq_visual` or `calc`.
        mode: `cot`, `da` or `pot`.
        knowledge: Which finance terms go before a question: one of `augmentation.CONDITIONS`.
        split: `test` (default) or `validation`. The sample has one split and gives it for either; reports call that
            `sample`, whichever was asked for.
        source: `upstream`, `data_dir`, `sample`, or `auto`: a data folder where one is named, else upstream.
        data_dir: Folder with the benchmark's files; `FIN_TASKS_DATA` where None.
        prompts: `house` or `upstream` wording.
        style: A prompt style of the sensitivity study, see `prompts.STYLES`.
        blank_image: Send a blank picture with each text question, for models that insist on one.
        top_k: Terms to retrieve; this and the options below are those of `augmentation.Options`.
        ties: Which terms count as the `top_k` best.
        tokeniser: How BM25 splits texts.
        encoder: What embeds them for dense retrieval.

    Returns:
        `{split: Dataset}`. The dataset's `info.description` holds the provenance as JSON.

    Raises:
        ConfigError: An option has a value that does not exist, or a package for dense retrieval is missing.
        FetchError: A file cannot be downloaded.
        DataError: A file is missing or broken, or no row is left for the task.
        EndpointError: The encoder is behind an address that does not answer.
    """
    if subset not in SUBSETS:
        raise ConfigError(f"xfinbench: expected subset to be one of {', '.join(SUBSETS)}, got {subset!r}.")
    split = _one_of("split", split or "test", ("test", "validation"))
    prompts = _one_of("prompts", prompts, ("house", "upstream"))
    knowledge = _one_of("knowledge", knowledge, CONDITIONS)
    options = Options(top_k=top_k, ties=ties, tokeniser=tokeniser, encoder=encoder)
    style_used = prompting.style_named(style, mode=mode)
    settings = Settings.from_environ()
    files = locate(source=source, data_dir=data_dir, settings=settings, split=split, notify=_log.warning)
    rows, left_out = _rows(files, subset)
    templates = (
        prompting.upstream_prompts(prompt_templates(files)) if prompts == "upstream" else prompting.house_prompts()
    )
    mark = subset == "mcq_visual" or blank_image
    augmentation = _augmentation(files, rows, subset, knowledge, options, settings)
    shown = augmentation.shown if augmentation else ((),) * len(rows)
    docs = [_doc(row, terms, subset, style_used, templates, mark) for row, terms in zip(rows, shown, strict=True)]
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": SCORER_VERSION,
        "split": split,
        "style": {"mode": style_used.mode, "role": style_used.role},
        "prompts": {"set": templates.name, "sha256": templates.sha256(knowledge=augmentation is not None)},
        "data": _data_facts(files, rows),
        "blank_image": blank_image,
        "rows": len(docs),
        "left_out": left_out,
        # No key without knowledge: such a run keeps the hash that it had before there was any.
        **({"retrieval": augmentation.facts} if augmentation else {}),
    }
    return {split: dataset_of(docs, facts)}


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ConfigError(f"metadata {name}: expected one of {', '.join(allowed)}, got {value!r}.")
    return value


def _rows(files: Files, subset: str) -> tuple[tuple[Row, ...], dict[str, tuple[str, ...]]]:
    visual = subset == "mcq_visual"
    stamp = files.questions.stat()
    read = _read_rows(files, visual, stamp.st_mtime_ns, stamp.st_size)
    # Only multiple choice comes with figures; a figure in any other row would have to be shown, so it is left out too.
    rows, left_out = read.usable(SUBSETS[subset], figure=visual), read.left_out(SUBSETS[subset], figure=visual)
    if left_out:
        _log.warning("xfinbench %s, %s: rows left out: %s", subset, files.split, _counted(left_out))
    if not rows:
        raise DataError(
            f"xfinbench {subset}: expected at least one usable row in {files.questions}, found none "
            f"(left out: {left_out or 'nothing'}). See `fin-tasks doctor xfinbench`."
        )
    return rows, left_out


def _counted(kinds: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{kind} {len(ids)} ({_first(ids)})" for kind, ids in kinds.items())


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


@lru_cache(maxsize=4)
def _read_rows(files: Files, fetch_figures: bool, _mtime: int, _size: int) -> Rows:
    # The tasks of a group ask for the same file one after the other; a file that changed is read anew.
    return read_rows(files, fetch_figures=fetch_figures)


def _augmentation(
    files: Files, rows: tuple[Row, ...], subset: str, knowledge: str, options: Options, settings: Settings
) -> Augmentation | None:
    if knowledge == "none":
        return None
    bank = knowledge_bank(files)
    found = augment(rows, bank, condition=knowledge, options=options, settings=settings)
    task = f"xfinbench {subset}, {files.split}, {knowledge}"
    if bank.defects:
        _log.warning("%s: rows of the knowledge bank left out: %s", task, _counted(ids_by_kind(bank.defects)))
    if found.gold_missing:
        lacking = [f"{row}: {' and '.join(terms)}" for row, terms in found.gold_missing.items()]
        _log.warning("%s: rows with gold terms the knowledge bank lacks: %d (%s)", task, len(lacking), _first(lacking))
    if found.more:
        _log.warning("%s: rows with more terms, as scores tie: %d (%s)", task, len(found.more), _first(found.more))
    if found.without:
        _log.warning("%s: rows asked without any term: %d (%s)", task, len(found.without), _first(found.without))
    return found


def _doc(
    row: Row,
    terms: tuple[Shown, ...],
    subset: str,
    style: prompting.Style,
    templates: prompting.PromptSet,
    mark_image: bool,
) -> dict[str, Any]:
    house = templates.name == "house"
    prompt = templates.fill(
        task=row.task,
        style=style,
        question=row.question.strip() if house else row.question,
        choices=_lettered(row.choices) if house else row.choice_text.replace("\\n", "\n"),  # some cells spell it out
        knowledge=templates.knowledge.write((shown.term.name, shown.term.definition) for shown in terms),
    )
    return {
        "id": row.id,
        "task": row.task,
        "subset": subset,
        "mode": style.mode,
        "choices": list(row.choices),
        "ground_truth": row.truth_text,
        "target": _target(row),
        "capabilities": list(row.capabilities),
        "has_table": row.has_table,
        "figure": row.figure or "",
        "figure_path": str(row.figure_path or ""),
        "gold_terms": list(row.gold_terms),
        "terms": [{"id": shown.term.id, "name": shown.term.name, "score": shown.score} for shown in terms],
        "system": prompt.system,
        "prompt": IMAGE_MARK + prompt.user if mark_image else prompt.user,
        "cue": prompt.cue,
    }


def _lettered(choices: tuple[str, ...]) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def _target(row: Row) -> str:
    """Word the truth as a model should, for few-shot examples and the samples file."""
    if row.task == "bool":
        return f"{prompting.MARKER} {'true' if row.truth.value else 'false'}."
    if row.task == "mcq":
        return f"{prompting.MARKER} {row.truth_text}."
    return f"{prompting.MARKER} [{row.truth_text}]"


def _data_facts(files: Files, rows: tuple[Row, ...]) -> dict[str, Any]:
    revision = revision_of(files, [row.figure_path for row in rows if row.figure_path is not None])
    commit = files.source.revision if files.origin == "upstream" else None
    return {"origin": files.origin, "commit": commit, "revision": revision.short, "files": dict(revision.files)}


def figure(doc: Mapping[str, Any]) -> "list[Image]":
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> "list[Image]":
    """Return a white picture for a question that has no figure."""
    from PIL import Image

    return [Image.new("RGB", (336, 336), "white")]

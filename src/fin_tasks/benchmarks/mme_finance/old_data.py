"""MME-Finance's rows as documents, for both harnesses."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fin_tasks
from fin_tasks.benchmarks.mme_finance import old_prompts as prompting
from fin_tasks.benchmarks.mme_finance.files import Files, locate, revision_of
from fin_tasks.benchmarks.mme_finance.row import LANGUAGES, Language, Row
from fin_tasks.benchmarks.mme_finance.rows import Rows, read_rows
from fin_tasks.data.documents import dataset_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.old_item import JudgeItem
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

__all__ = ["IMAGE_MARK", "judge_item", "load", "picture"]

_log = logging.getLogger(__name__)

IMAGE_MARK = "<image>\n"
"""What stands at the head of a document's `prompt`: where lm-eval's multimodal models put the picture."""

SCORER_VERSION = 1
"""Goes up with every change that moves a score; part of the provenance hash."""


def load(
    *,
    language: Language,
    na: bool = False,
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    data_revision: str | None = None,
    **_: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one task; lm-eval calls this as `custom_dataset` with the task's metadata.

    Args:
        language: `en` or `zh`.
        na: Allow "Not Applicable" in every category, see `prompts.fill`.
        split: `test`, the only one there is.
        source: `upstream`, `data_dir`, `sample`, or `auto`: a data folder where one is named, else upstream.
        data_dir: Folder with the benchmark's files; `FIN_TASKS_DATA` where None.
        data_revision: Commit, branch or tag of the hub's data set; where None, the newest at the first use, and from
            then on the same.

    Returns:
        `{"test": Dataset}`. The dataset's `info.description` holds the provenance as JSON.

    Raises:
        ConfigError: An option has a value that does not exist.
        FetchError: The files cannot be downloaded.
        DataError: A file is missing or broken, or has no usable row.
    """
    if language not in LANGUAGES:
        raise ConfigError(f"mme_finance: expected language to be one of {', '.join(LANGUAGES)}, got {language!r}.")
    if split not in (None, "test"):
        raise ConfigError(f"metadata split: expected test, the only one of mme_finance, got {split!r}.")
    settings = Settings.from_environ()
    files = locate(
        language=language,
        source=source,
        data_dir=data_dir,
        data_revision=data_revision,
        settings=settings,
    )
    stamp = files.table.stat()
    read = _read_rows(files, stamp.st_mtime_ns, stamp.st_size)
    if not read.rows:
        raise DataError(
            f"mme_finance, {language}: expected at least one usable row in {files.table}, found none "
            f"(left out: {_counted(read.left_out) or 'nothing'}). See `fin-tasks doctor mme_finance`."
        )
    revision = revision_of(files)
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": SCORER_VERSION,
        "split": "test",
        "language": language,
        "na": na,
        "prompts": {"set": prompting.NAME, "sha256": prompting.sha256(language=language, na=na)},
        "data": {
            "origin": files.origin,
            "commit": files.commit,
            "revision": revision.short,
            "files": dict(revision.files),
        },
        "rows": len(read.rows),
        "left_out": {kind: list(ids) for kind, ids in read.left_out.items()},
    }
    return {"test": dataset_of([_doc(row, language, na) for row in read.rows], facts)}


def judge_item(doc: Mapping[str, Any], response: str) -> JudgeItem:
    """Return what a judge is given about a response to a document: the answer requirements are those of its prompt."""
    return JudgeItem(
        index=doc["index"],
        question=doc["question"],
        answer=doc["answer"],
        response=response,
        category=doc["category"],
        image=Path(doc["image_path"]),
        also_told=prompting.allowance(doc["category"], language=doc["language"]) if doc["na"] else "",
        image_type=doc["image_type"],
        image_style=doc["image_style"],
    )


def picture(doc: Mapping[str, Any]) -> "list[Image]":
    """Open a document's picture; lm-eval calls this as `doc_to_image`."""
    from PIL import Image

    with Image.open(doc["image_path"]) as image:
        return [image.convert("RGB")]


# Tasks with and without "Not Applicable" ask for the same file one after the other: it is read once, and what is to be
# said of it is said once. A file that changed is read anew.
@lru_cache(maxsize=4)
def _read_rows(files: Files, _mtime: int, _size: int) -> Rows:
    read = read_rows(files)
    if read.left_out:
        _log.warning("mme_finance, %s: rows left out: %s", files.language, _counted(read.left_out))
    return read


def _counted(left_out: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(
        f"{kind} {len(ids)} ({', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''})" for kind, ids in left_out.items()
    )


def _doc(row: Row, language: Language, na: bool) -> dict[str, Any]:
    prompt = prompting.fill(row, language=language, na=na)
    return {
        "id": row.index,
        "index": row.index,
        "language": language,
        "na": na,
        "question": row.question,
        "answer": row.answer,
        "category": row.category,
        "image_type": row.image_type,
        "image_style": row.image_style,
        "background": row.background,
        "image_path": str(row.image_path.absolute()),
        "system": prompt.system,
        "prompt": IMAGE_MARK + prompt.user,
        "cue": prompt.cue,
        "target": row.answer,
        "truth": row.truth,
    }

"""BizBench's rows as documents of lm-eval."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import fin_tasks
from fin_tasks.benchmarks.bizbench import prompts as prompting
from fin_tasks.benchmarks.bizbench.contexts import cut
from fin_tasks.benchmarks.bizbench.files import Files, locate, revision_of
from fin_tasks.benchmarks.bizbench.formulas import reference_of
from fin_tasks.benchmarks.bizbench.row import PARTS, Row
from fin_tasks.benchmarks.bizbench.rows import Rows, read_rows
from fin_tasks.benchmarks.bizbench.sampling import in_no_column, paper_sample
from fin_tasks.benchmarks.bizbench.targets import target_of
from fin_tasks.data.documents import dataset_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = ["CONTEXT_CHARS", "SUBSETS", "load"]

_log = logging.getLogger(__name__)

SUBSETS: Mapping[str, str] = {
    **{str(part): name for part, name in PARTS.items()},
    "paper_choice": "the paper's sample, choices",
    "paper_quantity": "the paper's sample, numbers",
}
"""What a task can ask: a part, or one half of the sample that XFinBench's authors compare with."""

CONTEXT_CHARS = 24_000
"""Characters of a document that are shown unless told otherwise: 6,000 to 8,000 tokens."""

SCORER_VERSION = 1
"""Goes up with every change that moves a score; part of the provenance hash."""

_MODES = ("cot", "pot", "code")
_Stamps = tuple[tuple[int, int], ...]
"""When each file was changed, in nanoseconds, and its size in bytes."""


def load(
    *,
    part: str,
    mode: str,
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    data_revision: str | None = None,
    max_context_chars: int | None = CONTEXT_CHARS,
    sample_n: int = 500,
    sample_seed: int = 42,
    **_: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one task; lm-eval calls this as `custom_dataset` with the task's metadata.

    Args:
        part: A key of `SUBSETS`.
        mode: `cot` reasons and states the answer, `pot` writes a program that computes it, `code` writes the function
            asked for. Rows with choices are asked as `cot` in any mode.
        split: `test` (default) or `train`.
        source: `upstream`, `data_dir`, `sample`, or `auto`: a data folder where one is named, else upstream.
        data_dir: Folder with the benchmark's files, or the split's file; `FIN_TASKS_DATA` where None.
        data_revision: Commit, branch or tag of the hub's data set; where None, the newest at the first use, and from
            then on the same.
        max_context_chars: Characters of a document to show; None for all of it.
        sample_n: Rows of the paper's sample, both halves together.
        sample_seed: Names the draw of the paper's sample.

    Returns:
        `{split: Dataset}`. The dataset's `info.description` holds the provenance as JSON.

    Raises:
        ConfigError: An option has a value that does not exist.
        FetchError: The files cannot be downloaded.
        DataError: A file is missing or broken, or has no row for the task.
    """
    if part not in SUBSETS:
        raise ConfigError(f"bizbench: expected part to be one of {', '.join(SUBSETS)}, got {part!r}.")
    if mode not in _MODES:
        raise ConfigError(f"bizbench: expected mode to be one of {', '.join(_MODES)}, got {mode!r}.")
    limit = _positive("max_context_chars", max_context_chars) if max_context_chars is not None else None
    _positive("sample_n", sample_n)
    settings = Settings.from_environ()
    files = locate(
        source=source,
        data_dir=data_dir,
        split=split or "test",
        data_revision=data_revision,
        settings=settings,
        notify=_log.warning,
    )
    stamps = _stamps(files)
    read = _read_rows(files, stamps)
    rows, left_out = _chosen(files, stamps, part, n=sample_n, seed=sample_seed)
    if not rows:
        found = ", ".join(f"{name} {len(read.part(name))}" for name in PARTS if read.part(name)) or "nothing"
        raise DataError(
            f"bizbench {part}: expected at least one row in {', '.join(path.name for path in files.paths)}, found none "
            f"(rows by part: {found}; left out: {left_out or 'none'}). See `fin-tasks doctor bizbench`."
        )
    docs = [_doc(row, part, mode, limit) for row in rows]
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "scorer": SCORER_VERSION,
        "split": files.split,
        "part": part,
        "mode": mode,
        "prompts": {"set": prompting.NAME, "sha256": prompting.sha256()},
        "data": _data_facts(files),
        "context": _context_facts(part, docs, limit),
        "sample": {"n": sample_n, "seed": sample_seed} if part.startswith("paper_") else None,
        "rows": len(docs),
        "left_out": left_out,
    }
    return {files.split: dataset_of(docs, facts)}


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"metadata {name}: expected a whole number from 1, got {value!r}.")
    return value


def _stamps(files: Files) -> _Stamps:
    stats = [path.stat() for path in files.paths]
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)


# The tasks of a group ask for the same files one after the other: these are read and drawn from once, and what is to be
# said of them is said once. A file that changed is read anew.
@lru_cache(maxsize=4)
def _read_rows(files: Files, _stamps: _Stamps) -> Rows:
    read = read_rows(files)
    if read.left_out:
        _log.warning("bizbench, %s: rows left out: %s", files.split, _counted(read.left_out))
    return read


@lru_cache(maxsize=4)
def _draw(files: Files, stamps: _Stamps, n: int, seed: int) -> tuple[tuple[Row, ...], Mapping[str, tuple[str, ...]]]:
    """Draw the paper's sample; name the rows that cannot be in it, by kind of defect."""
    read = _read_rows(files, stamps)
    drawn = paper_sample(read, n=n, seed=seed)
    if len(drawn) < n:
        _log.warning(
            "bizbench, %s: the paper's sample has %d rows, not %d: the file has no more", files.split, len(drawn), n
        )
    unfit = {"knowledge-without-options": ids} if (ids := tuple(row.id for row in in_no_column(read))) else {}
    if unfit:
        _log.warning("bizbench, %s: rows left out of the paper's sample: %s", files.split, _counted(unfit))
    return drawn, unfit


def _chosen(
    files: Files, stamps: _Stamps, part: str, *, n: int, seed: int
) -> tuple[tuple[Row, ...], dict[str, tuple[str, ...]]]:
    """Return the rows of a subset, and the ids left out, by kind of defect."""
    read = _read_rows(files, stamps)
    if not part.startswith("paper_"):
        return tuple(row for row in read.rows if row.part == part), read.left_out
    kind = "choice" if part == "paper_choice" else "number"
    drawn, unfit = _draw(files, stamps, n, seed)
    return tuple(row for row in drawn if row.kind == kind), {**read.left_out, **unfit}


def _counted(left_out: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(
        f"{kind} {len(ids)} ({', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''})" for kind, ids in left_out.items()
    )


def _doc(row: Row, subset: str, mode: str, limit: int | None) -> dict[str, Any]:
    asked = {"choice": "cot", "code": "code"}.get(row.kind, "cot" if mode == "code" else mode)
    shown = cut(row.context, limit)
    code = row.kind == "code"
    program = reference_of(row.question, (row.program, row.answer)) if code else ""
    letter = ascii_uppercase[row.correct] if row.correct is not None and row.correct < len(ascii_uppercase) else ""
    gold = program if code else row.program
    prompt = prompting.fill(kind=row.kind, mode=asked, question=row.question, context=shown.text, options=row.options)
    return {
        "id": row.id,
        "part": row.part,
        "subset": subset,
        "kind": row.kind,
        "mode": asked,
        "task_mode": mode,
        "ground_truth": row.answer,
        "letter": letter,
        "options": list(row.options),
        "stub": row.question if code else "",
        "program": program,
        "context_cut": shown.dropped,
        "target": target_of(kind=row.kind, mode=asked, answer=row.answer, letter=letter, program=gold),
        "system": prompt.system,
        "prompt": prompt.user,
        "cue": prompt.cue,
    }


def _data_facts(files: Files) -> dict[str, Any]:
    revision = revision_of(files)
    return {
        "origin": files.origin,
        "commit": files.commit,
        "revision": revision.short,
        "files": dict(revision.files),
    }


def _context_facts(part: str, docs: Sequence[Mapping[str, Any]], limit: int | None) -> dict[str, Any]:
    dropped = [doc["context_cut"] for doc in docs if doc["context_cut"]]
    if dropped:
        _log.warning(
            "bizbench %s: %d of %d documents are cut to %d characters, %d left out in all (metadata max_context_chars)",
            *(part, len(dropped), len(docs), limit, sum(dropped)),
        )
    return {"max_chars": limit, "cut_rows": len(dropped), "cut_chars": sum(dropped)}

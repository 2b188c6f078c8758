"""FinanceMath's questions as documents of lm-eval, with truths at full precision."""

import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.benchmarks.financemath import VERSION
from fin_tasks.benchmarks.financemath.prompts import (
    UPSTREAM_FILE,
    Mode,
    Prompts,
    house_prompts,
    upstream_prompts,
)
from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.data.documents import (
    SAMPLE_OPTIONS,
    dataset_of,
    draw_rows,
    refuse_typos,
    sample_facts,
)
from fin_tasks.data.locate import Located, locate
from fin_tasks.data.tables import read_json
from fin_tasks.errors import ConfigError, DataError, SandboxError
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings
from fin_tasks.variants.build import Source
from fin_tasks.variants.folder import read_variants

_log = logging.getLogger(__name__)

Row = dict[str, Any]
"""A row of a file, or a document made of it."""

_SAMPLE = Path(__file__).with_name("sample")
_OPTIONS = (
    "split",
    "source",
    "data_dir",
    "variants",
    "prompts",
    "sampling",
    *SAMPLE_OPTIONS,
    *READER_OPTIONS,
)
_TEXTS = ("question", "python_solution", "topic")
_COPIED = ("question_id", "ground_truth", "python_solution", "topic")


def load(
    *,
    mode: Mode,
    split: str = "validation",
    source: str = "auto",
    data_dir: str | Path | None = None,
    variants: str | Path | None = None,
    prompts: str = "house",
    sample_n: int | None = None,
    sample_seed: int = 0,
    **unknown: Any,
) -> dict[str, Any]:
    """Load the documents of one task, `cot` or `pot`, as `{split: Dataset}` with the provenance in `info.description`.

    `source` and `data_dir` are those of `data.locate.locate`; `sample_n` and `sample_seed` name a
    random sample. The authors publish no truths of the test split, so it needs a file of yours.
    `variants` is a folder of `fin-tasks build variants`, whose questions are asked in place of the
    published ones. lm-eval adds the arguments of the model.
    """
    refuse_typos("financemath", unknown, _OPTIONS)
    file_split = "validation" if source == "sample" else split
    name = f"data/{file_split}.json"
    files = _files_of(name, source, data_dir)
    all_rows = read_rows(files.files[name], "question")
    data: Mapping[str, Any] = files.provenance()
    shown_split = split
    if variants is not None:
        shown_split = "variants"
        variant_rows, data = read_variants(Path(variants), "financemath")
        all_rows = [_row_of_variant(row) for row in variant_rows]
    rows = draw_rows(
        "financemath", all_rows, sample_n, sample_seed, lambda row: str(row["question_id"])
    )
    docs, rounded = scoring_docs(rows, mode)
    wording = _prompts_named(prompts, mode, files)
    for doc, row in zip(docs, rows, strict=True):
        doc |= {
            "has_table": bool(row["tables"]),
            "target": _target_of(row, mode),
            "system": wording.system,
            "prompt": wording.fill(row["question"], row["tables"]),
            "cue": wording.cue,
        }
    facts: dict[str, Any] = {
        "scorer": VERSION,
        "split": shown_split,
        "mode": mode,
        "prompts": {"set": wording.name, "sha256": wording.sha256},
        "data": data,
        "truths": {"rounded": rounded},
        **sample_facts(sample_n, sample_seed),
    }
    return {split: dataset_of(docs, facts)}


def variant_sources(source: str, data_dir: str | Path | None) -> list[Source]:
    """Return the questions that variants are made of, with their programs."""
    name = "data/validation.json"
    files = _files_of(name, source, data_dir)
    sources = []
    for row in read_rows(files.files[name], "question"):
        sources.append(
            Source(
                id=row["question_id"],
                question=row["question"],
                texts=tuple(row["tables"]),
                texts_column="tables",
                program=row.get("python_solution") or "",
                truth=row["ground_truth"],
                fields={"topic": row.get("topic")},
            )
        )
    return sources


def _files_of(name: str, source: str, data_dir: str | Path | None) -> Located:
    return locate(
        "financemath",
        [name],
        source=source,
        data_dir=data_dir,
        settings=Settings.from_environ(),
        sample=_SAMPLE,
    )


def _row_of_variant(variant: Row) -> Row:
    return {
        "question_id": str(variant["id"]),
        "question": str(variant["question"]),
        "tables": _tables_in(variant, "variants"),
        "python_solution": str(variant["program"]),
        "ground_truth": float(variant["truth"]),
        "topic": variant.get("topic"),
        "published_id": str(variant["source"]),
        "published_truth": float(variant["published_truth"]),
    }


def read_rows(path: Path, column: str) -> list[Row]:
    """Read questions or recordings, which have their text in `column`."""
    aliases = {"question_id": "id", "output": "model_response"}
    rows = read_json(path, ("question_id", "ground_truth", column), aliases=aliases)
    for row in rows:
        place = f"{path}, {row['question_id']!s:.80}"
        for name in _TEXTS:
            text = row.get(name)
            if not isinstance(text, str | None):
                raise DataError(f"{place}: expected text as {name}, got {text!r:.80}.")
        truth = row["ground_truth"]
        number = math.nan
        with suppress(TypeError, ValueError, OverflowError):
            number = float(truth)
        if not math.isfinite(number):
            raise DataError(
                f"{place}: expected a finite number as ground_truth, got {truth!r:.80}."
            )
        row["question_id"] = str(row["question_id"])
        row["ground_truth"] = number
        row["tables"] = _tables_in(row, place)
    return rows


def _tables_in(row: Row, place: str) -> list[str]:
    tables = row.get("tables") or []
    if not isinstance(tables, list) or not all(isinstance(table, str) for table in tables):
        raise DataError(f"{place}: expected a list of texts as tables, got {tables!r:.80}.")
    return list(tables)


def scoring_docs(rows: Sequence[Row], mode: str) -> tuple[list[Row], list[str]]:
    """Return documents with what scoring needs, and the ids whose own program gives no number for the exact truth.

    Their exact truth is that of the file, which is rounded to 3 decimals.
    """
    docs: list[Row] = []
    rounded: list[str] = []
    for row, result in zip(rows, _results_of_programs(rows), strict=True):
        exact_truth = row["ground_truth"]
        if result is not None and math.isfinite(result):
            exact_truth = result
        else:
            rounded.append(row["question_id"])
        doc = {name: row.get(name) for name in _COPIED}
        doc["exact_truth"] = exact_truth
        doc["topic_name"] = TOPICS.get(row.get("topic") or "", "")
        doc["mode"] = mode
        doc["published_id"] = row.get("published_id", "")
        doc["published_truth"] = row.get("published_truth")
        docs.append(doc)
    return docs, rounded


def _results_of_programs(rows: Sequence[Row]) -> list[float | None]:
    """Return what the reference programs return; None for a row without a result."""
    programs = [row.get("python_solution") for row in rows]
    nothing: list[float | None] = [None] * len(rows)
    if not any(programs):
        return nothing
    try:
        outcomes = run_programs(programs, settings=Settings.from_environ())
    except SandboxError as error:
        _log.warning(
            "financemath: truths stay rounded to 3 decimals, as no sandbox works: %s", error
        )
        return nothing
    return [outcome.number for outcome in outcomes]


def _prompts_named(
    name: str,
    mode: Mode,
    files: Located,
) -> Prompts:
    """Return our prompts, or the authors' from where the questions are; the sample has none of theirs."""
    if name == "house":
        return house_prompts(mode)
    if name != "upstream":
        raise ConfigError(f"financemath prompts: expected house or upstream, got {name!r}.")
    if files.origin == "sample":
        files = locate("financemath", [UPSTREAM_FILE], settings=files.settings)
    path = files.with_files([UPSTREAM_FILE]).files[UPSTREAM_FILE]
    return upstream_prompts(path, mode)


def _target_of(row: Row, mode: Mode) -> str:
    """Return the right answer as a response; empty for a program that the file lacks."""
    if mode == "cot":
        return f"Therefore, the answer is {row['ground_truth']:.12g}."
    program = row.get("python_solution")
    return f"```python\n{program}\n```" if program else ""

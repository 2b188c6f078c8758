"""FinanceReasoning's questions as documents of lm-eval."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.benchmarks.financereasoning import VERSION
from fin_tasks.benchmarks.financereasoning.prompts import (
    UPSTREAM_CODE,
    UPSTREAM_FILE,
    Mode,
    Prompts,
    house_prompts,
    upstream_prompts,
)
from fin_tasks.benchmarks.financereasoning.score import Level
from fin_tasks.data.documents import (
    SAMPLE_OPTIONS,
    dataset_of,
    draw_rows,
    refuse_typos,
    sample_facts,
)
from fin_tasks.data.locate import Located, locate
from fin_tasks.data.tables import read_json
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings
from fin_tasks.variants.build import Source
from fin_tasks.variants.folder import read_variants
from fin_tasks.variants.program import as_function

if TYPE_CHECKING:
    from datasets import Dataset

Row = dict[str, Any]
"""A row of a file, or a document made of it."""

LEVELS: Sequence[Level] = get_args(Level)
_SAMPLE = Path(__file__).with_name("sample")
_OPTIONS = (
    "source",
    "data_dir",
    "variants",
    "prompts",
    "sampling",
    *SAMPLE_OPTIONS,
    *READER_OPTIONS,
)


def load(
    *,
    level: Level,
    mode: Mode,
    source: str = "auto",
    data_dir: str | Path | None = None,
    variants: str | Path | None = None,
    prompts: str = "house",
    sample_n: int | None = None,
    sample_seed: int = 0,
    **unknown: Any,
) -> "dict[str, Dataset]":
    """Load the documents of one level as `{"test": Dataset}` with the provenance in `info.description`.

    `source` and `data_dir` are those of `data.locate.locate`; `sample_n` and `sample_seed` name a
    random sample. `variants` is a folder of `fin-tasks build variants`, whose questions are asked
    in place of the published ones. lm-eval adds the arguments of the model.
    """
    refuse_typos("financereasoning", unknown, _OPTIONS)
    split = "test"
    if variants is None:
        files = files_of([level], source, data_dir)
        all_rows = read_levels(files)
        data: Mapping[str, Any] = files.provenance()
    else:
        split = "variants"
        files = files_of([], source, data_dir)
        variant_rows, data = read_variants(Path(variants), "financereasoning")
        all_rows = [_row_of_variant(row) for row in variant_rows if row["level"] == level]
    rows = draw_rows(
        "financereasoning", all_rows, sample_n, sample_seed, lambda row: str(row["id"])
    )
    wording = _prompts_named(prompts, mode, files)
    docs = []
    for row in rows:
        doc = scoring_doc(row, mode)
        doc |= {
            "context": row["context"],
            "python_solution": row["python_solution"],
            "target": _target_of(row, mode),
            "system": wording.system,
            "prompt": wording.fill(row["question"], row["context"]),
            "cue": wording.cue,
        }
        docs.append(doc)
    facts = {
        "scorer": VERSION,
        "split": split,
        "level": level,
        "mode": mode,
        "prompts": {"set": wording.name, "sha256": wording.sha256},
        "data": data,
        **sample_facts(sample_n, sample_seed),
    }
    return {"test": dataset_of(docs, facts)}


def variant_sources(source: str, data_dir: str | Path | None) -> list[Source]:
    """Return the questions that variants are made of, with their programs."""
    sources = []
    for row in read_levels(files_of(LEVELS, source, data_dir)):
        sources.append(
            Source(
                id=row["id"],
                question=row["question"],
                texts=(row["context"],),
                texts_column="context",
                program=as_function(row["python_solution"], row["context"]) or "",
                truth=row["truth"],
                fields={"level": row["level"], "origin": row["origin"]},
            )
        )
    return sources


def _row_of_variant(variant: Row) -> Row:
    row = _row(
        {
            "question_id": variant["id"],
            "python_solution": variant["program"],
            "ground_truth": variant["truth"],
            "question": variant["question"],
            "context": variant.get("context"),
        },
        variant["level"],
        Path("variants"),
    )
    row["origin"] = variant["origin"]
    row["published_id"] = str(variant["source"])
    row["published_truth"] = float(variant["published_truth"])
    return row


def files_of(levels: Sequence[Level], source: str, data_dir: str | Path | None) -> Located:
    """Return where the files of some levels lie."""
    names = [f"data/FinanceReasoning/{level}.json|{level}.json" for level in levels]
    return locate(
        "financereasoning",
        names,
        source=source,
        data_dir=data_dir,
        settings=Settings.from_environ(),
        sample=_SAMPLE,
    )


def read_levels(files: Located) -> list[Row]:
    """Read the rows of located files."""
    rows: list[Row] = []
    for name, path in files.files.items():
        level = Path(name).stem
        for row in read_json(path, ("question_id", "question", "ground_truth")):
            rows.append(_row(row, level, path))
    return rows


def _row(fields: Row, level: str, path: Path) -> Row:
    place = f"{path}, {fields['question_id']!s:.80}"
    row: Row = {"id": str(fields["question_id"]), "level": level}
    for name in ("question", "context", "python_solution", "source"):
        text = fields.get(name) or ""
        if not isinstance(text, str):
            raise DataError(f"{place}: expected text as {name}, got {text!r:.80}.")
        row[name] = text
    row["origin"] = row["source"].partition("-test")[0].partition("-valid")[0]
    row["truth"] = _truth_of(fields["ground_truth"], place)
    return row


def _truth_of(truth: object, place: str) -> bool | float:
    if isinstance(truth, bool):
        return truth
    try:
        number = float(truth)  # type: ignore[arg-type]  # anything else is an error below
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        expected = "expected a finite number, true or false as ground_truth"
        raise DataError(f"{place}: {expected}, got {truth!r:.80}.")
    return number


def scoring_doc(row: Row, mode: str) -> Row:
    """Return a document with what scoring needs; columns of a data set have one type."""
    is_verdict = isinstance(row["truth"], bool)
    return {
        "id": row["id"],
        "question": row["question"],
        "ground_truth": float(row["truth"]),
        "kind": "verdict" if is_verdict else "number",
        "level": row["level"],
        "origin": row["origin"],
        "mode": mode,
        "published_id": row.get("published_id", ""),
        "published_truth": row.get("published_truth"),
    }


def _prompts_named(name: str, mode: Mode, files: Located) -> Prompts:
    """Return our prompts, or the authors' from where the questions are; the sample has none of theirs."""
    if name == "house":
        return house_prompts(mode)
    if name != "upstream":
        raise ConfigError(f"financereasoning prompts: expected house or upstream, got {name!r}.")
    if files.origin == "sample":
        files = locate("financereasoning", [], settings=files.settings)
    paths = files.with_files([UPSTREAM_FILE]).files
    code = files.with_files([UPSTREAM_CODE], optional=True).files.get(UPSTREAM_CODE)
    return upstream_prompts(paths[UPSTREAM_FILE], code, mode)


def _target_of(row: Row, mode: Mode) -> str:
    """Return the right answer as a response; empty for a program that the file lacks."""
    truth = row["truth"]
    if mode == "pot":
        program = as_function(row["python_solution"], row["context"])
        return f"```python\n{program}\n```" if program else ""
    answer = str(truth) if isinstance(truth, bool) else f"{truth:.12g}"
    return f"Therefore, the answer is {answer}."

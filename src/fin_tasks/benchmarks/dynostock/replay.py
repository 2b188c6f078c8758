"""Score the authors' recorded responses again: files such as `gpt-4o/exp_recency_12.json`."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from fin_tasks.answers.cut_off import mark_response
from fin_tasks.errors import DataError
from fin_tasks.limited_file import RESULTS_MB, read_limited_json

from ..contract import Document
from ..scored_task import ScoredTask, score_task
from ..task_file import TaskFile
from .windows import WINDOW_ID

ASKED = {
    "mode": "image",
    "arm": "signal",
    "anonymize": False,
    "prompts": {"set": "upstream"},
}
"""How the authors asked, as results say it."""


_FAMILIES = (
    ("mini-gemini", "paper_mini_gemini", "first"),
    ("mgm", "paper_mini_gemini", "first"),
    ("minicpm", "paper_minicpm", "first"),
    ("claude", "paper_claude", "last"),
    ("gemini", "paper_api", "last"),
    ("gpt", "paper_api", "last"),
)
"""Words in the names of models, and how the authors sampled them and where the chart stood."""


class Recording(NamedTuple):
    """A file's documents with the response to each."""

    file: Path
    bias: str
    window: int
    docs: Sequence[Document]
    responses: Sequence[Sequence[str]]


class _Row(BaseModel):
    ticker: str
    start_time: str
    end_time: str
    bias: Literal[0, 1]
    """The movement that the statement suggests."""
    gt: Literal[0, 1]
    """The movement that followed."""
    response: str | None
    finish_reason: str | None = None


_ROWS = TypeAdapter(Annotated[list[_Row], Field(min_length=1)])


def metadata_of(model: str) -> dict[str, str]:
    """Return the metadata with which a task asks as the authors asked a model of this family."""
    sampling = "paper"
    picture = "first"
    for word, own_sampling, own_picture in _FAMILIES:
        if word in model.lower().replace("_", "-"):
            sampling = own_sampling
            picture = own_picture
            break
    return {
        "prompts": "upstream",
        "chart": "paper",
        "picture": picture,
        "sampling": sampling,
    }


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return the given files, and the recordings below the given folders."""
    files = []
    for path in paths:
        files += sorted(path.rglob("exp_*.json")) if path.is_dir() else [path]
    if not files:
        folders = ", ".join(map(str, paths))
        raise DataError(f"{folders}: expected exp_*.json in it, found none.")
    return files


def read_recording(path: Path) -> Recording:
    """Read the authors' rows; the file's name tells bias and window size."""
    name = re.match(r"exp_(recency|authority)_(\d+)", path.name)
    if name is None:
        raise DataError(
            f"{path}: expected a file such as exp_recency_4.json, got another name."
        )
    try:
        rows = _ROWS.validate_json(read_limited_json(path, RESULTS_MB))
    except (OSError, ValidationError) as error:
        raise DataError(
            f"{path}: expected a JSON list of the authors' rows, got {error}"
        ) from error
    bias = name[1]
    size = int(name[2])
    docs = []
    id_counts: Counter[str] = Counter()
    for row in rows:
        end_day = row.end_time[:10]
        row_id = WINDOW_ID.format(bias=bias, size=size, ticker=row.ticker, end=end_day)
        id_counts[row_id] += 1
        if id_counts[row_id] > 1:
            row_id = f"{row_id}#{id_counts[row_id]}"
        docs.append(
            {
                "id": row_id,
                "bias_type": bias,
                "window": size,
                "ticker": row.ticker,
                "mode": "image",
                "arm": "signal",
                "start": row.start_time,
                "end": row.end_time,
                "title": f"{row.ticker}, {size} reports until {row.end_time}",
                "signal": row.bias,
                "truth": row.gt,
                "anonymized": False,
            }
        )
    responses = [[mark_response(row.response or "", row.finish_reason)] for row in rows]
    return Recording(path, bias, size, docs, responses)


def replay(paths: Sequence[Path]) -> list[tuple[Recording, ScoredTask]]:
    """Score the recordings in files and folders."""
    scored = []
    for recording in map(read_recording, find_files(paths)):
        # Windows of every size are scored alike.
        task_file = TaskFile(f"dynostock_{recording.bias}_w4")
        task = score_task(task_file, recording.docs, recording.responses)
        task = replace(task, name=f"dynostock_{recording.bias}_w{recording.window}")
        scored.append((recording, task))
    return scored


def rows_of(
    scored: Sequence[tuple[Recording, ScoredTask]], *, scoring: str
) -> pd.DataFrame:
    """Return a row for each response under a scoring, as `by_window` takes them."""
    rows = []
    for recording, task in scored:
        folder = recording.file.resolve().parent
        facts = {
            "model": folder.name,
            "bias": recording.bias,
            "setting": str(folder.parent),
        }
        parts_of_docs = task.breakdown_rows(scoring)
        records = zip(task.docs, task.values[scoring], parts_of_docs, strict=True)
        for doc, values, parts in records:
            rows.append({**doc, **values, **parts, **facts, "doc_id": doc["id"]})
    return pd.DataFrame(rows)

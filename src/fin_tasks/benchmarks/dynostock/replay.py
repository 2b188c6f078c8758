"""Score the authors' recorded responses again: files such as `gpt-4o/exp_recency_12.json`."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd
from pydantic import BaseModel, ValidationError

from fin_tasks.benchmarks.dynostock.experiment import COLUMNS
from fin_tasks.benchmarks.dynostock.windows import window_id
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.errors import DataError


class Recording(NamedTuple):
    """A file's documents with the response to each, and what is wrong with rows that cannot be used."""

    file: Path
    bias: str
    window: int
    docs: Sequence[Mapping[str, Any]]
    responses: Sequence[Sequence[str]]
    problems: Sequence[str]


class _Row(BaseModel):
    ticker: str
    start_time: str
    end_time: str
    bias: Literal[0, 1]
    gt: Literal[0, 1]
    response: Any = None


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return files as they are and the recordings below folders, ordered by name and window size."""
    files: list[Path] = []
    for path in paths:
        below = list(path.rglob("exp_*.json")) if path.is_dir() else [path]
        if not below:
            raise DataError(f"{path}: expected exp_*.json in or below this folder, found none.")
        files += sorted(below, key=lambda file: [part.zfill(20) for part in re.split(r"(\d+)", str(file))])
    return list(dict.fromkeys(files))


def read_recording(path: Path) -> Recording:
    """Read the authors' rows; the file's name tells bias and window size."""
    named = re.match(r"exp_(recency|authority)_(\d+)", path.name)
    if named is None:
        raise DataError(f"{path}: expected a file such as exp_recency_4.json, got another name.")
    try:
        rows = list(json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: expected a JSON list in UTF-8, got {error}.") from error
    bias, window = named[1], int(named[2])
    docs: list[dict[str, Any]] = []
    responses: list[list[str]] = []
    problems: list[str] = []
    seen = Counter[str]()
    for number, given in enumerate(rows, start=1):
        try:
            row = _Row.model_validate(given)
        except ValidationError as error:
            problems.append(f"{path}, row {number}: {error}")
            continue
        name = window_id(bias, window, row.ticker, row.end_time)
        seen[name] += 1  # a recording may hold a window twice
        name = name if seen[name] == 1 else f"{name}#{seen[name]}"
        doc = {"id": name, "bias_type": bias, "window": window, "ticker": row.ticker, "mode": "image", "arm": "signal"}
        doc |= {"start": row.start_time, "end": row.end_time, "signal": row.bias, "truth": row.gt, "anonymized": False}
        docs.append(doc)
        responses.append([row.response if isinstance(row.response, str) else ""])  # a lost response is no answer
    if not docs:
        raise DataError(f"{path}: expected rows of DynoStock, found none. {' '.join(problems[:1])}")
    return Recording(path, bias, window, docs, responses, problems)


def replay(
    paths: Sequence[Path], *, on_done: Callable[[int], None] | None = None
) -> tuple[list[tuple[Recording, ScoredTask]], list[str]]:
    """Score files and folders; also say what could not be used."""
    scored: list[tuple[Recording, ScoredTask]] = []
    problems: list[str] = []
    for done, path in enumerate(find_files(paths), start=1):
        try:
            recording = read_recording(path)
        except DataError as error:
            problems.append(str(error))
        else:
            task, options = f"dynostock_{recording.bias}_w{recording.window}", {"bias": recording.bias}
            found = score_task("dynostock", task, recording.docs, recording.responses, options=options)
            scored.append((recording, found))
            problems += recording.problems
        if on_done:
            on_done(done)
    if not scored:
        raise DataError("\n".join(problems))
    return scored, problems


def rows_of(scored: Sequence[tuple[Recording, ScoredTask]], *, variant: str) -> pd.DataFrame:
    """Return a row for each response under a variant, as `experiment.by_window` takes them."""
    rows = []
    for recording, task in scored:
        folder = recording.file.resolve().parent
        facts = {"model": folder.name, "bias": recording.bias, "setting": str(folder.parent)}
        for doc, values in zip(task.docs, task.values[variant], strict=True):
            rows.append({**doc, **values, **facts, "doc_id": doc["id"]})
    return pd.DataFrame(rows, columns=list(COLUMNS))

"""Saved responses for `fin-tasks replay`: lm-eval's samples, or a table with id, ground_truth and model_response."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fin_tasks.answers.cut_off import mark_response
from fin_tasks.benchmarks.scored_task import (
    RunPrograms,
    ScoredTask,
    by_document,
    score_task,
    texts_of,
)
from fin_tasks.benchmarks.xfinbench.document import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.document import TASKS as SUBSETS
from fin_tasks.benchmarks.xfinbench.rows import SPLITS, items_of, parse_choices, read_rows
from fin_tasks.data.locate import locate
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average_or_none

_COLUMNS = ("id", "ground_truth", "model_response")
_LISTS = (
    ("choices", "choice"),
    ("capabilities", "fin_capability"),
)  # in lm-eval's samples, and in the authors' tables
_log = logging.getLogger(__name__)


def read(
    path: Path, *, task: str, mode: str = "cot", data_dir: Path | None = None
) -> list[tuple[dict[str, Any], str]]:
    """Return document and response of each row of a task; the data folder adds what the file lacks, by id."""
    if mode == "pot" and task != "calc":
        raise ConfigError(f"replay xfinbench: expected mode cot or da for {task}, got pot.")
    name = SUBSETS[task]
    pairs = list(_pairs(path))
    kept = [(row, text) for row, text in pairs if row.get("task") in (None, "", task, name)]
    if not kept:
        found = sorted({str(row.get("task")) for row, _ in pairs})
        raise DataError(
            f"{path}: expected responses to {task} questions, got {found or 'no row'}. Is the task right?"
        )
    if len(kept) < len(pairs):
        _log.warning(
            "replay: %d of %d rows belong to other tasks, left out.",
            len(pairs) - len(kept),
            len(pairs),
        )
    known = {} if all("capabilities" in row for row, _ in kept) else _known_rows(data_dir)
    return [(_doc(row, known.get(str(row["id"]), row), name, mode), text) for row, text in kept]


def score_file(
    path: Path,
    *,
    task: str,
    mode: str = "cot",
    data_dir: Path | None = None,
    run_programs: RunPrograms | None = None,
    answer_reader: JudgeModel | None = None,
) -> ScoredTask:
    """Score a file of saved responses; programs need `run_programs`, and `answer_reader` may read words."""
    docs, responses = by_document(read(path, task=task, mode=mode, data_dir=data_dir))
    subsets = {doc["subset"] for doc in docs}
    subset = subsets.pop() if len(subsets) == 1 else "mcq"  # with figures and without
    name, options = (
        f"xfinbench_{subset}" + ("" if mode == "cot" else f"_{mode}"),
        {"subset": subset, "mode": mode},
    )
    return score_task(
        "xfinbench",
        name,
        docs,
        responses,
        options=options,
        run_programs=run_programs,
        answer_reader=answer_reader,
    )


def summary(scored: ScoredTask, *, tier: str | None = None) -> dict[str, Any]:
    """Return accuracies as fractions of documents, overall and by capability; for programs also how they ended."""
    docs = scored.docs
    names = (
        ("acc_em", "acc_err", "no_answer") if docs[0]["task"] == "calcu" else ("acc", "no_answer")
    )

    def part(code: str | None = None) -> dict[str, Any]:
        places = [place for place, doc in enumerate(docs) if code in (None, *doc["capabilities"])]
        means = {
            variant: {
                name: average_or_none(values[place][name] for place in places) for name in names
            }
            for variant, values in scored.values.items()
        }
        return {"n": len(places), **means}

    result = {**part(), "unscored": sum(row["unscored"] == 1.0 for row in scored.values["robust"])}
    result["by_capability"] = {code: found for code in CAPABILITIES if (found := part(code))["n"]}
    if docs[0]["mode"] == "pot":
        for variant, name in (("paper", "execution_rate"), ("robust", "robust_execution_rate")):
            result[name] = average_or_none(row["execution_rate"] for row in scored.values[variant])
        result["outcomes"] = dict(
            Counter(one.status for of in scored.readings["paper"] for one in of)
        )
        result["sandbox"] = tier
    return result


def _pairs(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    rows: list[dict[str, Any]]
    if path.suffix.lower() == ".csv":
        records = read_csv(path, _COLUMNS)
        if long := next((record.line for record in records if record.surplus > 0), None):
            raise DataError(
                f"{path}, line {long}: expected as many cells as columns, got more. Quote cells."
            )
        rows = [dict(record.cells) for record in records]
    else:
        rows = read_json(path, _COLUMNS, aliases={"model_response": "output"})
    for row in rows:
        for text in texts_of(row.get("model_response")):
            response = _text(text)  # a lost response counts as an empty one
            yield row, mark_response(response, row.get("finish_reason"))


def _known_rows(data_dir: Path | None) -> dict[str, Mapping[str, Any]]:
    settings = Settings.from_environ()
    found: dict[str, Mapping[str, Any]] = {}
    for table in SPLITS.values() if data_dir or settings.data_dir else ():
        with suppress(DataError):  # a folder may hold one split only
            files = locate(
                "xfinbench", [table], source="data_dir", data_dir=data_dir, settings=settings
            )
            found |= {row["id"]: row for row in read_rows(files.files[table])}
    if data_dir and not found:
        raise DataError(
            f"--data-dir {data_dir}: expected test_set.csv or validation_set.csv of XFinBench, found none."
        )
    return found


def _doc(row: Mapping[str, Any], known: Mapping[str, Any], task: str, mode: str) -> dict[str, Any]:
    choices, codes = (known.get(name) or known.get(cell) or "" for name, cell in _LISTS)
    codes = codes if isinstance(codes, list) else items_of(_text(codes))
    figure = known.get("figure") or ""
    return {
        "id": row["id"] if type(row["id"]) is int else _text(row["id"]),
        "task": task,
        "subset": {"calcu": "calc", "mcq": "mcq_visual" if figure else "mcq"}.get(task, task),
        "mode": mode,
        "question": _text(known.get("question")),
        "choices": choices if isinstance(choices, list) else parse_choices(_text(choices)),
        "capabilities": [code for code in codes if code in CAPABILITIES],
        "has_table": known.get("has_table"),
        "figure": figure,
        "ground_truth": _text(row["ground_truth"]),
    }


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)

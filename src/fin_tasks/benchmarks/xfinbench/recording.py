"""Saved responses for `fin-tasks replay`: lm-eval's samples, or a table with id, ground_truth and model_response."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.xfinbench.data import SPLITS, SUBSETS, items_of, parse_choices, read_rows
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES, metric_values
from fin_tasks.data.fetch import locate
from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average_or_none

__all__ = ["read", "summary"]

_COLUMNS = ("id", "ground_truth", "model_response")
_log = logging.getLogger(__name__)


def read(path: Path, *, task: str, mode: str = "cot", data_dir: Path | None = None) -> list[tuple[dict[str, Any], str]]:
    """Return document and response of each row of a task; the data folder adds what the file lacks, by id."""
    name, modes = SUBSETS.get(task, task), ("cot", "da", "pot") if task.startswith("calc") else ("cot", "da")
    if name not in SUBSETS.values() or mode not in modes:
        expected = f"task bool, mcq or calc and mode {' or '.join(modes)}"
        raise ConfigError(f"replay xfinbench: expected {expected}, got {task!r} and {mode!r}.")
    pairs = list(_pairs(path))
    kept = [(row, text) for row, text in pairs if row.get("task") in (None, "", task, name)]
    if not kept:
        found = sorted({str(row.get("task")) for row, _ in pairs})
        raise DataError(f"{path}: expected responses to {task} questions, got {found or 'no row'}. Is the task right?")
    if len(kept) < len(pairs):
        _log.warning("replay: %d of %d rows belong to other tasks, left out.", len(pairs) - len(kept), len(pairs))
    lacking = any(not (row.get("capabilities") or row.get("fin_capability")) for row, _ in kept)
    known = _known_rows(data_dir) if lacking else {}
    return [(_doc(row, known.get(str(row["id"]), {}), name, mode), text) for row, text in kept]


def summary(scored: ScoredTask, *, tier: str | None = None) -> dict[str, Any]:
    """Return accuracies as fractions of responses, overall and by capability; for programs also how they ended."""
    docs = [doc for doc, texts in zip(scored.docs, scored.responses, strict=True) for _ in texts]
    values = {
        variant: [metric_values(doc, [one]) for doc, of in zip(scored.docs, of_docs, strict=True) for one in of]
        for variant, of_docs in scored.readings.items()
    }
    names = ("acc_em", "acc_err", "no_answer") if docs[0]["task"] == "calcu" else ("acc", "no_answer")

    def part(code: str | None = None) -> dict[str, Any]:
        rows = {
            variant: [row for doc, row in zip(docs, of, strict=True) if code is None or code in doc["capabilities"]]
            for variant, of in values.items()
        }
        means = {
            variant: {name: average_or_none(row[name] for row in of) for name in names} for variant, of in rows.items()
        }
        return {"n": len(rows["paper"]), **means}

    result = {**part(), "unscored": sum(row["unscored"] == 1.0 for row in values["robust"])}
    result["by_capability"] = {code: found for code in CAPABILITIES if (found := part(code))["n"]}
    if docs[0]["mode"] == "pot":
        for variant, name in (("paper", "execution_rate"), ("robust", "robust_execution_rate")):
            result[name] = average_or_none(row["execution_rate"] for row in values[variant])
        result["outcomes"] = dict(Counter(one.status for of in scored.readings["paper"] for one in of))
        result["sandbox"] = tier
    return result


def _pairs(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    records = read_csv(path, _COLUMNS, delimiter=delimiter) if delimiter else []
    if long := next((record.line for record in records if record.surplus > 0), None):
        raise DataError(f"{path}, line {long}: expected as many cells as columns, got more. Quote cells.")
    rows: list[Any] = [record.cells for record in records]
    for row in rows if delimiter else read_json(path, _COLUMNS, aliases={"model_response": "output"}):
        sample = isinstance(row.get("output"), list)  # of lm-eval, see `read_json`
        texts = [text for of in row["output"] for text in of] if sample else [row["model_response"]]
        yield from ((row, _text(text)) for text in texts or [""])  # a lost response counts as an empty one


def _known_rows(data_dir: Path | None) -> dict[str, dict[str, Any]]:
    settings = Settings.from_environ()
    found: dict[str, dict[str, Any]] = {}
    for table in SPLITS.values() if data_dir or settings.data_dir else ():
        try:
            files = locate("xfinbench", [table], source="data_dir", data_dir=data_dir, settings=settings)
            found |= {row["id"]: row for row in read_rows(files.files[table])}
        except DataError:  # a folder may hold one split only
            if data_dir and not found and table == SPLITS["validation"]:
                raise
    return found


def _doc(row: Mapping[str, Any], known: Mapping[str, Any], task: str, mode: str) -> dict[str, Any]:
    choices, codes = row.get("choices") or row.get("choice"), row.get("capabilities") or row.get("fin_capability")
    choices = choices if isinstance(choices, list) else parse_choices(_text(choices))
    codes = codes if isinstance(codes, list) else items_of(_text(codes))
    figure = _text(row.get("figure")) or known.get("figure", "")
    return {
        "id": row["id"] if type(row["id"]) is int else _text(row["id"]),
        "task": task,
        "subset": {"calcu": "calc", "mcq": "mcq_visual" if figure else "mcq"}.get(task, task),
        "mode": mode,
        "question": _text(row.get("question")) or known.get("question", ""),
        "ground_truth": _text(row["ground_truth"]),
        "choices": choices or known.get("choices", []),
        "capabilities": [code for code in codes or known.get("capabilities", []) if code in CAPABILITIES],
        "has_table": row.get("has_table", known.get("has_table")),
        "figure": figure,
    }


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)

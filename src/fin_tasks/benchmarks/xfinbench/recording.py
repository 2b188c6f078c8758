"""Saved responses for `fin-tasks replay`: lm-eval's samples, or a table with id, ground_truth and model_response."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
    values = {}
    for variant, of_docs in scored.readings.items():
        rows = zip(scored.docs, of_docs, scored.values[variant], strict=True)
        each = [[row] if len(of) == 1 else [metric_values(doc, [one]) for one in of] for doc, of, row in rows]
        values[variant] = [row for several in each for row in several]
    names = ("acc_em", "acc_err", "no_answer") if docs[0]["task"] == "calcu" else ("acc", "no_answer")

    def mean(variant: str, name: str, places: Sequence[int]) -> float | None:
        return average_or_none(values[variant][place][name] for place in places)

    def part(places: Sequence[int]) -> dict[str, Any]:
        means = {variant: {name: mean(variant, name, places) for name in names} for variant in ("paper", "robust")}
        return {"n": len(places), **means}

    every = range(len(docs))
    named = {code: [place for place in every if code in docs[place]["capabilities"]] for code in CAPABILITIES}
    unscored = sum(row["unscored"] == 1.0 for row in values["robust"])
    by_capability = {code: part(places) for code, places in named.items() if places}
    result = {**part(every), "unscored": unscored, "by_capability": by_capability}
    if docs[0]["mode"] == "pot":
        result["execution_rate"] = mean("paper", "execution_rate", every)
        result["robust_execution_rate"] = mean("robust", "execution_rate", every)
        result["outcomes"] = dict(Counter(one.status for of in scored.readings["paper"] for one in of))
        result["sandbox"] = tier
    return result


def _pairs(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    records = read_csv(path, _COLUMNS, delimiter=delimiter).records if delimiter else ()
    if long := next((record.line for record in records if record.surplus > 0), None):
        raise DataError(f"{path}, line {long}: expected as many cells as columns, got more. Quote cells.")
    rows: list[Any] = [record.cells for record in records] if delimiter else read_json(path)
    for number, row in enumerate(rows, 1):
        sample = isinstance(row, dict) and isinstance(row.get("output"), list)  # of lm-eval, see `read_json`
        if not isinstance(row, dict) or not all(name in row for name in _COLUMNS[: 2 if sample else 3]):
            raise DataError(f"{path}, row {number}: expected an object with {', '.join(_COLUMNS)}, got {row!r:.200}.")
        texts = [text for of in row["output"] for text in of] if sample else [row["model_response"]]
        yield from ((row, _text(text)) for text in texts or [""])  # a lost response counts as an empty one


def _known_rows(data_dir: Path | None) -> dict[str, dict[str, Any]]:
    settings, missing = Settings.from_environ(), None
    found: dict[str, dict[str, Any]] = {}
    for table in SPLITS.values() if data_dir or settings.data_dir else ():
        try:
            files = locate("xfinbench", [table], source="data_dir", data_dir=data_dir, settings=settings)
            found |= {row["id"]: row for row in read_rows(files.files[table])}
        except DataError as error:
            missing = error
    if missing and data_dir and not found:
        raise missing
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

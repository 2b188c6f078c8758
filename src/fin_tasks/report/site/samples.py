"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows, `rows-ID-N.js` the responses to 200 questions and what was read
in them, `asked-HASH.js` these questions, which runs share.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report.model import BREAKDOWNS, Report, TaskResult
from fin_tasks.report.redact import without_secrets
from fin_tasks.report.rows import read_samples
from fin_tasks.report.site.pictures import Pictures
from fin_tasks.report.values import headline

CHUNK = 200
"""Questions in a file."""

_LONGEST, _SHORT, _MOST = 50_000, 300, 40
_ASKED, _SYSTEM = ("prompt", "question", "query"), ("system",)
_TRUTHS = ("ground_truth", "answer", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure", "image")
_NO_FACTS = {*_ASKED, *_SYSTEM, *_TRUTHS, *_PICTURES, "id", "index", "question_id", "cue", "image_paths"}


def script(name: str, value: Any) -> str:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    text = json.dumps(orjson.dumps(value).decode()).replace("<", "\\u003c")
    return f"give({json.dumps(name)}, {text});\n"


def write_samples(report: Report, result: TaskResult, key: str, folder: Path, pictures: Pictures) -> dict[str, Any]:
    """Write a task's samples; returns how many there are and the names of the files with their questions.

    Raises:
        DataError: The samples file cannot be read, or is another than when the report was read.
    """
    rows = {v: own for v in report.rows["variant"].cat.categories if len(own := report.rows_of(result, v))}
    names = {variant: own["doc_id"].tolist() for variant, own in rows.items()}
    seen: Counter[str] = Counter()
    items: dict[str, dict[str, Any]] = {}
    for sample in read_samples(result):
        variant = str(sample.get("filter", next(iter(rows), "")))
        if seen[variant] >= len(names.get(variant, ())):
            raise DataError(f"{result.samples}: has changed while the report was made. Make it again.")
        name = names[variant][seen[variant]]
        seen[variant] += 1
        if name not in items:
            said = [clean(one) for one in _flat(sample.get("resps"))[:_MOST]]
            items[name] = {"asked": _asked(name, sample, pictures), "said": said, "read": {}}
        items[name]["read"][variant] = [_fields(one) for one in _flat(sample.get("filtered_resps"))[:_MOST]]
    top, order = headline(result.benchmark, result), list(items)
    listed = {
        "id": order,
        "asked": [_line(one["asked"]) for one in items.values()],
        "parts": _parts(next(iter(rows.values())), order) if rows else {},
        "by": {variant: _outcomes(own, order, top) for variant, own in rows.items()},
    }
    (folder / f"list-{key}.js").write_text(script(f"list-{key}", listed), encoding="utf-8")
    hashes = []
    for at in range(0, len(order), CHUNK):
        chunk = [items[name] for name in order[at : at + CHUNK]]
        asked = [one.pop("asked") for one in chunk]
        hashes.append(hashlib.sha256(orjson.dumps(asked)).hexdigest()[:20])
        if not (file := folder / f"asked-{hashes[-1]}.js").exists():
            file.write_text(script(f"asked-{hashes[-1]}", asked), encoding="utf-8")
        name = f"rows-{key}-{at // CHUNK}"
        (folder / f"{name}.js").write_text(script(name, chunk), encoding="utf-8")
    return {"n": len(order), "asked": hashes}


def clean(value: Any, longest: int = _LONGEST) -> str:
    """Return a value as text that UTF-8 has, cut if it is too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > longest:
        text = f"{text[:longest]} … ({len(text) - longest:,} more characters left out)"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _asked(name: str, sample: Mapping[str, Any], pictures: Pictures) -> dict[str, Any]:
    doc = sample["doc"]
    prompt = next((doc[key] for key in _ASKED if isinstance(doc.get(key), str) and doc[key]), "")
    prompt = prompt or max(_texts(sample.get("arguments")), key=len, default="")
    truths = {key: clean(doc.get(key), _SHORT * 10) for key in _TRUTHS if doc.get(key) not in (None, "", [])}
    facts = {key: clean(without_secrets(value), _SHORT) for key, value in _facts(doc)}
    paths = [doc[key] for key in _PICTURES if isinstance(doc.get(key), str) and doc[key]]
    picture = next((found for path in paths if (found := pictures.copy(path))), "")
    return {
        "id": clean(name, _SHORT),
        "system": clean(doc.get("system") or ""),
        "prompt": clean(prompt),
        "truths": truths,
        "facts": facts,
        "picture": picture,
        "pictured": bool(paths),
    }


def _facts(doc: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in list(doc.items())[: 2 * _MOST]:
        plain = all(isinstance(one, str | int | float) for one in (value if isinstance(value, list) else [value]))
        if key not in _NO_FACTS and plain and value not in ("", []) and len(str(value)) <= _SHORT:
            yield clean(key, 80), ", ".join(map(str, value)) if isinstance(value, list) else value


def _line(asked: Mapping[str, Any]) -> str:
    return " ".join(asked["prompt"][:400].replace("<image>", " ").split())[:160]


def _parts(rows: pd.DataFrame, order: Sequence[str]) -> dict[str, list[str | None]]:
    table = rows.set_index("doc_id")[list(BREAKDOWNS)].reindex(order)
    return {name: _texts_of(table[name]) for name in BREAKDOWNS if table[name].nunique() > 1}


def _outcomes(rows: pd.DataFrame, order: Sequence[str], metric: str) -> dict[str, list[Any]]:
    table = rows.set_index("doc_id").reindex(order)
    values = table[metric].round(6).tolist() if metric in table else [None] * len(order)
    return {"value": values, "answer": _texts_of(table["answer"]), "reason": _texts_of(table["reason"])}


def _texts_of(column: Any) -> list[str | None]:
    return [one if isinstance(one, str) else None for one in column]


def _fields(read: Any) -> dict[str, str]:
    if isinstance(read, str) and read[:1] == "{":
        with suppress(orjson.JSONDecodeError):
            read = orjson.loads(read)
    if not isinstance(read, dict):
        return {"as scored": clean(read)}
    told = {key: value for key, value in list(read.items())[:_MOST] if value not in (None, "", False, [])}
    texts = {clean(key, 80): clean(value) for key, value in told.items() if key != "variant"}
    return {key: str(without_secrets(text)) if "://" in text else text for key, text in texts.items()}


def _flat(value: Any, depth: int = 0) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [one for inner in value for one in _flat(inner, depth + 1)] if depth < 8 else ["(nested too deeply)"]


def _texts(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [] if value.startswith("data:") else [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in _texts(one, depth + 1)] if depth < 8 else []

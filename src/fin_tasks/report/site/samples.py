"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows, `rows-ID-N.js` the responses to 200 questions and what was read
in them, `asked-HASH.js` these questions, which runs share.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report.metrics import headline
from fin_tasks.report.model import BREAKDOWNS, Report, TaskResult
from fin_tasks.report.redact import without_secrets
from fin_tasks.report.rows import prompt_of, read_samples
from fin_tasks.report.site.pictures import Pictures

CHUNK = 200
"""Questions in a file."""

_LONGEST, _SHORT, _MOST = 50_000, 300, 40  # characters of a text, of a fact; responses or facts of a sample
_ASKED = ("question", "prompt", "query")  # the first is shown in lists, the second with a sample
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure", "image")
_WORDS = {"xfinbench_bool": {"0": "false", "1": "true"}, "dynostock": {"0": "falls", "1": "rises"}}  # for answers
_NO_FACTS = {*_ASKED, *_PICTURES, "system", "id", "index", "question_id", "cue", "image_paths"}


def script(name: str, value: Any) -> bytes:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    text = orjson.dumps(orjson.dumps(value).decode())
    text = text.replace(b"<", b"\\u003c").replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")
    return b"give(%s, %s);\n" % (orjson.dumps(name), text)


def write_samples(report: Report, result: TaskResult, key: str, folder: Path, pictures: Pictures) -> dict[str, Any]:
    """Write a task's samples; returns how many there are and the names of the files with their questions.

    Raises:
        DataError: The samples file cannot be read, or is another than when the report was read.
    """
    rows = {v: own for v in report.rows["variant"].cat.categories if len(own := report.rows_of(result, v))}
    names = {variant: own["doc_id"].tolist() for variant, own in rows.items()}
    seen: Counter[str] = Counter()
    docs: dict[str, tuple[Mapping[str, Any], str]] = {}  # with the prompt
    items: dict[str, dict[str, Any]] = {}
    for sample in read_samples(result):
        variant = str(sample.get("filter", next(iter(rows), "")))
        if seen[variant] >= len(names.get(variant, ())):
            raise DataError(f"{result.samples}: has changed while the report was made. Make it again.")
        name = names[variant][seen[variant]]
        seen[variant] += 1
        if name not in items:
            docs[name] = (sample["doc"], _prompt(sample))
            items[name] = {"said": [clean(one) for one in _flat(sample.get("resps"))], "read": {}}
        items[name]["read"][variant] = [_redacted(one) for one in _flat(sample.get("filtered_resps"))]
    top, order = headline(result), list(items)
    words = next((of for task, of in _WORDS.items() if result.task.startswith(task)), {})
    listed = {
        "id": order,
        "asked": [_line(doc, prompt) for doc, prompt in docs.values()],
        "parts": _parts(next(iter(rows.values())), order) if rows else {},
        "by": {variant: _outcomes(own, order, top, words) for variant, own in rows.items()},
    }
    (folder / f"list-{key}.js").write_bytes(script(f"list-{key}", listed))
    hashes = []
    for at in range(0, len(order), CHUNK):
        chunk = order[at : at + CHUNK]
        told = repr([(name, *docs[name]) for name in chunk]).encode("utf-8", "surrogatepass")
        hashes.append(hashlib.sha256(told).hexdigest()[:20])
        if not (file := folder / f"asked-{hashes[-1]}.js").exists():
            asked = [_asked(name, *docs[name], words, pictures) for name in chunk]
            file.write_bytes(script(f"asked-{hashes[-1]}", asked))
        name = f"rows-{key}-{at // CHUNK}"
        (folder / f"{name}.js").write_bytes(script(name, [items[one] for one in chunk]))
    return {"n": len(order), "asked": hashes}


def clean(value: Any, longest: int = _LONGEST) -> str:
    """Return a value as text that UTF-8 has, cut if it is too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > longest:
        text = f"{text[:longest]} … ({len(text) - longest:,} more characters left out)"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _prompt(sample: Mapping[str, Any]) -> str:
    doc = sample["doc"]
    prompt = next((doc[key] for key in ("prompt", *_ASKED) if isinstance(doc.get(key), str) and doc[key]), "")
    return prompt or prompt_of(sample) or ""


def _line(doc: Mapping[str, Any], prompt: str) -> str:
    question = doc.get("question")
    text = question if isinstance(question, str) and question else prompt
    return " ".join(clean(text[:400]).replace("<image>", " ").split())[:160]


def _asked(
    name: str, doc: Mapping[str, Any], prompt: str, words: Mapping[str, str], pictures: Pictures
) -> dict[str, Any]:
    truth = next((key for key in _TRUTHS if doc.get(key) not in (None, "", [])), "")
    right = clean(doc.get(truth), _SHORT * 10).removesuffix(".0") if truth else ""
    paths = [doc[key] for key in _PICTURES if isinstance(doc.get(key), str) and doc[key]]
    facts = {}
    for key, value in list(doc.items())[: 2 * _MOST]:
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        plain = isinstance(value, str | int | float | list) and 0 < len(text) <= _SHORT
        if plain and key != truth and key not in _NO_FACTS:
            facts[clean(key, 80)] = clean(without_secrets(text))
    return {
        "id": clean(name, _SHORT),
        "system": clean(doc.get("system") or ""),
        "prompt": clean(prompt),
        "truth": words.get(right, right),
        "facts": facts,
        "picture": next((found for path in paths if (found := pictures.copy(path))), ""),
        "pictured": bool(paths),
    }


def _parts(rows: pd.DataFrame, order: Sequence[str]) -> dict[str, list[str | None]]:
    table = rows.set_index("doc_id")[list(BREAKDOWNS)].reindex(order)
    return {name: _texts_or_none(table[name]) for name in BREAKDOWNS if table[name].nunique() > 1}


def _outcomes(rows: pd.DataFrame, order: Sequence[str], metric: str, words: Mapping[str, str]) -> dict[str, list[Any]]:
    table = rows.set_index("doc_id").reindex(order)
    values = table[metric].round(6).tolist() if metric in table else [None] * len(order)
    answers = [words.get(one, one) if one else None for one in _texts_or_none(table["answer"])]
    return {"value": values, "answer": answers, "reason": _texts_or_none(table["reason"])}


def _texts_or_none(column: Any) -> list[str | None]:
    return [one if isinstance(one, str) else None for one in column]


def _redacted(reading: Any) -> str:
    text = clean(reading)
    return str(without_secrets(text)) if "://" in text else text


def _flat(value: Any, depth: int = 0) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    inner = [one for of in value for one in _flat(of, depth + 1)] if depth < 8 else ["(nested too deeply)"]
    return inner[:_MOST]

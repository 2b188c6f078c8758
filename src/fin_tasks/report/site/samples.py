"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows, `rows-ID-N.js` the responses to 200 questions and what was read
in them, `asked-HASH.js` these questions, which runs share.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.model import BREAKDOWNS, TaskResult, headline, known_benchmarks
from fin_tasks.report.redact import printable
from fin_tasks.report.samples import flat, read_samples

CHUNK = 200
"""Questions in a file."""

_LONGEST, _SHORT, _MOST = 50_000, 300, 40  # characters of a text, of a fact; responses of a sample
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure")
_NO_FACTS = {
    *_PICTURES,
    "question",
    "title",
    "prompt",
    "system",
    "id",
    "index",
    "question_id",
    "cue",
    "image_paths",
}


def script(name: str, value: Any) -> bytes:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    text = orjson.dumps(orjson.dumps(value).decode())
    text = (
        text.replace(b"<", b"\\u003c")
        .replace("\u2028".encode(), b"\\u2028")
        .replace("\u2029".encode(), b"\\u2029")
    )
    return b"give(%s, %s);\n" % (orjson.dumps(name), text)


def write_samples(
    path: Path, result: TaskResult, rows: pd.DataFrame, folder: Path, copy: Callable[[str], str]
) -> dict[str, Any]:
    """Write a task's samples; return how many there are and the names of the files with their questions."""
    docs: dict[str, tuple[Mapping[str, Any], Any]] = {}  # with the prompt
    items: dict[str, dict[str, Any]] = {}
    for sample in read_samples(path):
        doc = sample.doc
        name = sample.id
        if name not in items:
            docs[name] = doc, doc.get("prompt") or doc.get("question") or sample.prompt or ""
            items[name] = {
                "said": [_text(one) for one in sample.responses[:_MOST]],
                "read": {},
            }
        items[name]["read"][sample.variant] = [
            _text(one) for one in flat(sample.line.get("filtered_resps"))[:_MOST]
        ]
    top, order = headline(result), list(items)
    words = _answer_labels(result)
    listed: dict[str, Any] = {
        "id": order,
        "asked": [_line(*one) for one in docs.values()],
        "parts": {},
        "by": {},
    }
    for variant, of in rows.groupby("variant", observed=True):
        columns = [top, "answer", "reason", cut_off.METRIC, *BREAKDOWNS]
        told = of.set_index("doc_id").reindex(index=order, columns=columns).astype(object)
        answers = told["answer"].replace(words).tolist()
        values = told[top].astype(float).round(6).tolist()
        listed["by"][variant] = {
            "value": values,
            "answer": answers,
            "reason": told["reason"].tolist(),
            "cut_off": (told[cut_off.METRIC].astype(float) > 0).tolist(),
        }
        listed["parts"] = {
            name: told[name].tolist() for name in BREAKDOWNS if told[name].nunique() > 1
        }
    (folder / f"list-{result.id}.js").write_bytes(script(f"list-{result.id}", listed))
    hashes = []
    for at in range(0, len(order), CHUNK):
        chunk = order[at : at + CHUNK]
        content = repr([(name, *docs[name]) for name in chunk]).encode("utf-8", "surrogatepass")
        hashes.append(hashlib.sha256(content).hexdigest()[:20])
        if not (file := folder / f"asked-{hashes[-1]}.js").exists():
            asked = [_asked(name, *docs[name], words, copy) for name in chunk]
            file.write_bytes(script(f"asked-{hashes[-1]}", asked))
        name = f"rows-{result.id}-{at // CHUNK}"
        (folder / f"{name}.js").write_bytes(script(name, [items[one] for one in chunk]))
    return {"n": len(order), "asked": hashes}


def _text(value: Any, longest: int = _LONGEST) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > longest:
        text = f"{text[:longest]} … ({len(text) - longest:,} more characters left out)"
    return printable(text)


def _line(doc: Mapping[str, Any], prompt: Any) -> str:
    return " ".join(
        _text(doc.get("title") or doc.get("question") or prompt)[:400]
        .replace("<image>", " ")
        .split()
    )[:160]


def _asked(
    name: str,
    doc: Mapping[str, Any],
    prompt: Any,
    words: Mapping[str, str],
    copy: Callable[[str], str],
) -> dict[str, Any]:
    truth = next((key for key in _TRUTHS if doc.get(key) not in (None, "", [])), "")
    right = _text(doc[truth], _SHORT * 10).removesuffix(".0") if truth else ""
    picture = next((str(doc[key]) for key in _PICTURES if doc.get(key)), "")
    facts = {}
    for key, value in doc.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        plain = isinstance(value, str | int | float | list) and 0 < len(text) <= _SHORT
        if plain and key != truth and key not in _NO_FACTS:
            facts[_text(key, 80)] = printable(text)
    return {
        "id": _text(name, _SHORT),
        "system": _text(doc.get("system") or ""),
        "prompt": _text(prompt),
        "truth": words.get(right, right),
        "facts": facts,
        "picture": copy(picture) if picture else None,  # "" if it is not found
    }


def _answer_labels(result: TaskResult) -> Mapping[str, str]:
    for start, labels in known_benchmarks()[result.benchmark].answer_labels.items():
        if result.task.startswith(start):
            return labels
    return {}

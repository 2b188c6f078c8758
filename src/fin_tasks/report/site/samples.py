"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows. `rows-ID-N.js` has the responses to 200
questions and what was read in them. `asked-HASH.js` has these questions; runs share it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from fin_tasks.benchmarks.contract import Document
from fin_tasks.report import cut_off
from fin_tasks.report.model import BREAKDOWNS, TaskResult, headline, known_benchmarks
from fin_tasks.report.redact import printable
from fin_tasks.report.samples import Sample, flat, read_samples

CHUNK = 200
"""Questions in a file."""

_MAX_TEXT = 50_000  # characters
_MAX_FACT = 300
_MAX_NAME = 80  # of a fact
_MAX_LINE = 160  # of a question in the list
_MAX_RESPONSES = 40
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure")
_NO_FACTS = (
    *_PICTURES,
    "image_paths",
    "question",
    "title",
    "prompt",
    "system",
    "cue",
    "id",
    "index",
    "question_id",
)


@dataclass(frozen=True)
class _Question:
    id: str
    doc: Document
    prompt: Any
    """A text, but for strangers' files."""
    responses: list[str]
    readings: dict[str, list[str]] = field(default_factory=dict)
    """What was read in each response, by variant."""


def script(name: str, value: Any) -> bytes:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    text = orjson.dumps(orjson.dumps(value).decode())
    for sign, escaped in (("<", b"\\u003c"), ("\u2028", b"\\u2028"), ("\u2029", b"\\u2029")):
        text = text.replace(sign.encode(), escaped)
    return b"give(%s, %s);\n" % (orjson.dumps(name), text)


def write_samples(
    path: Path, result: TaskResult, rows: pd.DataFrame, folder: Path, copy: Callable[[str], str]
) -> dict[str, Any]:
    """Write a task's samples; return their number and the names of the files of questions."""
    questions = _read_questions(path)
    words = _answer_labels(result)
    _write(folder, f"list-{result.id}", _list_of(questions, result, rows, words))
    hashes = []
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        content = repr([(question.id, question.doc, question.prompt) for question in chunk])
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:20]
        hashes.append(digest)
        if not (folder / f"asked-{digest}.js").exists():
            asked = [_asked(question, words, copy) for question in chunk]
            _write(folder, f"asked-{digest}", asked)
        answers = [{"said": question.responses, "read": question.readings} for question in chunk]
        _write(folder, f"rows-{result.id}-{start // CHUNK}", answers)
    return {"n": len(questions), "asked": hashes}


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / f"{name}.js").write_bytes(script(name, value))


def _read_questions(path: Path) -> list[_Question]:
    questions: dict[str, _Question] = {}
    for sample in read_samples(path):
        if sample.id not in questions:
            questions[sample.id] = _question_of(sample)
        readings = flat(sample.line.get("filtered_resps"))[:_MAX_RESPONSES]
        texts = [_text(reading) for reading in readings]
        questions[sample.id].readings[sample.variant] = texts
    return list(questions.values())


def _question_of(sample: Sample) -> _Question:
    doc = sample.doc
    prompt = doc.get("prompt") or doc.get("question") or sample.prompt or ""
    responses = [_text(response) for response in sample.responses[:_MAX_RESPONSES]]
    return _Question(sample.id, doc, prompt, responses)


def _list_of(
    questions: Sequence[_Question],
    result: TaskResult,
    rows: pd.DataFrame,
    words: Mapping[str, str],
) -> dict[str, Any]:
    order = [question.id for question in questions]
    metric = headline(result)
    columns = [metric, "answer", "reason", cut_off.METRIC, *BREAKDOWNS]
    parts = {}
    scores = {}
    for variant, own in rows.groupby("variant", observed=True):
        table = own.set_index("doc_id").reindex(index=order, columns=columns).astype(object)
        scores[variant] = {
            "value": table[metric].astype(float).round(6).tolist(),
            "answer": table["answer"].replace(words).tolist(),
            "reason": table["reason"].tolist(),
            "cut_off": (table[cut_off.METRIC].astype(float) > 0).tolist(),
        }
        parts = {name: table[name].tolist() for name in BREAKDOWNS if table[name].nunique() > 1}
    lines = [_line(question) for question in questions]
    return {"id": order, "asked": lines, "parts": parts, "by": scores}


def _text(value: Any, maximum: int = _MAX_TEXT) -> str:
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, default=str, ensure_ascii=False)
    if len(text) > maximum:
        text = f"{text[:maximum]} … ({len(text) - maximum:,} more characters left out)"
    return printable(text)


def _line(question: _Question) -> str:
    text = question.doc.get("title") or question.doc.get("question") or question.prompt
    words = _text(text, 3 * _MAX_LINE).replace("<image>", " ").split()
    return " ".join(words)[:_MAX_LINE]


def _asked(
    question: _Question, words: Mapping[str, str], copy: Callable[[str], str]
) -> dict[str, Any]:
    doc = question.doc
    truth_field = _first_field(doc, _TRUTHS)
    truth = _text(doc[truth_field]).removesuffix(".0") if truth_field else ""
    picture_field = _first_field(doc, _PICTURES)
    facts = {}
    for name, value in doc.items():
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        is_plain = isinstance(value, str | int | float | list) and 0 < len(text) <= _MAX_FACT
        if is_plain and name != truth_field and name not in _NO_FACTS:
            facts[_text(name, _MAX_NAME)] = printable(text)
    return {
        "id": question.id,
        "system": _text(doc.get("system") or ""),
        "prompt": _text(question.prompt),
        "truth": words.get(truth, truth),
        "facts": facts,
        # An empty name is a picture that was not found.
        "picture": copy(str(doc[picture_field])) if picture_field else None,
    }


def _first_field(doc: Document, names: Sequence[str]) -> str:
    for name in names:
        if doc.get(name) not in (None, "", []):
            return name
    return ""


def _answer_labels(result: TaskResult) -> Mapping[str, str]:
    labels = known_benchmarks()[result.benchmark].answer_labels
    for start, words in labels.items():
        if result.task.startswith(start):
            return words
    return {}

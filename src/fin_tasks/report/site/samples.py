"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows. `rows-ID-N.js` has the responses to 200
questions and what was read in them. `asked-HASH.js` has these questions; runs share it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pandas import DataFrame

from fin_tasks.report import Json, hash_of

from ..model import BREAKDOWNS, KNOWN_BENCHMARKS, TaskResult, headline
from ..redact import printable
from ..samples import Sample, flat, read_samples

CHUNK = 200
"""Questions in a file."""

_MAX_TEXT = 50_000  # characters
_MAX_TITLE = 160  # characters
_TABLE_AND_SPACE = re.compile(
    r"\A\s*\\begin\{tab.*\\end\{tab\w+\*?\}\s*(?=\S)(?!\\end)", re.DOTALL
)
_MAX_RESPONSES = 40
_SCORES = ["value", "answer", "reason", "cut_off"]
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure")
_Question = tuple[Sample, dict[str, list[str]]]


def script(name: str, value: Any) -> str:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    content = orjson.dumps(value).decode()
    text = json.dumps(content).replace("<", "\\u003c")
    return f"give({json.dumps(name)}, {text});\n"


def write_samples(
    path: Path,
    result: TaskResult,
    rows: DataFrame,
    folder: Path,
    copy: Callable[[str], str],
) -> Json:
    """Write a task's samples; return their number and the names of the files of questions."""
    questions = _read_questions(path)
    words = _answer_labels(result)
    listed = _list_of(questions, headline(result), rows, words)
    _write(folder, f"list-{result.id}", listed)
    names: list[str] = []
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        answers = []
        asked = []
        for sample, readings in chunk:
            answers.append({"said": _texts(sample.responses), "read": readings})
            asked.append(_asked(sample, words, copy))
        _write(folder, f"rows-{result.id}-{len(names)}", answers)
        name = hash_of(asked)
        _write(folder, f"asked-{name}", asked)
        names.append(name)
    return {"n": len(questions), "asked": names}


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / f"{name}.js").write_text(script(name, value))


def _read_questions(path: Path) -> list[_Question]:
    """Return a line of each question, and what was read in each response by variant."""
    questions: dict[str, _Question] = {}
    for sample in read_samples(path):
        _, by_variant = questions.setdefault(sample.id, (sample, {}))
        by_variant[sample.variant] = _texts(flat(sample.line.get("filtered_resps")))
    return list(questions.values())


def _prompt(sample: Sample) -> Any:
    """Return what was asked: a text, but for strangers' files."""
    doc = sample.doc
    return doc.get("prompt") or doc.get("question") or sample.prompt or ""


def _title(sample: Sample) -> str:
    """Return the first words of a question; a LaTeX table at its start is left out."""
    doc = sample.doc
    text = _text(doc.get("title") or doc.get("question") or _prompt(sample))
    words = (
        _TABLE_AND_SPACE.sub("", text)[: 10 * _MAX_TITLE]
        .replace("<image>", " ")
        .split()
    )
    return " ".join(words)[:_MAX_TITLE]


def _list_of(
    questions: Sequence[_Question],
    metric: str,
    rows: DataFrame,
    words: Mapping[str, str],
) -> Json:
    """Return what the list shows of each question, and its scores by variant."""
    order = []
    titles = []
    for sample, _ in questions:
        order.append(sample.id)
        titles.append(_title(sample))
    parts = {}
    scores = {}
    for variant, scored in rows.groupby("variant", observed=True):
        table = scored.set_index("doc_id").rename(columns={metric: "value"})
        table = table.reindex(index=order, columns=[*_SCORES, *BREAKDOWNS])
        shown = table[_SCORES].astype(object)
        shown["value"] = table["value"].astype(float).round(6)
        shown["cut_off"] = table["cut_off"].astype(float) > 0
        shown["answer"] = shown["answer"].replace(words)
        scores[variant] = shown.to_dict("list")
        n_parts = table[[*BREAKDOWNS]].nunique()
        parts = table[n_parts.index[n_parts > 1]].astype(object).to_dict("list")
    return {"id": order, "asked": titles, "parts": parts, "by": scores}


def _text(value: Any) -> str:
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, default=str, ensure_ascii=False)
    n_more = len(text) - _MAX_TEXT
    if n_more > 0:
        text = f"{text[:_MAX_TEXT]} … ({n_more:,} more characters left out)"
    return printable(text)


def _texts(values: Sequence[Any]) -> list[str]:
    return [_text(value) for value in values[:_MAX_RESPONSES]]


def _asked(
    sample: Sample,
    words: Mapping[str, str],
    copy: Callable[[str], str],
) -> Json:
    doc = sample.doc
    truth = _text(_first_value(doc, _TRUTHS)).removesuffix(".0")
    picture = _first_value(doc, _PICTURES)
    return {
        "id": sample.id,
        "system": _text(doc.get("system") or ""),
        "prompt": _text(_prompt(sample)),
        "truth": words.get(truth, truth),
        "choices": _text(doc.get("choices") or ""),
        # An empty name is a picture that was not found.
        "picture": copy(str(picture)) if picture else None,
    }


def _first_value(doc: Json, names: Iterable[str]) -> Any:
    """Return the first field that has a value; an empty text if none has."""
    for name in names:
        value = doc.get(name)
        if value not in (None, "", []):
            return value
    return ""


def _answer_labels(result: TaskResult) -> Mapping[str, str]:
    benchmark = KNOWN_BENCHMARKS[result.benchmark]
    for start, words in benchmark.answer_labels.items():
        if result.task.startswith(start):
            return words
    return {}

"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows. `rows-ID-N.js` has the responses to 200
questions and what was read in them. `asked-HASH.js` has these questions; runs share it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pandas import DataFrame

from fin_tasks.report import Json
from fin_tasks.settings import Settings

from ..model import BREAKDOWNS, KNOWN_BENCHMARKS, Run, TaskResult, headline
from ..processes import outcome_of
from ..redact import printable
from ..rows import SampleRows, rows_of
from ..samples import Sample, flat, read_samples
from .pictures import copy_picture

CHUNK = 200
"""Questions in a file."""

_MAX_TEXT = 50_000  # characters
_MAX_TITLE = 160  # characters
_TABLE_AND_SPACE = re.compile(
    r"\A\s*\\begin\{tab.*\\end\{tab\w+\*?\}\s*(?=\S)(?!\\end)", re.DOTALL
)
_MAX_RESPONSES = 40
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<\u2028\u2029"}
_SCORES = ["value", "answer", "reason", "cut_off"]
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure")


class _Question(NamedTuple):
    title: str
    asked: Json
    """What was asked; `picture` is the path in the document, None without one."""
    said: list[str]
    """The responses."""
    read: dict[str, list[str]]
    """What was read in each response, by variant."""


def script(name: str, value: Any) -> bytes:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    content = orjson.dumps(orjson.dumps(value).decode()).decode()
    return f"give({json.dumps(name)}, {content.translate(_ESCAPES)});\n".encode()


def rows_and_page_of(
    runs: Sequence[Run], folder: Path
) -> Callable[[Path, TaskResult], SampleRows]:
    """Return a function that reads a samples file as `read_rows` does, and writes its samples into a folder."""
    folder.mkdir(exist_ok=True)
    settings = Settings.from_environ()
    folders = {settings.cache_dir, settings.data_dir or settings.cache_dir}
    folders |= {benchmark.folder for benchmark in KNOWN_BENCHMARKS.values()}
    folders |= {run.path.parent for run in runs}
    copy = partial(copy_picture, out=folder / "pictures", folders=frozenset(folders))
    return partial(_read_and_write, folder=folder, copy=copy)


def _read_and_write(
    path: Path, result: TaskResult, *, folder: Path, copy: Callable[[str], str]
) -> SampleRows:
    questions: dict[str, _Question] = {}
    samples = _noted(read_samples(path), _answer_labels(result), questions)
    rows = rows_of(str(path), samples, result.benchmark)
    error = outcome_of(
        _write_samples, path, result, questions, rows.table, folder, copy
    )
    return rows._replace(not_shown=error)


def _noted(
    samples: Iterable[Sample],
    words: Mapping[str, str],
    questions: dict[str, _Question],
) -> Iterator[Sample]:
    """Yield samples, and note their questions."""
    for sample in samples:
        question = questions.get(sample.id)
        if question is None:
            question = _Question(
                _title(sample), _asked(sample, words), _texts(sample.responses), {}
            )
            questions[sample.id] = question
        read = _texts(flat(sample.line.get("filtered_resps")))
        question.read[sample.variant] = read
        yield sample


def _write_samples(
    _: Path,
    result: TaskResult,
    questions: Mapping[str, _Question],
    rows: DataFrame,
    folder: Path,
    copy: Callable[[str], str],
) -> None:
    words = _answer_labels(result)
    names: list[str] = []
    noted = list(questions.values())
    for start in range(0, len(noted), CHUNK):
        answers = []
        asked = []
        for question in noted[start : start + CHUNK]:
            answers.append({"said": question.said, "read": question.read})
            picture = question.asked["picture"]
            # An empty name is a picture that was not found.
            asked.append({**question.asked, "picture": picture and copy(picture)})
        _write(folder, f"rows-{result.id}-{len(names)}", answers)
        name = hashlib.sha256(orjson.dumps(asked)).hexdigest()[:16]
        _write(folder, f"asked-{name}", asked)
        names.append(name)
    listed = _list_of(questions, headline(result), rows, words)
    _write(folder, f"list-{result.id}", {**listed, "files": names})


def _write(folder: Path, name: str, value: Any) -> None:
    (folder / f"{name}.js").write_bytes(script(name, value))


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
        .split(maxsplit=_MAX_TITLE // 2)
    )
    return " ".join(words)[:_MAX_TITLE]


def _list_of(
    questions: Mapping[str, _Question],
    metric: str,
    rows: DataFrame,
    words: Mapping[str, str],
) -> Json:
    """Return what the list shows of each question, and its scores by variant."""
    order = list(questions)
    parts = [name for name in BREAKDOWNS if len(rows[name].cat.categories) > 1]
    rows = rows.rename(columns={metric: "value"})
    part_values = {}
    scores = {}
    for variant, scored in rows.groupby("variant", observed=True):
        table = scored.set_index("doc_id")
        table = table.reindex(index=order, columns=[*_SCORES, *parts])
        table["value"] = table["value"].astype(float).round(6)
        table["cut_off"] = table["cut_off"].astype(float) > 0
        table["answer"] = table["answer"].astype(object).replace(words)
        scores[variant] = table[_SCORES].to_dict("list")
        part_values = table[parts].to_dict("list")
    titles = [question.title for question in questions.values()]
    return {"id": order, "asked": titles, "parts": part_values, "by": scores}


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


def _asked(sample: Sample, words: Mapping[str, str]) -> Json:
    doc = sample.doc
    truth = _text(_first_value(doc, _TRUTHS)).removesuffix(".0")
    picture = _first_value(doc, _PICTURES)
    return {
        "id": sample.id,
        "system": _text(doc.get("system") or ""),
        "prompt": _text(_prompt(sample)),
        "truth": words.get(truth, truth),
        "choices": _text(doc.get("choices") or ""),
        "picture": str(picture) if picture else None,
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

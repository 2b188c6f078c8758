"""Samples beside the page, in scripts that it loads when somebody opens a sample.

`list-ID.js` has what a list of a task's samples shows, and the names of its files of questions.
`rows-ID-N.js` has the responses to 200 questions and what was read in them. `asked-HASH.js` has these
questions; runs share it.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pandas import DataFrame

from fin_tasks.benchmarks.corrections import Corrections
from fin_tasks.judging.pleas import plea_in
from fin_tasks.report import Json
from fin_tasks.settings import Settings

from ..corrected_samples import corrector_of
from ..model import BREAKDOWNS, KNOWN_BENCHMARKS, TaskResult, headline
from ..processes import problem_of
from ..redact import printable
from ..rows import SampleRows, rows_of, with_corrections
from ..samples import Sample, flat, read_samples
from .pictures import copy_picture

CHUNK = 200
"""Questions in a file."""

_MAX_TEXT = 50_000  # characters
_MAX_TITLE = 160  # characters
_LATEX_TABLE_AND_SPACE = re.compile(
    r"\A\s*\\begin\{tab.*\\end\{tab\w+\*?\}\s*(?=\S)(?!\\end)", re.DOTALL
)
_MARKDOWN_TABLE_AND_SPACE = re.compile(r"\A\s*(?:Table:\s*)?(?:\|.*\n\s*)+(?=[^|\s])")
_MAX_RESPONSES = 40
_SCORES = ["value", "answer", "reason", "cut_off"]
_TRUTHS = ("answer", "ground_truth", "truth", "target")
_PICTURES = ("image_path", "figure_path", "chart", "figure")


class _Question(NamedTuple):
    title: str
    asked: Json
    """What was asked."""
    answer: Json
    """The responses, and what was read in each, by scoring."""


def script(name: str, value: Any) -> str:
    """Return a script that hands a value to the page, as JSON text: nothing in it can run."""
    content = orjson.dumps(value).decode()
    # Other characters are escaped, which takes longer: some end a line of a script.
    text = orjson.dumps(content).decode() if content.isascii() else json.dumps(content)
    text = text.replace("<", "\\u003c")
    return f"give({json.dumps(name)}, {text});\n"


@dataclass(frozen=True)
class PageSamples:
    """Reads samples files, and writes their samples into the folder of a page."""

    folder: Path
    picture_folders: tuple[Path, ...]
    """Of the benchmarks; a run's own pictures are beside its results."""

    def read_rows(
        self, path: Path, result: TaskResult, corrections: Corrections | None = None
    ) -> SampleRows:
        """Return the rows of the samples file of a result, and write its samples."""
        questions: dict[str, _Question] = {}
        corrector = corrector_of(result, corrections)
        samples = corrector.correct(read_samples(path))
        noted = self._noted(samples, path.parent, result, questions)
        rows = rows_of(str(path), noted, result.benchmark)
        rows = with_corrections(rows, corrector, path)
        try:
            self._write_all(result, questions, rows.table)
        except Exception as error:  # noqa: BLE001 - the rows count all the same
            return rows._replace(not_shown=problem_of(path, error))
        return rows

    def _noted(
        self,
        samples: Iterable[Sample],
        folder: Path,
        result: TaskResult,
        questions: dict[str, _Question],
    ) -> Iterator[Sample]:
        """Yield the lines of a samples file, and note its questions for the page."""
        words = _answer_labels(result)
        for sample in samples:
            question = questions.get(sample.id)
            if question is None:
                asked = self._asked(sample, words, folder)
                answer = _answer_of(sample, is_judged=bool(result.judge))
                question = _Question(_title(sample), asked, answer)
                questions[sample.id] = question
            texts = flat(sample.line.get("filtered_resps"))
            question.answer["read"][sample.scoring] = _texts(texts)
            yield sample

    def _asked(
        self, sample: Sample, words: Mapping[str, str], sample_folder: Path
    ) -> Json:
        """Return what a question asks and its right answer, and copy its picture."""
        doc = sample.doc
        truth = _text(_first_value(doc, _TRUTHS)).removesuffix(".0")
        picture = _first_value(doc, _PICTURES)
        copied = None
        if picture:
            out = self.folder / "pictures"
            folders = (*self.picture_folders, sample_folder)
            copied = copy_picture(str(picture), out=out, folders=folders)
        return {
            "id": sample.id,
            "system": _text(doc.get("system") or ""),
            "prompt": _text(_prompt(sample)),
            "truth": words.get(truth, truth),
            "choices": _text(doc.get("choices") or ""),
            # An empty name is a picture that was not found.
            "picture": copied,
        }

    def _write_all(
        self,
        result: TaskResult,
        questions: Mapping[str, _Question],
        rows: DataFrame,
    ) -> None:
        """Write the files of a result: its responses, its questions, and their list."""
        names: list[str] = []
        noted = list(questions.values())
        for start in range(0, len(noted), CHUNK):
            chunk = noted[start : start + CHUNK]
            answers = [question.answer for question in chunk]
            self._write(f"rows-{result.id}-{len(names)}", answers)
            asked = [question.asked for question in chunk]
            name = hashlib.sha256(orjson.dumps(asked)).hexdigest()[:16]
            if not (self.folder / f"asked-{name}.js").exists():
                self._write(f"asked-{name}", asked)
            names.append(name)
        listed = _list_of(questions, headline(result), rows, _answer_labels(result))
        self._write(f"list-{result.id}", {**listed, "files": names})

    def _write(self, name: str, value: Any) -> None:
        (self.folder / f"{name}.js").write_text(script(name, value))


def picture_folders() -> tuple[Path, ...]:
    """Return the folders that may hold pictures of the benchmarks' questions."""
    settings = Settings.from_environ()
    folders = [settings.cache_dir, settings.data_dir or settings.cache_dir]
    folders += [benchmark.folder for benchmark in KNOWN_BENCHMARKS.values()]
    return tuple(dict.fromkeys(folders))


def _answer_of(sample: Sample, *, is_judged: bool) -> Json:
    """Return the responses, their pleas to a judge and the authors' score; `read` is filled in later."""
    responses = _texts(sample.responses)
    answer: Json = {"said": responses, "read": {}}
    pleas = list(filter(None, map(plea_in, responses))) if is_judged else []
    if pleas:
        answer["pleas"] = pleas
    authors_score = _authors_score(sample.line)
    if authors_score is not None:
        answer["authors"] = authors_score
    return answer


def _prompt(sample: Sample) -> Any:
    """Return what was asked; only in files from others it may be something else than a text."""
    doc = sample.doc
    return doc.get("prompt") or doc.get("question") or sample.prompt or ""


def _title(sample: Sample) -> str:
    """Return the first words of a question; a table at its start is left out."""
    doc = sample.doc
    text = _text(doc.get("title") or doc.get("question") or _prompt(sample))
    text = _LATEX_TABLE_AND_SPACE.sub("", text)
    text = _MARKDOWN_TABLE_AND_SPACE.sub("", text)
    text = text[: 10 * _MAX_TITLE].replace("<image>", " ")
    words = text.split(maxsplit=_MAX_TITLE // 2)
    return " ".join(words)[:_MAX_TITLE]


def _list_of(
    questions: Mapping[str, _Question],
    metric: str,
    rows: DataFrame,
    words: Mapping[str, str],
) -> Json:
    """Return what the list shows of each question, and its scores by scoring."""
    order = list(questions)
    parts = [name for name in BREAKDOWNS if len(rows[name].cat.categories) > 1]
    columns = ["scoring", "doc_id", *_SCORES, *parts]
    shown = rows.rename(columns={metric: "value"}).reindex(columns=columns)
    part_values = {}
    scores = {}
    for scoring, scored in shown.groupby("scoring", observed=True):
        table = scored
        if table["doc_id"].tolist() != order:
            # Plain objects are much faster here than categories.
            table = scored.astype(object).set_index("doc_id").reindex(order)
        scores[scoring] = {
            "value": table["value"].astype(float).round(6).tolist(),
            "answer": table["answer"].astype(object).replace(words).tolist(),
            "reason": table["reason"].tolist(),
            "cut_off": (table["cut_off"].astype(float) > 0).tolist(),
        }
        part_values = {name: table[name].tolist() for name in parts}
    titles = [question.title for question in questions.values()]
    pleas = [bool(question.answer.get("pleas")) for question in questions.values()]
    authors = [question.answer.get("authors") for question in questions.values()]
    return {
        "id": order,
        "asked": titles,
        "parts": part_values,
        "by": scores,
        "pleas": pleas if any(pleas) else [],
        "authors": authors if any(score is not None for score in authors) else [],
    }


def _authors_score(line: Json) -> float | None:
    """Return the authors' own score of a recorded response, a share; None if the file does not state one."""
    recorded = line.get("recorded")
    score = recorded.get("authors_score") if isinstance(recorded, dict) else None
    if isinstance(score, int | float) and 0 <= score <= 1:
        return float(score)
    return None


def _text(value: Any) -> str:
    """Return a value as text that the page can show, cut after very many characters."""
    text = value
    if not isinstance(value, str):
        text = json.dumps(value, default=str, ensure_ascii=False)
    n_more = len(text) - _MAX_TEXT
    if n_more > 0:
        text = f"{text[:_MAX_TEXT]} … ({n_more:,} more characters left out)"
    return printable(text)


def _texts(values: Sequence[Any]) -> list[str]:
    return [_text(value) for value in values[:_MAX_RESPONSES]]


def _first_value(doc: Json, names: Iterable[str]) -> Any:
    """Return the first field that has a value; an empty text if none has."""
    for name in names:
        value = doc.get(name)
        if value not in (None, "", []):
            return value
    return ""


def _answer_labels(result: TaskResult) -> Mapping[str, str]:
    """Return what people call the answers of a task, such as "rises" for 1."""
    benchmark = KNOWN_BENCHMARKS[result.benchmark]
    for start, words in benchmark.answer_labels.items():
        if result.task.startswith(start):
            return words
    return {}

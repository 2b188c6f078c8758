"""The files of a run's samples, written while its file is read; `sample_store` says what they are."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.samples import document_of, lines_of, sample_of
from fin_tasks.report.site.item_samples import samples_of_items
from fin_tasks.report.site.sample_pictures import Gallery, Pictures
from fin_tasks.report.site.sample_record import (
    excerpt,
    groups_of,
    headline_of,
    outcome_of,
    picture_of,
    question_of,
    responses_of,
)

__all__ = ["CHUNK", "INDEX", "Job", "RunSamples", "SampleIndex", "write_runs"]

CHUNK = 200
"""Samples of a file with questions, responses or outcomes."""
INDEX = 5000
"""Samples of a file of an index; a multiple of `CHUNK`."""

_MOST_ASKED = 64 * 2**20  # bytes of questions that are held
_ANSWER = 120  # letters of an answer in a list
_BEFORE = re.compile(r"\A(?:<image>\s*)?(?:(?:.*?\n\n)?(?:Question|Statement):)?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class RunSamples:
    """What is written of a run.

    Attributes:
        run: `RunFacts.id`.
        folder: Below `samples/runs`.
        rows: How many samples.
        variants: Under which they are scored.
        metric: The headline that says whether a sample is right.
        questions: Names of the files with its questions, below `samples/questions`.
        pictures: Names of its pictures, below `samples/pictures`.
        asked_pictures: Documents of it name pictures, found or not.
    """

    run: str
    folder: str
    rows: int
    variants: tuple[str, ...]
    metric: str
    questions: tuple[str, ...]
    pictures: tuple[str, ...]
    asked_pictures: bool


@dataclass(frozen=True)
class SampleIndex:
    """What a page has to know before it loads a file.

    Attributes:
        runs: Those with samples.
    """

    runs: tuple[RunSamples, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "chunk": CHUNK,
            "index": INDEX,
            "runs": {
                one.run: {"folder": one.folder, "rows": one.rows, "variants": list(one.variants), "metric": one.metric}
                for one in self.runs
            },
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A run to write; `scores` only where its file is no samples file of lm-eval."""

    run: str
    task: str
    path: Path
    scores: Mapping[str, Scores] | None


def write_runs(jobs: Iterable[Job], root: Path, gallery: Gallery) -> list[RunSamples]:
    """Write runs below `root`; those whose files cannot be read any more are left out."""
    pictures, asked = Pictures(root / "pictures", gallery), _Asked()
    found = [_write_run(job, root, pictures, asked) for job in jobs]
    return [one for one in found if one is not None]


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question but for its picture, as JSON without the closing brace, and what an index has of it."""

    id: str
    text: bytes
    asked: str
    groups: list[str]


class _Asked:
    """Questions by document: a report's runs have the same ones again and again."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[bytes, _Question]]] = {}
        self._held = 0

    def of(self, identity: str, sample: Mapping[str, Any], doc: Mapping[str, Any]) -> _Question:
        """Return the question of a document."""
        key = _key_of(identity, sample, doc)
        for seen, known in self._known.get(identity, ()):
            if seen == key:  # which is told sooner than a hash of it
                return known
        question = question_of(identity, sample, doc)
        made = _Question(
            id=question["id"],
            text=orjson.dumps(question)[:-1],
            asked=excerpt(_bare(doc, question["prompt"])),
            groups=groups_of(doc),
        )
        size = len(key) + len(made.text)
        if self._held + size > _MOST_ASKED:
            self._known.clear()
            self._held = 0
        self._held += size
        self._known.setdefault(identity, []).append((key, made))
        return made


@dataclass
class _Reading:
    """A run's samples while its file is read; what is long is written as soon as a chunk is full."""

    folder: Path
    root: Path
    pictures: Pictures
    known: _Asked
    first: str = ""
    metric: str = "acc"
    places: dict[str, int] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    groups: list[list[str]] = field(default_factory=list)
    questions: list[bytes] = field(default_factory=list)
    responses: list[bytes] = field(default_factory=list)
    question_files: list[str] = field(default_factory=list)
    variants: dict[str, dict[int, tuple[float | None, str, bytes]]] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    asked_pictures: bool = False

    def add(self, where: str, sample: Mapping[str, Any]) -> None:
        """Take a line."""
        identity, doc = document_of(where, sample)
        variant = str(sample.get("filter", ""))
        self.first = self.first or variant
        if variant == self.first and identity not in self.places:
            self._add_sample(identity, sample, doc)
        place = self.places.get(identity)
        if place is None:
            return
        outcome = outcome_of(sample)
        self.metric, value = headline_of(sample)
        self.variants.setdefault(variant, {})[place] = (value, _answer(outcome), orjson.dumps(outcome))

    def _add_sample(self, identity: str, sample: Mapping[str, Any], doc: Mapping[str, Any]) -> None:
        self.places[identity] = len(self.ids)
        question = self.known.of(identity, sample, doc)
        path, sent = picture_of(sample, doc)
        picture = self.pictures.add(path, sent)
        missing = bool(path or sent) and not picture
        self.asked_pictures |= bool(path or sent)
        if picture:
            self.shown.add(picture)
        said = responses_of(sample)
        self.ids.append(question.id)
        self.asked.append(question.asked)
        self.said.append(excerpt(said[0] if said else ""))
        self.groups.append(question.groups)
        shown = orjson.dumps({"picture": picture, "picture_missing": missing})
        self.questions.append(question.text + b"," + shown[1:])
        self.responses.append(orjson.dumps(said))
        if len(self.questions) == CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write a chunk of questions and responses."""
        if not self.questions:
            return
        text = _list(self.questions)
        name = hashlib.sha256(text).hexdigest()[:24]
        target = self.root / "questions" / f"{name}.js"
        if not target.exists():
            _write(target, f"questions/{name}", text)
        at = len(self.question_files)
        self.question_files.append(name)
        _write(self.folder / f"responses-{at}.js", f"runs/{self.folder.name}/responses-{at}", _list(self.responses))
        self.questions, self.responses = [], []

    def finish(self) -> None:
        """Write what is left, outcomes and index."""
        self.flush()
        rows, name = len(self.ids), f"runs/{self.folder.name}"
        for at, begin in enumerate(range(0, rows, CHUNK)):
            places = range(begin, min(begin + CHUNK, rows))
            parts = [
                _key(variant) + _list(found[place][2] if place in found else b"null" for place in places)
                for variant, found in self.variants.items()
            ]
            _write(self.folder / f"outcomes-{at}.js", f"{name}/outcomes-{at}", b"{" + b",".join(parts) + b"}")
        for at, begin in enumerate(range(0, rows, INDEX)):
            text = orjson.dumps(self._index(begin, min(begin + INDEX, rows)))
            _write(self.folder / f"index-{at}.js", f"{name}/index-{at}", text)

    def _index(self, begin: int, end: int) -> dict[str, Any]:
        names: dict[str, int] = {}
        groups = [[names.setdefault(name, len(names)) for name in of] for of in self.groups[begin:end]]
        missing = (None, "", b"")
        return {
            "ids": self.ids[begin:end],
            "asked": self.asked[begin:end],
            "said": self.said[begin:end],
            "groups": groups,
            "names": list(names),
            "questions": self.question_files[begin // CHUNK : -(-end // CHUNK)],
            "variants": {
                variant: {
                    "values": [found.get(place, missing)[0] for place in range(begin, end)],
                    "answers": [found.get(place, missing)[1] for place in range(begin, end)],
                }
                for variant, found in self.variants.items()
            },
        }


def _write_run(job: Job, root: Path, pictures: Pictures, asked: _Asked) -> RunSamples | None:
    # A run's id may hold anything; its folder's name is for addresses and every file system.
    name = hashlib.sha256(job.run.encode("utf-8", "replace")).hexdigest()[:16]
    reading = _Reading(folder=root / "runs" / name, root=root, pictures=pictures, known=asked)
    try:
        for where, sample in _samples(job):
            reading.add(where, sample)
    except DataError:  # `collect` has told of it, or the file changed since
        return None
    if not reading.ids:
        return None
    reading.finish()
    return RunSamples(
        run=job.run,
        folder=name,
        rows=len(reading.ids),
        variants=tuple(reading.variants),
        metric=reading.metric,
        questions=tuple(reading.question_files),
        pictures=tuple(sorted(reading.shown)),
        asked_pictures=reading.asked_pictures,
    )


def _samples(job: Job) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if job.scores is not None:
        yield from samples_of_items(job.path, job.scores)
        return
    for number, line in lines_of(job.path):
        where = f"{job.path}, line {number}"
        yield where, sample_of(where, line)


def _key_of(identity: str, sample: Mapping[str, Any], doc: Mapping[str, Any]) -> bytes:
    """What a question is made of; as text where a number is too large or a letter too broken for the fast writer."""
    parts = [identity, doc, sample.get("target"), None if doc.get("prompt") else sample.get("arguments")]
    try:
        return orjson.dumps(parts)
    except (TypeError, ValueError):
        return repr(parts).encode("utf-8", "backslashreplace")


def _answer(outcome: Mapping[str, Any]) -> str:
    """Return the answers that were read, in one line; empty where none was."""
    found = [value for fields in outcome["read"] for key, value in fields if key == "answer" and value is not None]
    return " ".join(", ".join([str(one)[:_ANSWER] for one in found[:5]]).split())[:_ANSWER]


def _bare(doc: Mapping[str, Any], prompt: str) -> str:
    """Leave out of a prompt what stands before its question, such as terms that may help."""
    question = doc.get("question")
    if isinstance(question, str) and question:
        return question.encode("utf-8", "replace").decode()
    return _BEFORE.sub("", prompt, count=1).lstrip()


def _list(parts: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"


def _key(name: str) -> bytes:
    return json.dumps(name).encode() + b":"


def _write(path: Path, name: str, value: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")  # several processes may write the same questions
    part.write_bytes(b"".join(_script(name, value)))
    part.replace(path)


def _script(name: str, value: bytes) -> Iterator[bytes]:
    """Return a program of one call with two texts: a name, and JSON.

    What would end a line of an older script, or mean anything to a parser of HTML, is escaped within the JSON.
    """
    # each where it is found soonest: texts of ASCII alone know that they hold no other letter
    for found in "<>&":
        value = value.replace(found.encode(), f"\\u{ord(found):04x}".encode())
    text = value.decode()
    for found in "\u2028\u2029":
        text = text.replace(found, f"\\u{ord(found):04x}")
    yield b"finTasksSample(" + orjson.dumps(name) + b"," + orjson.dumps(text) + b")\n"

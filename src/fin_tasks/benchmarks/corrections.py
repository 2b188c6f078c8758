"""Corrections of questions: a file of yours says which leave a benchmark, and which have another truth, and why.

Documents are corrected where a benchmark makes them, saved responses where they are scored, and samples
of runs where reports read them.
"""

import datetime
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    FiniteFloat,
    StrictBool,
    model_validator,
)

from fin_tasks.errors import DataError
from fin_tasks.yaml_file import read_yaml

from .contract import Benchmark, Document, benchmark_named, id_of

Truth = StrictBool | FiniteFloat | str

_EXPECTED = "corrections, each with benchmark, id, and exclude: true or truth"
_SHOWN_DIGITS = 16  # of a hash


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


class Correction(BaseModel, extra="forbid", frozen=True):
    """What is wrong with a question, and who says so."""

    benchmark: str
    id: Annotated[str, BeforeValidator(_as_text)]
    task: str = ""
    """The beginning of the names of the tasks that are meant, where questions of several tasks share an id."""
    exclude: bool = False
    """Whether the question leaves the benchmark."""
    truth: Truth | None = None
    """The right answer."""
    reason: str = ""
    by: str = ""
    """Who says so."""
    date: datetime.date | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.exclude == (self.truth is not None):
            raise ValueError(f"{self.id}: expected either exclude: true or a truth")
        benchmark_named(self.benchmark)
        return self


class CorrectionFile(BaseModel, extra="forbid"):
    """The file."""

    corrections: list[Correction] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        keys = set()
        for correction in self.corrections:
            key = (correction.benchmark, correction.task, correction.id)
            if key in keys:
                raise ValueError(f"{' '.join(key)}: expected one correction, got two")
            keys.add(key)
        return self


@dataclass(frozen=True)
class Corrections:
    """The corrections of all benchmarks in a file."""

    by_benchmark: Mapping[str, Sequence[Correction]]

    def of(self, benchmark: str, task: str = "") -> Mapping[str, Correction]:
        """Return the corrections of a benchmark, or of one of its tasks, by the question's id."""
        by_id = {}
        for correction in self.by_benchmark.get(benchmark, ()):
            is_meant = f"{task}_".startswith(f"{correction.task}_")
            if is_meant or "" in (task, correction.task):
                by_id[correction.id] = correction
        return by_id

    def facts(self, benchmark: str, applied: Iterable[Correction]) -> dict[str, str]:
        """Return what results say: the hash of a benchmark's corrections, and how many were applied."""
        entries = []
        for correction in self.by_benchmark.get(benchmark, ()):
            fields = correction.model_dump(include={"task", "id", "exclude", "truth"})
            entries.append(json.dumps(fields, sort_keys=True))
        text = "\n".join(sorted(entries))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return {"sha256": digest[:_SHOWN_DIGITS], "note": note_of(applied)}


def read_corrections(path: str | Path) -> Corrections:
    """Read a file of corrections; raise ConfigError if it is none."""
    file = read_yaml(path, CorrectionFile, expected=_EXPECTED)
    by_benchmark: dict[str, list[Correction]] = {}
    for correction in file.corrections:
        by_benchmark.setdefault(correction.benchmark, []).append(correction)
    return Corrections(by_benchmark)


def note_of(applied: Iterable[Correction]) -> str:
    """Say what corrections did, such as `2 questions excluded, 1 truth corrected`."""
    are_excluded = [correction.exclude for correction in applied]
    n_excluded = sum(are_excluded)
    n_corrected = len(are_excluded) - n_excluded
    parts = []
    if n_excluded:
        parts.append(f"{n_excluded} question{'s' * (n_excluded > 1)} excluded")
    if n_corrected:
        parts.append(f"{n_corrected} truth{'s' * (n_corrected > 1)} corrected")
    return ", ".join(parts)


def corrected_documents(
    benchmark: str, docs: Sequence[Document], path: str | Path, task: str = ""
) -> tuple[list[Document], dict[str, str]]:
    """Return the documents without excluded ones and with corrected truths, and what results say of it.

    Raises:
        ConfigError: The file is none of corrections.
        DataError: A truth does not fit its question, or no document is left.
    """
    corrections = read_corrections(path)
    by_id = corrections.of(benchmark, task)
    applied = []
    left: list[Document] = []
    for doc in docs:
        correction = by_id.get(id_of(doc))
        if correction:
            applied.append(correction)
        if correction and not correction.exclude:
            left.append(with_truth(doc, correction))
        elif not correction:
            left.append(doc)
    if not left:
        raise DataError(
            f"{path}: expected at least one question to be left, got all excluded."
        )
    return left, corrections.facts(benchmark, applied)


def with_truth(doc: Document, correction: Correction) -> dict[str, Any]:
    """Return a document with the truth of a correction; it is no example for other questions any more."""
    benchmark = benchmark_named(correction.benchmark)
    changed = {**doc}
    if "target" in changed:
        changed["target"] = ""
    names = _truth_names(benchmark, doc)
    if not names:
        raise DataError(_message(correction, "exclude: true, as it has no one truth"))
    for name in names:
        changed[name] = _truth_like(doc[name], correction)
    return changed


def _truth_names(benchmark: Benchmark, doc: Document) -> list[str]:
    """Return the field that holds the truth, and fields with numbers, which hold it rounded."""
    names = [name for name in benchmark.truth_fields if doc.get(name) not in (None, "")]
    rounded = [name for name in names[1:] if isinstance(doc[name], int | float)]
    return names[:1] + rounded


def _truth_like(published: Any, correction: Correction) -> Any:
    """Return a new truth in the type of the published one."""
    truth = correction.truth
    is_number = not isinstance(truth, str) or bool(re.search(r"\d", truth))
    is_letter = isinstance(truth, str) and len(truth) == 1 and truth.isalpha()
    text = str(published)
    expected = ""
    if len(text) == 1 and text.isalpha():
        expected = "" if is_letter else "a letter"
    elif not re.search("[A-Za-z]", text) and re.search(r"\d", text):
        expected = "" if is_number else "a number"
    if expected:
        raise DataError(_message(correction, f"{expected} as truth, as {text:.40}"))
    if isinstance(published, str):
        if isinstance(truth, bool) and not re.search(r"\d", published):
            return str(truth)
        return truth if isinstance(truth, str) else f"{float(truth or 0):.15g}"
    if isinstance(published, int | float) and not isinstance(truth, str):
        return float(truth or 0)
    raise DataError(_message(correction, f"a number as truth, as {published!r:.40}"))


def _message(correction: Correction, expected: str) -> str:
    question = f"{correction.benchmark} {correction.id}"
    return (
        f"corrections, {question}: expected {expected}, got {correction.truth!r:.40}."
    )

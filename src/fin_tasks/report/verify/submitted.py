"""A samples file as it was handed in: every row with its claims, checked against the document it should be about."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.samples import document_of, lines_of, sample_of
from fin_tasks.report.verify.asked import beside_ours, changed_fields, prompt_of, wrong_hashes

__all__ = ["MAX_RESPONSES", "MAX_ROWS", "Submitted", "SubmittedRow", "read_submitted"]

MAX_ROWS = 1_000_000
"""Lines that a samples file may have."""
MAX_RESPONSES = 1_000
"""Responses that a row may have."""
_STEP = 64
_LONG_BESIDE = 2_000
_HASHES = ("doc_hash", "prompt_hash", "target_hash")


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmittedRow:
    """A line of a samples file.

    Attributes:
        line: Its number.
        id: The document's id.
        place: `doc_id`, the document's place among those that were asked; None where there is none.
        responses: What the model wrote; empty text where it wrote nothing.
        claimed: Everything else of the line, of which metrics count.
        scored: The scored answers that the run wrote; None where one is no object.
        changed: Fields of the document that differ from ours; empty where we have no such document.
        hashes: Hashes that do not belong to what they stand beside.
        all_hashes: The row's three hashes, joined, as lm-eval puts them into the hash of a task.
        beside: What the prompt says beside ours; None where our question is not in it.
        generation: What the model was told about generating, as JSON text.
    """

    line: int
    id: str
    place: int | None
    responses: tuple[str, ...]
    claimed: Mapping[str, Any]
    scored: tuple[Mapping[str, Any] | None, ...]
    changed: tuple[str, ...]
    hashes: tuple[str, ...]
    all_hashes: str
    beside: str | None
    generation: str


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """A samples file.

    Attributes:
        variants: Filter to rows, in the file's order, duplicates among them.
    """

    variants: Mapping[str, tuple[SubmittedRow, ...]]

    @property
    def is_unscored(self) -> bool:
        """Whether the run only kept responses, as lm-eval does with `--predict_only`."""
        return all(row.claimed.keys() <= {"bypass"} for rows in self.variants.values() for row in rows)

    @property
    def first(self) -> tuple[SubmittedRow, ...]:
        """The rows under the first filter."""
        return next(iter(self.variants.values()))


@dataclass
class _Reader:
    own: Mapping[str, Mapping[str, Any]]
    texts: dict[Any, Any] = field(default_factory=dict)
    """Everything that stands in the file more than once, kept once."""

    def row(self, where: str, number: int, sample: Mapping[str, Any]) -> SubmittedRow:
        identity, doc = document_of(where, sample)
        ours = self.own.get(identity)
        responses = _responses(where, sample)
        place = sample.get("doc_id")
        return SubmittedRow(
            line=number,
            id=identity,
            place=place if isinstance(place, int) else None,
            responses=self.texts.setdefault(responses, responses),  # each stands in the file once per filter
            claimed=_claimed(where, sample),
            scored=_scored(sample.get("filtered_resps")),
            changed=() if ours is None else tuple(changed_fields(doc, ours)),
            hashes=tuple(wrong_hashes(sample)),
            all_hashes="".join(str(sample.get(name)) for name in _HASHES),
            beside=None if (beside := self._beside(sample, ours)) is None else self._once(beside),
            generation=self._once(_generation(sample)),
        )

    def _once(self, text: str) -> str:
        return str(self.texts.setdefault(text, text))

    def _beside(self, sample: Mapping[str, Any], ours: Mapping[str, Any] | None) -> str | None:
        text = "" if ours is None else beside_ours(prompt_of(sample), ours)
        if text is None or len(text) <= _LONG_BESIDE:
            return text
        # who shows examples before each question would have us keep them all: their start and their hash say enough
        return f"{text[:_LONG_BESIDE]}... sha256 {hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def read_submitted(
    path: Path, own: Mapping[str, Mapping[str, Any]], *, on_bytes: Callable[[int], None] | None = None
) -> Submitted:
    """Read a samples file.

    Args:
        path: A `samples_*.jsonl`.
        own: The benchmark's documents by id; empty where they are not known.
        on_bytes: Told how many bytes are read.

    Raises:
        DataError: The file is broken or too large; the message names line and field.
    """
    reader = _Reader(own)
    found: dict[str, list[SubmittedRow]] = {}
    read = 0
    for count, (number, line) in enumerate(lines_of(path), start=1):
        read += len(line)
        if on_bytes is not None and count % _STEP == 0:
            on_bytes(read)
        if count > MAX_ROWS:
            raise DataError(f"{path}: expected at most {MAX_ROWS:,} rows, got more.")
        where = f"{path}, line {number}"
        sample = sample_of(where, line)
        name = sample.get("filter")
        if not isinstance(name, str):
            raise DataError(f"{where}, filter: expected a filter's name, got {name!r:.80}.")
        found.setdefault(name, []).append(reader.row(where, number, sample))
    if not found:
        raise DataError(f"{path}: expected at least one row, found none.")
    return Submitted(variants={name: tuple(rows) for name, rows in found.items()})


def _responses(where: str, sample: Mapping[str, Any]) -> tuple[str, ...]:
    given = sample.get("resps")
    if not isinstance(given, list) or len(given) != 1 or not isinstance(given[0], list) or not given[0]:
        raise DataError(f"{where}, resps: expected the responses to one request, got {given!r:.80}.")
    if len(given[0]) > MAX_RESPONSES:
        raise DataError(f"{where}, resps: expected at most {MAX_RESPONSES:,} responses, got {len(given[0]):,}.")
    for response in given[0]:
        if response is not None and not isinstance(response, str):
            raise DataError(f"{where}, resps: expected texts, got {response!r:.80}.")
    return tuple(response or "" for response in given[0])  # an API that gave no text leaves None


def _claimed(where: str, sample: Mapping[str, Any]) -> dict[str, Any]:
    names = sample.get("metrics")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(
            f"{where}, metrics: expected a list of names, got {names!r:.80}. Run lm-eval without --predict_only."
        )
    return {name: sample[name] for name in names if name in sample}


def _scored(filtered: Any) -> tuple[Mapping[str, Any] | None, ...]:
    answers = filtered[0] if isinstance(filtered, list) and filtered else []
    return tuple(_object(answer) for answer in (answers if isinstance(answers, list) else [answers]))


def _object(answer: Any) -> Mapping[str, Any] | None:
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError):
            return None
    return answer if isinstance(answer, dict) else None


def _generation(sample: Mapping[str, Any]) -> str:
    arguments = sample.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    return json.dumps(first.get("arg_1") if isinstance(first, dict) else None, sort_keys=True)

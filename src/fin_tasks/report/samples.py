"""Reads lm-eval's samples files: what every document scored under every filter, and what was answered.

Metrics are taken as the run reported them, nothing is scored again. Files may come from strangers: sizes are capped,
types are checked, and nothing of a file that is cut or malformed is used.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from fin_tasks.errors import DataError
from fin_tasks.report.json_fields import from_json
from fin_tasks.report.saved_questions import same_question
from fin_tasks.report.sources import SourceOf

__all__ = ["DIMENSIONS", "HEADLINES", "MAX_LINE", "MAX_SAMPLES", "Row", "Rows"]
__all__ += ["document_of", "groups_of", "json_of", "lines_of", "read_samples", "sample_of", "shares_of_wrong"]
__all__ += ["spelled_out"]

MAX_SAMPLES = 4 * 2**30
"""Bytes a samples file may have: a run over 10,000 documents with long contexts stays well below."""
MAX_LINE = 64 * 2**20
"""Bytes a line of it may have, which holds one document with its prompt and responses."""

_BUFFER = 2**20
_DUST = 1e-9  # what is left of 1 less the shares of three responses, say

HEADLINES = ("acc", "score")
"""The metric a task of ours has for each document, a number: shares, or points where a judge gives them."""

DIMENSIONS: Mapping[str, str] = {
    **{"capability": "capabilities", "topic": "topic", "part": "part"},
    **{"category": "category", "image_type": "image_type", "image_style": "image_style", "window": "window"},
}
"""What rows can be grouped by, and the key of a document that says it."""

_OUR_NAMES: Mapping[str, Callable[[str], str]] = {"image_type": str, "image_style": str}
"""Files put these in words of their own, by language; groups have those that tasks report their metrics by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What one document scored under one filter.

    Attributes:
        id: The document's id.
        truth: Its reference answer as text, to tell documents that only share an id; empty where it is not known.
        values: Metric to value, the mean where a document was asked several times; None where it does not apply.
        answer: The answer that was read; a list where there were several responses; None where there is none.
        groups: Dimension (a key of `DIMENSIONS`) to the groups the document belongs to; only those it has.
        source: What the document shares with others, as a figure, an exercise or a ticker; empty where nothing is.
        question: What was asked; empty where it is not known, or stands within a prompt.
        from_table: Its texts come from a table that a spreadsheet may have written, which changes some.
        wrong: What its `bias_index` counts for: how many of its responses are wrong, or which share, alike in all rows
            of a run.
    """

    id: str
    truth: str
    values: Mapping[str, float | None]
    answer: Any
    groups: Mapping[str, tuple[str, ...]]
    source: str = ""
    question: str = ""
    from_table: bool = False
    wrong: float = 1.0

    def same_question(self, other: "Row") -> bool:
        """Tell whether a row of this id may be of the same question: as far as known, their references are equal."""
        if self.truth == other.truth or not self.truth or not other.truth:
            return True
        table, told = (self, other) if self.from_table else (other, self)
        return table.from_table and same_question(table.truth, told.truth)


Rows = Mapping[str, Row]
"""Rows by document id."""


def read_samples(path: Path, *, source: SourceOf | None = None) -> dict[str, Rows]:
    """Read a samples file.

    Args:
        path: A `samples_*.jsonl` that lm-eval wrote with `--log_samples`.
        source: Names what a document shares with others, see `sources.SOURCES`.

    Returns:
        Filter name (`paper`, `robust`) to the rows by id, in the file's order. Every filter has the same ids.

    Raises:
        DataError: The file cannot be read, is too large, a line is no sample, an id comes twice under one filter, or
            the filters have different documents. The message names file, line and field.
    """
    found: dict[str, dict[str, Row]] = {}
    for number, line in lines_of(path):
        where = f"{path}, line {number}"
        sample = sample_of(where, line)
        name = sample.get("filter")
        if not isinstance(name, str):
            raise DataError(f"{where}, filter: expected a filter's name, got {name!r:.80}.")
        row = _row(where, sample, source)
        rows = found.setdefault(name, {})
        if row.id in rows:
            raise DataError(f"{where}, doc.id: expected each document once per filter, got {row.id!r:.80} twice.")
        rows[row.id] = row
    if not found:
        raise DataError(f"{path}: expected at least one document, found none.")
    sizes = {name: len(rows) for name, rows in found.items()}
    if len({frozenset(rows) for rows in found.values()}) > 1:
        counts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise DataError(f"{path}: expected the same documents under every filter, got {counts}. Was the file cut?")
    return dict(found)


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a samples file that hold something, with their numbers; DataError where it is too large."""
    try:
        size = path.stat().st_size
        if size > MAX_SAMPLES:
            raise DataError(f"{path}: expected at most {MAX_SAMPLES:,} bytes, got {size:,}.")
        with path.open("rb", buffering=_BUFFER) as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise DataError(f"{path}, line {number}: expected at most {MAX_LINE:,} bytes, got more.")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error


def json_of(text: bytes) -> Any:
    """Read JSON, or what Python writes for it: lm-eval's files may hold NaN, which the fast reader refuses.

    Raises:
        ValueError: It is none, or no UTF-8.
        RecursionError: It is nested too deeply.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return from_json(text)


def sample_of(where: str, line: bytes) -> dict[str, Any]:
    """Read a line of a samples file; DataError where it is no object."""
    try:
        sample = json_of(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected JSON, got {line[:60]!r} ({error}). Was the run interrupted?") from error
    if not isinstance(sample, dict):
        raise DataError(f"{where}: expected an object, got {line[:60]!r}.")
    return sample


def document_of(where: str, sample: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the id of a sample's document, and the document; DataError where it has none."""
    doc = sample.get("doc")
    if not isinstance(doc, dict):
        raise DataError(f"{where}, doc: expected an object, got {doc!r:.80}.")
    identity = doc.get("id", doc.get("question_id"))
    if isinstance(identity, bool) or not isinstance(identity, (str, int)) or identity == "":
        raise DataError(f"{where}, doc.id: expected a text or whole number, got {identity!r:.80}.")
    return spelled_out(str(identity)), doc


def spelled_out(text: str) -> str:
    r"""Write out halves of characters that take two: strangers' JSON may hold them, files of text cannot.

    Example:
        >>> print(spelled_out("a" + chr(0xD800)))
        a\ud800
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def groups_of(where: str, doc: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Say which groups of each dimension a document belongs to; dimensions it has nothing of are left out.

    Raises:
        DataError: What names a group is no text.

    Example:
        >>> groups_of("line 1", {"category": "OCR", "image_type": "K线图", "window": 4})
        {'category': ('OCR',), 'image_type': ('candlestick chart',), 'window': ('4',)}
    """
    return {name: groups for name, key in DIMENSIONS.items() if (groups := _groups(where, doc, key))}


def _row(where: str, sample: Mapping[str, Any], source: SourceOf | None) -> Row:
    identity, doc = document_of(where, sample)
    values = _values(where, sample)
    return Row(
        id=identity,
        truth=_truth(doc, sample),
        values=values,
        answer=_answer(sample.get("filtered_resps")),
        groups=groups_of(where, doc),
        source=source(doc) if source else "",
        question=question if isinstance(question := doc.get("question"), str) else "",
        wrong=_wrong(where, sample, values),
    )


def _truth(doc: Mapping[str, Any], sample: Mapping[str, Any]) -> str:
    """Take a reference as all sources of rows have it: movements without the words of the answer asked for."""
    moved = doc.get("truth")
    return str(moved) if type(moved) is int else str(doc.get("ground_truth", sample.get("target")))


def _values(where: str, sample: Mapping[str, Any]) -> dict[str, float | None]:
    names = sample.get("metrics")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(
            f"{where}, metrics: expected a list of names, got {names!r:.80}. Run lm-eval without --predict_only."
        )
    values: dict[str, float | None] = {}
    for name in names:
        if name.endswith("_stderr"):  # the value once more, see adapters.lm_eval
            continue
        if name not in sample:
            raise DataError(f"{where}: expected a value of the metric {name!r:.80}, found none.")
        value = sample[name]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            values[sys.intern(name)] = None
        elif isinstance(value, (int, float)):
            values[sys.intern(name)] = _number(f"{where}, {name}", value)
        elif name == "bias_index":
            values[name] = _followed(f"{where}, {name}", value)
        elif isinstance(value, str) or name in HEADLINES:
            raise DataError(f"{where}, {name}: expected a number or null, got {value!r:.80}.")
        # what is left are metrics that are no means: pairs that their own aggregation understands
    return values


def shares_of_wrong(where: str, shares: Any) -> tuple[float, float]:
    """Return which shares of a document's responses are wrong and follow the signal, and are wrong at all.

    Args:
        where: File, line and metric, for the message.
        shares: Of responses that are right, follow it and are otherwise wrong, which the task keeps for its index.

    Raises:
        DataError: It is something else.

    Example:
        >>> shares_of_wrong("line 1, bias_index", [0.5, 0.25, 0.25])
        (0.25, 0.5)
    """
    if not isinstance(shares, list) or len(shares) != 3 or not all(type(one) in (int, float) for one in shares):
        raise DataError(f"{where}: expected three shares or null, got {shares!r:.80}.")
    _, led, other = (_number(where, one) for one in shares)
    if not (0 <= led <= 1 and 0 <= other <= 1):
        raise DataError(f"{where}: expected shares from 0 to 1, got {shares!r:.80}.")
    if other < _DUST:
        other = 0.0
    return led, led + other


def _followed(where: str, shares: Any) -> float | None:
    """Say which share of a document's wrong responses follows the signal; None where none is wrong."""
    led, wrong = shares_of_wrong(where, shares)
    return led / wrong if wrong else None


def _wrong(where: str, sample: Mapping[str, Any], values: Mapping[str, float | None]) -> float:
    """Say which share of a document's responses is wrong; 1 where nothing says so, as of one that was asked once."""
    shares = sample.get("bias_index") if values.get("bias_index") is not None else None
    return shares_of_wrong(f"{where}, bias_index", shares)[1] if isinstance(shares, list) else 1.0


def _number(where: str, value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"{where}: expected a finite number, got {value!r:.80}.")
    return number


def _answer(filtered: Any) -> Any:
    """Take the answers out of the scored responses, which are objects or, in the samples file, JSON text of them."""
    responses = filtered if isinstance(filtered, list) else []
    flat = [inner for outer in responses for inner in (outer if isinstance(outer, list) else [outer])]
    answers = [_read(response) for response in flat]
    return answers[0] if len(answers) == 1 else answers or None


def _read(response: Any) -> Any:
    if isinstance(response, str):
        try:
            response = json.loads(response)
        except (ValueError, RecursionError):
            return None
    answer = response.get("answer") if isinstance(response, dict) else None
    return answer if isinstance(answer, (str, int)) or (isinstance(answer, float) and math.isfinite(answer)) else None


def _groups(where: str, doc: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = doc.get(key)
    if key == "window" and type(value) is int:  # reports
        value = str(value)
    groups = value if isinstance(value, list) else [] if value in (None, "") else [value]
    if not all(isinstance(group, str) for group in groups):
        raise DataError(f"{where}, doc.{key}: expected texts, got {value!r:.80}.")
    ours = _OUR_NAMES.get(key, str)
    return tuple(sys.intern(ours(group)) for group in dict.fromkeys(groups))

"""Read files of saved responses: tables, JSON, lm-eval's samples, and what VLMEvalKit and the papers' authors write."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.cut_off import CutOffResponse, mark_response
from fin_tasks.data.tables import read_json, read_table
from fin_tasks.errors import DataError
from fin_tasks.limited_file import RESULTS_MB, read_limited_json

Json = dict[str, Any]
"""An object of JSON."""
Texts = list[str | None]
"""The responses to a question; None stands for one that the model did not give."""

COLUMN_NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id", "ID", "question_id", "index"),
    "response": ("response", "output", "model_response", "prediction"),
}
"""Our names of the columns, and those in files: the first one that a row has counts."""
UNKNOWN = "unknown"
"""Split or source of questions of which nobody says more."""

_TABLES = (".csv", ".tsv", ".xlsx")
_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl"
)
_SPLIT = re.compile(r"(vali|test|sample)(?:dation)?[-_]")


class SavedRow(NamedTuple):
    """The responses to a question, and what the file says of the question."""

    id: str
    texts: Texts
    """Responses that were cut off are marked."""
    fields: Json
    """All columns but the response; of lm-eval's samples the fields of the document."""
    is_sample: bool = False
    """Whether the row is a line of lm-eval's samples."""


def read_saved_rows(path: Path) -> list[SavedRow]:
    """Read the rows of a CSV, TSV or XLSX table, of a JSON list or of JSON lines.

    Raises:
        DataError: The file cannot be read or is empty, or a row lacks id or response.
    """
    read = _records_of_table if path.suffix.lower() in _TABLES else read_json
    records = read(path)
    if not records:
        raise DataError(f"{path}: expected at least one row, got none.")
    if all(isinstance(record.get("doc"), dict) for record in records):
        return _rows_of_samples(path, records)
    rows = []
    for number, record in enumerate(records, start=1):
        where = f"{path}, row {number}"
        row_id = _id_of(record, where)
        column = _column_of(record, "response", where)
        response = _cell_of(record[column])
        texts = texts_of(f"{path}, {row_id}", response, record.get("finish_reason"))
        fields = {name: value for name, value in record.items() if name != column}
        rows.append(SavedRow(row_id, texts, fields))
    return rows


def texts_by_id(rows: Iterable[SavedRow]) -> dict[str, Texts]:
    """Return the responses by id. Several rows of one id are several responses."""
    texts: dict[str, Texts] = {}
    for row in rows:
        texts.setdefault(row.id, []).extend(row.texts)
    return texts


def texts_of(where: str, response: Any, finish_reason: object = None) -> Texts:
    """Return the texts in a response: itself, or those in a list or in lists of lists.

    An empty list is one missing response. Texts whose finish reason is the limit of tokens are
    marked as cut off.

    Raises:
        DataError: A response is no text; it begins with `where`.
    """
    if isinstance(response, list | tuple) and response:
        texts: Texts = []
        for inner in response:
            texts += texts_of(where, inner, finish_reason)
        return texts
    if _is_missing(response):
        text = mark_response("", finish_reason)
        return [text] if isinstance(text, CutOffResponse) else [None]
    if not isinstance(response, str):
        raise DataError(f"{where}: expected text as response, got {response!r:.80}.")
    return [mark_response(response, finish_reason)]


def _is_missing(response: Any) -> bool:
    if isinstance(response, str):
        return False
    if response is None or isinstance(response, list | tuple):  # an empty list
        return True
    from pandas import isna  # knows the missing values of tables in memory

    return isna(response) is True


def _records_of_table(path: Path) -> list[Json]:
    """Return the rows of a table.

    Its responses are taken from `NAME_responses.jsonl` beside it, which our VLMEvalKit adapter
    writes, because spreadsheets cut long cells and change those that look like numbers or formulas.
    """
    records: list[Json] = []
    whole_responses = _responses_beside(path)
    for line, cells, surplus in read_table(path):
        if surplus > 0:
            raise DataError(
                f"{path}, line {line}: expected as many cells as columns, got more. Quote cells."
            )
        record: Json = dict(cells)
        if cells.get("index") in whole_responses:
            record["prediction"] = whole_responses[cells["index"]]
        records.append(record)
    return records


def _responses_beside(path: Path) -> Json:
    file = path.with_name(f"{path.stem}_responses.jsonl")
    if not file.is_file():
        return {}
    responses = {}
    for row in read_json(file):
        if "index" in row:  # the first row is a header, which says what was asked
            responses[str(row["index"])] = row.get("prediction")
    return responses


def _rows_of_samples(path: Path, samples: Sequence[Json]) -> list[SavedRow]:
    """Return a row for each document; all filters list the same responses, so the first is enough."""
    rows = []
    first_filter = samples[0].get("filter")
    for number, sample in enumerate(samples, start=1):
        if sample.get("filter") == first_filter:
            row_id = _id_of(sample["doc"], f"{path}, row {number}")
            texts = texts_of(f"{path}, {row_id}", sample.get("resps"))
            marked = _marked(sample, texts)
            rows.append(SavedRow(row_id, marked, sample["doc"], is_sample=True))
    return rows


def _marked(sample: Json, texts: Texts) -> Texts:
    """Mark the responses of a line of lm-eval's samples that were cut off.

    The readings of a line say which of its responses were cut off. A line without readings has
    only the share of its responses that were.
    """
    share = sample.get("cut_off")
    readings = _flat(sample.get("filtered_resps"))
    if not share or len(readings) != len(texts):
        return texts
    marked = []
    for text, reading in zip(texts, readings, strict=True):
        if text is not None and (share == 1 or _says_cut_off(reading)):
            text = CutOffResponse(text)
        marked.append(text)
    return marked


def _flat(lists: Any) -> list[Any]:
    """Return the values in a list of lists; empty if it is something else."""
    values: list[Any] = []
    for inner in lists if isinstance(lists, list) else []:
        if not isinstance(inner, list):
            return []
        values += inner
    return values


def _says_cut_off(reading: Any) -> bool:
    try:
        fields = json.loads(reading) if isinstance(reading, str) else reading
        return fields["cut_off"] is True
    except (KeyError, TypeError, ValueError):
        return False


def _column_of(record: Json, name: str, where: str) -> str:
    """Return the name that a record has for one of our columns."""
    for column in COLUMN_NAMES[name]:
        if column in record:
            return column
    expected = []
    for ours, names in COLUMN_NAMES.items():
        expected.append(f"{ours} (or {', '.join(names[1:])})")
    raise DataError(
        f"{where}: expected the columns {' and '.join(expected)}, "
        f"got {', '.join(record):.200}."
    )


def _cell_of(value: Any) -> Any:
    """Return a number of JSON as the text that a table would hold; other values stay."""
    is_number = isinstance(value, int | float) and not math.isnan(value)
    return json.dumps(value) if is_number else value


def _id_of(record: Json, where: str) -> str:
    row_id = record[_column_of(record, "id", where)]
    if not isinstance(row_id, str | int | float):
        raise DataError(f"{where}: expected a text as id, got {row_id!r:.80}.")
    return str(row_id)


def model_of(file: Path) -> str:
    """Return the name of the file, or of the folder of lm-eval's samples, where `__` stands for `/`."""
    if file.name.startswith("samples_"):
        return file.resolve().parent.name.replace("__", "/")
    return file.stem


def task_of(file: Path) -> str:
    """Return the task that the name of lm-eval's samples says; empty for other files."""
    samples = _SAMPLES.fullmatch(file.name)
    return samples["task"] if samples else ""


def provenance_of(file: Path) -> Json:
    """Return what the results file beside lm-eval's samples says of their documents; empty if nobody says it."""
    samples = _SAMPLES.fullmatch(file.name)
    if not samples:
        return {}
    results_file = file.with_name(f"results_{samples['stamp']}.json")
    try:
        results = json.loads(read_limited_json(results_file, RESULTS_MB))
        return dict(results["configs"][samples["task"]]["metadata"]["provenance"])
    except (OSError, ValueError, LookupError, TypeError, DataError):
        return {}  # it may be lost, or not be ours


def questions_of(file: Path, *, ids: Iterable[str] = ()) -> dict[str, str]:
    """Return the split and the source of the questions in a file, `unknown` if nobody says.

    The source is `upstream`, `data_dir` or `sample`. The results file beside lm-eval's samples says
    it, else ids such as `validation-12`.
    """
    provenance = provenance_of(file)
    split = provenance.get("split", UNKNOWN)
    if split == UNKNOWN:
        split = _split_of(ids)
    source = provenance.get("source")
    data = provenance.get("data")
    if not source and isinstance(data, dict):
        # In the results of an earlier `replay` or `judge`, it stands beside the data.
        source = data.get("origin")
    usual = "sample" if split == "sample" else UNKNOWN
    return {"split": str(split), "source": str(source or usual)}


def _split_of(ids: Iterable[str]) -> str:
    """Return the split that all ids name."""
    splits = set()
    for name in ids:
        split = _SPLIT.match(name)
        if split is None:
            return UNKNOWN
        splits.add(split[1])
    if len(splits) != 1:
        return UNKNOWN
    return splits.pop().replace("vali", "validation")

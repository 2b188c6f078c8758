"""Read the records of a file of responses, whatever form it has: tables, JSON, Parquet, logs of inspect_ai."""

from pathlib import Path

from fin_tasks.data.locate import check_name
from fin_tasks.data.tables import read_json, read_table
from fin_tasks.data.text_file import read_text_file
from fin_tasks.errors import DataError

from .columns import Json
from .inspect_log import records_of_log
from .json_records import records_of_json
from .parquet import records_of_parquet

_JSON = (".json", ".jsonl", ".ndjson")


def read_records(path: Path, *, strict: bool = False) -> list[Json]:
    """Read the records of a file; with `strict` a line that cannot be read is an error.

    Raises:
        DataError: The file cannot be read or is empty.
    """
    check_name(path)
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
    if suffix == ".parquet":
        records = records_of_parquet(path)
    elif suffix == ".eval":
        records = records_of_log(path)
    elif suffix in _JSON:
        records = records_of_json(path, read_text_file(path), strict=strict)
    else:
        records = _records_of_table(path)
    if not records:
        raise DataError(f"{path}: expected at least one row, got none.")
    return records


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

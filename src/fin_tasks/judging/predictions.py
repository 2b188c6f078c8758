"""Saved predictions of a model as items to judge.

VLMEvalKit's tables, lm-eval's samples and JSON lines say the same in different words. A row that cannot be used is an
error that names file, line and field: a score over the rest would look like one over all. What is only odd is a defect.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fin_tasks.data.pictures import FOLDER
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError
from fin_tasks.judging.kept_responses import TABLES, whole_response
from fin_tasks.judging.old_item import JudgeItem
from fin_tasks.judging.predictions_files import SavedRow, read_saved
from fin_tasks.judging.predictions_model import model_of
from fin_tasks.judging.predictions_pictures import PictureFinder, folders_of
from fin_tasks.judging.predictions_tables import CELL_LIMIT
from fin_tasks.settings import Settings

__all__ = [
    "DEFECTS",
    "OtherTableError",
    "Predictions",
    "Responses",
    "read_predictions",
    "read_table",
    "saved_responses",
]

DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "cut-cell": f"the prediction has exactly {CELL_LIMIT:,} characters: a spreadsheet cut it (PRED_FORMAT=tsv)",
        "no-picture": "the row names no picture, so the judge sees none",
        "no-prediction": "a row of the table that the file has no prediction for",
        "other-question": "the file's question differs from the table's, which is judged by",
        "several-responses": "the question was asked several times; the first response is judged",
    }
)
"""What can be odd about predictions, by kind."""

_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "index": ("index", "id"),
        "question": ("question",),
        "answer": ("answer",),
        "prediction": ("prediction", "response"),
        "task_category": ("task_category", "category"),
        "image_type": ("image_type",),
        "image_style": ("image_style",),
        "image_path": ("image_path",),
    }
)
"""Field to the names it has in files; the first one that is there counts."""
_DIFFERENT = 0.5
"""Share of questions that differ from the table's, from which it is another data set's table."""


class OtherTableError(DataError):
    """Predictions were joined with the table of another data set, or of another edition."""


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """A file of predictions.

    Attributes:
        path: The file.
        form: `xlsx`, `tsv`, `csv`, `json`, `jsonl` or `samples` (of lm-eval).
        items: What to judge, in the file's order.
        indices: Their indices as the file has them: whole numbers where JSON does, else text.
        model: Who predicted, where the file or its folder says.
        defects: What is odd; kinds are those of `DEFECTS`.
    """

    path: Path
    form: str
    items: tuple[JudgeItem, ...]
    indices: tuple[str | int, ...]
    model: str | None
    defects: tuple[Defect, ...]


@dataclass(frozen=True, kw_only=True)
class Responses:
    """The responses of a file of predictions, without what a judge needs beside them.

    Attributes:
        responses: Index to what the model wrote, as `read_predictions` reads it, in the file's order.
        cut: Indices of responses that a spreadsheet cut, and that nobody kept whole.
        rows: Index to the row as it was saved.
        model: As in `Predictions`.
    """

    responses: Mapping[str, str]
    cut: frozenset[str]
    rows: Mapping[str, SavedRow]
    model: str | None


def read_predictions(
    path: Path,
    *,
    settings: Settings,
    images: bool = True,
    image_root: Path | None = None,
    picture_tables: Sequence[str] = (),
    table: Mapping[str, JudgeItem] | None = None,
    limit: int | None = None,
) -> Predictions:
    """Read a file of predictions.

    Args:
        path: VLMEvalKit's predictions (.xlsx, .tsv, .csv, .json), lm-eval's samples, or JSON lines with `index`,
            `question`, `answer`, `prediction`, `task_category` and, where there are, `image_type`, `image_style`,
            `image_path` and `model`.
        settings: The environment: the folders that pictures may lie in.
        images: Look for the pictures. Where False, no file is looked at, and items name what rows name.
        image_root: What relative picture paths start from, and a folder pictures may be taken from; the file's own
            folder where None.
        picture_tables: File names of benchmarks' tables, see `predictions_pictures`.
        table: The benchmark's rows by index, responses empty; where given, all but the predictions is theirs, as what
            was written to a spreadsheet need not be what is read from it.
        limit: Take this many rows from the start.

    Raises:
        DataError: The file or a row cannot be used: see `read_saved`; a field is missing or of a wrong type, an index
            comes twice, or a picture is missing or not to be taken.
        OtherTableError: An index is not in `table`, or more than half of the questions differ from it.
    """
    saved = read_saved(path)
    rows = saved.rows[:limit]
    finder = _finder(path, image_root, settings, picture_tables, images)
    kept = _kept_beside(path, saved.form)
    defects: list[Defect] = []
    items: dict[str, JudgeItem] = {}
    places: dict[str, str] = {}
    for row in rows:
        index = _index(row)
        if index in items:
            raise DataError(f"{row.where}, index: expected each row once, got {index!r:.80} again ({places[index]}).")
        response = _response(row, index, saved.form, kept, defects)
        if table is None:
            items[index] = _item(row, index, response, finder)
        else:
            items[index] = _joined(row, index, response, table, defects)
        places[index] = row.where
    if table is not None:
        _check_table(path, table, items, defects, whole=limit is None)
    finder.check()
    if images and any(item.image for item in items.values()):
        defects += [Defect("no-picture", item.index, "") for item in items.values() if item.image is None]
    return Predictions(
        path=path,
        form=saved.form,
        items=tuple(items.values()),
        indices=tuple(_index_as_saved(row) for row in rows),
        model=model_of(path, saved.form, rows),
        defects=tuple(defects),
    )


def saved_responses(path: Path) -> Responses:
    """Read the responses of a file that `read_predictions` can read, be there questions and pictures or not.

    Raises:
        DataError: As there.
    """
    saved = read_saved(path)
    kept = _kept_beside(path, saved.form)
    defects: list[Defect] = []
    responses: dict[str, str] = {}
    rows: dict[str, SavedRow] = {}
    for row in saved.rows:
        index = _index(row)
        if index in rows:
            raise DataError(f"{row.where}, index: expected each row once, got {index!r:.80} again.")
        responses[index] = _response(row, index, saved.form, kept, defects)
        rows[index] = row
    cut = frozenset(defect.row_id for defect in defects if defect.kind == "cut-cell")
    return Responses(responses=responses, cut=cut, rows=rows, model=model_of(path, saved.form, saved.rows))


def read_table(
    path: Path,
    *,
    settings: Settings,
    images: bool = True,
    image_root: Path | None = None,
    picture_tables: Sequence[str] = (),
) -> dict[str, JudgeItem]:
    """Read a benchmark's own table, to join predictions with.

    Args:
        path: .tsv, .csv, .xlsx, .json or .jsonl with the fields of `read_predictions`, the prediction aside.
        settings: As there; also the other arguments.
        images: As there.
        image_root: As there.
        picture_tables: As there.

    Returns:
        Items without responses by index, in the file's order.

    Raises:
        DataError: As there.
    """
    finder = _finder(path, image_root, settings, picture_tables, images)
    items: dict[str, JudgeItem] = {}
    for row in read_saved(path).rows:
        index = _index(row)
        if index in items:
            raise DataError(f"{row.where}, index: expected each row once, got {index!r:.80} again.")
        items[index] = _item(row, index, "", finder)
    finder.check()
    return items


def _finder(path: Path, root: Path | None, settings: Settings, tables: Sequence[str], images: bool) -> PictureFinder:
    trusted = (path.parent, *folders_of(settings))
    return PictureFinder(
        root=root or path.parent,
        copies=settings.cache_dir / FOLDER,
        trusted=trusted,
        tables=tables,
        look=images,
    )


def _item(row: SavedRow, index: str, response: str, finder: PictureFinder) -> JudgeItem:
    place = _text(row, "image_path", default="").strip()
    return JudgeItem(
        index=index,
        question=_text(row, "question"),
        answer=_text(row, "answer"),
        response=response,
        category=_text(row, "task_category").strip(),
        image=finder.find(row.where, place) if place else None,
        image_type=_text(row, "image_type", default="").strip(),
        image_style=_text(row, "image_style", default="").strip(),
    )


def _joined(
    row: SavedRow, index: str, response: str, table: Mapping[str, JudgeItem], defects: list[Defect]
) -> JudgeItem:
    """Take all but the prediction from the table."""
    there = table.get(index)
    if there is None:
        raise OtherTableError(
            f"{row.where}, index: expected a row of the benchmark's table, got {index!r:.80}, which it does not have. "
            "Is it the table of another data set or edition? Name the right one with --table."
        )
    own = _text(row, "question", default="")
    if own and _plain(own) != _plain(there.question):
        defects.append(Defect("other-question", index, own[:80]))
    return JudgeItem(
        index=index,
        question=there.question,
        answer=there.answer,
        response=response,
        category=there.category,
        image=there.image,
        image_type=there.image_type,
        image_style=there.image_style,
    )


def _check_table(
    path: Path, table: Mapping[str, JudgeItem], items: Mapping[str, JudgeItem], defects: list[Defect], *, whole: bool
) -> None:
    different = sum(defect.kind == "other-question" for defect in defects)
    if different > _DIFFERENT * len(items):
        raise OtherTableError(
            f"{path}, question: expected the questions of the benchmark's table, got other ones in {different} of "
            f"{len(items)} rows. Is it the table of another data set or edition? Name the right one with --table."
        )
    if whole:
        defects += [Defect("no-prediction", index, "") for index in table if index not in items]


def _index(row: SavedRow) -> str:
    return str(_index_as_saved(row))


def _index_as_saved(row: SavedRow) -> str | int:
    value = _field(row, "index")
    if isinstance(value, float) and value.is_integer():  # a column with gaps makes 7 into 7.0
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise DataError(f"{row.where}, index: expected a text or a whole number, got {value!r:.80}.")
    return value.strip() if isinstance(value, str) else value


def _response(row: SavedRow, index: str, form: str, kept: Mapping[str, str], defects: list[Defect]) -> str:
    """Return what the model wrote, empty where there is nothing; what was kept of it where a spreadsheet changed it."""
    if row.responses is not None:
        value = row.responses[0]
        if len(row.responses) > 1:
            defects.append(Defect("several-responses", index, str(len(row.responses))))
    else:
        value = _field(row, "prediction")
    whole = whole_response(_as_text(row, "prediction", value), kept.get(index), form=form)
    if whole.is_cut:
        defects.append(Defect("cut-cell", index, ""))
    return whole.text


def _kept_beside(path: Path, form: str) -> dict[str, str]:
    """Return the whole predictions that our data sets keep beside VLMEvalKit's tables, `NAME_responses.jsonl`."""
    beside = path.with_name(f"{path.stem}_responses.jsonl")
    if form not in TABLES or not beside.is_file():
        return {}
    return {_index(row): _as_text(row, "prediction", _field(row, "prediction")) for row in read_saved(beside).rows}


def _text(row: SavedRow, name: str, *, default: str | None = None) -> str:
    value = _field(row, name, default)
    text = _as_text(row, name, value)
    if default is None and not text.strip():
        raise DataError(f"{row.where}, {name}: expected a text, got {value!r}. Complete the row or remove it.")
    return text


def _field(row: SavedRow, name: str, default: Any = None) -> Any:
    for spelt in _NAMES[name]:
        if spelt in row.fields:
            return row.fields[spelt]
    if default is None:
        raise DataError(
            f"{row.where}, {name}: expected this field, got only {', '.join(map(str, row.fields))[:200] or 'none'}. "
            "Add it, or name the benchmark's own table with --table."
        )
    return default


def _as_text(row: SavedRow, name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise DataError(f"{row.where}, {name}: expected a text, got {value!r:.80}.")


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()

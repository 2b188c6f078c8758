"""The files of a VLMEvalKit run as handed in: nothing in them is evaluated, and nothing they name is opened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.judging.asked import asked_file
from fin_tasks.judging.kept_responses import whole_response
from fin_tasks.judging.predictions_files import SavedRow, read_saved, saved_text
from fin_tasks.judging.predictions_tables import read_delimited
from fin_tasks.judging.saved_questions import find_index
from fin_tasks.report.kit_files import KitRun, read_object
from fin_tasks.report.samples import lines_of, sample_of

__all__ = ["KitRow", "KitSubmitted", "read_kit"]

_ENDINGS = ("xlsx", "tsv", "csv", "json")
TABLES = ("overall", "category", "type", "style")


@dataclass(frozen=True, kw_only=True)
class KitRow:
    """A row of the predictions.

    Attributes:
        where: File and row, for messages.
        index: The data set's name of it; the cell's own where the data set has none such.
        response: What the model wrote, as the kit's data set reads it.
        cut: Whether a spreadsheet cut it, and nobody kept it whole.
        fields: Everything else of the row.
    """

    where: str
    index: str
    response: str
    cut: bool
    fields: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class KitSubmitted:
    """A run's files.

    Attributes:
        rows: The predictions, in order.
        items: What each row is said to have scored, in order, with its place in the file.
        asked: What the model is said to have been asked; None where no file says it.
        tables: Name to rows of the result tables that are there.
        unlike: Responses that were kept whole and are not what the table holds, a line each.
    """

    rows: tuple[KitRow, ...]
    items: tuple[tuple[str, Mapping[str, Any]], ...]
    asked: Mapping[str, Any] | None
    tables: Mapping[str, tuple[Mapping[str, str], ...]]
    unlike: tuple[str, ...]


def read_kit(run: KitRun, known: Mapping[str, str]) -> KitSubmitted:
    """Read a run's predictions and results.

    Args:
        run: The run.
        known: The data set's indices as the kit has them, each with the document's id.

    Raises:
        DataError: A file is missing, broken or too large, or a link leads out of the folder; the message names it.
    """
    stem = run.score.with_name(f"{run.model}_{run.dataset}")
    there = [path for ending in _ENDINGS if (path := stem.with_name(f"{stem.name}.{ending}")).is_file()]
    if not there:
        raise DataError(
            f"{stem.name}: expected the predictions beside {run.score.name} ({', '.join(_ENDINGS)}), found none."
        )
    if len(there) > 1:
        raise DataError(f"{stem.name}: expected one file of predictions, got {', '.join(one.name for one in there)}.")
    (predictions,) = there
    kept = _kept(_inside(run, stem.with_name(f"{stem.name}_responses.jsonl")), known)
    saved = read_saved(_inside_there(run, predictions))
    unlike: list[str] = []
    rows = tuple(_row(row, known, kept, unlike, form=saved.form) for row in saved.rows)
    asked = _inside(run, asked_file(predictions))
    if run.items is None:
        raise DataError(f"{run.score.name}: expected {_base(run)}items.jsonl beside it, found none.")
    return KitSubmitted(
        rows=rows,
        items=tuple(_items(run.items)),
        asked=read_object(asked) if asked else None,
        tables={name: tuple(row.cells for row in read_delimited(path, ",")) for name, path in _tables(run)},
        unlike=tuple(unlike),
    )


def _row(row: SavedRow, known: Mapping[str, str], kept: Mapping[str, str], unlike: list[str], *, form: str) -> KitRow:
    if missing := {"index", "prediction"} - row.fields.keys():
        raise DataError(f"{row.where}: expected a column {' and '.join(sorted(missing))}, found none.")
    index = find_index(row.fields["index"], known) or str(row.fields["index"])
    cell, there = saved_text(row.fields["prediction"]), kept.get(index)
    whole = whole_response(cell, there, form=form)  # as adapters.vlmeval_results reads it
    if kept and (there is None or whole.text != there):
        unlike.append(f"{row.where}: {index!r:.60} is {cell!r:.60} in the table, {there!r:.60} in the responses")
    others = {name: value for name, value in row.fields.items() if name != "prediction"}
    return KitRow(where=row.where, index=index, response=whole.text, cut=whole.is_cut, fields=others)


def _kept(path: Path | None, known: Mapping[str, str]) -> dict[str, str]:
    if path is None:
        return {}
    found: dict[str, str] = {}
    for number, line in lines_of(path):
        row = sample_of(f"{path}, line {number}", line)
        index, text = row.get("index"), row.get("prediction")
        if not isinstance(index, str) or not isinstance(text, str):
            raise DataError(f"{path}, line {number}: expected an index and a prediction, got {line[:60]!r}.")
        found[find_index(index, known) or index] = text
    return found


def _items(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in lines_of(path):
        where = f"line {number}"
        yield where, sample_of(f"{path}, {where}", line)


def _tables(run: KitRun) -> Iterator[tuple[str, Path]]:
    for name in TABLES:
        path = _inside(run, run.score.with_name(f"{_base(run)}{name}.csv"))
        if path is not None:
            yield name, path


def _base(run: KitRun) -> str:
    return run.score.name.removesuffix("score.json")


def _inside(run: KitRun, path: Path) -> Path | None:
    return _inside_there(run, path) if path.is_file() else None


def _inside_there(run: KitRun, path: Path) -> Path:
    if not path.resolve().is_relative_to(run.root.resolve()):
        raise DataError(f"{path.name}: a link out of {run.root.name or run.root}, which is not followed.")
    return path

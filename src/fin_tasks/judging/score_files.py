"""Reads files of scores: what people gave, and the items files of `fin-tasks judge`."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.annotators import Combined, combine
from fin_tasks.judging.predictions_files import SavedRow, read_saved

__all__ = ["JudgeScores", "Key", "PeopleScores", "Person", "read_judges", "read_people"]

Key = tuple[str, str]
"""Model (empty where the file names none) and index of the row."""

_ANNOTATOR = re.compile(r"(?:score|annotator|human|people|person|rater|expert|reviewer)s?[ _-]?\w*", re.IGNORECASE)
_LISTS = ("scores", "annotators", "human", "ratings")
_CATEGORY = ("category", "task_category")


@dataclass(frozen=True, kw_only=True)
class Person:
    """What people gave one response.

    Attributes:
        scores: In the annotators' order, None where one gave none.
        combined: What they come to.
        category: Of the row; empty where the file does not say.
        kind: How the row is graded, as in the rubric; empty where the file does not say.
    """

    scores: tuple[float | None, ...]
    combined: Combined
    category: str = ""
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class PeopleScores:
    """A file of people's scores.

    Attributes:
        annotators: Their columns.
        rows: By model and index, those with at least one score.
        empty: Rows without any.
    """

    annotators: tuple[str, ...]
    rows: Mapping[Key, Person]
    empty: int


@dataclass(frozen=True, kw_only=True)
class JudgeScores:
    """What one judge gave, from one file or several.

    Attributes:
        label: The judge's name, and whether it saw the pictures where the file says so; unique among the judges.
        judge: Its model.
        image: Whether it saw the pictures; None where the file does not say.
        rubric: Name and version of the rubric; empty where the file does not say.
        rows: By model and index: the score, None where unscored.
        categories: By model and index, where the file says.
        kinds: Likewise.
    """

    label: str
    judge: str
    image: bool | None
    rubric: str
    rows: Mapping[Key, float | None]
    categories: Mapping[Key, str]
    kinds: Mapping[Key, str]


def read_people(path: Path, *, annotators: Sequence[str] = ()) -> PeopleScores:
    """Read what people gave.

    Args:
        path: A table (.csv, .tsv, .xlsx) or JSON lines with `index`, a column per annotator (or a list `scores`), and
            maybe `model`, `task_category`, `kind`.
        annotators: Their columns; those named like `score_1`, `annotator_a`, `rater2` where empty.

    Raises:
        DataError: The file cannot be read, has no such columns, a score is no number, or a row comes twice.
    """
    saved = read_saved(path).rows
    columns = tuple(annotators) or _annotator_columns(path, saved)
    rows: dict[Key, Person] = {}
    empty = 0
    for row in saved:
        key = _key(row)
        scores = _scores(row, columns)
        given = [score for score in scores if score is not None]
        if not given:
            empty += 1
            continue
        if key in rows:
            raise DataError(f"{row.where}: expected each response once, got index {key[1]!r} again. Remove one.")
        category, kind = _first(row, _CATEGORY), _first(row, ("kind",))
        rows[key] = Person(scores=scores, combined=combine(given), category=category, kind=kind)
    if not rows:
        raise DataError(f"{path}: expected scores in {', '.join(columns)}, got none in {len(saved)} rows.")
    names = columns if columns[0] not in _LISTS or len(columns) > 1 else _numbered(columns[0], rows.values())
    return PeopleScores(annotators=names, rows=rows, empty=empty)


def read_judges(paths: Sequence[Path]) -> tuple[JudgeScores, ...]:
    """Read the items files of judges; files of one judge for several models are put together.

    Raises:
        DataError: A file cannot be read, has no field `score`, or a row twice.
        ConfigError: A file is named twice.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError(f"agreement: expected each file once, got {', '.join(map(str, paths))}. Remove the repeated.")
    found: list[JudgeScores] = []
    for path in paths:
        one = _read_judge(path)
        same = [other for other in found if _identity(other) == _identity(one) and not other.rows.keys() & one.rows]
        if same:
            found[found.index(same[0])] = _joined(same[0], one)
        else:
            found.append(one)
    return _labelled(found, paths)


def _read_judge(path: Path) -> JudgeScores:
    rows: dict[Key, float | None] = {}
    categories: dict[Key, str] = {}
    kinds: dict[Key, str] = {}
    saved = read_saved(path).rows
    facts: dict[str, set[Any]] = {"judge": set(), "image": set(), "rubric": set()}
    for row in saved:
        if "score" not in row.fields:
            raise DataError(
                f"{row.where}: expected an item of `fin-tasks judge --items` with a field score, got the fields "
                f"{', '.join(list(row.fields)[:8])}. Judge the predictions first."
            )
        key = _key(row)
        if key in rows:
            raise DataError(f"{row.where}: expected each item once, got index {key[1]!r} again. Remove one.")
        rows[key] = _number(row, "score", row.fields["score"])
        for name, table in (("category", categories), ("kind", kinds)):
            if value := _first(row, _CATEGORY if name == "category" else (name,)):
                table[key] = value
        for name, values in facts.items():
            values.add(row.fields.get(name))
    judge, image, rubric = (next(iter(values)) if len(values) == 1 else None for values in facts.values())
    return JudgeScores(
        label=path.stem,
        judge=str(judge or ""),
        image=image if isinstance(image, bool) else None,
        rubric=str(rubric or ""),
        rows=rows,
        categories=categories,
        kinds=kinds,
    )


def _identity(one: JudgeScores) -> tuple[Any, ...]:
    return (one.judge or one.label, one.image, one.rubric)


def _joined(one: JudgeScores, other: JudgeScores) -> JudgeScores:
    return replace(
        one,
        rows={**one.rows, **other.rows},
        categories={**one.categories, **other.categories},
        kinds={**one.kinds, **other.kinds},
    )


def _labelled(found: Sequence[JudgeScores], paths: Sequence[Path]) -> tuple[JudgeScores, ...]:
    """Name judges by model and picture, and by file where that does not tell them apart."""
    stems = [path.stem for path in paths]
    labels = [_label(one) for one in found]
    named = [
        f"{label} ({one.label if stems.count(one.label) == 1 else place + 1})" if labels.count(label) > 1 else label
        for place, (label, one) in enumerate(zip(labels, found, strict=True))
    ]
    return tuple(replace(one, label=label) for label, one in zip(named, found, strict=True))


def _label(one: JudgeScores) -> str:
    seen = {True: ", with picture", False: ", without picture", None: ""}[one.image]
    return f"{one.judge}{seen}" if one.judge else one.label


def _annotator_columns(path: Path, rows: Sequence[SavedRow]) -> tuple[str, ...]:
    names = dict.fromkeys(name for row in rows for name in row.fields)
    for name in _LISTS:
        if name in names and all(isinstance(row.fields.get(name), list) for row in rows):
            return (name,)
    columns = tuple(name for name in names if _ANNOTATOR.fullmatch(name))
    if not columns:
        raise DataError(
            f"{path}: expected a column per annotator named like score_1, annotator_a or rater1, got "
            f"{', '.join(names)}. Name them with --annotators."
        )
    return columns


def _scores(row: SavedRow, columns: Sequence[str]) -> tuple[float | None, ...]:
    if missing := [name for name in columns if name not in row.fields and len(columns) == 1]:
        raise DataError(f"{row.where}: expected the column {missing[0]}, got {', '.join(row.fields)}.")
    values = [row.fields.get(name) for name in columns]
    if len(columns) == 1 and isinstance(values[0], list):
        values = values[0]
    return tuple(_number(row, columns[min(at, len(columns) - 1)], value) for at, value in enumerate(values))


def _numbered(name: str, rows: Iterable[Person]) -> tuple[str, ...]:
    return tuple(f"{name}[{at}]" for at in range(max(len(row.scores) for row in rows)))


def _number(row: SavedRow, name: str, value: Any) -> float | None:
    if value is None or (isinstance(value, str) and value.strip() in ("", "NA", "N/A", "null")):
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{row.where}, {name}: expected a score, or nothing, got {str(value)[:60]!r}.")
    return number


def _key(row: SavedRow) -> Key:
    index = row.fields.get("index")
    if index is None or not str(index).strip():
        raise DataError(f"{row.where}: expected an index, got {index!r}. The files are joined by it.")
    return str(row.fields.get("model") or ""), str(index).strip()


def _first(row: SavedRow, names: Sequence[str]) -> str:
    return next((str(row.fields[name]) for name in names if row.fields.get(name)), "")

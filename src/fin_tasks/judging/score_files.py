"""Reads files of scores: what people gave, and the items files of `fin-tasks judge`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.annotators import Combined, combine
from fin_tasks.judging.predictions_files import SavedRow, read_saved

__all__ = ["PEOPLE", "JudgeScores", "Key", "PeopleScores", "Person", "read_judges", "read_people"]

Key = tuple[str, str]
"""Model (empty where the file names none) and index of the row."""

PEOPLE = "people"
"""What people are called beside judges."""

_STEMS = "score|annotator|annotation|human|people|person|rater|rating|expert|reviewer|grader"
_ANNOTATOR = re.compile(
    rf"(?P<stem>(?:{_STEMS})(?:[ _-]?(?:score|{_STEMS}))?)[ _-]?(?P<which>\d+|[a-z])", re.IGNORECASE
)
_ALONE = re.compile(rf"(?:{_STEMS})(?:[ _-]?score)?", re.IGNORECASE)
_NAMES = ("annotator", "rater", "expert", "reviewer", "grader")
"""Columns that say who gave the score of a row, where each annotator has a row of its own."""
_OF_ROWS = frozenset(
    (
        *(
            "",
            "unnamed:_0",
            "index",
            "id",
            "doc_id",
            "question_id",
            "number",
            "model",
            "source",
            "split",
            "row",
            "page",
        ),
        *(
            "category",
            "task_category",
            "kind",
            "type",
            "image_type",
            "image_style",
            "image",
            "image_path",
            "image_name",
        ),
        *("question", "answer", "prediction", "response", "comment", "comments", "note", "notes", "language", "lang"),
        *("difficulty", "confidence", "level", "rank", "turn", "seed", "window", "year", "date", "score", "time"),
        *("mean", "average", "avg", "median", "mode", "std", "variance", "final", "consensus", "sum", "total"),
    )
)
"""Columns that tell of the row, or sum annotators up: whatever else there is may be an annotator's."""
_SEPARATORS = re.compile(r"[\s_-]+")
_LISTS = ("scores", "annotators", "human", "ratings")
_OF_JUDGES = ("judge", "raw", "tries")
"""Fields of a judge's items, which is no file of people's scores."""
_INDEX = ("index", "Index", "id")
_WHOLE = re.compile(r"\d+\.0")
_CATEGORY = ("category", "task_category")
_MISSING = ("", "na", "n/a", "nan", "none", "null", "-", "–", "—")
_PEOPLE = (
    "people's scores: a table (.csv, .tsv, .xlsx) or JSON lines with index and a column per annotator such as score_1"
)
_ITEMS = "a judge's items as `fin-tasks judge --items` writes them: JSON lines with index and score"


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
        assumed: Whether the columns are taken for annotators' by what stands in them, as no name says so.
    """

    annotators: tuple[str, ...]
    rows: Mapping[Key, Person]
    empty: int
    assumed: bool = False


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


_Given = list[tuple[SavedRow, tuple[float | None, ...]]]
"""Rows with their annotators' scores."""


def read_people(
    path: Path, *, annotators: Sequence[str] = (), scale: tuple[float, float] | None = None
) -> PeopleScores:
    """Read what people gave.

    Args:
        path: A table (.csv, .tsv, .xlsx) or JSON lines with `index`, a column per annotator (or a list `scores`, or a
            row per annotator with `annotator` and `score`), and maybe `model`, `task_category`, `kind`.
        annotators: Their columns; those named like `score_1`, `annotator_a`, `rater2` where empty.
        scale: Lowest and highest score. Where no column is named so, two or more that hold nothing but scores on it are
            taken, if what other columns there are is known to be no annotator's; none where None.

    Raises:
        DataError: The file cannot be read, has no such columns, a score is no number, or a row comes twice.
    """
    saved = read_saved(path, expected=_PEOPLE).rows
    names = tuple(dict.fromkeys(name for row in saved for name in row.fields))
    assumed = False
    if not annotators and _of_one_each(names):
        columns, given = _pivoted(saved, names)
    else:
        columns = tuple(annotators) or _annotator_columns(saved, names)
        if not columns and scale is not None:
            columns = _scored_columns(saved, names, scale)
            assumed = bool(columns)
        if not columns:
            raise DataError(
                f"{path}: expected a column per annotator, named like score_1, annotator_a or rater1, got "
                f"{', '.join(names)}. Name the annotators' columns with --annotators."
            )
        if missing := [name for name in columns if name not in names]:
            raise DataError(f"{path}: expected the columns {', '.join(columns)}, got none called {', '.join(missing)}.")
        columns, given = _beside_each_other(saved, columns)
    rows: dict[Key, Person] = {}
    empty = 0
    for row, scores in given:
        key = _key(row)
        there = [score for score in scores if score is not None]
        if not there:
            empty += 1
            continue
        if key in rows:
            raise DataError(f"{row.where}: expected each response once, got index {key[1]!r} again. Remove one.")
        category, kind = _first(row, _CATEGORY), _first(row, ("kind",))
        rows[key] = Person(scores=scores, combined=combine(there), category=category, kind=kind)
    if not rows:
        raise DataError(f"{path}: expected scores in {', '.join(columns)}, got none in {len(saved)} rows.")
    return PeopleScores(annotators=columns, rows=rows, empty=empty, assumed=assumed)


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
    saved = read_saved(path, expected=_ITEMS).rows
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
    labels = [f"{label} (judge)" if label == PEOPLE else label for label in labels]
    named = [
        f"{label} ({one.label if stems.count(one.label) == 1 else place + 1})" if labels.count(label) > 1 else label
        for place, (label, one) in enumerate(zip(labels, found, strict=True))
    ]
    return tuple(replace(one, label=label) for label, one in zip(named, found, strict=True))


def _label(one: JudgeScores) -> str:
    seen = {True: ", with picture", False: ", without picture", None: ""}[one.image]
    return f"{one.judge}{seen}" if one.judge else one.label


def _of_one_each(names: Sequence[str]) -> bool:
    """Whether each row is one annotator's."""
    return "score" in names and any(name in names for name in _NAMES) and not set(_OF_JUDGES) & set(names)


def _pivoted(saved: Sequence[SavedRow], names: Sequence[str]) -> tuple[tuple[str, ...], _Given]:
    """Put the rows of several annotators on one response together."""
    who = next(name for name in _NAMES if name in names)
    annotators = tuple(dict.fromkeys(str(row.fields.get(who) or "") for row in saved))
    if "" in annotators:
        where = next(row.where for row in saved if not row.fields.get(who))
        raise DataError(f"{where}, {who}: expected who gave the score, got nothing.")
    first: dict[Key, SavedRow] = {}
    scores: dict[Key, dict[str, float | None]] = {}
    for row in saved:
        key, name = _key(row), str(row.fields[who])
        first.setdefault(key, row)
        of_key = scores.setdefault(key, {})
        if name in of_key:
            raise DataError(f"{row.where}: expected one score of {name} for index {key[1]!r}, got another. Remove one.")
        of_key[name] = _number(row, "score", row.fields.get("score"))
    return annotators, [(row, tuple(scores[key].get(name) for name in annotators)) for key, row in first.items()]


def _beside_each_other(saved: Sequence[SavedRow], columns: Sequence[str]) -> tuple[tuple[str, ...], _Given]:
    """Take the scores of a row's own columns, or of its list."""
    given: _Given = []
    for row in saved:
        values = [row.fields.get(name) for name in columns]
        if len(columns) == 1 and isinstance(values[0], list):
            values = values[0]
        given.append((row, tuple(_number(row, columns[min(at, len(columns) - 1)], v) for at, v in enumerate(values))))
    most = max((len(scores) for _, scores in given), default=0)
    if len(columns) == 1 and most > 1:
        return tuple(f"{columns[0]}[{at}]" for at in range(most)), given
    return tuple(columns), given


def _annotator_columns(rows: Sequence[SavedRow], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose names say that they are annotators'; none where that is not clear."""
    for name in _LISTS:
        if name in names and all(isinstance(row.fields.get(name), list) for row in rows):
            return (name,)
    by_stem: dict[str, list[str]] = {}
    for name in names:
        if match := _ANNOTATOR.fullmatch(name):
            by_stem.setdefault(match["stem"].casefold(), []).append(name)
    if len(by_stem) == 1:
        return tuple(*by_stem.values())
    alone = [name for name in names if _ALONE.fullmatch(name)]
    if not by_stem and len(alone) == 1 and not set(_OF_JUDGES) & set(names):
        return (alone[0],)
    return ()


def _scored_columns(rows: Sequence[SavedRow], names: Sequence[str], scale: tuple[float, float]) -> tuple[str, ...]:
    """Return the columns that are nobody else's, where there are two or more, all of scores; none otherwise."""
    left = [
        name
        for name in names
        if _SEPARATORS.sub("_", name.strip().casefold()) not in _OF_ROWS and not _is_text(rows, name)
    ]
    if any(_ANNOTATOR.fullmatch(name) for name in names) or set(_OF_JUDGES) & set(names):
        return ()
    return tuple(left) if len(left) > 1 and all(_is_scored(rows, name, scale) for name in left) else ()


def _is_text(rows: Sequence[SavedRow], name: str) -> bool:
    """Whether most of what a column holds is no number, so that nobody scored in it."""
    numbers = texts = 0
    for row in rows:
        try:
            numbers += _number(row, name, row.fields.get(name)) is not None
        except DataError:
            texts += 1
    return texts > numbers


def _is_scored(rows: Sequence[SavedRow], name: str, scale: tuple[float, float]) -> bool:
    try:
        given = [_number(row, name, row.fields.get(name)) for row in rows]
    except DataError:
        return False
    scores = [score for score in given if score is not None]
    return bool(scores) and all(scale[0] <= score <= scale[1] for score in scores)


def _number(row: SavedRow, name: str, value: Any) -> float | None:
    if value is None or value != value or (isinstance(value, str) and value.strip().casefold() in _MISSING):
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{row.where}, {name}: expected a score, or nothing, got {str(value)[:60]!r}.")
    return number


def _key(row: SavedRow) -> Key:
    """Name a response; a whole number that pandas wrote as a fraction is the number."""
    index = next((row.fields[name] for name in _INDEX if row.fields.get(name) is not None), None)
    text = "" if index is None else str(index).strip()
    if not text:
        raise DataError(f"{row.where}: expected an index, got {index!r}. The files are joined by it.")
    return str(row.fields.get("model") or ""), re.sub(r"(?<=\d)\.0", "", text) if _WHOLE.fullmatch(text) else text


def _first(row: SavedRow, names: Sequence[str]) -> str:
    return next((str(row.fields[name]) for name in names if row.fields.get(name)), "")

"""Find the document that each row of a file answers, and say what in the file does not fit."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from fin_tasks.benchmarks.contract import Benchmark, Document, id_of
from fin_tasks.benchmarks.task_file import Mapped, TaskFile, task_names
from fin_tasks.errors import FinTasksError

from .files import SavedRow, Texts

_ROUNDING = (
    2e-3  # two truths that differ relatively by less are one number that was rounded
)
_LONG = 30  # characters; a shorter text is not looked for inside prompts
_MAX_SEARCHES = 4_000_000  # pairs of a text and a prompt; more would take too long
_SHOWN = 3  # examples in a message


class Matched(NamedTuple):
    """The responses to each document that has some, and the rows of no document."""

    texts_by_id: dict[str, Texts]
    rows_by_id: dict[str, list[SavedRow]]
    others: list[SavedRow]


def match_rows(rows: Sequence[SavedRow], docs: Sequence[Document]) -> Matched:
    """Find the document of each row by its id, or by the text of the question where no id fits."""
    known_ids = set(map(id_of, docs))
    has_known_id = any(row.id in known_ids for row in rows)
    ids_by_question: Mapping[str, str] = {}
    if not has_known_id or not all(row.id for row in rows):
        texts = [row.question for row in rows if not (row.id and has_known_id)]
        ids_by_question = _ids_by_question(texts, docs)
    matched = Matched({}, {}, [])
    for row in rows:
        name = row.id
        if name not in known_ids and not (name and has_known_id):
            name = ids_by_question.get(_simple(row.question), "")
        if name not in known_ids:
            matched.others.append(row)
            continue
        matched.rows_by_id.setdefault(name, []).append(row)
        matched.texts_by_id.setdefault(name, []).extend(row.texts)
    return matched


def _ids_by_question(texts: Sequence[str], docs: Sequence[Document]) -> dict[str, str]:
    """Return the ids of documents by the texts that are their question or prompt, or a long part of these.

    A text that several documents have stands for none.
    """
    ids: dict[str, str] = {}
    for doc in docs:
        for text in {_simple(text) for text in _questions_of(doc)}:
            ids[text] = "" if text in ids else id_of(doc)
    if len(texts) * len(docs) > _MAX_SEARCHES:
        return ids
    whole = dict(ids)
    for text in {_simple(text) for text in texts}:
        if text not in ids and len(text) >= _LONG:
            found = {name for prompt, name in whole.items() if text in prompt}
            ids[text] = found.pop() if len(found) == 1 else ""
    return ids


def _questions_of(doc: Document) -> list[str]:
    texts = [doc.get("question"), doc.get("prompt")]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _simple(text: str) -> str:
    return " ".join(text.split()).casefold()


# --- What is said of a file ---


def check_rows(
    matched: Matched, docs: Sequence[Document], benchmark: Benchmark, where: str
) -> Iterator[str]:
    """Yield a sentence each about repeated rows, missing rows and responses, other questions, and other truths."""
    yield from _repeated(matched, where)
    n_missing = len(docs) - len(matched.rows_by_id)
    if n_missing:
        yield (
            f"{where}: {n_missing:,} of {len(docs):,} questions have no row and are in no figure."
        )
    responses = list(chain.from_iterable(matched.texts_by_id.values()))
    n_failed = responses.count(None)
    if n_failed:
        yield (
            f"{where}: {n_failed:,} of {len(responses):,} responses are missing, which `paper` counts as wrong and "
            "`robust` leaves unscored."
        )
    yield from _differing(matched, docs, benchmark, where)


def _differing(
    matched: Matched, docs: Sequence[Document], benchmark: Benchmark, where: str
) -> Iterator[str]:
    """Yield a sentence about questions and one about truths that the file has in another form."""
    reworded = []
    truths = []
    for doc in docs:
        rows = matched.rows_by_id.get(id_of(doc))
        if not rows:
            continue
        row = rows[0]
        if not asks(row, doc):
            reworded.append(id_of(doc))
        theirs = benchmark.truth_of(row.fields) if row.is_sample else row.truth
        names = benchmark.truth_fields
        forms = [doc[name] for name in names if doc.get(name) not in (None, "")]
        if forms and not any(_is_same(form, theirs) for form in forms):
            ours = benchmark.truth_of(doc)
            truths.append(f"{id_of(doc)} ({theirs!s:.40}, ours is {ours!s:.40})")
    if reworded:
        yield (
            f"{where}: {len(reworded):,} of {len(matched.rows_by_id):,} questions have another text in the file than "
            f"here, such as {', '.join(reworded[:_SHOWN])}; the responses count as answers to ours."
        )
    if truths:
        yield (
            f"{where}: {len(truths):,} of {len(matched.rows_by_id):,} truths in the file are not ours, such as "
            f"{', '.join(truths[:_SHOWN])}; ours count."
        )


def _repeated(matched: Matched, where: str) -> Iterator[str]:
    n_rows = Counter({name: len(rows) for name, rows in matched.rows_by_id.items()})
    sizes = set(n_rows.values())
    if sizes <= {1}:
        return
    if len(sizes) == 1:
        (size,) = sizes
        yield f"{where}: each question has {size} rows, which count as {size} responses."
        return
    repeated = {name: size for name, size in n_rows.items() if size > 1}
    examples = [f"{name} ({size} rows)" for name, size in repeated.items()]
    n_copies = 0
    for name in repeated:
        texts = [row.texts for row in matched.rows_by_id[name]]
        n_copies += texts.count(texts[0]) == len(texts)
    copies = (
        f", {n_copies:,} of them with the same text in each row" if n_copies else ""
    )
    yield (
        f"{where}: {len(repeated):,} of {len(n_rows):,} questions have several rows{copies}, such as "
        f"{', '.join(examples[:_SHOWN])}; these count as several responses to one question."
    )


def asks(row: SavedRow, doc: Document) -> bool:
    """Return whether a row has the question of a document, as far as it has one."""
    theirs = _simple(row.question)
    ours = [_simple(text) for text in _questions_of(doc)]
    if not theirs or not ours:
        return True
    return any(theirs in text or text in theirs for text in ours)


def _is_same(ours: object, theirs: object) -> bool:
    """Return whether two truths are one, in any form; no truth is no other truth."""
    if theirs in (None, "", []):
        return True
    if isinstance(theirs, list):
        theirs = theirs[0]
    numbers = _number(ours), _number(theirs)
    if any(map(math.isnan, numbers)):
        return _simple(str(ours)) == _simple(str(theirs))
    return math.isclose(*numbers, rel_tol=_ROUNDING)


def _number(truth: object) -> float:
    """Return a truth as a number, 1 and 0 for true and false; NaN if it is something else."""
    text = str(truth).strip().casefold()
    if text in ("true", "false"):
        return float(text == "true")
    is_percent = text.endswith("%")
    try:
        number = float(re.sub(r"[,$%\s]", "", text))
    except ValueError:
        return math.nan
    return number / 100 if is_percent else number


def others_text(
    others: Sequence[SavedRow], n_rows: int, task: TaskFile, metadata: Mapped
) -> str:
    """Say which rows belong to other tasks of the benchmark, and which to none."""
    ids = [row.id or row.question for row in others]
    counts = _counts_by_task(others, task, metadata)
    parts = [f"{n:,} of {name}" for name, n in counts.items()]
    n_unknown = len(ids) - sum(counts.values())
    if n_unknown:
        parts.append(f"{n_unknown:,} of no question that is known here")
    return (
        f"{len(ids):,} of {n_rows:,} rows are not of {task.name} and are left out, such as {ids[0]!r:.80}: "
        f"{', '.join(parts)}."
    )


def _counts_by_task(
    others: Sequence[SavedRow], task: TaskFile, metadata: Mapped
) -> dict[str, int]:
    """Return how many rows the benchmark's other tasks of this mode have; a row counts once."""
    counts: dict[str, int] = {}
    left = list(others)
    for name in task_names():
        file = TaskFile(name)
        is_like = file.options.get("mode") == task.options.get("mode")
        if file.benchmark is not task.benchmark or not (left and is_like):
            continue
        with suppress(FinTasksError):  # files that are not here, other options
            docs, _ = file.load(metadata)
            rest = match_rows(left, docs).others
            if len(rest) < len(left):
                counts[name] = len(left) - len(rest)
                left = rest
    return counts

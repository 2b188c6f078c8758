"""Variants of a user's own questions, of which some have a program that computes the answer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.answers.numbers import Number
from fin_tasks.errors import DataError
from fin_tasks.variants.build import Source
from fin_tasks.variants.folder import read_variants

from .contract import Benchmark, Document, id_of
from .task_file import TaskFile, pictures_of, task_names


def own_sources(benchmark: Benchmark) -> tuple[list[Source], dict[str, str]]:
    """Return the questions of a benchmark's tasks that have a `program`, and the revisions of their files.

    Only numbers are computed. A question with a picture is left out, as the picture shows the numbers too.

    Raises:
        DataError: There is no such question.
    """
    sources: dict[str, Source] = {}
    revisions = {}
    for name in task_names():
        file = TaskFile(name)
        if file.benchmark.name != benchmark.name:
            continue
        docs, provenance = file.load({})
        revisions[name] = str(provenance["data"]["revision"])
        for doc in docs:
            if doc.get("program") and not pictures_of(doc):
                sources[id_of(doc)] = _source_of(doc, file.scorer)
    if not sources:
        raise DataError(
            f"{benchmark.name}: expected questions with a number as answer and a field `program`, found none."
        )
    return list(sources.values()), revisions


def _source_of(doc: Document, scorer: Any) -> Source:
    answer = scorer.read(doc, doc["target"], scoring="robust").answer
    truth = answer.values[0] if isinstance(answer, Number) else answer
    is_number = isinstance(truth, int | float) and not isinstance(truth, bool)
    if not is_number or doc.get("kind", "number") != "number":
        raise DataError(
            f"{id_of(doc)}: expected a number as answer beside its program, got {doc['target']!r:.80}."
        )
    return Source(
        id=id_of(doc),
        question=doc["question"],
        texts=(),
        texts_column="tables",
        program=doc["program"],
        truth=float(truth),
    )


def changed_questions(
    questions: Sequence[Mapping[str, Any]], folder: str | Path, benchmark: str
) -> list[dict[str, Any]]:
    """Return the variants of questions in a folder of `fin-tasks build variants`, each with what its question has.

    `question`, `answer` and `program` are those of the variant.

    Raises:
        DataError: The folder holds no variants of these questions.
    """
    records, _ = read_variants(Path(folder), benchmark)
    questions_by_id = {id_of(question): question for question in questions}
    changed = []
    for record in records:
        question = questions_by_id.get(record["source"])
        if question is None:
            raise DataError(
                f"{folder}: expected variants of these questions, got one of {record['source']!r:.80}."
            )
        changed.append(
            {
                **question,
                "id": record["id"],
                "question": record["question"],
                "program": record["program"],
                "answer": f"{record['truth']:.12g}",
                "published_id": record["source"],
                "published_truth": record["published_truth"],
            }
        )
    return changed

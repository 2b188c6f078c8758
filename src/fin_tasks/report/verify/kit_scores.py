"""Whether the scores of a VLMEvalKit run are what our scorers make of its predictions, row by row and in total."""

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from fin_tasks.benchmarks import response_scores
from fin_tasks.benchmarks.mme_finance.prompts import rubric_of
from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.old_item import JudgeItem, Verdict
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.score_tables import score_tables
from fin_tasks.judging.scores import summary
from fin_tasks.report.verify.claimed_verdict import claimed_verdict
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.graded import Graded
from fin_tasks.report.verify.kit_submitted import KitRow
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["KitScores", "score_judged", "score_read", "was_cut_later", "wrong_tables", "wrong_totals"]

_TOLD = ("error", "tries", "reason")
"""Fields of items that are words for people; what they say, others say as numbers."""


_OF_RUNS = {"dataset", "task_version", "provenance", "vlmeval_version", "requests", "cached"}
"""Fields of score files that say how a run was made."""
_OF_JUDGES = {"temperatures", "max_tokens"}
"""Likewise, of `judging`."""


@dataclass(kw_only=True)
class KitScores:
    """What our scorers make of a run.

    Attributes:
        totals: What the score file has to hold.
        tables: Result table to its rows.
        right: What each row scored on the headline metric.
        wrong: Rows whose items say something else, a line each.
        verdicts: Verdicts that do not agree with themselves, a line each.
        graded: Responses with what is said of which one was judged.
        judged: What a judge was given, by index, with the verdict taken.
        failed: Rows to which the judge gave no score.
        silent: Rows to which the model gave no response.
    """

    totals: Mapping[str, Any]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    right: Sequence[float | None]
    wrong: Sequence[str]
    verdicts: Sequence[str] = ()
    graded: Sequence[Graded] = ()
    judged: Mapping[str, tuple[JudgeItem, Verdict]] = field(default_factory=dict)
    failed: Sequence[str] = ()
    silent: Sequence[str] = ()


def score_read(
    task: TaskFile,
    docs: Sequence[Mapping[str, Any]],
    rows: Sequence[KitRow],
    items: Mapping[str, tuple[str, Mapping[str, Any]]],
    counted: Mapping[str, int],
) -> KitScores:
    """Score a data set whose responses are read and compared.

    Args:
        task: The lm-eval task with the same scores.
        docs: Our document of each row.
        rows: The predictions.
        items: The claims by document id, each with its place in the file.
        counted: `rows_expected` and `missing`, as our data have it.
    """
    make = response_scores.xfinbench if task.name.startswith("xfinbench") else response_scores.dynostock
    texts = [row.response for row in rows]
    responses = [None if text.strip() and response_failure(text) else text for text in texts]
    totals, ours = response_scores.score(docs, responses, make(**task.options))
    wrong: list[str] = []
    for row, doc, mine in zip(rows, docs, ours, strict=True):
        expected = {**mine, "response_cut": row.cut, "index": doc["id"]}
        wrong += _differences(items, str(doc["id"]), json.loads(json.dumps(expected, default=str)))
    counts = {"n": len(docs), **counted}
    found = {f"{name}_{variant}": value for name, of in totals.items() for variant, value in of.items()}
    return KitScores(
        totals={**found, **counts, "responses_cut": sum(row.cut for row in rows)},
        tables={"overall": [{"metric": name, **of, **counts} for name, of in totals.items()]},
        right=[one["robust"]["metrics"].get("acc") for one in ours],
        wrong=wrong,
        silent=[row.index for row, response in zip(rows, responses, strict=True) if response is None],
    )


def score_judged(
    task: TaskFile,
    docs: Sequence[Mapping[str, Any]],
    rows: Sequence[KitRow],
    items: Mapping[str, tuple[str, Mapping[str, Any]]],
    counted: Mapping[str, int],
    said: Mapping[str, Any],
    *,
    of_kit: bool = True,
) -> KitScores:
    """Read a judge's replies again, and sum up what they say.

    Args:
        task: As for `score_read`; also the other arguments.
        docs: As there.
        rows: As there.
        items: As there.
        counted: As there.
        said: The score file: who judged, and how.
        of_kit: Whether the kit's data sets wrote the items, which have more fields than those of `fin-tasks judge`.
    """
    rubric = load_rubric(rubric_of(task.options["language"]))
    named = said.get("judge")
    judge, image = named if isinstance(named, str) else "", bool(said.get("image", True))
    fields = ("index", "question", "answer", "category", "image_type", "image_style")
    given = [
        JudgeItem(**{name: doc[name] for name in fields}, response=row.response, image=Path(doc["image_path"]))
        for doc, row in zip(docs, rows, strict=True)
    ]
    taken: list[Verdict] = []
    wrong: list[str] = []
    verdicts: list[str] = []
    graded: list[Graded] = []
    judged: dict[str, tuple[JudgeItem, Verdict]] = {}
    cuts = [row.cut and not was_cut_later(row, items, doc) for row, doc in zip(rows, docs, strict=True)]
    for item, row, doc, cut in zip(given, rows, docs, cuts, strict=True):
        where, claims = items.get(str(doc["id"]), ("", {}))
        verdict, contradiction = claimed_verdict(row.response, claims, rubric, judge=judge)
        if contradiction:
            verdicts.append(f"{where}: {item.index!r:.60}: {contradiction}")
        if where:
            graded.append(Graded.of(f"{where}: {item.index!r:.60}", row.response, claims, is_cut=row.cut))
        taken.append(verdict)
        if verdict.score is not None:
            judged[item.index] = item, verdict
        expected = {
            **{"index": item.index, "score": verdict.score, "failed": verdict.failed, "category": item.category},
            **{"image_type": item.image_type, "image_style": item.image_style, "judge": judge},
        }
        if of_kit:
            expected |= {"image": image, "response_cut": cut, "source": PurePosixPath(doc["image_path"]).name}
        wrong += _differences(items, str(doc["id"]), expected)
    found = summary(given, taken, rubric=rubric)
    run: dict[str, str | bool] = {"judge": judge, "rubric": rubric.label, "image": image}
    # the report goes by the scale that is stated
    judging = {"judging": {"scale": [rubric.lowest, rubric.highest]}} if "judging" in said else {}
    return KitScores(
        totals={
            **{**found, **run, "rubric_sha256": rubric.sha256, "responses_cut": sum(cuts)},
            **judging,
            **counted,
        },
        tables=score_tables(found, counted, **run),
        right=[None if one.score is None else float(one.score) for one in taken],
        wrong=wrong,
        verdicts=verdicts,
        graded=graded,
        judged=judged,
        failed=[
            item.index
            for item, verdict in zip(given, taken, strict=True)
            if verdict.score is None and verdict.failed != "response"
        ],
        silent=[item.index for item, verdict in zip(given, taken, strict=True) if verdict.failed == "response"],
    )


def was_cut_later(row: KitRow, items: Mapping[str, tuple[str, Mapping[str, Any]]], doc: Mapping[str, Any]) -> bool:
    """Tell whether a response that is cut here was whole when it was scored, as the items say."""
    return row.cut and items.get(str(doc["id"]), ("", {}))[1].get("response_cut") is False


def wrong_totals(ours: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    """Name the totals of a score file that are not ours, and what is neither a total nor says how the run was made."""
    yield from _wrong(ours, said, _OF_RUNS)
    for name, right in ours.items():
        if isinstance(right, Mapping):
            inner = said.get(name)
            found = _wrong(right, inner if isinstance(inner, dict) else {}, _OF_JUDGES if name == "judging" else set())
            yield from (f"{name}.{line}" for line in found)


def _wrong(ours: Mapping[str, Any], said: Mapping[str, Any], known: Set[str]) -> Iterator[str]:
    for name, right in ours.items():
        if not isinstance(right, Mapping) and not same(right, said.get(name)):
            yield f"{name}: is {right!r:.40}, claimed {said.get(name)!r:.40}"
    yield from (f"{name!r:.60}: nothing of the data set" for name in sorted(said.keys() - ours.keys() - known))


def wrong_tables(
    ours: Mapping[str, Sequence[Mapping[str, Any]]], said: Mapping[str, Sequence[Mapping[str, str]]]
) -> Iterator[str]:
    """Name the cells of result tables that are not ours; a table that is not there claims nothing."""
    for name, rows in said.items():
        right = ours.get(name, ())
        if len(rows) != len(right):
            yield f"{name}.csv: expected {len(right)} rows, got {len(rows)}"
            continue
        for number, (row, mine) in enumerate(zip(rows, right, strict=True), start=1):
            for column in mine.keys() | row.keys():
                if not _same_cell(mine.get(column), row.get(column)):
                    yield (
                        f"{name}.csv, row {number}, {column!r:.40}: is {mine.get(column)!r:.40}, "
                        f"claimed {row.get(column)!r:.40}"
                    )


def _same_cell(value: Any, cell: str | None) -> bool:
    if cell is None:
        return False
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ("" if value is None else str(value)) == cell
    try:
        return same(float(value), float(cell))
    except ValueError:
        return False


def _differences(
    items: Mapping[str, tuple[str, Mapping[str, Any]]], name: str, expected: Mapping[str, Any]
) -> Iterator[str]:
    """Compare a row's item with what it has to say; one line, as more of the same row says no more."""
    if name not in items:
        return  # told where rows are counted
    where, item = items[name]
    for key, value in expected.items():
        claimed = item.get(key)
        if isinstance(value, Mapping):
            value = {inner: of for inner, of in value.items() if inner not in _TOLD}
            told = claimed if isinstance(claimed, dict) else {}
            claimed = {inner: of for inner, of in told.items() if inner not in _TOLD}
            for inner in sorted(value.keys() | claimed.keys()):
                mine, theirs = value.get(inner), claimed.get(inner)
                if not same(mine, theirs):
                    yield f"{where}: {name!r:.60}: {key}.{inner:.40} is {mine!r:.60}, claimed {theirs!r:.60}"
                    return
        elif not same(value, claimed):
            yield f"{where}: {name!r:.60}: {key} is {value!r:.60}, claimed {claimed!r:.60}"
            return

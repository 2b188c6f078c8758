"""Scores every row of a samples file again, and compares what comes out with what is claimed."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from fin_tasks.report.verify.against import Verifying
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked
from fin_tasks.report.verify.group_checks import Totals
from fin_tasks.report.verify.judged import ClaimedReplies, judge_of
from fin_tasks.report.verify.own_data import OwnData
from fin_tasks.report.verify.patterns import check_patterns
from fin_tasks.report.verify.score_checks import Compared, Rescored, check_scores, claims_of, compare_row, status_of
from fin_tasks.report.verify.scoring import Asked, Programs, score
from fin_tasks.report.verify.submitted import Submitted, SubmittedRow
from fin_tasks.report.verify.task_files import TaskFile
from fin_tasks.report.verify.total_checks import totals

__all__ = ["rescored"]


def rescored(
    work: Verifying, place: Place, task: TaskFile, submitted: Submitted, own: OwnData, metadata: Mapping[str, Any]
) -> Generator[Finding, None, Totals]:
    """Score every row again; returns the totals by variant."""
    rows = _joined(submitted, own)
    asked = [
        Asked(
            doc=own.docs[name],
            responses=next(iter(of_row.values())).responses,
            claimed={variant: row.scored for variant, row in of_row.items()},
        )
        for name, of_row in rows.items()
    ]
    read = ClaimedReplies(judge=judge_of(metadata))
    scored = score(task, asked, programs=work.programs, read=read)
    compared: dict[str, list[Compared]] = {}
    volatile: dict[str, set[int]] = {}
    tier = _object(metadata.get("sandbox")).get("tier")
    for variant, of_variant in scored.items():
        made = [
            Rescored(row=of_row[variant], answers=answers, values=values, judged=name in read.unsure)
            for (name, of_row), (answers, values) in zip(rows.items(), of_variant, strict=True)
            if variant in of_row
        ]
        compared[variant] = [compare_row(one, same_tier=tier == work.programs.tier) for one in made]
        work.rows += len(made)
    suspects = {
        at for of_variant in compared.values() for at, one in enumerate(of_variant) if one.wrong and not one.excuse
    }
    if suspects and work.programs.tier and all(len(of_row) == len(task.pipelines) for of_row in rows.values()):
        volatile = _volatile(task, asked, sorted(suspects), scored, work.programs, read)
    yield from check_scores(place, compared, volatile=volatile)
    if read.taken:
        yield not_checked("judge", place, f"{read.taken:,} replies of {read.judge} are taken on trust")
    if tier is not None:
        yield _sandbox(
            place, tier, work.programs.tier, [answer for of in scored.values() for row in of for answer in row[0]]
        )
    headline = next(iter(task.metrics)) if "acc" not in task.metrics else "acc"
    first = next(iter(compared.values()), [])
    right = [_float(one.values.get(headline)) for one in first]
    yield from check_patterns(place, submitted.first, own.docs, right)
    return {
        variant: totals(
            task,
            [
                _counted(one, number in volatile.get(variant, ()), of_row)
                for number, (one, of_row) in enumerate(zip(of_variant, _rows_of(rows, variant), strict=True))
            ],
        )
        for variant, of_variant in compared.items()
    }


def _joined(submitted: Submitted, own: OwnData) -> dict[str, dict[str, SubmittedRow]]:
    """Put the rows of all variants together by document; of a row that comes twice the first counts."""
    found: dict[str, dict[str, SubmittedRow]] = {}
    for variant, rows in submitted.variants.items():
        for row in rows:
            if row.id in own.docs:
                found.setdefault(row.id, {}).setdefault(variant, row)
    return found


def _rows_of(rows: Mapping[str, Mapping[str, SubmittedRow]], variant: str) -> list[SubmittedRow]:
    return [of_row[variant] for of_row in rows.values() if variant in of_row]


def _counted(one: Compared, is_volatile: bool, row: SubmittedRow) -> Mapping[str, Any]:
    return claims_of(row, one.values) if is_volatile else one.values


def _volatile(
    task: TaskFile,
    asked: Sequence[Asked],
    suspects: Sequence[int],
    scored: Mapping[str, Sequence[tuple[Any, Mapping[str, Any]]]],
    programs: Programs,
    read: ClaimedReplies,
) -> dict[str, set[int]]:
    """Run the programs of rows that differ once more, and return those that give something else this time."""
    again = score(task, [asked[at] for at in suspects], programs=programs, read=read, again=True)
    found: dict[str, set[int]] = {}
    for variant, rows in again.items():
        for at, (answers, _) in zip(suspects, rows, strict=True):
            before = list(map(_result, scored[variant][at][0]))
            if list(map(_result, answers)) != before:
                found.setdefault(variant, set()).add(at)
    return found


def _result(answer: Any) -> Any:
    return answer.get("value") if isinstance(answer, Mapping) else answer.answer


def _sandbox(place: Place, claimed: Any, tier: str, answers: Sequence[Any]) -> Finding:
    skipped = sum(status_of(answer) in ("broken", "unsupported") for answer in answers)
    said = f"programs ran in {tier or 'no sandbox'}, those of the run in {claimed!r:.40}"
    shown = [f"{skipped} programs could not be run here"] if skipped or not tier else []
    shown += [said] if tier != claimed else []
    return finding(
        "sandbox", place, "programs were not run as the submission ran them", shown, status=Status.warned, fine=said
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None

"""Has a judge look at some rows once more, to see whether the verdicts of a submission are those it gives."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np

from fin_tasks.benchmarks.financemath.old_judge import Judged, read_by_judge
from fin_tasks.endpoints.old_chat import Chat
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.judging.old_item import JudgeItem, Verdict
from fin_tasks.judging.old_judge import judge_items
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.report.verify.against import Against, Verifying
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked, passed
from fin_tasks.report.verify.graded import check_graded
from fin_tasks.report.verify.judged import ClaimedVerdicts
from fin_tasks.settings import Settings

__all__ = ["MOST_OFF", "MOST_OFF_SHARE", "MOST_UNSCORED", "check_judge", "check_judged", "check_unscored"]

MOST_OFF = 0.5
"""Points of the scale that claimed scores may be above the judge's on average."""
MOST_OFF_SHARE = 0.2
"""Share of rows whose scores may be two points apart, or more; or whose answers may be others."""

MOST_UNSCORED = 0.2
"""Share of responses that may have failed, as `judge_max_failed` has it: a total over fewer is another's."""


def check_judged(work: Verifying, place: Place, read: ClaimedVerdicts, *, rows: int) -> Iterator[Finding]:
    """Tell what became of the verdicts of a task in lm-eval, and have some given again.

    Args:
        work: The check under way.
        place: The task.
        read: The verdicts that were taken, or could not be.
        rows: How many rows there are.
    """
    if read.wrong:
        message = "{n} verdicts of the judge do not agree with themselves"
        yield finding("verdicts", place, message, dict.fromkeys(read.wrong))
    elif read.taken:
        yield passed("verdicts", place, f"{len(read.taken):,} verdicts agree with what they are of")
    yield from check_graded(place, read.graded)
    if read.unasked:
        told = f"no judge was asked: {len(read.unasked):,} of {rows:,} rows have no score, and none is claimed"
        yield finding("unscored", place, told, [told], status=Status.warned)
    yield from check_unscored(place, read.failed, () if read.unasked else read.silent, rows)
    if read.responses:
        yield from _check_readings(place, read.responses, work.against, work.settings)
    else:
        rubric = f"mme_finance_{read.task.options.get('language', 'en')}"
        yield from check_judge(place, read.items, work.against, work.settings, rubric=rubric)


def check_unscored(
    place: Place, failed: Collection[str], silent: Collection[str], rows: int, *, judged: bool = True
) -> Iterator[Finding]:
    """Tell rows that are said to have failed: they do not count, so whoever chooses them chooses the total.

    A judge that fails too often is an error when it is asked, of the responses that there are. What the model did not
    say is in the responses for everybody to see.

    Args:
        place: The task.
        failed: Rows on which the judge is said to have failed.
        silent: Rows to which the model gave no response.
        rows: How many there are.
        judged: Whether there is a judge. Where none is, rows leave the total by the responses alone.
    """
    told = []
    if failed:
        told.append(f"the judge failed on {len(failed):,} of {rows - len(silent):,} responses")
    if silent:
        told.append(f"the model gave no response to {len(silent):,} of {rows:,} rows")
    if told:
        too_many = len(failed) > MOST_UNSCORED * (rows - len(silent))
        too_many = too_many or (not judged and len(silent) > MOST_UNSCORED * rows)
        status = Status.failed if too_many else Status.warned
        message = f"{', and '.join(told)}: these do not count"
        yield finding("unscored", place, message, sorted({*failed, *silent}), status=status)


def check_judge(
    place: Place,
    items: Mapping[str, tuple[JudgeItem, Verdict]],
    against: Against,
    settings: Settings,
    *,
    rubric: str,
) -> Iterator[Finding]:
    """Have a judge score some rows again, where there is one and anything to score.

    Args:
        place: The task.
        items: What a judge was given and its claimed verdict, by document.
        against: Names the judge, or nobody.
        settings: The environment.
        rubric: The task's.
    """
    if not items:
        return
    if against.judge is None:
        yield _nobody(place, len(items))
        return
    try:
        setup = replace(against.judge, rubric=rubric)
        yield _ask_again(place, items, setup, settings, rows=against.judge_rows, seed=against.seed)
    except FinTasksError as error:
        yield not_checked("judge", place, f"the judge did not reply: {error}")


def _nobody(place: Place, rows: int) -> Finding:
    why = f"whether the judge said so of {rows:,} rows is not known: nobody was asked again (--judge-model)"
    return not_checked("judge", place, why)


def _drawn(names: Mapping[str, object], *, rows: int, seed: int) -> list[str]:
    if rows < 1:
        raise ConfigError(f"--judge-rows: expected a number from 1 up, got {rows}.")
    chosen = set(np.random.default_rng(seed).permutation(len(names))[:rows].tolist())
    return [name for place, name in enumerate(sorted(names)) if place in chosen]


def _check_readings(
    place: Place, responses: Mapping[str, tuple[str, float | None]], against: Against, settings: Settings
) -> Iterator[Finding]:
    """Have a judge read answers again; what it says of a response is compared with what it is said to have said."""
    setup = against.judge
    if setup is None:
        yield _nobody(place, len(responses))
        return
    try:
        names = _drawn(responses, rows=against.judge_rows, seed=against.seed)
        chat = Chat(setup.endpoints, settings, concurrency=setup.concurrency)
        found = read_by_judge(chat, [responses[name][0] for name in names])
    except FinTasksError as error:
        yield not_checked("judge", place, f"the judge did not reply: {error}")
        return
    judged = [(name, one) for name, one in zip(names, found, strict=True) if isinstance(one, Judged)]
    read = [(name, one) for name, one in judged if not one.judge_error]
    if not read:
        why = judged[0][1].judge_error if judged else "none is left to the judge"
        yield not_checked("judge", place, f"the judge read none of {len(names)} responses: {why}")
        return
    apart = [
        f"row {name}: claimed {responses[name][1]}, the judge reads {_value(one)}"
        for name, one in read
        if not same(responses[name][1], _value(one))
    ]
    told = f"{setup.model} reads {len(read) - len(apart)} of {len(read)} answers as claimed (seed {against.seed})"
    if len(apart) > MOST_OFF_SHARE * len(read):
        yield finding("judge", place, told, apart)
    else:
        yield passed("judge", place, told)


def _value(read: Judged) -> float | None:
    return None if read.number is None else read.number.value


def _ask_again(
    place: Place,
    items: Mapping[str, tuple[JudgeItem, Verdict]],
    setup: JudgeSetup,
    settings: Settings,
    *,
    rows: int,
    seed: int,
) -> Finding:
    """Ask a judge about a sample of rows, and compare its scores with those that are claimed.

    Judges do not say the same twice, and this one may be another: only what is far apart, or too good, fails.

    Args:
        place: The task.
        items: What the judge was given and its claimed verdict, by document.
        setup: The judge, with the task's rubric.
        settings: The environment.
        rows: How many rows to ask about.
        seed: Which.

    Raises:
        FinTasksError: The judge cannot be asked.
    """
    names = _drawn(items, rows=rows, seed=seed)
    verdicts = judge_items([items[name][0] for name in names], setup, settings).verdicts
    pairs = [
        (name, items[name][1].score, verdict.score)
        for name, verdict in zip(names, verdicts, strict=True)
        if verdict.score is not None
    ]
    points = [(name, claimed, now, claimed - now) for name, claimed, now in pairs if claimed is not None]
    above = sum(point for *_, point in points) / len(points) if points else 0.0
    apart = [
        f"row {name}: claimed {claimed}, the judge gives {now}" for name, claimed, now, off in points if abs(off) >= 2
    ]
    agreed = sum(off == 0 for *_, off in points)
    told = (
        f"{setup.model} agrees on {agreed} of {len(points)} rows (seed {seed}); claims are {above:+.2f} points above it"
    )
    if above > MOST_OFF or len(apart) > MOST_OFF_SHARE * max(len(points), 1):
        return finding("judge", place, told, apart or [told])
    if not points:
        return not_checked("judge", place, f"the judge gave no score on any of {len(names)} rows")
    return passed("judge", place, told)

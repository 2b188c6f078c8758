"""Judged items: the reply that was kept must give the score that was kept, and the judge can be asked again."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.adapters.lm_eval_filters import AskJudge
from fin_tasks.judging.item import Judged, Reply, no_response, response_sha256
from fin_tasks.judging.judge import MAX_FAILED, JudgeModel, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.model import TaskResult
from fin_tasks.report.verify.checks import Checks, Row, Status


def kept_judgments(step: AskJudge, rows: Sequence[Row]) -> list[list[Any]]:
    """Return the responses with the judge's replies that the submission kept, as the filter that asks would."""
    return [
        [
            Judged(text) if step.item(row.doc, text) is None else _kept(row, at, text)
            for at, text in enumerate(row.responses)
        ]
        for row in rows
    ]


def _kept(row: Row, at: int, text: str) -> Judged:
    # `paper` gives a response that is none the lowest score, unless the judge failed on the whole task
    silent = bool(no_response(text))
    reading = _reading(row, "paper" if silent else "robust", at)
    given = reading.get("replies")
    replies = [one for one in given if isinstance(one, str)][:20] if isinstance(given, list) else []
    failed = silent or reading.get("judge_error") or reading.get("read_by") == "judge"
    error = str(reading.get("reason"))[:400] if reading.get("unscored") and failed and not replies else ""
    return Judged(text, tuple(Reply(text=one, temperature=0.0) for one in replies), error)


def _reading(row: Row, variant: str, at: int) -> Mapping[str, Any]:
    found = row.readings.get(variant, [])
    return found[at] if at < len(found) else {}


def check_judged(checks: Checks, result: TaskResult, rows: Sequence[Row], rubric: Rubric, *, asked: bool) -> None:
    """Check whose response was judged, with which rubric, and how many responses are unscored."""
    pairs = [(row, text, _reading(row, "robust", at)) for row in rows for at, text in enumerate(row.responses)]
    others = [
        f"{row.id!r:.60}: the judge scored another response"
        for row, text, one in pairs
        if one.get("response_sha256") not in (None, "", response_sha256(text))
    ]
    checks.none_of("judged response", others, "responses are not those that were judged", "the responses were judged")
    sha256 = result.judge.get("rubric_sha256")
    if result.judge and sha256 != rubric.sha256:
        told = f"{result.judge.get('rubric')!r:.80} ({sha256!r:.12}), ours {rubric.label!r} ({rubric.sha256[:8]})"
        checks.add("rubric", Status.failed, f"the rubric is not ours: {told}")
    there = [(row, one) for row, text, one in pairs if not no_response(text)]
    unscored = [(row, one) for row, one in there if one.get("unscored")]
    if unscored:
        lost = [one for _, one in unscored if not one.get("replies")]  # nothing shows that the judge failed
        many = result.judge and len(lost) > MAX_FAILED * len(there)
        details = [f"{row.id!r:.60}: {one.get('reason')!r:.120}" for row, one in unscored]
        checks.add("unscored", Status.failed if many else Status.warned, "responses without a score", details)
    if result.judge and not asked:
        why = f"judge {result.judge.get('model')!r:.80}: replies give the scores, but nobody asked it again"
        checks.add("judge", Status.warned, f"{why} (--judge-model)")


def ask_again(
    checks: Checks,
    task: Any,
    step: AskJudge,
    rows: Sequence[Row],
    judge: JudgeModel,
    rubric: Rubric,
    *,
    n: int,
    seed: int,
) -> None:
    """Ask a judge about at most n scored rows again, and compare what `robust` reads."""
    told = [(row, _reading(row, "robust", 0)) for row in rows]
    scored = [row for row, one in told if one.get("replies") and not one.get("unscored")]
    picked = random.Random(seed).sample(scored, min(n, len(scored)))  # noqa: S311
    items = [item for row in picked if (item := step.item(row.doc, row.responses[0])) is not None]
    if not items:
        checks.add("judge", Status.unchecked, "no row has a score of a judge")
        return
    judged = judge_items(items, rubric, judge)
    replies = [reply for one in judged for reply in one.replies]
    cached = sum(reply.cached for reply in replies)
    said_by = f"{judge.model!r} asked about {len(items)} rows: {len(replies) - cached} fresh replies, {cached} cached"
    pairs = []
    for row, one in zip(picked, judged, strict=True):
        (now,) = read_robust(task, [row.doc], [[one]])[0]
        then, said = _reading(row, "robust", 0), json.loads(str(now))
        if not said["unscored"]:
            pairs.append((row, _size(row, then), _size(row, said)))
    if 2 * len(pairs) < len(items):
        first = next((one.error for one in judged if one.error), "its replies cannot be read")
        checks.add("judge", Status.unchecked, f"{said_by}, {len(pairs)} can be read; first: {first:.200}")
        return
    higher = sum(then - now for _, then, now in pairs) / len(pairs)
    off = [
        f"{row.id!r:.60}: claimed {then:.2f}, now {now:.2f} of 1" for row, then, now in pairs if abs(then - now) > 0.35
    ]
    bad = higher > 0.1 or len(off) > 0.2 * len(pairs)
    status = Status.failed if bad else Status.passed
    checks.add("judge", status, f"{said_by}; claims are {higher:+.3f} of the scale above them", off)


def read_robust(task: Any, docs: Sequence[Mapping[str, Any]], judged: list[list[Any]]) -> list[list[Any]]:
    """Apply the filters behind the judge, of the variant `robust`."""
    (ensemble,) = [one for one in task._filters if one.name == "robust"]
    found: Any = judged
    for make in ensemble.filters:
        if not isinstance(filter_ := make(), AskJudge):
            found = filter_.apply(found, docs)
    return [list(one) for one in found]


def _size(row: Row, reading: Mapping[str, Any]) -> float:
    """Return a score as a share of the scale; for a number that was read, whether it is what the claim says."""
    answer: Any = reading.get("answer")
    if "response_sha256" in reading:
        return float(answer) / (10 if row.doc["part"] == "multi_turn" else 5)
    return float(answer == _reading(row, "robust", 0).get("answer"))

"""Judged items: the judge's replies that the submission kept, and what they must agree with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fin_tasks.adapters.lm_eval_filters import AskJudge
from fin_tasks.judging.item import Judged, Reply, no_response, response_sha256
from fin_tasks.judging.judge import MAX_FAILED
from fin_tasks.judging.rubric import Rubric
from fin_tasks.judging.step import JudgedResponse, Response, text_of
from fin_tasks.report.model import TaskResult
from fin_tasks.report.verify.checks import Checks, Row
from fin_tasks.sandbox import Ran


def kept_judgments(
    step: AskJudge, rows: Sequence[Row], responses: Sequence[Sequence[Response]]
) -> list[list[JudgedResponse]]:
    """Return the responses with the judge's replies that the submission kept, as the filter that asks would."""
    judged: list[list[JudgedResponse]] = []
    for row, row_responses in zip(rows, responses, strict=True):
        pairs = zip(row_responses, row.readings, strict=True)
        judged.append([_judged(step, row, response, reading) for response, reading in pairs])
    return judged


def _judged(
    step: AskJudge, row: Row, response: Response, reading: Mapping[str, Any]
) -> JudgedResponse:
    if isinstance(response, Ran) and response.outcomes:
        return response
    text = text_of(response)
    if step.item(row.doc, text) is None:
        return Judged(text)
    return replace(_kept(text, reading), rubric=step.rubric)


def _kept(text: str, reading: Mapping[str, Any]) -> Judged:
    given = reading.get("replies")
    replies = [one for one in given if isinstance(one, str)][:20] if isinstance(given, list) else []
    failed = no_response(text) or reading.get("judge_error") or reading.get("by") == "model"
    error = (
        str(reading.get("reason"))[:400]
        if reading.get("unscored") and failed and not replies
        else ""
    )
    return Judged(text, tuple(Reply(text=one, temperature=0.0) for one in replies), error)


def check_judged(checks: Checks, result: TaskResult, rows: Sequence[Row], rubric: Rubric) -> None:
    """Check that the judge scored these responses with our rubric, and count responses without a score."""
    pairs = [
        (row.id, text, one)
        for row in rows
        for text, one in zip(row.responses, row.readings, strict=True)
    ]
    others = [
        f"{name!r:.60}: the judge scored another response"
        for name, text, one in pairs
        if one.get("response_sha256") not in (None, "", response_sha256(text))
    ]
    checks.none_of(
        "judged response",
        others,
        "responses are not those that were judged",
        "the responses were judged",
    )
    sha256 = result.judge.get("rubric_sha256")
    if result.judge and sha256 != rubric.sha256:
        told = f"{result.judge.get('rubric')!r:.80} ({sha256!r:.12}), ours {rubric.label!r} ({rubric.sha256[:8]})"
        checks.add("rubric", "fail", f"the rubric is not ours: {told}")
    there = [(name, one) for name, text, one in pairs if not no_response(text)]
    if unscored := [(name, one) for name, one in there if one.get("unscored")]:
        lost = [
            one for _, one in unscored if not one.get("replies")
        ]  # nothing shows that the judge failed
        many = result.judge and len(lost) > MAX_FAILED * len(there)
        details = [f"{name!r:.60}: {one.get('reason')!r:.120}" for name, one in unscored]
        checks.add("unscored", "fail" if many else "warn", "responses without a score", details)

"""Judged items: the judge's replies that the submission kept, and what they must agree with."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.adapters.lm_eval_filters import AskJudge
from fin_tasks.judging.item import Judged, Reply, no_response, response_sha256
from fin_tasks.judging.judge import MAX_FAILED
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.model import TaskResult
from fin_tasks.report.verify.checks import Checks, Row


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
    # `paper` gives an empty or failed response the lowest score, unless the judge failed on the whole task
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


def has_judgment(row: Row) -> bool:
    """Say whether the first response of a row has a score that a judge gave."""
    reading = _reading(row, "robust", 0)
    return bool(reading.get("replies")) and not reading.get("unscored")


def check_judged(checks: Checks, result: TaskResult, rows: Sequence[Row], rubric: Rubric) -> None:
    """Check that the judge scored these responses with our rubric, and count responses without a score."""
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
        checks.add("rubric", "fail", f"the rubric is not ours: {told}")
    there = [(row, one) for row, text, one in pairs if not no_response(text)]
    if unscored := [(row, one) for row, one in there if one.get("unscored")]:
        lost = [one for _, one in unscored if not one.get("replies")]  # nothing shows that the judge failed
        many = result.judge and len(lost) > MAX_FAILED * len(there)
        details = [f"{row.id!r:.60}: {one.get('reason')!r:.120}" for row, one in unscored]
        checks.add("unscored", "fail" if many else "warn", "responses without a score", details)

"""Whether a judge's verdict, as a submission has it, can be what the judge said of the response."""

from collections.abc import Mapping
from typing import Any

from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.old_item import Verdict
from fin_tasks.judging.old_rubric import Rubric
from fin_tasks.judging.verdict import read_score

__all__ = ["claimed_verdict"]


def claimed_verdict(response: str, said: Mapping[str, Any], rubric: Rubric, *, judge: str) -> tuple[Verdict, str]:
    """Take a verdict that can be true.

    Args:
        response: What the model wrote.
        said: `score`, `raw`, `failed`, `judge` and `rubric_sha256` of a results file; untrusted.
        rubric: What our task scores by.
        judge: Whom the results name as judge; nobody where empty.

    Returns:
        The verdict that counts, and what does not agree in the one that is claimed; empty where all does.
    """
    score, raw, failed = said.get("score"), said.get("raw"), said.get("failed")
    read = read_score(raw, rubric)[0] if isinstance(raw, str) else None
    reason = response_failure(response)
    if reason is not None:
        wrong = "" if failed == "response" and score is None else f"expected no score, as {reason}; got {score!r:.40}"
        return Verdict(error=reason, failed="response"), wrong
    if score is None:
        wrong = ""
        if failed == "response":
            wrong = f"said to hold no response, but has one: {response!r:.60}"
        elif read is not None:
            wrong = f"the judge's reply {raw!r:.40} reads as {read}, but the row is unscored"
        return Verdict(error="unscored", failed=failed if failed in ("judge", "reply") else None), wrong
    if isinstance(score, bool) or not isinstance(score, int) or not rubric.lowest <= score <= rubric.highest:
        wrong = f"expected a score from {rubric.lowest} to {rubric.highest}, got {score!r:.40}"
        return Verdict(error="unscored", failed="reply"), wrong
    wrong = ""
    if not judge:
        wrong = "has a score, but the results name no judge"
    elif said.get("judge") != judge:
        wrong = f"judged by {said.get('judge')!r:.60}, but the results name {judge!r:.60}"
    elif read != score:
        wrong = f"the judge's reply {raw!r:.40} reads as {read}, the score is {score}"
    elif said.get("rubric_sha256") != rubric.sha256:
        wrong = f"judged by another rubric, {said.get('rubric')!r:.40}; ours is {rubric.label}"
    return Verdict(score=read if isinstance(raw, str) else score, raw=str(raw or ""), tries=1), wrong

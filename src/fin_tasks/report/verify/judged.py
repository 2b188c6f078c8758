"""Rows that a judge has read: its verdicts are the submission's, and have to agree with themselves and with ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fin_tasks.answers.numbers import number_from_float
from fin_tasks.benchmarks.financemath.reading import Reading, read_all
from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.item import JudgeItem, Verdict
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.judging.verdict import read_score
from fin_tasks.report.verify.scoring import Asked
from fin_tasks.report.verify.task_files import Step, TaskFile

__all__ = ["ClaimedVerdicts"]

_LARGEST = 1e300


@dataclass
class ClaimedVerdicts:
    """Takes a judge's verdicts from a submission, after looking at each.

    Attributes:
        task: The task.
        named: Whether the submission says which judge it asked; verdicts of nobody are not taken.
        taken: Rows whose verdict was taken, by document.
        wrong: What does not agree, a line each.
        items: What a judge was or would be given, by document, with the verdict taken: for asking again.
    """

    task: TaskFile
    named: bool
    taken: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    items: dict[str, tuple[JudgeItem, Verdict]] = field(default_factory=dict)

    def __call__(self, variant: str, step: Step, rows: Sequence[Asked]) -> list[list[Any]]:
        """Return the readings of each row's responses under a variant."""
        if step.function == "fin_tasks_judge":
            return [self._readings(variant, row) for row in rows]
        rubric = load_rubric(step.arguments["rubric"].format(**self.task.options))
        stands = any(_number(answer, "percent") is not None for row in rows for answer in row.claimed.get(variant, ()))
        return [self._verdicts(variant, row, rubric, step.arguments["item"], stands=stands) for row in rows]

    def _readings(self, variant: str, row: Asked) -> list[Reading]:
        """Read by the rules; where they find no answer, take what a judge is said to have read."""
        readings = read_all(row.responses)
        claimed = _padded(row.claimed.get(variant, ()), len(readings))
        for response, said in zip(row.responses, claimed, strict=True):
            if not response.strip() and said.get("read_by") == "judge" and said.get("answer") is not None:
                self.wrong.append(f"row {_name(row.doc)}: a judge read {said['answer']!r:.40} in an empty response")
        return [self._reading(row, one, said) for one, said in zip(readings, claimed, strict=True)]

    def _reading(self, row: Asked, rules: Reading, said: Mapping[str, Any]) -> Reading:
        error = said.get("judge_error")
        by = said.get("read_by")
        if not self.named or rules.number is not None or (by != "judge" and not error):
            return rules
        self.taken.add(_name(row.doc))
        if isinstance(error, str):
            return Reading(number=None, read_by=None, judge_error=error)
        answer = _number(said, "answer")
        return Reading(number=None if answer is None else number_from_float(answer), read_by="judge")

    def _verdicts(
        self,
        variant: str,
        row: Asked,
        rubric: Rubric,
        item_of: Callable[[Mapping[str, Any], str], JudgeItem],
        *,
        stands: bool,
    ) -> list[JudgedResponse]:
        found = []
        for response, said in zip(
            row.responses, _padded(row.claimed.get(variant, ()), len(row.responses)), strict=True
        ):
            verdict = self._verdict(row, response, said, rubric)
            share = None
            if verdict.score is not None:
                share = 100 * (verdict.score - rubric.lowest) / (rubric.highest - rubric.lowest)
                self.taken.add(_name(row.doc))
                self.items[_name(row.doc)] = item_of(row.doc, response), verdict
            allowed = _number(said, "max_failed")
            found.append(
                JudgedResponse(
                    response=response,
                    verdict=verdict,
                    percent=share,
                    stands=stands,
                    record={"max_failed": allowed if allowed is not None and 0 <= allowed <= 1 else None},
                )
            )
        return found

    def _verdict(self, row: Asked, response: str, said: Mapping[str, Any], rubric: Rubric) -> Verdict:
        """Take a verdict that can be true; note one that cannot."""
        score, raw, failed = said.get("score"), said.get("raw"), said.get("failed")
        reason = response_failure(response)
        where = f"row {_name(row.doc)}"
        if reason is not None:
            if failed != "response" or score is not None:
                self.wrong.append(f"{where}: expected no score, as {reason}; got {score!r:.40}")
            return Verdict(error=reason, failed="response")
        if score is None:
            if failed == "response":
                self.wrong.append(f"{where}: said to hold no response, but has one: {response!r:.60}")
            return Verdict(error="unscored", failed=failed if failed in ("judge", "reply") else None)
        if isinstance(score, bool) or not isinstance(score, int) or not rubric.lowest <= score <= rubric.highest:
            self.wrong.append(f"{where}: expected a score from {rubric.lowest} to {rubric.highest}, got {score!r:.40}")
            return Verdict(error="unscored", failed="reply")
        read = read_score(raw, rubric)[0] if isinstance(raw, str) else None
        if not self.named:
            self.wrong.append(f"{where}: has a score, but the results name no judge")
        elif read != score:
            self.wrong.append(f"{where}: the judge's reply {raw!r:.40} reads as {read}, the score is {score}")
        elif said.get("rubric_sha256") != rubric.sha256:
            self.wrong.append(f"{where}: judged by another rubric, {said.get('rubric')!r:.40}; ours is {rubric.label}")
        return Verdict(score=read if isinstance(raw, str) else score, raw=str(raw or ""), tries=1)


def _padded(said: tuple[Mapping[str, Any] | None, ...], count: int) -> list[Mapping[str, Any]]:
    """Return one object per response, an empty one where the submission has none."""
    objects = [one or {} for one in said[:count]]
    return objects + [{}] * (count - len(objects))


def _number(said: Mapping[str, Any] | None, name: str) -> float | None:
    value = (said or {}).get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LARGEST:
        return None
    return float(value)


def _name(doc: Mapping[str, Any]) -> str:
    return str(doc.get("id", doc.get("question_id")))

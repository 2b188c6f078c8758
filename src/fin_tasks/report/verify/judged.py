"""Rows that a judge has read: its verdicts are the submission's, and have to agree with themselves and with ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.answers.read import read_quantity
from fin_tasks.benchmarks.financemath.old_judge import Judged, numbers_shown
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_item import JudgeItem, Verdict, response_sha256
from fin_tasks.judging.old_rubric import Rubric, load_rubric
from fin_tasks.report.verify.claimed_verdict import claimed_verdict
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.graded import Graded, hash_in
from fin_tasks.report.verify.scoring import Asked
from fin_tasks.report.verify.task_files import Step, TaskFile

__all__ = ["ClaimedVerdicts", "judge_of"]

_LARGEST = 1e300
_NOTHING = "None"
"""What lm-eval writes where an API gave no text, which is judged as an empty response."""


@dataclass
class ClaimedVerdicts:
    """Takes a judge's verdicts from a submission, after looking at each.

    Attributes:
        task: The task.
        judge: Whom the submission names as judge; verdicts of nobody are not taken.
        taken: Rows whose verdict was taken, by document.
        unsure: Those among them whose score does not follow from what was taken.
        failed: Rows on which the judge is said to have failed: they do not count.
        silent: Rows to which the model gave no response: they do not count either.
        unasked: Rows without a score in a run that asked no judge: nothing is claimed of them.
        wrong: What does not agree, a line each.
        items: What a judge was or would be given, by document, with the verdict taken: for asking again.
        responses: Responses that a judge read, by document, with the answer it is said to have found: likewise.
        graded: Responses with what is said of which one was judged, under every variant.
    """

    task: TaskFile
    judge: str
    taken: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    items: dict[str, tuple[JudgeItem, Verdict]] = field(default_factory=dict)
    responses: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    graded: list[Graded] = field(default_factory=list)

    def __call__(self, variant: str, step: Step, rows: Sequence[Asked]) -> list[list[Any]]:
        """Return the readings of each row's responses under a variant."""
        if step.function == "fin_tasks_judge":
            return [self._readings(variant, row) for row in rows]
        rubric = load_rubric(step.arguments["rubric"].format(**self.task.options))
        stands = any(_number(answer, "percent") is not None for row in rows for answer in row.claimed.get(variant, ()))
        return [self._verdicts(variant, row, rubric, step.arguments["item"], stands=stands) for row in rows]

    def _readings(self, variant: str, row: Asked) -> list[str | Judged]:
        """Leave responses to the rules; where they find no answer, take what a judge is said to have read."""
        claims = {name: _padded(of, len(row.responses)) for name, of in row.claimed.items()}
        claimed = claims.get(variant) or [{}] * len(row.responses)
        return [
            self._reading(row.doc, response, said, {name: _number(of[at], "answer") for name, of in claims.items()})
            for at, (response, said) in enumerate(zip(row.responses, claimed, strict=True))
        ]

    def _reading(
        self,
        doc: Mapping[str, Any],
        response: str,
        said: Mapping[str, Any],
        answers: Mapping[str, float | None],
    ) -> str | Judged:
        name = _name(doc)
        if said.get("read_by") != "judge" or read_quantity(response)[0] is not None:
            return response
        if not self.judge:
            self.wrong.append(f"row {name}: read by a judge, but the results name none")
            return response
        if said.get("unscored"):
            self.failed.add(name)
            return Judged(None, str(said.get("reason")) or "it failed")
        answer = answers.get("robust")
        self.taken.add(name)
        self.responses[name] = response, answer
        if answer is None:
            return Judged()
        number, is_said = _said(response, answer, answers.get("paper"))
        if not is_said:
            self.wrong.append(
                f"row {name}: a judge is said to have read {answer!r:.40}, which the response does not say"
            )
            return response
        if number is None:  # in another unit than the response has it: how exact it is, nobody knows
            self.unsure.add(name)
            own = _number(said, "answer")
            number = number_from_float(answer if own is None else own)
        return Judged(number)

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
            if response == _NOTHING and hash_in(said) == response_sha256(""):
                response = ""
            self.graded.append(Graded.of(f"row {_name(row.doc)}", response, said))
            verdict, contradiction = claimed_verdict(response, said, rubric, judge=self.judge)
            if contradiction:
                self.wrong.append(f"row {_name(row.doc)}: {contradiction}")
            share = None
            if verdict.score is not None:
                share = 100 * (verdict.score - rubric.lowest) / (rubric.highest - rubric.lowest)
                self.taken.add(_name(row.doc))
                self.items[_name(row.doc)] = item_of(row.doc, response), verdict
            elif verdict.failed is None and not self.judge:
                self.unasked.add(_name(row.doc))
            elif verdict.failed == "response":
                self.silent.add(_name(row.doc))
            else:
                self.failed.add(_name(row.doc))
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


def _said(response: str, answer: float, as_written: float | None) -> tuple[Number | None, bool]:
    """Find a claimed answer in a response; returns the number as it stands there, and whether its size does at all."""
    there = numbers_shown(response)
    sizes = {abs(reading) for number in there for reading in number.readings}
    if not any(same(abs(answer), size) for size in sizes):
        return None, False
    for number in there:
        sign = -1.0 if answer * number.value < 0 else 1.0
        written = sign * number.readings[-1]
        if same(sign * number.value, answer) and (as_written is None or same(written, as_written)):
            readings = tuple(sign * reading for reading in number.readings)
            return Number(value=sign * number.value, readings=readings, step=number.step), True
    return None, True


def judge_of(metadata: Mapping[str, Any]) -> str:
    """Return whom a task's metadata in lm-eval name as judge; empty where they name nobody."""
    told = metadata.get("judge")
    name = told.get("model") if isinstance(told, dict) else metadata.get("judge_model")
    return name if isinstance(name, str) else ""


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

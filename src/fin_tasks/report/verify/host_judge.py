"""Judged scores of a submission: only from a judge that the host names."""

from dataclasses import dataclass, replace

from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.errors import JudgeError
from fin_tasks.judging.item import missing_reason
from fin_tasks.judging.judge import JudgeModel, JudgeStep

from ..model import TaskResult
from .items import Finding, Options, Rows
from .judged import check_judged
from .scores import InstalledTask, RecordedReplies, score_rows


@dataclass
class HostJudge:
    """The judge of the host, or its model that reads answers, and the responses of a task."""

    task: InstalledTask
    result: TaskResult
    options: Options
    rows: Rows

    def score(
        self, recorded: ScoredTask, replies: RecordedReplies | None
    ) -> tuple[ScoredTask, list[Finding]]:
        """Return the scores that count, and what is to be told about them.

        Args:
            recorded: The scores by the replies in the submission.
            replies: These replies; None if the task asks nobody.
        """
        judge = self.options.judge
        if replies is None:
            return recorded, []
        answers = [answer for _, answer in replies.judged.values()]
        has_replies = any(answer.replies for answer in answers)
        if not (judge or self.task.file.judge or has_replies):
            return recorded, []  # rules found all answers
        if judge is None:
            sentence = "The host named no judge, so the scores of the submission's judge are left out."
            return self._unjudged(replies), [Finding("judge", "claimed", sentence)]
        if self.options.n_judged is None:
            return self._asked(replies, judge)
        return self._drawn(recorded, replies, judge)

    def _unjudged(self, replies: RecordedReplies) -> ScoredTask:
        """Score without a judge; rules still find answers."""
        step = None
        if self.task.file.judge:
            step = JudgeStep(replies.item, replies.rubric)
        return self._score_with(step)

    def _score_with(self, step: JudgeStep | None) -> ScoredTask:
        return score_rows(
            self.task,
            self.rows,
            step,
            program_seconds=self.options.program_seconds,
            judge_may_fail=True,
        )

    def _asked(
        self, replies: RecordedReplies, judge: JudgeModel
    ) -> tuple[ScoredTask, list[Finding]]:
        """Ask the host's judge about all responses."""
        step = JudgeStep(replies.item, replies.rubric, judge)
        scored = self._score_with(step)
        n_failed = n_without_score(scored)
        if n_failed > judge.max_failed * len(self.rows):
            raise JudgeError(
                f"{self.task.file.name}: the judge {judge.model!r} gave no score to {n_failed:,} of "
                f"{len(self.rows):,} responses, so that nothing was admitted. Its replies are kept: run "
                "the command again."
            )
        sentence = f"The host's judge {judge.model} was asked about all responses"
        if n_failed:
            sentence += f", and gave no score to {n_failed:,}"
        return scored, [Finding("judge", "checked", f"{sentence}.")]

    def _drawn(
        self, recorded: ScoredTask, replies: RecordedReplies, judge: JudgeModel
    ) -> tuple[ScoredTask, list[Finding]]:
        """Ask the host's judge about responses drawn at random; if it agrees, the recorded replies count."""
        item = check_judged(self.task, self.result, replies, self.options)
        if item is None:
            return recorded, []
        n_failed = n_without_score(recorded)
        if item.status == "failed":
            return recorded, [Finding("judge", "refused", item.evidence)]
        if n_failed:
            sentence = (
                f"{n_failed:,} responses have no reply of a judge that can be read; "
                "without --judge-rows the host's judge is asked about all responses"
            )
            return recorded, [Finding("judge", "refused", sentence)]
        is_same = judge.model == self.result.judge.get("model")
        if item.status != "verified" or not is_same:
            sentence = (
                f"The scores of the submission's judge are left out: {item.evidence}."
            )
            return self._unjudged(replies), [Finding("judge", "claimed", sentence)]
        facts = judge.facts(replies.rubric)
        del facts["usage"]
        sentence = (
            f"The replies of the judge are the submission's own: {item.evidence}."
        )
        return replace(recorded, judge=facts), [Finding("judge", "claimed", sentence)]


def n_without_score(scored: ScoredTask) -> int:
    """Return how many responses have no score, without those that are missing."""
    n = 0
    for texts, readings in zip(
        scored.responses, scored.readings["robust"], strict=True
    ):
        for text, reading in zip(texts, readings, strict=True):
            n += reading.unscored and not missing_reason(text)
    return n

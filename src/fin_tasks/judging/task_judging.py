"""Judge all responses of a task at once, and lose none whatever happens to the judge.

Responses took a model hours. So nothing here raises: a response that could not be judged stays unscored, and the log
says how to go on.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fin_tasks.errors import FinTasksError
from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_item import JudgeItem, Verdict, response_sha256
from fin_tasks.judging.old_judge import Judged, JudgingFailedError, judge_items
from fin_tasks.judging.old_rubric import Rubric
from fin_tasks.judging.scores import item_record
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.sandbox import escape
from fin_tasks.settings import Settings

__all__ = ["ItemOf", "RubricJudging"]

_log = logging.getLogger(__name__)
_OF_THE_DOC = ("index", "category", "image_type", "image_style")
"""What a judged item's record repeats of the document, which stands beside it in the samples file."""

ItemOf = Callable[[Mapping[str, Any], str], JudgeItem]


class RubricJudging:
    """The judging of one task: its filter pipelines share it, and the judge is asked once.

    Args:
        task: The task's name.
        rubric: What is scored by.
        setup: The judge; nobody is asked where None.
        item_of: Makes an item of a document and a response.

    Attributes:
        alone: Whether this process has all of the task's documents. With several, nobody here knows on what share of
            all responses the judge failed: verdicts count, and whether scores stand is left to the aggregation.
    """

    def __init__(self, *, task: str, rubric: Rubric, setup: JudgeSetup | None, item_of: ItemOf) -> None:
        self.alone = False
        self.task = task
        self.rubric = rubric
        self.setup = setup
        self.item_of = item_of
        self._last: tuple[tuple[JudgeItem, ...], tuple[JudgedResponse, ...]] | None = None

    @property
    def facts(self) -> dict[str, Any] | None:
        """Who judges and by what, for the results file; no address and no key."""
        if self.setup is None:
            return None
        return {
            "model": self.setup.model,
            "rubric": self.rubric.label,
            "rubric_sha256": self.rubric.sha256,
            "image": self.setup.image,
            "temperatures": list(self.rubric.temperatures),
            "max_tokens": self.setup.max_tokens or self.rubric.max_tokens,
        }

    @property
    def later(self) -> str:
        """How to judge the responses after the run."""
        return (
            "Responses that were saved with --log_samples or --predict_only are judged by: fin-tasks judge "
            f"SAMPLES.jsonl --rubric {self.rubric.name} --model JUDGE --base-url URL (SAMPLES.jsonl: the file "
            f"samples_{self.task}_2*.jsonl of the run, below --output_path)."
        )

    def check(self, docs: Iterable[Mapping[str, Any]]) -> None:
        """Find out before the model answers anything whether the rubric has the documents' categories.

        Raises:
            ConfigError: It lacks one.
        """
        for category in {self.item_of(doc, "").category for doc in docs}:
            self.rubric.category(category)

    def judge(self, items: tuple[JudgeItem, ...]) -> tuple[JudgedResponse, ...]:
        """Return what becomes of each response."""
        if self._last is None or self._last[0] != items:
            self._last = items, self._ask(items, self.setup) if self.setup else self._unasked(items)
        return self._last[1]

    def _unasked(self, items: Sequence[JudgeItem]) -> tuple[JudgedResponse, ...]:
        _log.warning(
            "%s: no judge is configured, so %d responses stay unscored. A judge is named by --metadata "
            '\'{"judge_model": "...", "judge_base_url": "..."}\', or FIN_TASKS_JUDGE_MODEL and '
            "FIN_TASKS_JUDGE_BASE_URL. %s",
            *(self.task, len(items), self.later),
        )
        return tuple(_off(item, "no judge is configured") for item in items)

    def _ask(self, items: Sequence[JudgeItem], setup: JudgeSetup) -> tuple[JudgedResponse, ...]:
        try:
            judged = judge_items(items, setup, Settings.from_environ(), show=True)
        except JudgingFailedError as error:
            unread = all(verdict.failed in (None, "response", "reply") for verdict in error.judged.verdicts)
            self._log_failure(error, unread=unread)
            return self._told(items, error.judged, stands=not self.alone)
        except (FinTasksError, OSError) as error:
            self._log_failure(error)
            return tuple(_off(item, str(error), allowed=setup.max_failed, stands=not self.alone) for item in items)
        failed = [verdict for verdict in judged.verdicts if verdict.failed in ("judge", "reply")]
        if failed:
            _log.warning(
                "%s: the judge failed on %d of %d responses. First: %s",
                *(self.task, len(failed), len(items), escape(failed[0].error or "")),
            )
        return self._told(items, judged, stands=True)

    def _log_failure(self, error: Exception, *, unread: bool = False) -> None:
        what = (
            "the responses stay unscored, as the judge failed."
            if self.alone
            else "the judge failed on responses of this process; whether scores stand is decided over all responses."
        )
        again = (
            'with "judge_retry_failed": true in --metadata run the command again'
            if unread
            else ("run the same command again")
        )
        _log.error(
            "%s: %s In lm-eval: %s; with --use_cache the model's responses are kept too. %s %s",
            *(self.task, what, again, error, self.later),
        )

    def _told(self, items: Sequence[JudgeItem], judged: Judged, *, stands: bool) -> tuple[JudgedResponse, ...]:
        told = []
        for item, verdict in zip(items, judged.verdicts, strict=True):
            record = item_record(item, verdict, judged)
            told.append(
                JudgedResponse(
                    response=item.response,
                    verdict=verdict,
                    percent=_percent(verdict, judged.rubric),
                    stands=stands,
                    record={
                        **{name: value for name, value in record.items() if name not in _OF_THE_DOC},
                        "max_failed": judged.setup.max_failed,
                    },
                )
            )
        return tuple(told)


def _percent(verdict: Verdict, rubric: Rubric) -> float | None:
    if verdict.score is None:
        return None
    return 100 * (verdict.score - rubric.lowest) / (rubric.highest - rubric.lowest)


def _off(item: JudgeItem, why: str, *, allowed: float | None = None, stands: bool = False) -> JudgedResponse:
    """A response that no judge has read; `allowed` is the share a judge that was asked may fail on."""
    reason = response_failure(item.response)
    verdict = (
        Verdict(error=reason, failed="response")
        if reason
        else Verdict(error=why, failed=None if allowed is None else "judge")
    )
    record = {
        **{"score": None, "error": verdict.error, "failed": verdict.failed},
        **{"response_sha256": response_sha256(item.response), "max_failed": allowed},
    }
    return JudgedResponse(response=item.response, verdict=verdict, percent=None, stands=stands, record=record)

"""A filter that has a judge, another language model, score responses by a rubric.

Responses took a model hours; nothing that happens to the judge may lose them. So the filter never raises: what could
not be judged stays unscored, and the log says how to go on.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from fin_tasks.errors import FinTasksError
from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.item import JudgeItem, Verdict, response_sha256
from fin_tasks.judging.judge import Judged, JudgingFailedError, judge_items
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.rubric import Rubric, load_rubric
from fin_tasks.judging.scores import item_record
from fin_tasks.judging.setup import JudgeSetup, setup_from
from fin_tasks.sandbox import escape
from fin_tasks.settings import Settings

__all__ = ["AskRubricJudge", "RubricJudging", "with_rubric_judge"]

_log = logging.getLogger(__name__)
_NAME = "fin_tasks_rubric_judge"
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


@register_filter(_NAME)
class AskRubricJudge(Filter):  # type: ignore[misc]
    """Score every response of a task at once, with a judge where there is one.

    Args:
        item: Makes an item of a document and a response.
        rubric: Name of the rubric pack to score by, where the metadata names none.
        judging: The task's judging; `with_rubric_judge` puts it here. Nobody is asked where None.
    """

    def __init__(self, *, item: ItemOf, rubric: str, judging: RubricJudging | None = None) -> None:
        self.judging = judging or RubricJudging(task="task", rubric=load_rubric(rubric), setup=None, item_of=item)

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[JudgedResponse]]:
        """Return one list of judged responses per document."""
        nested = [
            # an API that gave no text leaves None
            [self.judging.item_of(doc, response if isinstance(response, str) else "") for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
        judged = iter(self.judging.judge(tuple(item for items in nested for item in items)))
        return [[next(judged) for _ in items] for items in nested]


def with_rubric_judge(
    pipelines: Sequence[Mapping[str, Any]],
    metadata: Mapping[str, Any],
    *,
    task: str,
    options: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], RubricJudging | None]:
    """Tell the filters that score by a rubric which judge the metadata or the environment names.

    Args:
        pipelines: The task's `filter_list`.
        metadata: See `judging.setup.setup_from`.
        task: The task's name.
        options: The task's `dataset_kwargs`; a rubric's name may hold them in braces, as `mme_finance_{language}`.

    Returns:
        The pipelines, and the judging that their filters share; None where no filter scores by a rubric.

    Raises:
        ConfigError: There can be no such judge or rubric; found out before the model answers anything.
    """
    step = next((step for pipeline in pipelines for step in pipeline["filter"] if step["function"] == _NAME), None)
    if step is None:
        return [dict(pipeline) for pipeline in pipelines], None
    named = step["rubric"].format(**options)
    setup = setup_from(metadata, Settings.from_environ(), rubric=named)
    rubric = load_rubric(setup.rubric if setup else named)
    judging = RubricJudging(task=task, rubric=rubric, setup=setup, item_of=step["item"])
    told = [
        {
            **pipeline,
            "filter": [
                {**step, "judging": judging} if step["function"] == _NAME else step for step in pipeline["filter"]
            ],
        }
        for pipeline in pipelines
    ]
    return told, judging


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

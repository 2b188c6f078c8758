"""The filters of our tasks in lm-eval: run programs, ask a judge, read answers. Importing this registers them."""

import functools
import itertools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from fin_tasks import sandbox
from fin_tasks.adapters.task_file import rubric_of
from fin_tasks.benchmarks.scored_task import VARIANTS, ran
from fin_tasks.errors import FinTasksError, SandboxError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import check_failures, judge_from, judge_items
from fin_tasks.settings import Settings

_log = logging.getLogger(__name__)
Responses = Iterable[Sequence[Any]]
Docs = Sequence[Mapping[str, Any]]


def filter_list(
    reader: Callable[..., Any],
    programs: Callable[..., Sequence[str | None]] | None,
    judge: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    """Return lm-eval's `filter_list` of a task: judge or run programs if it asks for that, then read."""
    pipelines = []
    for variant in VARIANTS:
        steps: list[dict[str, Any]] = []
        if judge:
            steps.append({"function": "fin_tasks_judge", **judge})
        if programs:
            run = {"function": "fin_tasks_run_programs", "programs": programs, "variant": variant}
            steps.append(run)
        steps.append({"function": "fin_tasks_read", "reader": reader, "variant": variant})
        pipelines.append({"name": variant, "filter": steps})
    return pipelines


@register_filter("fin_tasks_read")
class ReadResponses(Filter):  # type: ignore[misc]
    """Read the answer in every response under one variant."""

    def __init__(self, *, reader: Callable[..., Any], variant: str) -> None:
        self.reader = functools.partial(reader, variant=variant)

    def apply(self, resps: Responses, docs: Docs) -> list[list[Any]]:
        """Return a list of readings for each document."""
        return [
            [self.reader(doc, one) for one in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]


@register_filter("fin_tasks_run_programs")
class RunPrograms(Filter):  # type: ignore[misc]
    """Run the programs of all responses at once; each response becomes a `sandbox.Ran`."""

    def __init__(self, *, programs: Callable[..., Sequence[str | None]], variant: str) -> None:
        self.programs = functools.partial(programs, variant=variant)

    def apply(self, resps: Responses, docs: Docs) -> list[list[sandbox.Ran]]:
        """Return a list for each document. If the sandbox breaks, outcomes are `broken`, and nothing raises."""
        return ran(self.programs, docs, list(resps), lambda programs: _run_batch(tuple(programs)))


@functools.lru_cache(maxsize=4)  # both variants of a task often have the same programs
def _run_batch(programs: tuple[str | None, ...]) -> tuple[sandbox.Outcome, ...]:
    try:
        return tuple(sandbox.run_programs(programs, settings=Settings.from_environ()))
    except (SandboxError, OSError) as error:
        _log.error("The sandbox broke, every program of this task stays unscored: %s", error)
        return (sandbox.Outcome(status=sandbox.Status.broken, detail=str(error)),) * len(programs)


@register_filter("fin_tasks_judge")
class AskJudge(Filter):  # type: ignore[misc]
    """Turn each response into a `Judged`; responses for which the step's `item` makes no item are not judged.

    Without a judge, responses stay as they are if the judge is optional, and are unscored otherwise. The task makes
    one such filter of its step, metadata and options for both variants, so that the judge is asked once.
    """

    def __init__(
        self, step: Mapping[str, Any], metadata: Mapping[str, Any], options: Mapping[str, Any]
    ) -> None:
        self.item: Callable[..., Item | None] = step["item"]
        self.optional = bool(step.get("optional"))
        self.rubric = rubric_of(step, options, metadata)
        self.judge = judge_from(metadata, Settings.from_environ())
        self.facts = self.judge.facts(self.rubric) if self.judge else {}
        self._last: tuple[list[Item], list[Judged]] | None = None
        if self.judge is None and not self.optional:
            _log.warning(
                "no judge is named (metadata judge_model), so all responses stay unscored."
            )

    def apply(self, resps: Responses, docs: Docs) -> list[list[Any]]:
        """Return a list for each document. If the judge failed too often, all are unscored, and nothing raises."""
        nested = [
            [text if isinstance(text, str) else "" for text in responses] for responses in resps
        ]
        if self.optional and self.judge is None:
            return nested
        asked = [
            [self.item(doc, text) for text in texts]
            for doc, texts in zip(docs, nested, strict=True)
        ]
        judged = iter(self._ask([one for one in itertools.chain(*asked) if one is not None]))
        return [
            [
                Judged(text) if one is None else next(judged)
                for one, text in zip(items, texts, strict=True)
            ]
            for items, texts in zip(asked, nested, strict=True)
        ]

    def _ask(self, items: list[Item]) -> list[Judged]:
        if self.judge is None:
            return [Judged(item.response) for item in items]
        if self._last is None or self._last[0] != items:
            try:
                judged = judge_items(items, self.rubric, self.judge)
                check_failures(judged, self.rubric, self.judge.max_failed)
            except (FinTasksError, OSError) as error:
                _log.error("All responses of this task stay unscored: %s", error)
                judged = [Judged(item.response, (), str(error)) for item in items]
            self.facts["usage"] = self.judge.spent()
            self._last = (items, judged)
        return self._last[1]

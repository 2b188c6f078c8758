"""Filters with a judge: one reads answers that rules cannot read, the other scores by a rubric."""

import itertools
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.setup import setup_from
from fin_tasks.judging.task_judging import ItemOf, RubricJudging
from fin_tasks.settings import Settings

__all__ = ["AskRubricJudge", "with_old_judges"]

_log = logging.getLogger(__name__)


@register_filter("fin_tasks_rubric_judge")
class AskRubricJudge(Filter):  # type: ignore[misc]
    """Score every response by a rubric; `with_judges` sets `judging`, and if None, no judge is called."""

    def __init__(self, *, item: ItemOf, rubric: str, judging: RubricJudging | None = None) -> None:
        self.judging = judging or RubricJudging(task="task", rubric=load_rubric(rubric), setup=None, item_of=item)

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[JudgedResponse]]:
        """Return one list of judged responses per document."""
        nested = [
            # an API that gave no text leaves None
            [self.judging.item_of(doc, response if isinstance(response, str) else "") for response in responses]
            for responses, doc in zip(resps, docs, strict=True)
        ]
        judged = iter(self.judging.judge(tuple(itertools.chain(*nested))))
        return [[next(judged) for _ in items] for items in nested]


def with_old_judges(
    pipelines: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], *, task: str, options: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], RubricJudging | None]:
    """Give the old filters their judge."""
    steps = {step["function"]: step for pipeline in pipelines for step in pipeline["filter"]}
    step = steps["fin_tasks_rubric_judge"]
    named = step["rubric"].format(**options)
    setup = setup_from(metadata, Settings.from_environ(), rubric=named)
    rubric = load_rubric(setup.rubric if setup else named)
    judging = RubricJudging(task=task, rubric=rubric, setup=setup, item_of=step["item"])
    given = {"fin_tasks_rubric_judge": {"judging": judging}}
    steps_of = [[{**step, **given.get(step["function"], {})} for step in pipeline["filter"]] for pipeline in pipelines]
    return [{**pipeline, "filter": of} for pipeline, of in zip(pipelines, steps_of, strict=True)], judging

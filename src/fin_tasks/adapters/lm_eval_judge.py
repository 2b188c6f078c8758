"""Filters with a judge: one reads answers that rules cannot read, the other scores by a rubric."""

import functools
import itertools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter
from tqdm import tqdm

from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.old_chat import Chat
from fin_tasks.errors import ConfigError
from fin_tasks.judging.judged_response import JudgedResponse
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.setup import setup_from
from fin_tasks.judging.task_judging import ItemOf, RubricJudging
from fin_tasks.settings import OPENAI, Settings

__all__ = ["AskJudge", "AskRubricJudge", "with_judges"]

_log = logging.getLogger(__name__)


@register_filter("fin_tasks_judge")
class AskJudge(Filter):  # type: ignore[misc]
    """Let a judge read responses with `read(chat, responses, on_done=...)`; `with_judges` sets the judge."""

    def __init__(self, *, read: Callable[..., Sequence[Any]], judge: Endpoint | None = None) -> None:
        self.read = read
        self.judge = judge

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """Return one list of readings per document."""
        nested = [list(responses) for responses in resps]
        read = iter(_read_batch(self.read, tuple(itertools.chain(*nested)), self.judge))
        return [[next(read) for _ in responses] for responses in nested]


@functools.lru_cache(maxsize=2)  # both variants of a task take what the judge said once
def _read_batch(read: Callable[..., Sequence[Any]], texts: tuple[str, ...], judge: Endpoint | None) -> Sequence[Any]:
    if judge is None:
        return texts
    with tqdm(desc="Judging", unit="response") as bar:
        chat = Chat(judge, Settings.from_environ())
        readings = read(chat, texts, on_done=lambda done: bar.update(done - bar.n))
    if failed := list(filter(None, (getattr(reading, "judge_error", "") for reading in readings))):
        _log.error("The judge failed on %d of %d responses; run again. %s", len(failed), len(texts), failed[0])
    return readings


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


def with_judges(
    pipelines: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], *, task: str, options: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], RubricJudging | None]:
    """Give the filters of a task's `filter_list` the judge that the metadata or the environment names.

    Returns also what rubric filters share; raises ConfigError before any question if there is no such judge or rubric.
    """
    steps = {step["function"]: step for pipeline in pipelines for step in pipeline["filter"]}
    given: dict[str, dict[str, Any]] = {}
    judging = None
    if "fin_tasks_judge" in steps:
        given["fin_tasks_judge"] = {"judge": _endpoint(metadata)}
    if step := steps.get("fin_tasks_rubric_judge"):
        named = step["rubric"].format(**options)
        setup = setup_from(metadata, Settings.from_environ(), rubric=named)
        rubric = load_rubric(setup.rubric if setup else named)
        judging = RubricJudging(task=task, rubric=rubric, setup=setup, item_of=step["item"])
        given["fin_tasks_rubric_judge"] = {"judging": judging}
    steps_of = [[{**step, **given.get(step["function"], {})} for step in pipeline["filter"]] for pipeline in pipelines]
    return [{**pipeline, "filter": of} for pipeline, of in zip(pipelines, steps_of, strict=True)], judging


def _endpoint(metadata: Mapping[str, Any]) -> Endpoint | None:
    if not metadata.get("judge_model"):
        if named := [key for key in ("judge_base_url", "judge_key") if key in metadata]:
            raise ConfigError(f"metadata {', '.join(named)}: expected judge_model beside it, got none.")
        return None
    address, key = metadata.get("judge_base_url") or OPENAI, metadata.get("judge_key") or "OPENAI_API_KEY"
    return Endpoint(model=str(metadata["judge_model"]), base_url=str(address), key_variable=str(key))

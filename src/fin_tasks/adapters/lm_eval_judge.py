"""A filter that has a judge, another language model, read responses."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter
from tqdm import tqdm

from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI, Settings

__all__ = ["AskJudge", "with_judge"]

_log = logging.getLogger(__name__)
_NAME = "fin_tasks_judge"
_KEYS = ("judge_base_url", "judge_key")


@register_filter(_NAME)
class AskJudge(Filter):  # type: ignore[misc]
    """Read every response of a task at once, with a judge where there is one.

    Args:
        read: Takes the responses, the judge (a `Chat`, or None) and a function to call with the number of responses
            judged so far; returns one reading per response, whose `judge_error` says how the judge failed on it.
        judge: Model, address and key variable of the judge; `with_judge` puts it here.
    """

    def __init__(self, *, read: Callable[..., Sequence[Any]], judge: Mapping[str, str] | None = None) -> None:
        self.read = read
        self.judge = judge

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """Return one list of readings per document."""
        nested = [list(responses) for responses in resps]
        texts = tuple(response for responses in nested for response in responses)
        readings = iter(_read_batch(self.read, texts, _endpoint(self.judge)))
        return [[next(readings) for _ in responses] for responses in nested]


def with_judge(pipelines: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tell the filters that ask a judge which one the metadata names.

    Args:
        pipelines: The task's `filter_list`.
        metadata: `judge_model` names a chat model, `judge_base_url` its OpenAI-compatible address (OpenAI's own where
            absent) and `judge_key` the environment variable that holds its key (`OPENAI_API_KEY` where absent). Nobody
            is asked without a model.

    Raises:
        ConfigError: There can be no such judge; found out before the model answers anything.
    """
    if not any(step["function"] == _NAME for pipeline in pipelines for step in pipeline["filter"]):
        return [dict(pipeline) for pipeline in pipelines]
    judge = _judge(metadata)
    return [{**pipeline, "filter": [_told(step, judge) for step in pipeline["filter"]]} for pipeline in pipelines]


def _told(step: Mapping[str, Any], judge: Mapping[str, str] | None) -> Mapping[str, Any]:
    return {**step, "judge": judge} if judge and step["function"] == _NAME else step


def _judge(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    if not metadata.get("judge_model"):
        if named := [key for key in _KEYS if key in metadata]:
            raise ConfigError(f"metadata {', '.join(named)}: expected judge_model beside it, got none.")
        return None
    judge = {
        "model": str(metadata["judge_model"]),
        "base_url": str(metadata.get("judge_base_url") or OPENAI),
        "key_variable": str(metadata.get("judge_key") or "OPENAI_API_KEY"),
    }
    _endpoint(judge)
    return judge


def _endpoint(judge: Mapping[str, str] | None) -> Endpoint | None:
    if judge is None:
        return None
    return Endpoint(model=judge["model"], base_url=judge["base_url"], key_variable=judge["key_variable"])


@lru_cache(maxsize=4)
def _read_batch(read: Callable[..., Sequence[Any]], texts: tuple[str, ...], judge: Endpoint | None) -> tuple[Any, ...]:
    # The filters of one task ask for the same batch under each variant; the judge is asked once.
    if judge is None:
        return tuple(read(texts, None, None))
    with tqdm(desc="Judging", unit="response") as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        readings = tuple(read(texts, Chat(judge, Settings.from_environ()), advance))
    failed = [reading.judge_error for reading in readings if reading.judge_error is not None]
    if failed:
        _log.error(
            "%d of %d responses could not be judged; run again to ask again. %s", len(failed), len(texts), failed[0]
        )
    return readings

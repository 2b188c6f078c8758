"""What fin-tasks does with names of lm-eval that are no public interface.

A release of lm-eval may change each of these names. `tests/contract/test_lm_eval_names.py` has a
test for each of them. `autoload.py` wraps `TaskManager`, because it may import nothing.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any

from lm_eval import evaluator
from lm_eval.api.instance import Instance as Instance
from lm_eval.api.model import LM as LM
from lm_eval.api.model import CachingLM
from lm_eval.models.api_models import LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER
from lm_eval.models.api_models import JsonChatStr as JsonChatStr

from fin_tasks.answers.cut_off import mark_response

Function = Callable[..., Any]
"""A function of lm-eval."""
Reply = Mapping[str, Any]
"""A reply of an API, or a part of it."""

_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers with a reasoning parser put the reasoning of a message."""


def wrap_evaluate(wrapper: Function) -> None:
    """Let lm-eval call a function in place of `evaluate`, which is its first argument."""
    evaluate = evaluator.evaluate
    wrapped = functools.partial(wrapper, evaluate)
    evaluator.evaluate = functools.wraps(evaluate)(wrapped)


def model_of(lm: LM) -> LM:
    """Return the model itself; `--use_cache` wraps it."""
    while isinstance(lm, CachingLM):
        lm = lm.lm
    return lm


def token_counts(lm: LM, texts: Sequence[str]) -> list[int] | None:
    """Return the number of tokens in each text; None if the model has no tokenizer that tells."""
    # Read the attribute of the instance; the property of the class may download a tokenizer.
    attributes = getattr(model_of(lm), "__dict__", {})
    try:
        tokenizer = attributes["tokenizer"]
        return [len(tokenizer.encode(text)) for text in texts]
    except Exception:  # noqa: BLE001 - of no tokenizer, or one of any kind; a count is not worth a run
        return None


@contextmanager
def marking_cut_offs(lm: LM) -> Iterator[bool]:
    """Mark the responses that the model cuts off, as long as the context is open.

    Yield whether the model tells which: API models do, by the finish reason.
    """
    model = model_of(lm)
    if not hasattr(model, "parse_generations"):
        yield False
        return
    model.parse_generations = _marking_replies(model.parse_generations)
    try:
        yield True
    finally:
        del model.parse_generations


def _marking_replies(parse: Function) -> Function:
    """Wrap `parse_generations` of an API model, which drops the finish reasons."""

    def parse_and_mark(outputs: Any, **kwargs: object) -> list[str | None]:
        texts: list[str | None] = parse(outputs=outputs, **kwargs)
        replies = outputs if isinstance(outputs, list) else [outputs]
        try:
            reasons = list(chain.from_iterable(map(_reasons_of_reply, replies)))
        except (AttributeError, KeyError, TypeError):
            return texts
        if len(reasons) != len(texts):
            return texts
        # lm-eval would put the same text in place of None, and warn each time.
        missing = LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER
        known = [missing if text is None else text for text in texts]
        return list(map(mark_response, known, reasons))

    return parse_and_mark


def _reasons_of_reply(reply: Reply) -> list[str]:
    """Return the finish reason of each text in a reply of an API."""
    if "choices" in reply:  # OpenAI and all servers like it
        choices = sorted(reply["choices"], key=itemgetter("index"))
        return [_reason_of_choice(choice) for choice in choices]
    return [str(reply["stop_reason"])] * len(reply["content"])  # Anthropic


def _reason_of_choice(choice: Reply) -> str:
    message = choice.get("message") or {}
    has_thoughts = any(message.get(name) for name in _THOUGHTS)
    if has_thoughts and not message.get("content"):
        return "length"  # the reasoning never ended in a reply
    return str(choice.get("finish_reason"))

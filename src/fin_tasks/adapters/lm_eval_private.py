"""What fin-tasks does with names of lm-eval that are no public interface.

A release of lm-eval may change each of these names. `tests/contract/test_lm_eval_names.py` has a
test for each of them. `autoload.py` wraps `TaskManager`, because it may import nothing.
"""

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from lm_eval import evaluator
from lm_eval.api.instance import Instance as Instance
from lm_eval.api.model import LM as LM
from lm_eval.api.model import CachingLM
from lm_eval.models.api_models import LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER
from lm_eval.models.api_models import JsonChatStr as JsonChatStr

from fin_tasks.answers.cut_off import CutOffResponse, mark_response

if TYPE_CHECKING:
    from torch import Tensor

Function = Callable[..., Any]
"""A function of lm-eval."""
Reply = Mapping[str, Any]
"""A reply of an API, or a part of it."""

# The modules whose `generate_until` calls `_model_generate` for a batch of requests, and then
# `postprocess_generated_text` for each of its responses.
_BATCH_MODELS = ("lm_eval.models.huggingface", "lm_eval.models.vllm_causallms")
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
    try:
        tokenizer = vars(model_of(lm))["tokenizer"]
        return [len(tokenizer.encode(text)) for text in texts]
    except Exception:  # noqa: BLE001 - of no tokenizer, or one of any kind; a count is not worth a run
        return None


@contextmanager
def marking_cut_offs(lm: LM) -> Iterator[bool]:
    """Mark the responses that the model cuts off, as long as the context is open.

    Yield whether the model tells which: API models and vLLM by the finish reason, hf by its tokens.
    """
    model = model_of(lm)
    module_name = model.generate_until.__module__
    # `patch.object` puts the names back when the stack is left.
    with ExitStack() as stack:
        if hasattr(model, "parse_generations"):
            parse = _marking_replies(model.parse_generations)
            stack.enter_context(patch.object(model, "parse_generations", parse))
            yield True
        elif module_name in _BATCH_MODELS:
            module = sys.modules[module_name]
            flags: deque[bool] = deque()
            generate = _noting_flags(model, flags)
            postprocess = _marking_texts(module.postprocess_generated_text, flags)
            stack.enter_context(patch.object(model, "_model_generate", generate))
            stack.enter_context(
                patch.object(module, "postprocess_generated_text", postprocess)
            )
            yield True
        else:
            yield False


def _marking_replies(parse: Function) -> Function:
    """Wrap `parse_generations` of an API model, which drops the finish reasons."""

    def parse_and_mark(outputs: Any, **kwargs: object) -> list[str | None]:
        texts: list[str | None] = parse(outputs=outputs, **kwargs)
        replies = outputs if isinstance(outputs, list) else [outputs]
        try:
            reasons = chain.from_iterable(map(_reasons_of_reply, replies))
            pairs = zip(texts, reasons, strict=True)
            return [_marked(text, reason) for text, reason in pairs]
        except (AttributeError, KeyError, TypeError, ValueError):
            return texts

    return parse_and_mark


def _marked(text: str | None, reason: str) -> str | None:
    # lm-eval puts the same text in place of None, but warns each time.
    response = mark_response(
        LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER if text is None else text, reason
    )
    return response if isinstance(response, CutOffResponse) else text


def _reasons_of_reply(reply: Reply) -> list[str]:
    """Return the finish reason of each text in a reply of an API."""
    if "choices" in reply:  # OpenAI and all servers like it
        choices = sorted(reply["choices"], key=itemgetter("index"))
        return list(map(_reason_of_choice, choices))
    if "meta_info" in reply:  # SGLang
        return [reply["meta_info"]["finish_reason"]["type"]]
    return [reply["stop_reason"]] * len(reply["content"])  # Anthropic


def _reason_of_choice(choice: Reply) -> str:
    message = choice.get("message") or {}
    has_thoughts = any(message.get(name) for name in _THOUGHTS)
    if has_thoughts and not message.get("content"):
        return "length"  # the reasoning never ended in a reply
    return str(choice.get("finish_reason"))


def _noting_flags(model: LM, flags: deque[bool]) -> Function:
    """Wrap `_model_generate` of hf and vLLM to note which responses of a batch were cut off."""
    generate = model._model_generate

    def generate_and_note(*args: object, **kwargs: Any) -> Any:
        batch = generate(*args, **kwargs)
        flags.clear()
        if hasattr(batch, "shape"):  # the tokens of hf
            flags.extend(_full_rows(model, batch, kwargs))
        else:
            for output in batch:
                flags.append(output.outputs[0].finish_reason == "length")
        return batch

    return generate_and_note


def _full_rows(
    model: LM,
    tokens: "Tensor",
    arguments: Mapping[str, Any],
) -> list[bool]:
    """Return for each row of an hf batch whether it reached the limit without an end token."""
    if tokens.shape[1] < arguments["max_length"]:
        return [False] * len(tokens)
    if model.backend == "causal":
        n_prompt = arguments["context"].shape[1]
        tokens = tokens[:, n_prompt:]
    # One number, a list of numbers, or None.
    named = model.model.generation_config.eos_token_id
    tokenizer = model.tokenizer
    end_tokens = {tokenizer.eos_token_id, tokenizer.pad_token_id, *np.ravel(named)}
    return [end_tokens.isdisjoint(row) for row in tokens.tolist()]


def _marking_texts(postprocess: Function, flags: deque[bool]) -> Function:
    """Wrap `postprocess_generated_text`, which drops reasoning and what follows a stop text."""

    def postprocess_and_mark(
        generation: str,
        stop: object,
        think_end_token: str | None,
    ) -> str:
        response: str = postprocess(generation, stop, think_end_token)
        is_cut_off = bool(flags) and flags.popleft()
        # What ended at a stop text is complete, even if the rest of its batch went on.
        if is_cut_off and response == postprocess(generation, None, think_end_token):
            return CutOffResponse(response)
        return response

    return postprocess_and_mark

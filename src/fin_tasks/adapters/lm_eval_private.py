"""What fin-tasks does with names of lm-eval that are no public interface.

A release of lm-eval may change each of these names. `tests/contract/test_lm_eval_names.py` has a
test for each of them. `autoload.py` wraps `TaskManager`, because it may import nothing.
"""

import logging
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from lm_eval.api.instance import Instance as Instance
from lm_eval.api.model import LM as LM
from lm_eval.api.model import CachingLM as CachingLM
from lm_eval.api.model import hash_args
from lm_eval.models.api_models import LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER
from lm_eval.models.api_models import JsonChatStr as JsonChatStr

from fin_tasks.answers.cut_off import CutOffResponse, FailedResponse, mark_response

if TYPE_CHECKING:
    from torch import Tensor

_log = logging.getLogger(__name__)

Function = Callable[..., Any]
"""A function of lm-eval."""
Reply = Mapping[str, Any]
"""A reply of an API, or a part of it."""

# The modules whose `generate_until` calls `_model_generate` for a batch of requests, and then
# `postprocess_generated_text` for each of its responses.
_BATCH_MODELS = ("lm_eval.models.huggingface", "lm_eval.models.vllm_causallms")
ASK = "generate_until_for_fin_tasks"
"""The type of our requests, and the method of models that answers them."""
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers with a reasoning parser put the reasoning of a message."""


def true_in_all_processes(lm: LM, flags: Sequence[bool]) -> list[bool]:
    """Return for each flag whether it is true in every process of the run."""
    import torch

    tensor = torch.tensor(flags, dtype=torch.int, device=lm.device)
    gathered = lm.all_gather(tensor)
    return [bool(flag) for flag in gathered.reshape(-1, len(flags)).min(dim=0).values]


def token_counts(lm: LM, texts: Sequence[str]) -> list[int] | None:
    """Return the number of tokens in each text; None if the model has no tokenizer that tells."""
    # Read the attribute of the instance; the property of the class may download a tokenizer.
    try:
        tokenizer = vars(lm)["tokenizer"]
        return [len(tokenizer.encode(text)) for text in texts]
    except Exception:  # noqa: BLE001 - of no tokenizer, or one of any kind; a count is not worth a run
        return None


@contextmanager
def marking_cut_offs(model: LM) -> Iterator[bool]:
    """Mark the responses that the model cuts off or fails to give, as long as the context is open.

    Yield whether the model tells which were cut off: API models and vLLM by the finish reason, hf
    by its tokens.
    """
    module_name = model.generate_until.__module__
    # `patch.object` puts the names back when the stack is left.
    with ExitStack() as stack:
        if hasattr(model, "parse_generations"):
            replies = _Replies(model)
            stack.enter_context(patch.object(model, "parse_generations", replies.parse))
            yield True
            replies.warn()
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


class _Replies:
    """Stands in for `parse_generations` of an API model, which drops finish reasons and failures."""

    def __init__(self, model: LM) -> None:
        self._parse = model.parse_generations
        self._batch_size = getattr(model, "_batch_size", 1)
        self._n_only_thoughts = 0

    def parse(self, outputs: Any, **kwargs: object) -> list[str | None]:
        """Return the text of each response, marked if it was cut off or if the request failed."""
        texts: list[str | None] = []
        for reply in outputs if isinstance(outputs, list) else [outputs]:
            failure = _failure_of(reply)
            if failure and self._batch_size == 1:
                texts.append(FailedResponse(failure))
                continue
            if isinstance(reply, dict) and isinstance(reply.get("choices"), list):
                reply = {**reply, "choices": list(map(_with_text, reply["choices"]))}
            parsed = self._parse(outputs=reply, **kwargs)
            try:
                pairs = zip(parsed, self._reasons_of(reply), strict=True)
                texts += [_marked(text, reason) for text, reason in pairs]
            except (AttributeError, KeyError, TypeError, ValueError):
                texts += parsed
        return texts

    def _reasons_of(self, reply: Reply) -> list[str]:
        """Return the finish reason of each text in a reply."""
        if "choices" in reply:  # OpenAI and all servers like it
            reasons = []
            for choice in sorted(reply["choices"], key=itemgetter("index")):
                reason = str(choice.get("finish_reason"))
                message = choice.get("message") or {}
                has_thoughts = any(message.get(name) for name in _THOUGHTS)
                if has_thoughts and not message.get("content") and reason == "stop":
                    self._n_only_thoughts += 1
                reasons.append(reason)
            return reasons
        if "meta_info" in reply:  # SGLang
            return [reply["meta_info"]["finish_reason"]["type"]]
        return [reply["stop_reason"]] * len(reply["content"])  # Anthropic

    def warn(self) -> None:
        """Warn of replies that ended by themselves after their reasoning, without an answer."""
        if self._n_only_thoughts:
            _log.warning(
                "%d responses have reasoning and no answer, and the limit of tokens did not end them: "
                "the server's reasoning parser may have taken the answer. Check its name, or serve "
                "the model without it. They count as empty responses.",
                self._n_only_thoughts,
            )


def _failure_of(reply: Any) -> str:
    """Return why a reply of a server holds no response; empty if it holds one."""
    if not isinstance(reply, dict):
        return f"the server sent no reply, but {reply!r:.80}"
    if reply.get("error") and not reply.get("choices"):
        return f"the server sent an error: {reply['error']!r:.200}"
    if "choices" in reply and not reply["choices"]:
        return "the server sent a reply without choices"
    return ""


def _with_text(choice: Reply) -> Reply:
    """Return a choice whose content is a text: parts are joined, and their thoughts are left out."""
    message = choice.get("message")
    if not message or not isinstance(message.get("content"), list):
        return choice
    texts = []
    for part in message["content"]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type") == "text":
            texts.append(str(part.get("text") or ""))
    return {**choice, "message": {**message, "content": "".join(texts)}}


def _marked(text: str | None, reason: str) -> str | None:
    if reason == "content_filter" and not text:
        return FailedResponse("the server's filter withheld the response")
    # lm-eval puts the same text in place of None, but warns each time.
    response = mark_response(
        LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER if text is None else text, reason
    )
    return response if isinstance(response, CutOffResponse) else text


def forget_failures(
    lm: LM, requests: Sequence[Instance], responses: Sequence[str]
) -> None:
    """Take failed requests out of the cache of `--use_cache`, so that the next run asks them again."""
    if not isinstance(lm, CachingLM):
        return  # nothing is kept
    for request, response in zip(requests, responses, strict=True):
        if isinstance(response, FailedResponse):
            lm.dbdict.pop(hash_args("generate_until", request.args), None)


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
    end_ids = model.model.generation_config.eos_token_id
    tokenizer = model.tokenizer
    end_tokens = {tokenizer.eos_token_id, tokenizer.pad_token_id, *np.ravel(end_ids)}
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

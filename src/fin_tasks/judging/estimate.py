"""Estimate what judging would cost before the judge is asked."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from fin_tasks.endpoints.replies import ReplyCache, request_key
from fin_tasks.settings import Settings

from .item import Facts, Item, missing_reason
from .judge import JudgeModel
from .rubric import Rubric

_BYTES_PER_TOKEN = 4  # of texts in UTF-8


def estimate(
    items: Sequence[Item], rubric: Rubric, judge: JudgeModel, settings: Settings
) -> Facts:
    """Return requests, tokens and cost if the first reply to each response can be read.

    Responses whose reply is in the cache are not asked for. Tokens of pictures are not known.
    """
    judged = [item for item in items if not missing_reason(item.response)]
    n_requests = 0
    n_prompt_tokens = 0
    cache = ReplyCache(settings.cache_dir)
    with closing(cache.database):
        for item in judged:
            first_try = {
                "model": judge.model,
                "messages": rubric.messages(item),
                "max_tokens": rubric.max_tokens,
                "temperature": rubric.temperatures[0],
            }
            if cache.get(request_key(judge.base_url, first_try)) is None:
                n_requests += 1
                messages = rubric.messages(replace(item, picture=None))
                text = json.dumps(messages, ensure_ascii=False)
                n_prompt_tokens += len(text.encode()) // _BYTES_PER_TOKEN
    n_completion_tokens = n_requests * rubric.max_tokens
    figures: Facts = {
        "n": len(items),
        "without_response": len(items) - len(judged),
        "cached": len(judged) - n_requests,
        "requests": n_requests,
        "prompt_tokens_without_pictures": n_prompt_tokens,
        "completion_tokens": n_completion_tokens,
    }
    if judge.prices is not None:
        cost = judge.prices.cost(judge.model, n_prompt_tokens, n_completion_tokens)
        figures["cost_without_pictures"] = cost
    return figures

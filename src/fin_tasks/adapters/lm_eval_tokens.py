"""How many tokens and seconds a run of lm-eval takes, and which responses reach the limit of tokens."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fin_tasks.answers.cut_off import CutOffResponse
from fin_tasks.benchmarks.task_file import Mapped

from .lm_eval_private import LM, Instance, token_counts

_FULL_SHARE = 0.99
"""The share of the limit from which a response is full: counted again, it may have a few tokens less."""
_MOST_CUT_OFF = 0.02
"""A larger share of cut-off responses is a warning."""
_ROOM_TO_THINK = 16_384
"""Tokens that suffice for most answers of models that reason."""
_CHARACTERS_PER_TOKEN = 4


@dataclass
class Clock:
    """Measures the seconds in which the model answers all tasks."""

    started: float = 0.0
    seconds: float | None = None

    def start(self) -> None:
        """Start again; lm-eval's last task that builds requests is the last call."""
        self.started = time.monotonic()
        self.seconds = None

    def stop(self) -> float:
        """Return the seconds until the first task reads responses, for each task the same."""
        if self.seconds is None:
            self.seconds = round(time.monotonic() - self.started, 3)
        return self.seconds


def usage_of(
    requests: Sequence[Instance],
    lm: LM,
    response_tokens: Sequence[int] | None,
) -> dict[str, object]:
    """Count `prompt_tokens` and `response_tokens`, pictures left out.

    `estimated` is true if the model has no tokenizer: the counts are then characters divided by
    four. It is also true if several processes ask: each is taken to use as many tokens as this one.
    """
    prompts = []
    for request in requests:
        prompt = getattr(request.args[0], "prompt", request.args[0])
        prompts += [prompt] * len(request.resps)
    prompt_tokens = token_counts(lm, prompts)
    n_processes = getattr(lm, "world_size", 1)
    is_estimated = n_processes > 1
    if prompt_tokens is None or response_tokens is None:
        is_estimated = True
        prompt_tokens = [sum(map(len, prompts)) // _CHARACTERS_PER_TOKEN]
        response_tokens = [
            sum(map(len, responses_of(requests))) // _CHARACTERS_PER_TOKEN
        ]
    return {
        "prompt_tokens": n_processes * sum(prompt_tokens),
        "response_tokens": n_processes * sum(response_tokens),
        "estimated": is_estimated,
    }


def responses_of(requests: Sequence[Instance]) -> list[str]:
    """Return the responses to all requests; a missing one is empty."""
    responses = []
    for request in requests:
        responses += [response or "" for response in request.resps]
    return responses


def mark_full_responses(requests: Sequence[Instance], n_tokens: Iterable[int]) -> None:
    """Mark the responses whose tokens, given in order, reach the limit of their request."""
    counts = iter(n_tokens)
    for request in requests:
        _, generation_kwargs, *_ = request.args
        limit = generation_kwargs["max_gen_toks"]
        for number, response in enumerate(request.resps):
            if next(counts) >= _FULL_SHARE * limit:
                request.resps[number] = CutOffResponse(response)


def warning_of(results: Mapped, tasks: Mapped) -> str:
    """Return what to warn of after a run; empty if no task has many cut-off responses."""
    n_cut_off = 0
    n_responses = 0
    limits = set()
    for name, task in tasks.items():
        totals = results["results"].get(name, {})
        # Predictions without scores have the filter `none`.
        share = totals.get("cut_off,robust", totals.get("cut_off,none"))
        if isinstance(share, float) and share > _MOST_CUT_OFF:
            n = results["n-samples"][name]["effective"] * task.config.repeats
            n_responses += n
            n_cut_off += round(share * n)
            limits.add(task.config.generation_kwargs["max_gen_toks"])
    if not limits:
        return ""
    at_limit = " or ".join(f"{limit:,}" for limit in sorted(limits))
    return (
        f"{n_cut_off:,} of {n_responses:,} responses were cut off at {at_limit} tokens. They count as "
        "they are, most of them as wrong, so the scores are lower bounds. Run again with "
        f"--gen_kwargs max_gen_toks={max(_ROOM_TO_THINK, 4 * max(limits))}"
    )

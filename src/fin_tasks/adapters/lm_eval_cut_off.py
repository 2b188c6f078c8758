"""Cut-off responses in lm-eval: mark them, pass the mark on to the readings, and warn of many."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fin_tasks.answers.cut_off import CutOffResponse, mark_reading
from fin_tasks.answers.types import Reading

# A text that is made of tokens and taken apart again may have a few tokens less than before.
_FULL = 0.99
_MOST_CUT_OFF = 0.02
_ROOM_TO_THINK = 16_384  # tokens that suffice for most answers of models that reason


def mark_full_responses(requests: Sequence[Any], n_tokens: Iterable[int]) -> None:
    """Mark the responses whose tokens, given in order, reach the limit of their request."""
    remaining = iter(n_tokens)
    for request in requests:
        limit = _FULL * request.args[1]["max_gen_toks"]
        marked = []
        for response in request.resps:
            is_full = next(remaining) >= limit
            marked.append(CutOffResponse(response) if is_full else response)
        request.resps = marked


def mark_readings(requests: Sequence[Any]) -> None:
    """Set `cut_off` in what all filters read in the responses to requests."""
    for request in requests:
        for readings in request.filtered_resps.values():
            for at, response in enumerate(request.resps):
                if isinstance(readings[at], Reading):
                    # An empty response may be marked, too.
                    text = "" if response is None else response
                    readings[at] = mark_reading(readings[at], text)


def warning_of(results: Mapping[str, Any], tasks: Mapping[str, Any]) -> str:
    """Return what to warn of after a run; empty if no task has many cut-off responses."""
    n_cut_off = 0
    n_responses = 0
    limits = set()
    for name, task in tasks.items():
        totals = results["results"].get(name, {})
        share = totals.get("cut_off,robust", totals.get("cut_off,none", 0.0))
        if isinstance(share, str) or share <= _MOST_CUT_OFF:
            continue
        n = results["n-samples"][name]["effective"] * task.config.repeats
        n_responses += n
        n_cut_off += round(share * n)
        limits.add(task.config.generation_kwargs["max_gen_toks"])
    if not limits:
        return ""
    limit = " or ".join(f"{one:,}" for one in sorted(limits))
    higher = max(_ROOM_TO_THINK, 4 * max(limits))
    return (
        f"{n_cut_off:,} of {n_responses:,} responses were cut off at {limit} tokens. They count as "
        f"they are, most of them as wrong, so the scores are lower bounds. Run again with "
        f"--gen_kwargs max_gen_toks={higher}"
    )

"""Cut-off responses in lm-eval: mark them, pass the mark on to the readings, and warn of many."""

from collections.abc import Iterable, Sequence

from fin_tasks.adapters.lm_eval_private import Instance
from fin_tasks.adapters.task_file import Mapped
from fin_tasks.answers.cut_off import CutOffResponse

# A text that is made of tokens and taken apart again may have a few tokens less than before.
_FULL = 0.99
_MOST_CUT_OFF = 0.02
_ROOM_TO_THINK = 16_384  # tokens that suffice for most answers of models that reason


def mark_full_responses(requests: Sequence[Instance], n_tokens: Iterable[int]) -> None:
    """Mark the responses whose tokens, given in order, reach the limit of their request."""
    counts = iter(n_tokens)
    for request in requests:
        _, generation_kwargs, *_ = request.args
        limit = generation_kwargs["max_gen_toks"]
        for number, response in enumerate(request.resps):
            if next(counts) >= _FULL * limit:
                request.resps[number] = CutOffResponse(response)


def warning_of(results: Mapped, tasks: Mapped) -> str:
    """Return what to warn of after a run; empty if no task has many cut-off responses."""
    n_cut_off = 0
    n_responses = 0
    limits = set()
    for name, task in tasks.items():
        totals = results["results"].get(name, {})
        share = totals.get("cut_off,robust")
        if isinstance(share, float) and share > _MOST_CUT_OFF:
            n = results["n-samples"][name]["effective"] * task.config.repeats
            n_responses += n
            n_cut_off += round(share * n)
            limits.add(task.config.generation_kwargs["max_gen_toks"])
    if not limits:
        return ""
    at_limit = " or ".join(f"{limit:,}" for limit in sorted(limits))
    higher = max(_ROOM_TO_THINK, 4 * max(limits))
    return (
        f"{n_cut_off:,} of {n_responses:,} responses were cut off at {at_limit} tokens. They count as "
        f"they are, most of them as wrong, so the scores are lower bounds. Run again with "
        f"--gen_kwargs max_gen_toks={higher}"
    )

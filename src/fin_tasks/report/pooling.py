"""Which tasks are pooled into `all`, and what an `all` leaves out."""

from collections.abc import Iterator, Sequence
from typing import Any

from fin_tasks.report.pairing import Pair, say
from fin_tasks.report.runs import Run
from fin_tasks.report.settings import Difference, below, differences, of_rows_asked

__all__ = ["not_in_wholes", "one_run", "wholes_of"]

_IN_COMMON = (  # tasks that have these in common are parts of one run over a benchmark
    *("limit", "samples", "model", "model_args", "chat_template_sha", "system_instruction_sha", "provenance.split"),
    *("provenance.style", "provenance.prompts", "provenance.data.origin", "provenance.retrieval"),
)


def one_run(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Put the tasks of one comparison together: pairs whose runs differ in the task only, each task once."""
    sets: dict[tuple[Any, ...], list[list[Pair]]] = {}
    for pair in pairs:
        key = tuple(
            (*_thing(run), *((k, v) for k, v in of_rows_asked(run.setting).items() if below(k, _IN_COMMON)))
            for run in (pair.baseline, pair.other)
        )
        several = sets.setdefault(key, [])
        free = next((one for one in several if pair.other.task not in {p.other.task for p in one}), None)
        if free is None:
            several.append([pair])
        else:
            free.append(pair)
    return [one for several in sets.values() for one in several]


def wholes_of(pairs: Sequence[Pair], notes: list[str]) -> Iterator[tuple[Pair, ...]]:
    """Give the tasks to pool: all of a set; those of each mode where tasks share rows; none where they still do."""
    if _disjoint(pairs):
        groups = [list(pairs)]
    else:
        by_mode: dict[str, list[Pair]] = {}
        for pair in pairs:
            by_mode.setdefault(pair.other.mode, []).append(pair)
        groups = list(by_mode.values())
    for group in groups:
        if len(group) < 2:
            continue
        if _disjoint(group):
            yield tuple(group)
        else:
            tasks = ", ".join(pair.other.family for pair in group)
            notes.append(f"{tasks}: not pooled, as they ask some questions twice.")


def not_in_wholes(sets: Sequence[Sequence[Pair]], wholes: Sequence[Sequence[Sequence[Pair]]]) -> list[str]:
    """Name the tasks compared for the same change that an `all` is not over, and why; or why there is no `all`.

    Args:
        sets: From `one_run`.
        wholes: What is pooled of each, from `wholes_of`.
    """
    changes: dict[tuple[Any, ...], tuple[list[Pair], list[Sequence[Pair]]]] = {}
    for of_set, pooled in zip(sets, wholes, strict=True):
        pairs, of_change = changes.setdefault((*_thing(of_set[0].baseline), *_thing(of_set[0].other)), ([], []))
        pairs += of_set
        of_change += pooled
    notes: list[str] = []
    for pairs, of_change in changes.values():
        for whole in of_change:
            notes += [f"The 'all' of {_names(whole)} leaves out {left}." for left in _left_out(whole, pairs)]
        if not of_change:
            notes += [f"{pairs[0].other.family} is not pooled with {left}." for left in _left_out(pairs[:1], pairs)]
    return notes


def _left_out(whole: Sequence[Pair], pairs: Sequence[Pair]) -> list[str]:
    has = {pair.other.family for pair in whole}
    by_reason: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.other.family not in has:
            by_reason.setdefault(_why(whole[0], pair), []).append(pair)
    return [f"{_names(several)}, {reason}" for reason, several in by_reason.items()]


def _why(one: Pair, pair: Pair) -> str:
    apart = dict.fromkeys([*_apart(one.baseline, pair.baseline), *_apart(one.other, pair.other)])
    return f"as they differ in {say(tuple(apart))}" if apart else "as the same questions are asked"


def _names(pairs: Sequence[Pair]) -> str:
    return ", ".join(sorted({pair.other.family for pair in pairs}))


def _apart(one: Run, other: Run) -> list[Difference]:
    settings = of_rows_asked(one.setting), of_rows_asked(other.setting)
    return [found for found in differences(*settings) if below(found.fact, _IN_COMMON)]


def _thing(run: Run) -> tuple[str, str, str]:
    return run.benchmark, run.model, run.condition


def _disjoint(pairs: Sequence[Pair]) -> bool:
    ids = [name for pair in pairs for name in next(iter(pair.other.variants.values()))]
    return len(set(ids)) == len(ids)

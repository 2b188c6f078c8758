"""Has a judge score some rows once more, to see whether the verdicts of a submission are those it gives."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import JudgeItem, Verdict
from fin_tasks.judging.judge import judge_items
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.report.verify.findings import Finding, Place, Status, finding
from fin_tasks.settings import Settings

__all__ = ["MOST_OFF", "MOST_OFF_SHARE", "ask_again"]

MOST_OFF = 0.5
"""Points of the scale that claimed scores may be above the judge's on average."""
MOST_OFF_SHARE = 0.2
"""Share of rows whose scores may be two points apart, or more."""


def ask_again(
    place: Place,
    items: Mapping[str, tuple[JudgeItem, Verdict]],
    setup: JudgeSetup,
    settings: Settings,
    *,
    rows: int,
    seed: int,
) -> Finding:
    """Ask a judge about a sample of rows, and compare its scores with those that are claimed.

    Judges do not say the same twice, and this one may be another: only what is far apart, or too good, fails.

    Args:
        place: The task.
        items: What the judge was given and its claimed verdict, by document.
        setup: The judge.
        settings: The environment.
        rows: How many rows to ask about.
        seed: Which.

    Raises:
        FinTasksError: The judge cannot be asked.
    """
    if rows < 1:
        raise ConfigError(f"--judge-rows: expected a number from 1 up, got {rows}.")
    chosen = np.random.default_rng(seed).permutation(len(items))[:rows]
    names = [name for place_of, name in enumerate(sorted(items)) if place_of in set(chosen.tolist())]
    rubric = f"mme_finance_{'zh' if '_zh' in place.task else 'en'}"
    verdicts = judge_items([items[name][0] for name in names], replace(setup, rubric=rubric), settings).verdicts
    pairs = [
        (name, items[name][1].score, verdict.score)
        for name, verdict in zip(names, verdicts, strict=True)
        if verdict.score is not None
    ]
    points = [(name, claimed, now, claimed - now) for name, claimed, now in pairs if claimed is not None]
    above = sum(point for *_, point in points) / len(points) if points else 0.0
    apart = [
        f"row {name}: claimed {claimed}, the judge gives {now}" for name, claimed, now, off in points if abs(off) >= 2
    ]
    agreed = sum(off == 0 for *_, off in points)
    told = (
        f"{setup.model} agrees on {agreed} of {len(points)} rows (seed {seed}); claims are {above:+.2f} points above it"
    )
    if above > MOST_OFF or len(apart) > MOST_OFF_SHARE * max(len(points), 1):
        return finding("judge", place, told, apart or [told])
    return finding("judge", place, told, [told] if not points else [], status=Status.warned, fine=told)

"""Which run is compared with which: the same questions under one change, and everything else that differs by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.runs import Problem, Run
from fin_tasks.report.settings import Difference, below, differences, of_rows_asked, short

__all__ = ["Pair", "Pairs", "pair_conditions", "pair_folders", "require", "say"]

_SAME = ("limit", "samples", "provenance.split", "provenance.style", "provenance.mode", "provenance.prompts.set")

_REMEDY = "--allow-different-data compares the rows of the same id and truth all the same."


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two runs that asked the same questions.

    Attributes:
        baseline: What is compared with.
        other: What is compared.
        differences: In what they differ, but for the condition they are compared for.
    """

    baseline: Run
    other: Run
    differences: tuple[Difference, ...]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """What can be compared.

    Attributes:
        pairs: In the order of the other runs.
        problems: Pairs that must not be compared.
        notes: Runs that have nothing to be compared with.
    """

    pairs: tuple[Pair, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def pair_conditions(runs: Sequence[Run], *, allow_different_data: bool = False) -> Pairs:
    """Pair every run that shows finance terms with the one of the same model and task that shows none.

    Both have to have the same split, style, wording, limit and revision of the data. Of several the one that
    differs least in all else is taken, then the newest; what differs is listed.

    Args:
        runs: With and without finance terms.
        allow_different_data: Where there is no run over the same data, take one over another revision or split.
    """
    pairs: list[Pair] = []
    notes: list[str] = []
    for other in runs:
        if other.condition == "none":
            continue
        plain = [r for r in runs if r.condition == "none" and (r.model, r.family) == (other.model, other.family)]
        nearest = _nearest([r for r in plain if not _kept_apart(r, other)], other)
        if nearest is None and allow_different_data:
            nearest = _nearest([r for r in plain if _only_data(_kept_apart(r, other))], other)
        if nearest is not None:
            pairs.append(nearest)
        elif (far := _nearest(plain, other)) is not None:
            apart = _kept_apart(far.baseline, other)
            remedy = f" {_REMEDY}" if _only_data(apart) else ""
            notes.append(f"{other.path}: nothing to compare with; {far.baseline.path} differs in {say(apart)}.{remedy}")
        else:
            notes.append(f"{other.path}: no run of {other.model} on {other.family} to compare with.")
    notes += _without_condition(runs)
    return Pairs(pairs=tuple(pairs), problems=(), notes=tuple(notes))


def pair_folders(
    baseline: Sequence[Run], others: Mapping[Path, Sequence[Run]], *, allow_different_data: bool = False
) -> Pairs:
    """Pair every run below some paths with the one of the same task below the first path.

    The baseline is the run of the same condition; where the first path has none of it, the one that shows no terms;
    else the only one. Of several, for instance of two models, the one that differs least, then the newest. Where both
    paths have one task each, those two are compared whatever their names.

    Args:
        baseline: Runs of the first path.
        others: Path to its runs.
        allow_different_data: Compare runs over different revisions or splits too, by the ids they share.

    Returns:
        The pairs. Those over different data are among the problems unless allowed.
    """
    pairs: list[Pair] = []
    problems: list[Problem] = []
    notes: list[str] = []
    for path, runs in others.items():
        alone = len(baseline) == 1 and len(runs) == 1
        for other in runs:
            pair = _nearest(_candidates(baseline, other, alone=alone), other)
            if pair is None:
                notes.append(f"{other.path}: the first path has no {other.family} to compare with.")
            elif pair.baseline.path.resolve() == other.path.resolve():
                notes.append(f"{other.path}: below the first path too, so there is nothing to compare.")
            elif not allow_different_data and (apart := _different_data(pair)):
                problems.append(Problem(str(other.path), _refusal(pair, apart)))
            else:
                pairs.append(pair)
        compared = {pair.baseline.family for pair in pairs}
        missing = sorted({r.family for r in baseline} - {r.family for r in runs} - (compared if alone else set()))
        if missing:
            notes.append(f"{path}: has no {', '.join(missing)}, which the first path has.")
    return Pairs(pairs=tuple(pairs), problems=tuple(problems), notes=tuple(notes))


def say(found: Sequence[Difference]) -> str:
    """Put differences into words.

    Example:
        >>> say([Difference("limit", "4", ""), Difference("provenance.split", '"test"', '"validation"')])
        'limit (4, none), split (test, validation)'
    """
    return ", ".join(
        f"{one.fact.removeprefix('provenance.')} ({short(one.baseline)}, {short(one.other)})" for one in found
    )


def _without_condition(runs: Sequence[Run]) -> list[str]:
    """Name the tasks that a model was asked without terms but not under each condition it was asked under."""
    families: dict[tuple[str, str, str], set[str]] = {}
    for run in runs:
        families.setdefault((run.benchmark, run.model, run.condition), set()).add(run.family)
    return [
        f"{model}: no {condition} run of {', '.join(sorted(lacking))}, of which there is one without terms."
        for (benchmark, model, condition), has in families.items()
        if condition != "none" and (lacking := families.get((benchmark, model, "none"), set()) - has)
    ]


def _candidates(baseline: Sequence[Run], other: Run, *, alone: bool) -> list[Run]:
    if alone:
        return [run for run in baseline if run.benchmark == other.benchmark]
    family = [run for run in baseline if run.family == other.family]
    same = [run for run in family if run.condition == other.condition]
    return same or [run for run in family if run.condition == "none"] or family


def _nearest(candidates: Sequence[Run], other: Run) -> Pair | None:
    if not candidates:
        return None
    newest_first = sorted(candidates, key=lambda run: run.date, reverse=True)
    pairs = [Pair(baseline=run, other=other, differences=_differences(run, other)) for run in newest_first]
    return min(pairs, key=lambda pair: len(pair.differences))


def _differences(baseline: Run, other: Run) -> tuple[Difference, ...]:
    ignore: list[str] = []
    if baseline.condition != other.condition:
        ignore.append("provenance.retrieval")  # what they are compared for
        same_wording = all(baseline.provenance(name) == other.provenance(name) for name in ("fin_tasks", "prompts.set"))
        if same_wording and "none" in (baseline.condition, other.condition):
            ignore.append("provenance.prompts.sha256")  # covers the layout of the terms, where there are any
    found = differences(of_rows_asked(baseline.setting), of_rows_asked(other.setting), ignore=ignore)
    named = [("model name", baseline.model, other.model), ("task", baseline.family, other.family)]
    return (*(Difference(fact, a, b) for fact, a, b in named if a != b), *found)


def _kept_apart(baseline: Run, other: Run) -> list[Difference]:
    settings = of_rows_asked(baseline.setting), of_rows_asked(other.setting)
    found = [one for one in differences(*settings) if below(one.fact, _SAME)]
    if baseline.data != other.data:
        found.append(Difference("data revision", baseline.data, other.data))
    return found


def _only_data(apart: Sequence[Difference]) -> bool:
    return all(one.fact in ("data revision", "provenance.split") for one in apart)


def _different_data(pair: Pair) -> list[Difference]:
    """List what says that the data differ; data that are not known on one side do not."""
    a, b = pair.baseline, pair.other
    if not a.data or not b.data:
        return []
    split = [one for one in pair.differences if one.fact == "provenance.split"]
    return split + ([Difference("data revision", a.data, b.data)] if a.data != b.data else [])


def _refusal(pair: Pair, apart: Sequence[Difference]) -> str:
    return (
        f"{pair.other.path}: expected the same questions as {pair.baseline.path}, but they differ in {say(apart)}. "
        f"{_REMEDY}"
    )


def require(pairs: Pairs, runs: Sequence[Run]) -> None:
    """Raise a DataError where nothing can be compared and no problem says why."""
    if pairs.pairs or pairs.problems:
        return
    seen = ", ".join(sorted({f"{run.task} ({run.condition})" for run in runs})) or "nothing"
    raise DataError(
        f"compare: expected runs with and without finance terms of one model, or two paths; found {seen}. "
        + " ".join(pairs.notes)
    )

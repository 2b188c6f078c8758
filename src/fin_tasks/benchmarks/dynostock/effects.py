"""What a biased statement does to the answers: the same windows with and without it, compared one by one.

The bias index says how a model errs; it cannot say why, as a forecast that is wrong for any other reason often agrees
with the signal too. Here the only thing that differs is the statement, so the difference is its effect.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from fin_tasks.benchmarks.dynostock.experiment import Experiment, Reply, Run
from fin_tasks.benchmarks.dynostock.prompts import ARMS
from fin_tasks.benchmarks.dynostock.score import bias_index
from fin_tasks.stats.averages import average
from fin_tasks.stats.paired import PairedDifference, paired_difference

__all__ = ["CONTRASTS", "FEW_CLUSTERS", "MEASURES", "ArmSummary", "BiasReport", "Effect", "Group", "compare_arms"]

CONTRASTS: tuple[tuple[str, str], ...] = (
    ("signal", "none"),
    ("flipped", "none"),
    ("aligned", "none"),
    ("signal", "flipped"),
)
FEW_CLUSTERS = 20
"""Below this many tickers the intervals are markedly too narrow."""

_Replies = Mapping[str, Reply]
_ByArm = Mapping[str, Sequence[Run]]
_Measure = Callable[[Reply], float | None]
_Compare = Callable[[_Replies, _Replies, _Measure], tuple[PairedDifference, int, int]]


def _towards_signal(reply: Reply) -> float | None:
    if reply.probability is None:
        return None
    return reply.probability if reply.signal else 1 - reply.probability


MEASURES: Mapping[str, _Measure] = {
    "probability": _towards_signal,
    "answer": lambda reply: reply.says(reply.signal),
    "accuracy": lambda reply: reply.says(reply.truth),
}
"""What is compared: the stated probability of the movement the biased statement names; whether the answer is that
movement; whether the answer is right. None where a reply has no such value."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs that differ in nothing but the arm and the window size.

    Attributes:
        model: Its name.
        bias_type: `recency` or `authority`.
        mode: `image` or `text`.
        anonymised: Whether ticker and dates were hidden; None for comparisons of hidden with shown.
        prompts: Prompt set and style, such as `house structured`; `not known` without provenance.
        setting: Short hash of all else the runs have in common; see `BiasReport.settings`.
    """

    model: str
    bias_type: str
    mode: str
    anonymised: bool | None
    prompts: str
    setting: str


@dataclass(frozen=True, kw_only=True)
class ArmSummary:
    """What a model answered in one arm; shares are fractions of all windows, None where nothing can be said.

    Attributes:
        group: The runs.
        window: Number of reports; None over all sizes.
        arm: The arm.
        n: Windows asked.
        tickers: Different stocks among them.
        accuracy: Share of right answers among windows whose truth is known.
        up: Share of answers that say up.
        no_answer: Share of responses without an answer.
        probability: Mean stated probability of up, of the responses that state one.
        follows_signal: Share of answers equal to the signal, shown or not.
        follows_statement: Share equal to the direction of the statement this arm shows.
        bias_index: Wrong answers equal to the signal among the wrong ones.
    """

    group: Group
    window: int | None
    arm: str
    n: int
    tickers: int
    accuracy: float | None
    up: float | None
    no_answer: float | None
    probability: float | None
    follows_signal: float | None
    follows_statement: float | None
    bias_index: float | None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """By how much one condition exceeds another on the same windows, as a fraction of 1.

    Attributes:
        group: The runs.
        window: Number of reports; None over all sizes.
        first: The condition: an arm, or `named`.
        second: What it is compared with: an arm, or `anonymised`.
        arm: The arm both are of, where `first` is `named`.
        measure: A name of `MEASURES`. For `probability` and `answer` positive means towards the signal.
        difference: Mean, interval and counts of the pairs that have values.
        unpaired: Windows that only one of the conditions has.
        without_value: Pairs left out because a reply states no probability, or the truth is not known.
    """

    group: Group
    window: int | None
    first: str
    second: str
    arm: str = ""
    measure: str
    difference: PairedDifference
    unpaired: int
    without_value: int


@dataclass(frozen=True, kw_only=True)
class BiasReport:
    """Arms and effects of an experiment.

    Attributes:
        parser: How probabilities were read: `paper` or `robust`.
        arms: Summaries.
        effects: Effects; of each group by window size, then over all sizes where there are several.
        settings: Hash to what the runs of a group have in common, by dotted name.
        notes: What was left out, kept apart or must be borne in mind, in sentences.
    """

    parser: str
    arms: tuple[ArmSummary, ...]
    effects: tuple[Effect, ...]
    settings: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...]

    @property
    def groups(self) -> list[Group]:
        """The groups of runs, without the comparisons between them."""
        return list(dict.fromkeys(summary.group for summary in self.arms))


def compare_arms(experiment: Experiment, *, parser: str, seed: int = 42, resamples: int = 10_000) -> BiasReport:
    """Pair the arms of an experiment window by window.

    For each contrast and measure the effect is the mean over windows of first less second. Intervals are 95 % cluster
    bootstrap intervals with the ticker as cluster: windows of one stock overlap and share its history.

    Args:
        experiment: The runs.
        parser: How they were read; carried into the report.
        seed: Of the bootstrap.
        resamples: Of the bootstrap.
    """

    def compare(first: _Replies, second: _Replies, measure: _Measure) -> tuple[PairedDifference, int, int]:
        return _compare(first, second, measure, seed=seed, resamples=resamples)

    cells: dict[Group, dict[str, list[Run]]] = {}
    settings: dict[str, Mapping[str, str]] = {}
    for run in experiment.runs:
        group = _group(run)
        settings[group.setting] = run.setting
        cells.setdefault(group, {}).setdefault(run.arm, []).append(run)
    arms = [summary for group in cells for summary in _summaries(group, cells[group])]
    effects = [effect for group in cells for effect in _contrasts(group, cells[group], compare)]
    effects += _memory(cells, compare)
    notes = [*experiment.notes, *_kept_apart(list(cells), settings), *_cautions(list(cells), effects)]
    return BiasReport(parser=parser, arms=tuple(arms), effects=tuple(effects), settings=settings, notes=tuple(notes))


def _group(run: Run) -> Group:
    digest = hashlib.sha256(json.dumps(run.setting, sort_keys=True).encode()).hexdigest()
    named = (run.setting.get(f"provenance.prompts.{part}") for part in ("set", "style"))
    return Group(
        model=run.model,
        bias_type=run.bias_type,
        mode=run.mode,
        anonymised=run.anonymised,
        prompts=" ".join(json.loads(name) for name in named if name) or "not known",
        setting=digest[:8],
    )


def _scopes(runs: Iterable[Run]) -> list[int | None]:
    sizes = sorted({run.window for run in runs})
    return [*sizes, None] if len(sizes) > 1 else list(sizes)


def _replies(runs: Iterable[Run], window: int | None) -> dict[str, Reply]:
    return {id_: reply for run in runs if window in (None, run.window) for id_, reply in run.replies.items()}


def _summaries(group: Group, by_arm: _ByArm) -> Iterator[ArmSummary]:
    for arm in sorted(by_arm, key=ARMS.index):
        for window in _scopes(by_arm[arm]):
            replies = list(_replies(by_arm[arm], window).values())
            yield ArmSummary(
                group=group,
                window=window,
                arm=arm,
                n=len(replies),
                tickers=len({reply.ticker for reply in replies}),
                accuracy=_mean(map(MEASURES["accuracy"], replies)),
                up=_mean(reply.up for reply in replies),
                no_answer=_mean(1 - reply.up - reply.down for reply in replies),
                probability=_mean(reply.probability for reply in replies),
                follows_signal=_mean(map(MEASURES["answer"], replies)),
                follows_statement=_mean(reply.says(reply.statement) for reply in replies),
                bias_index=_bias_index(replies),
            )


def _bias_index(replies: Sequence[Reply]) -> float | None:
    shares = []
    for reply in (reply for reply in replies if reply.truth is not None):
        right = reply.says(reply.truth) or 0.0
        led = reply.says(reply.signal) or 0.0 if reply.signal != reply.truth else 0.0
        shares.append((right, led, 1 - right - led))
    return bias_index(shares) if any(right < 1 for right, *_ in shares) else None


def _mean(values: Iterable[float | None]) -> float | None:
    mean = average(values)
    return None if math.isnan(mean) else mean


def _contrasts(group: Group, by_arm: _ByArm, compare: _Compare) -> Iterator[Effect]:
    for first, second in CONTRASTS:
        if first in by_arm and second in by_arm:
            yield from _effects(group, by_arm[first], by_arm[second], compare, first=first, second=second)


def _effects(
    group: Group,
    runs: Sequence[Run],
    others: Sequence[Run],
    compare: _Compare,
    *,
    first: str,
    second: str,
    arm: str = "",
) -> Iterator[Effect]:
    paired = {run.window for run in runs} & {run.window for run in others}
    for window in _scopes([*runs, *others]):
        if window is not None and window not in paired:
            continue  # counted as unpaired over all sizes
        for name, measure in MEASURES.items():
            difference, unpaired, without_value = compare(_replies(runs, window), _replies(others, window), measure)
            yield Effect(
                group=group,
                window=window,
                first=first,
                second=second,
                arm=arm,
                measure=name,
                difference=difference,
                unpaired=unpaired,
                without_value=without_value,
            )


def _compare(
    first: _Replies, second: _Replies, measure: _Measure, *, seed: int, resamples: int
) -> tuple[PairedDifference, int, int]:
    """Return the difference, how many windows have no partner, and how many pairs have no value."""
    both = sorted(first.keys() & second.keys())
    values = [(measure(first[id_]), measure(second[id_]), first[id_].ticker) for id_ in both]
    complete = [(a, b, ticker) for a, b, ticker in values if a is not None and b is not None]
    difference = paired_difference(
        [a for a, _, _ in complete],
        [b for _, b, _ in complete],
        clusters=[ticker for _, _, ticker in complete],
        seed=seed,
        resamples=resamples,
    )
    return difference, len(first.keys() ^ second.keys()), len(values) - len(complete)


def _memory(cells: Mapping[Group, _ByArm], compare: _Compare) -> Iterator[Effect]:
    """Compare arms with and without names and dates."""
    for group, named in cells.items():
        hidden = cells.get(replace(group, anonymised=True), {})
        for arm in ARMS if group.anonymised is False else ():
            if arm in named and arm in hidden:
                both = replace(group, anonymised=None)
                yield from _effects(both, named[arm], hidden[arm], compare, first="named", second="anonymised", arm=arm)


def _kept_apart(groups: Sequence[Group], settings: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Say of runs that one might want to pair what keeps them apart."""
    seen = set()
    for one, other in combinations(groups, 2):
        same = (one.model, one.bias_type, one.mode) == (other.model, other.bias_type, other.mode)
        pair = frozenset((one.setting, other.setting))
        if not same or len(pair) == 1 or (one.model, one.bias_type, one.mode, pair) in seen:
            continue
        seen.add((one.model, one.bias_type, one.mode, pair))
        a, b = settings[one.setting], settings[other.setting]
        names = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
        yield (
            f"{one.model}, {one.bias_type}, {one.mode}: runs of setting {one.setting} and {other.setting} are not "
            f"compared, as they differ in {', '.join(names)}."
        )


def _cautions(groups: Sequence[Group], effects: Sequence[Effect]) -> Iterator[str]:
    compared = dict.fromkeys(effect.group for effect in effects)
    for group in dict.fromkeys([*groups, *compared]):
        mine = [effect for effect in effects if effect.group == group]
        hidden = {None: ", named less anonymised", True: ", anonymised", False: ""}[group.anonymised]
        subject = f"{group.model}, {group.bias_type}, {group.mode}{hidden}"
        if not mine:
            if replace(group, anonymised=None) not in compared:
                yield f"{subject}: only one arm, so there is no effect to give."
        elif (tickers := max(effect.difference.clusters for effect in mine)) < FEW_CLUSTERS:
            yield f"{subject}: only {tickers} tickers; below {FEW_CLUSTERS} the intervals are too narrow."

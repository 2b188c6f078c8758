"""Judges beside people and beside each other, over the responses they share."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.old_agreement import Agreement, agreement
from fin_tasks.judging.old_rubric import Rubric, load_rubric
from fin_tasks.judging.rankings import Rankings, compare_rankings
from fin_tasks.judging.score_files import PEOPLE, JudgeScores, Key, PeopleScores

__all__ = ["Comparison", "JudgeAgreement", "compare_judges", "scale_of"]

_SUBJECTIVE = "subjective"
"""The kind of a rubric's categories that are graded by opinion; every other kind has a right answer."""
_OTHER_KINDS = ("objective", "calculation", "estimation", "unanswerable")
"""Words for the other kinds that a file may use whatever its rubric."""

KindOf = Callable[[str], str | None]
"""Category to its kind, None where it is not known."""


@dataclass(frozen=True, kw_only=True)
class JudgeAgreement:
    """How one judge compares with people.

    Attributes:
        scores: What it gave.
        missing: Responses that people have scored and the judge's files do not have.
        unscored: Responses that its files have without a score.
        overall: Over all responses both have scored.
        objective: Over those of categories with a right answer; None where no kinds are known.
        subjective: Over the others; likewise.
        unknown_kind: Responses that are in neither part, as their category or its kind is not known.
    """

    scores: JudgeScores
    missing: int
    unscored: int
    overall: Agreement
    objective: Agreement | None
    subjective: Agreement | None
    unknown_kind: int


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Everything there is to say.

    Attributes:
        people: What people gave, those left out included.
        left_out: Responses to be reviewed that do not count.
        judges: One per judge.
        between: Two judges' labels to their agreement.
        rankings: How models are ranked; None with fewer than two of them.
        notes: What a reader should doubt.
    """

    people: PeopleScores
    left_out: tuple[Key, ...]
    judges: tuple[JudgeAgreement, ...]
    between: Mapping[tuple[str, str], Agreement]
    rankings: Rankings | None
    notes: tuple[str, ...] = ()

    def review(self) -> tuple[Key, ...]:
        """Return the responses that people should look at again."""
        return tuple(key for key, row in self.people.rows.items() if row.combined.review)

    def summary(self) -> dict[str, Any]:
        """Return all of it, JSON-encodable; numbers that are not defined are None, with the reason beside them."""
        combined = [row.combined for row in self.people.rows.values()]
        return {
            "people": {
                "annotators": list(self.people.annotators),
                "n": len(combined),
                "mode": sum(one.how == "mode" for one in combined),
                "mean": sum(one.how == "mean" for one in combined),
                "without_score": self.people.empty,
                "review": [_named(key) for key in self.review()],
                "left_out": len(self.left_out),
            },
            "judges": [_judge_summary(one) for one in self.judges],
            "between_judges": [
                {"first": first, "second": second, **_numbers(found)} for (first, second), found in self.between.items()
            ],
            "rankings": _rankings_summary(self.rankings),
            "notes": list(self.notes),
        }

    def items(self) -> list[dict[str, Any]]:
        """Return a record per response that people have scored."""
        out = set(self.left_out)
        return [
            {
                "index": key[1],
                "model": key[0] or None,
                "category": row.category or None,
                "people": dict(zip(self.people.annotators, row.scores, strict=False)),
                "combined": row.combined.score,
                "how": row.combined.how,
                "variance": row.combined.variance,
                "review": row.combined.review,
                "left_out": key in out,
                "judges": {one.scores.label: one.scores.rows.get(key) for one in self.judges},
            }
            for key, row in self.people.rows.items()
        ]


def compare_judges(
    people: PeopleScores,
    judges: Sequence[JudgeScores],
    *,
    kind_of: KindOf = lambda _: None,
    leave_out_review: bool = False,
    seed: int = 42,
) -> Comparison:
    """Compare judges with people, with each other, and the rankings of models that follow from them.

    Args:
        people: What people gave.
        judges: At least one.
        kind_of: The kind of a category that no file's rubric has.
        leave_out_review: Do not count responses whose scores are too far apart to be combined.
        seed: Draws the resamples of all intervals.

    Raises:
        DataError: A judge and the people have no response in common, or one side names models and the other does not.
    """
    _check_models(people, judges)
    judges = [_without_model(one, people) for one in judges]
    left_out = tuple(key for key, row in people.rows.items() if leave_out_review and row.combined.review)
    truth = {key: row.combined.score for key, row in people.rows.items() if key not in set(left_out)}
    kinds = _kinds(people, judges, kind_of)
    return Comparison(
        people=people,
        left_out=left_out,
        judges=tuple(_compare(truth, one, kinds, seed) for one in judges),
        between={
            (one.label, other.label): _over(one.rows, other.rows, one.rows, seed)
            for one, other in combinations(judges, 2)
        },
        rankings=compare_rankings(
            {PEOPLE: _by_model(truth), **{one.label: _by_model(one.rows) for one in judges}}, seed=seed
        ),
        notes=tuple(_scales(truth, judges)),
    )


def _check_models(people: PeopleScores, judges: Sequence[JudgeScores]) -> None:
    """Where people's file names no model, judges of different models cannot both be meant."""
    models = {model for judge in judges for model, _ in judge.rows if model}
    if len(models) > 1 and all(not model for model, _ in people.rows):
        raise DataError(
            f"agreement: the judges' files name several models ({', '.join(sorted(models))}) and people's scores none. "
            "Add a column model to them."
        )


def _scales(truth: Mapping[Key, float], judges: Sequence[JudgeScores]) -> Iterator[str]:
    """Say where people and a judge cannot have used one scale."""
    for judge in judges:
        rubric = _rubric(judge)
        given = [score for score in judge.rows.values() if score is not None]
        low, high = (rubric.lowest, rubric.highest) if rubric else (min(given, default=0), max(given, default=0))
        beyond = [score for score in truth.values() if score < low or score > high]
        if beyond and (rubric or max(beyond) > 2 * high):
            yield (
                f"{judge.label}: scores from {low:g} to {high:g}, people's reach from {min(truth.values()):g} to "
                f"{max(truth.values()):g}. Is it one scale? Differences, kappa and bias mean nothing otherwise."
            )


def _without_model(judge: JudgeScores, people: PeopleScores) -> JudgeScores:
    """Join by index alone where one side does not name its only model."""
    theirs, ours = {model for model, _ in people.rows}, {model for model, _ in judge.rows}
    if theirs & ours or not (theirs == {""} or ours == {""}):
        return judge
    if len(theirs) > 1 or len(ours) > 1:
        several = "the scores of people name" if len(theirs) > 1 else f"{judge.label} names"
        raise DataError(
            f"agreement: {several} several models ({', '.join(sorted(filter(None, theirs | ours)))}) and the other "
            "side none. Add a column model to it."
        )
    (model,) = theirs

    def renamed(table: Mapping[Key, Any]) -> dict[Key, Any]:
        return {(model, index): value for (_, index), value in table.items()}

    return replace(judge, rows=renamed(judge.rows), categories=renamed(judge.categories), kinds=renamed(judge.kinds))


def _kinds(people: PeopleScores, judges: Sequence[JudgeScores], kind_of: KindOf) -> dict[Key, str]:
    """How each response is graded: as a file says, else as the rubric of its category does, else as is known of it."""
    named: dict[Key, str] = {key: row.category for key, row in people.rows.items() if row.category}
    said: dict[Key, str] = {}
    by_category: dict[str, str] = {}
    for judge in judges:
        said |= judge.kinds
        named = {**judge.categories, **named}
        if rubric := _rubric(judge):
            by_category |= {name: category.kind for name, category in rubric.categories.items()}
    said |= {key: row.kind for key, row in people.rows.items() if row.kind}
    known = {_SUBJECTIVE, *_OTHER_KINDS, *by_category.values()}
    if odd := sorted({kind for kind in said.values() if kind.casefold() not in known}):
        raise DataError(f"agreement, kind: expected one of {', '.join(sorted(known))}, got {odd[0]!r}. Correct it.")
    found = {key: by_category.get(name) or kind_of(name) for key, name in named.items()}
    return {
        **{key: kind for key, kind in found.items() if kind},
        **{key: kind.casefold() for key, kind in said.items()},
    }


def scale_of(judges: Sequence[JudgeScores]) -> tuple[float, float] | None:
    """Return the lowest and highest score that judges' rubrics have; None where a rubric is not known."""
    rubrics = [rubric for judge in judges if (rubric := _rubric(judge))]
    if len(rubrics) < len(judges) or not rubrics:
        return None
    return min(rubric.lowest for rubric in rubrics), max(rubric.highest for rubric in rubrics)


def _rubric(judge: JudgeScores) -> Rubric | None:
    """Return the rubric a judge used; None where its files name none, or one that is not here."""
    try:
        return load_rubric(judge.rubric.partition("@")[0]) if judge.rubric else None
    except ConfigError:
        return None


def _compare(truth: Mapping[Key, float], judge: JudgeScores, kinds: Mapping[Key, str], seed: int) -> JudgeAgreement:
    shared = [key for key in truth if key in judge.rows]
    if not shared:
        examples = ", ".join(_named(key) for key in list(truth)[:3])
        theirs = ", ".join(_named(key) for key in list(judge.rows)[:3])
        raise DataError(
            f"agreement, {judge.label}: expected responses that people have scored too, found none in common (people: "
            f"{examples}; judge: {theirs}). Are the files of the same rows and model?"
        )

    def part(belongs: Callable[[str], bool]) -> Agreement | None:
        keys = [key for key in shared if belongs(kinds.get(key, ""))]
        return _over(truth, judge.rows, keys, seed) if any(key in kinds for key in shared) else None

    return JudgeAgreement(
        scores=judge,
        missing=len(truth) - len(shared),
        unscored=sum(judge.rows[key] is None for key in shared),
        overall=_over(truth, judge.rows, shared, seed),
        objective=part(lambda kind: kind not in ("", _SUBJECTIVE)),
        subjective=part(lambda kind: kind == _SUBJECTIVE),
        unknown_kind=sum(key not in kinds for key in shared),
    )


def _over(
    first: Mapping[Key, float | None], second: Mapping[Key, float | None], keys: Iterable[Key], seed: int
) -> Agreement:
    pairs = [(first[key], second[key]) for key in keys if key in first and key in second]
    both = [(x, y) for x, y in pairs if x is not None and y is not None]
    return agreement([x for x, _ in both], [y for _, y in both], seed=seed)


def _by_model(scores: Mapping[Key, float | None]) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for (model, index), score in scores.items():
        if score is not None:
            table.setdefault(model, {})[index] = score
    return table


def _judge_summary(one: JudgeAgreement) -> dict[str, Any]:
    return {
        "label": one.scores.label,
        "judge": one.scores.judge or None,
        "image": one.scores.image,
        "rubric": one.scores.rubric or None,
        "missing": one.missing,
        "unscored": one.unscored,
        "unknown_kind": one.unknown_kind,
        **_numbers(one.overall),
        "objective": _numbers(one.objective) if one.objective else None,
        "subjective": _numbers(one.subjective) if one.subjective else None,
    }


def _numbers(found: Agreement) -> dict[str, Any]:
    numbers: dict[str, Any] = {"n": found.n}
    for name, estimate in asdict(found).items():
        if name != "n":
            numbers[name] = estimate["value"]
            numbers[f"{name}_interval"] = None if estimate["low"] is None else [estimate["low"], estimate["high"]]
            if estimate["reason"]:
                numbers[f"{name}_undefined"] = estimate["reason"]
    return numbers


def _rankings_summary(found: Rankings | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "n": found.n,
        "means": {ranking.grader: dict(ranking.means) for ranking in found.rankings},
        "correlations": [
            {"first": first, "second": second, "kendall": tau, "spearman": found.spearman[first, second]}
            for (first, second), tau in found.kendall.items()
        ],
        "swaps": [
            {"first": swap.first, "second": swap.second, "models": list(swap.models), "kept": swap.kept}
            for swap in found.swaps
        ],
    }


def _named(key: Key) -> str:
    model, index = key
    return f"{model}: {index}" if model else index

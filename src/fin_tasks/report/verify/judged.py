"""Ask the verifier's own judge again about some judged responses, and find responses that talk to a judge."""

import random
import secrets
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pandas import DataFrame

from fin_tasks.judging.item import Item as Question
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel, judge_items
from fin_tasks.judging.pleas import plea_in
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

from ..model import TaskResult
from .items import Item, Options, Rows
from .scores import InstalledTask, RecordedReplies

_N_SHUFFLES = 10_000
_LEVEL = 0.01  # the share of honest runs that fail


def check_judged(
    task: InstalledTask,
    result: TaskResult,
    replies: RecordedReplies,
    options: Options,
) -> Item | None:
    """Compare recorded replies with new ones; return None if no judge was asked."""
    questions = [item for item, (_, judged) in replies.judged.items() if judged.replies]
    if not (questions or task.file.judge):
        return None
    rubric = replies.rubric
    facts = rubric.facts()
    if result.judge.get("rubric_sha256") != facts["rubric_sha256"]:
        return Item(
            "judged",
            "not verified",
            f"the submission has the rubric {result.judge.get('rubric')!r:.60}, "
            f"and here it is {facts['rubric']!r}",
        )
    judge = options.judge
    if not judge:
        return Item(
            "judged",
            "not verified",
            f"{len(questions):,} replies can be read; --judge-model asks a judge again",
        )
    n_drawn = min(options.n_judged or len(questions), len(questions))
    return _ask_again(task, result, replies, judge, questions, n_drawn)


def _ask_again(
    task: InstalledTask,
    result: TaskResult,
    replies: RecordedReplies,
    judge: JudgeModel,
    questions: list[Question],
    n_drawn: int,
) -> Item:
    """Ask the judge twice about questions drawn at random, and test whether recorded scores are higher."""
    rubric = replies.rubric
    seed = secrets.randbits(64)
    drawn = random.Random(seed).sample(questions, n_drawn)  # noqa: S311 - it is told afterwards
    rounds = [
        replies.judge_once(drawn),
        _ask(drawn, rubric, judge),
        _ask(drawn, rubric, judge),
    ]
    metric = next(iter(task.file.metrics))  # the headline
    values = [_values(task, metric, replies, drawn, answers) for answers in rounds]
    # A row for each round, without the responses that have no score in one of them.
    scores = DataFrame(values, dtype=float).dropna(axis=1).to_numpy()
    n_scored = scores.shape[1]
    evidence = f"{judge.model!r} scored {n_scored} of {n_drawn} responses, seed {seed}"
    if n_scored <= n_drawn / 2:
        return Item("judged", "not verified", f"{evidence}: too few to compare")
    # Importing it takes a second that a run without a judge does not need.
    from scipy.stats import permutation_test

    # Scores of a response change places.
    test = permutation_test(
        scores,
        _excess,
        permutation_type="samples",
        n_resamples=_N_SHUFFLES,
        alternative="greater",
        random_state=np.random.default_rng(seed),
    )
    evidence += (
        f": recorded scores are higher by {test.statistic:.3g}, p = {test.pvalue:.2g}"
    )
    if test.pvalue >= _LEVEL:
        return Item("judged", "verified", evidence)
    is_same_judge = judge.model == result.judge.get("model")
    return Item("judged", "failed" if is_same_judge else "not verified", evidence)


def pleas_in(rows: Rows) -> list[str]:
    """Return the rows whose responses talk to the judge, each with the passage."""
    details = []
    for row_id, row in rows.items():
        pleas = filter(None, map(plea_in, row.responses))
        details += [f"{row_id}: {plea!r}" for plea in pleas]
    return details


def _ask(questions: list[Question], rubric: Rubric, judge: JudgeModel) -> list[Judged]:
    """Ask the judge about each question; the cache is empty, so that the replies are new."""
    with TemporaryDirectory() as folder:
        own_cache = {"cache_dir": Path(folder)}
        settings = Settings.from_environ().model_copy(update=own_cache)
        return judge_items(questions, rubric, judge, settings=settings)


def _values(
    task: InstalledTask,
    metric: str,
    replies: RecordedReplies,
    questions: list[Question],
    answers: list[Judged],
) -> list[float | None]:
    """Return the value of each response with a judge's answer to its question."""
    scorer = task.file.scorer
    values = []
    for question, answer in zip(questions, answers, strict=True):
        doc, recorded = replies.judged[question]
        judged = replace(answer, response=recorded.response)
        reading = scorer.read(doc, judged, scoring="robust")
        values.append(scorer.metric_values(doc, [reading])[metric])
    return values


def _excess(recorded: Any, first: Any, second: Any, axis: int) -> Any:
    """Return by how much recorded scores are higher than the mean of two new ones."""
    return (recorded - (first + second) / 2).mean(axis=axis)

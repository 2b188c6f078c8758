"""Ask the verifier's own judge again about some of the responses that a judge scored."""

import random
import secrets
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import permutation_test

from fin_tasks.benchmarks.contract import Document
from fin_tasks.judging.item import Item as Question
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.model import TaskResult, headline
from fin_tasks.settings import Settings

from .items import Item, Options
from .scores import InstalledTask, RecordedReplies

_N_SHUFFLES = 10_000
_LEVEL = 0.01  # the share of honest runs that fail


class _Response(NamedTuple):
    """What the judge is asked, and its replies: those of the submission, then two new ones."""

    doc: Document
    question: Question
    judged: list[Judged]


def check_judged(
    task: InstalledTask,
    result: TaskResult,
    replies: RecordedReplies,
    options: Options,
) -> Item | None:
    """Compare recorded replies with new ones; return None if no judge was asked."""
    responses = []
    for question, (doc, judged) in replies.judged.items():
        if judged.replies:
            responses.append(_Response(doc, question, [judged]))
    if not (responses or task.file.judge):
        return None
    rubric = replies.rubric
    if result.judge.get("rubric_sha256") != rubric.sha256:
        evidence = f"the submission has the rubric {result.judge.get('rubric')!r:.60}"
        return Item(
            "judged", "not verified", f"{evidence}, and here it is {rubric.label!r}"
        )
    judge = options.judge
    if judge is None:
        evidence = (
            f"{len(responses):,} replies can be read; --judge-model asks a judge again"
        )
        return Item("judged", "not verified", evidence)
    seed = secrets.randbits(64)
    n_drawn = min(options.n_judged, len(responses))
    drawn = random.Random(seed).sample(responses, n_drawn)  # noqa: S311 - it is told afterwards
    for _ in range(2):
        _ask(drawn, rubric, judge)
    scores = _scores(task, headline(result), drawn)
    evidence = (
        f"{judge.model!r} scored {len(scores)} of {n_drawn} responses, seed {seed}"
    )
    if len(scores) <= n_drawn / 2:
        return Item("judged", "not verified", f"{evidence}: too few to compare")
    # Scores of a response change places.
    test = permutation_test(
        scores.T,
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


def _ask(
    responses: list[_Response],
    rubric: Rubric,
    judge: JudgeModel,
) -> None:
    """Add a reply to each response; the cache is empty, so that the reply is new."""
    questions = [response.question for response in responses]
    with TemporaryDirectory() as folder:
        settings = replace(Settings.from_environ(), cache_dir=Path(folder))
        answers = judge_items(questions, rubric, judge, settings=settings)
    for response, answer in zip(responses, answers, strict=True):
        text = response.judged[0].response
        response.judged.append(replace(answer, response=text))


def _scores(
    task: InstalledTask,
    metric: str,
    responses: list[_Response],
) -> Any:
    """Return a row of scores for each response; responses without a score are left out."""
    scorer: Any = task.file.scorer
    scores = []
    for response in responses:
        row = []
        for judged in response.judged:
            reading = scorer.read(response.doc, judged, variant="robust")
            row.append(scorer.metric_values(response.doc, [reading])[metric])
        if None not in row:
            scores.append(row)
    return np.array(scores)


def _excess(
    recorded: Any,
    first: Any,
    second: Any,
    axis: int,
) -> Any:
    """Return by how much recorded scores are higher than the mean of two new ones."""
    return (recorded - (first + second) / 2).mean(axis=axis)

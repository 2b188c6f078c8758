"""Ask the verifier's own judge again about some of the responses that a judge scored."""

import random
import secrets
from dataclasses import (
    dataclass,
    replace,
)
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from fin_tasks.benchmarks.contract import Document
from fin_tasks.judging.item import Item as Question
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import (
    JudgeModel,
    judge_items,
)
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.model import (
    TaskResult,
    headline,
)
from fin_tasks.report.verify.items import Item
from fin_tasks.report.verify.scores import InstalledTask
from fin_tasks.report.verify.submission import Rows
from fin_tasks.settings import Settings

_N_SHUFFLES = 10_000
_LEVEL = 0.01  # the share of honest runs that fail


@dataclass(frozen=True)
class SpotCheck:
    """The verifier's judge, and how many responses of a task it is asked about."""

    judge: JudgeModel | None
    n_rows: int


class _Response(NamedTuple):
    """What the judge is asked, and its replies: those of the submission, then two new ones."""

    doc: Document
    question: Question
    judged: list[Judged]


def check_judged(
    task: InstalledTask,
    result: TaskResult,
    rows: Rows,
    check: SpotCheck,
) -> Item | None:
    """Compare recorded replies with new ones; return None if no judge was asked."""
    responses = _judged_responses(task, rows)
    if task.step is None or not (responses or task.file.judge):
        return None
    rubric = task.step.rubric
    if result.judge.get("rubric_sha256") != rubric.sha256:
        evidence = f"the submission has the rubric {result.judge.get('rubric')!r:.60}"
        return Item("judged", "not verified", f"{evidence}, and here it is {rubric.label!r}")
    if check.judge is None:
        evidence = f"{len(responses):,} replies can be read; --judge-model asks a judge again"
        return Item("judged", "not verified", evidence)
    seed = secrets.randbits(64)
    n_drawn = min(check.n_rows, len(responses))
    drawn = random.Random(seed).sample(responses, n_drawn)  # noqa: S311 - it is told afterwards
    for _ in range(2):
        _ask(drawn, rubric, check.judge)
    scores = _scores(task, headline(result), drawn)
    evidence = f"{check.judge.model!r} scored {len(scores)} of {n_drawn} responses, seed {seed}"
    if len(scores) <= n_drawn / 2:
        return Item("judged", "not verified", f"{evidence}: too few to compare")
    excess = np.mean(scores[:, 0] - scores[:, 1:].mean(axis=1))
    p_value = _p_value(scores, seed)
    evidence += f": recorded scores are higher by {excess:.3g}, p = {p_value:.2g}"
    if p_value >= _LEVEL:
        return Item("judged", "verified", evidence)
    is_same_judge = check.judge.model == result.judge.get("model")
    return Item("judged", "failed" if is_same_judge else "not verified", evidence)


def _judged_responses(
    task: InstalledTask,
    rows: Rows,
) -> list[_Response]:
    responses = []
    for row_id, row in rows.items():
        doc = task.docs[row_id]
        for index, text in enumerate(row.responses):
            judged = task.with_replies(doc, text, row.replies(index))
            if isinstance(judged, Judged) and judged.replies and task.step:
                question = task.step.item(doc, text)
                if question is not None:
                    responses.append(_Response(doc, question, [judged]))
    return responses


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
    scores = []
    for response in responses:
        row = []
        for judged in response.judged:
            reading = task.function("reader")(response.doc, judged, variant="robust")
            row.append(task.function("process_results")(response.doc, [reading])[metric])
        if None not in row:
            scores.append(row)
    return np.array(scores)


def _p_value(
    scores: Any,
    seed: int,
) -> float:
    """Return how often the first scores are as high if those of a response change places."""
    excess = scores - scores.mean(axis=1, keepdims=True)
    n_rows, n_scores = scores.shape
    columns = np.random.default_rng(seed).integers(n_scores, size=(_N_SHUFFLES, n_rows))
    shuffled = excess[np.arange(n_rows), columns].sum(axis=1)
    n_as_high = np.sum(shuffled >= excess[:, 0].sum() - 1e-9)
    return float((n_as_high + 1) / (_N_SHUFFLES + 1))

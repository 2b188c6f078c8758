"""From a response or a program's result to scores, in two variants.

`paper` does what the benchmark's authors do, defects included, so that numbers compare with the published ones.
`robust` takes what a careful reader would take for the answer. Extraction (`extract`) and comparison (`compare`) can
be had apart.
"""

import math
from collections.abc import Sequence

from fin_tasks.answers.compare import equal_reading, near_reading
from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import Number, find_numbers, number_from_float
from fin_tasks.answers.paper import MARKER, marked_letter, marked_number, marked_verdict, near_marked
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.score import Score, Scores, number_of_result, scored
from fin_tasks.benchmarks.xfinbench.truths import Task, Truth, normalise_task
from fin_tasks.errors import ConfigError

__all__ = [
    "MARKER",
    "Answer",
    "Score",
    "Scores",
    "compare",
    "extract",
    "score",
    "score_value",
]

Answer = int | str | float | Number | None
"""1 or 0 for a verdict, a letter, a float (`paper`) or a number with its readings (`robust`), None for no answer."""


def score(task: str, response: str, truth: Truth, choices: Sequence[str] = ()) -> Scores:
    """Score a response.

    Args:
        task: `bool`, `mcq` or `calcu`.
        response: What the model wrote.
        truth: The ground truth, from `parse_truth` with the same task.
        choices: The choices of an mcq question, in order.

    Raises:
        ConfigError: No such task.

    Example:
        >>> from fin_tasks.benchmarks.xfinbench.truths import parse_truth
        >>> both = score("calcu", "Therefore, my answer is [7.66%].", parse_truth("calcu", "0.0766"))
        >>> both.paper.answer, both.paper.correct, both.paper.correct_err
        (7.66, False, True)
        >>> both.robust.answer, both.robust.correct, both.robust.correct_err
        (0.0766, True, True)
    """
    name = normalise_task(task)
    reply = strip_reasoning(response)
    return Scores(
        paper=_compare_paper(name, *_read_paper(name, reply), truth),
        robust=_compare_robust(name, *_read_robust(name, reply, choices), truth),
    )


def score_value(value: float | None, text: str | None, truth: Truth) -> Scores:
    """Score what a program returned.

    Args:
        value: The result as a float; None where it is no number.
        text: The result as text, read by `robust` where there is no value and the text says a number and nothing else,
            as `"7.66%"` does.
        truth: The ground truth of a calcu question.
    """
    paper = value if value is not None and math.isfinite(value) else None
    robust = number_of_result(value, text)
    reason = "no finite number returned"
    return Scores(
        paper=_compare_paper("calcu", paper, "" if paper is not None else reason, truth),
        robust=_compare_robust("calcu", robust, "" if robust is not None else reason, truth),
    )


def extract(task: str, response: str, variant: str, choices: Sequence[str] = ()) -> Answer:
    """Read the answer from a response, reasoning removed.

    Args:
        task: `bool`, `mcq` or `calcu`.
        response: What the model wrote.
        variant: `paper` or `robust`.
        choices: The choices of an mcq question; `paper` does not look at them.

    Raises:
        ConfigError: No such task or variant.

    Example:
        >>> extract("bool", "Therefore, my answer is incorrect.", "paper")
        1
        >>> extract("bool", "Therefore, my answer is incorrect.", "robust")
        0
    """
    name = normalise_task(task)
    reply = strip_reasoning(response)
    if _is_paper(variant):
        return _read_paper(name, reply)[0]
    return _read_robust(name, reply, choices)[0]


def compare(task: str, answer: Answer, truth: Truth, variant: str) -> Score:
    """Compare an extracted answer with the truth.

    Args:
        task: `bool`, `mcq` or `calcu`.
        answer: What `extract` returned for the same task and variant.
        truth: The ground truth.
        variant: `paper` or `robust`.

    Raises:
        ConfigError: No such task or variant.
    """
    name = normalise_task(task)
    reason = "no answer" if answer is None else ""
    if _is_paper(variant):
        return _compare_paper(name, answer, reason, truth)
    return _compare_robust(name, answer, reason, truth)


def _is_paper(variant: str) -> bool:
    if variant not in ("paper", "robust"):
        raise ConfigError(f"variant: expected 'paper' or 'robust', got {variant!r}.")
    return variant == "paper"


def _read_paper(task: Task, reply: str) -> tuple[int | str | float | None, str]:
    """Read as the authors do; beside a missing answer stands why."""
    if task == "calcu":
        return marked_number(reply)
    return marked_letter(reply) if task == "mcq" else marked_verdict(reply)


def _read_robust(task: Task, reply: str, choices: Sequence[str]) -> tuple[int | str | Number | None, str]:
    """Read as a careful reader does; beside a missing answer stands why."""
    if task == "bool":
        return read_verdict(reply)
    return read_choice(reply, choices) if task == "mcq" else read_quantity(reply)


def _compare_paper(task: Task, answer: Answer, reason: str, truth: Truth) -> Score:
    value = answer.value if isinstance(answer, Number) else answer
    if task != "calcu":
        return _plain_score(value, None, value is not None and value == truth.value, reason, truth)
    g = truth.value
    usable = isinstance(value, int | float) and isinstance(g, int | float)
    exact = usable and value == g
    near = usable and near_marked(float(value or 0), float(g or 0))
    return _plain_score(value, near, exact, reason, truth)


def _compare_robust(task: Task, answer: Answer, reason: str, truth: Truth) -> Score:
    number = number_from_float(answer) if task == "calcu" and isinstance(answer, int | float) else answer
    value = number.value + 0.0 if isinstance(number, Number) else number
    if truth.kind == "unusable":
        return Score(answer=value, correct=None, correct_err=None, reason=f"unscored: the truth is {truth.reason}")
    if task != "calcu":
        return _plain_score(value, None, value is not None and value == truth.value, reason, truth)
    if not isinstance(number, Number) or not isinstance(truth.value, int | float):
        return _plain_score(value, False, False, reason, truth)
    equal = equal_reading(number, truth.value, _truth_step(truth))
    near = near_reading(number, truth.value) if equal is None else equal
    chosen = value if near is None else near
    return _plain_score(chosen, near is not None, equal is not None, reason, truth)


def _plain_score(
    answer: int | str | float | None, near: bool | None, correct: bool, reason: str, truth: Truth
) -> Score:
    flaw = truth.reason if truth.kind == "unusable" else ""
    return scored(answer, correct=correct, near=near, reason=reason, flaw=flaw)


def _truth_step(truth: Truth) -> float:
    """The last place the truth is written to; a per cent sign does not count, as in `parse_truth`."""
    numbers = find_numbers(plain(truth.text).replace("%", ""))
    return numbers[0].number.step if numbers else 0.0

"""What responses give as their answer: by the rules, and by a judge where one is asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fin_tasks.answers.numbers import Number
from fin_tasks.benchmarks.financemath.extraction import read_answer
from fin_tasks.benchmarks.financemath.judge import Verdict, read_by_judge
from fin_tasks.endpoints.chat import Chat
from fin_tasks.errors import EndpointError

__all__ = ["Judge", "Reading", "read_all", "read_with"]

Judge = Callable[[Sequence[str]], list[Verdict]]
"""Reads responses, one verdict each."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read in a response.

    Attributes:
        number: The answer; None where the response gives none, or nobody could tell.
        read_by: Who says so; None where the rules find no answer and the judge failed: whether there is an answer that
            only the judge could have read, nobody knows.
        judge_error: How the judge failed, where it did.
    """

    number: Number | None
    read_by: Literal["rules", "judge"] | None
    judge_error: str | None = None


def read_all(responses: Sequence[str], *, judge: Judge | None = None, judge_all: bool = False) -> list[Reading]:
    """Read responses, in their order.

    Args:
        responses: What the model wrote.
        judge: Reads the responses in which the rules find no answer; nobody does where None.
        judge_all: The judge reads every response; the rules' reading stands where it fails.

    Raises:
        EndpointError: The judge replied to nothing.

    Example:
        >>> first, second = read_all(["Therefore, the answer is 5.", "I cannot say."])
        >>> first.number.value, second.number, second.read_by
        (5.0, None, 'rules')
    """
    numbers = [read_answer(response) for response in responses]
    asked = [at for at, number in enumerate(numbers) if judge_all or number is None]
    verdicts: Mapping[int, Verdict] = {}
    if judge is not None and asked:
        verdicts = dict(zip(asked, judge([responses[at] for at in asked]), strict=True))
    return [_reading(number, verdicts.get(at)) for at, number in enumerate(numbers)]


def read_with(responses: Sequence[str], chat: Chat | None, on_done: Callable[[int], None] | None) -> list[Reading]:
    """Read responses, with a chat model as judge where there is one; what lm-eval's filter calls.

    A judge that replies to nothing has failed on each response: a run of the harness must not be lost with it.
    """
    if chat is None:
        return read_all(responses)

    def ask(texts: Sequence[str]) -> list[Verdict]:
        try:
            return read_by_judge(chat, texts, on_done=on_done)
        except EndpointError as error:
            return [Verdict(error=str(error))] * len(texts)

    return read_all(responses, judge=ask)


def _reading(number: Number | None, verdict: Verdict | None) -> Reading:
    if verdict is None:
        return Reading(number=number, read_by="rules")
    if verdict.error is None:
        return Reading(number=verdict.number, read_by="judge")
    return Reading(number=number, read_by=None if number is None else "rules", judge_error=verdict.error)

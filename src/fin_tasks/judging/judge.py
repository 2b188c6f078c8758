"""Has a judge score responses by a rubric: all at once, again where its reply cannot be read, never twice the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fin_tasks.errors import JudgeError
from fin_tasks.judging.item import JudgeItem, Verdict
from fin_tasks.judging.rubric import Rubric
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.endpoints.spending import Spent

__all__ = ["Compared", "Difference", "Judged", "JudgingFailedError", "judge_items", "with_and_without"]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Verdicts, and how they came about.

    Attributes:
        verdicts: One per item, in order.
        rubric: What was scored by.
        setup: The judge.
        spent: What it took: requests, tokens, money.
    """

    verdicts: tuple[Verdict, ...]
    rubric: Rubric
    setup: JudgeSetup
    spent: "Spent"


class JudgingFailedError(JudgeError):
    """The judge failed on too many responses.

    Attributes:
        judged: What there is all the same: every verdict, those that failed included.
    """

    def __init__(self, message: str, judged: Judged) -> None:
        super().__init__(message)
        self.judged = judged


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A response that holds orders, judged with and without them.

    Attributes:
        index: The item's.
        removed: The sentences that were taken out.
        score: With them; None where unscored.
        score_without: Without them; None where unscored.
    """

    index: str
    removed: tuple[str, ...]
    score: int | None
    score_without: int | None


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Responses judged as they are, and without sentences that address the judge.

    Attributes:
        with_them: Verdicts on the responses as they are.
        without_them: Verdicts without those sentences; those of items that have none are the same.
        differences: Of the affected items, in order.
        mean_difference: Mean of score minus score without, over affected items that both times got one, in points of
            the rubric's scale; positive where the sentences helped. None where there are no such items.
    """

    with_them: Judged
    without_them: Judged
    differences: tuple[Difference, ...]
    mean_difference: float | None

    @property
    def affected(self) -> int:
        """Number of items that hold such sentences."""
        return len(self.differences)


def judge_items(items: Sequence[JudgeItem], setup: JudgeSetup, settings: Settings, *, show: bool = False) -> Judged:
    """Score responses.

    Args:
        items: What to score.
        setup: The judge.
        settings: The environment: the key, and the folder where replies are kept.
        show: Draw a progress bar with tokens and cost on the standard error.

    Returns:
        One verdict per item. A model's failed response is not shown to the judge and stays unscored.

    Raises:
        ConfigError: The rubric cannot be read, or has no category of an item.
        EndpointError: Replies cannot be kept.
        JudgingFailedError: The judge failed on every response, or on a larger share than the setup allows. It holds
            what there is; replies are kept, and the message says how to go on.
    """
    raise NotImplementedError


def with_and_without(
    items: Sequence[JudgeItem], setup: JudgeSetup, settings: Settings, *, show: bool = False
) -> Compared:
    """Score responses as they are, and once more without the sentences that address the judge (see `imperatives`).

    Only items that hold such sentences are judged twice.

    Args:
        items: What to score.
        setup: The judge.
        settings: The environment.
        show: Draw progress bars.

    Raises:
        FinTasksError: As `judge_items`; `judged` then is the run that failed.
    """
    raise NotImplementedError

"""Has a judge score responses by a rubric: all at once, again where its reply cannot be read, never twice the same."""

import re
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from fin_tasks.endpoints.bar import asking
from fin_tasks.endpoints.limits import Limits
from fin_tasks.endpoints.old_chat import Chat, ChatRequest, NoReplyError, Reply
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.endpoints.spending import Spent
from fin_tasks.errors import ConfigError, EndpointError, JudgeError
from fin_tasks.judging.failures import response_failure
from fin_tasks.judging.imperatives import without_imperatives
from fin_tasks.judging.old_item import JudgeItem, Verdict
from fin_tasks.judging.old_rubric import Rubric, load_rubric
from fin_tasks.judging.prompt import judge_request
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.judging.verdict import read_score
from fin_tasks.sandbox.outcome import escape
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average_or_none

__all__ = ["Compared", "Difference", "Judged", "JudgingFailedError", "judge_items", "with_and_without"]

_PICTURE_REFUSED = re.compile(r"got status 4(?:00|04|15|22) \(.*(?:image|picture|vision|multi-?modal)", re.IGNORECASE)


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
    spent: Spent


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
        position: The item's place among the items.
        removed: The sentences that were taken out.
        score: With them; None where unscored.
        score_without: Without them; None where unscored.
    """

    index: str
    position: int
    removed: tuple[str, ...]
    score: int | None
    score_without: int | None

    @property
    def points(self) -> int | None:
        """Score minus score without, in points of the scale; None where either is unscored."""
        if self.score is None or self.score_without is None:
            return None
        return self.score - self.score_without


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

    Every response is put to the judge at the rubric's first temperature; where its reply cannot be read, again at the
    next one, and so on. All replies are kept on the disk, readable or not, so that a rerun repeats no call; only one
    without any text is not, and is asked for again.

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
    rubric = load_rubric(setup.rubric)
    for item in items:
        _category_known(item, rubric)
    limits = Limits(requests_per_minute=setup.requests_per_minute, tokens_per_minute=setup.tokens_per_minute)
    chat = Chat(setup.endpoints, settings, concurrency=setup.concurrency, limits=limits)
    work = _Work(items=items, rubric=rubric, setup=setup, chat=chat, show=show)
    work.judge()
    judged = Judged(verdicts=tuple(work.verdicts), rubric=rubric, setup=setup, spent=chat.spent)
    _check(judged, lasting=work.lasting)
    return judged


def with_and_without(
    items: Sequence[JudgeItem], setup: JudgeSetup, settings: Settings, *, show: bool = False
) -> Compared:
    """Score responses as they are, and once more without the sentences that address the judge (see `imperatives`).

    Only items that hold such sentences are judged twice. A response that holds nothing else is empty without them, and
    unscored.

    Args:
        items: What to score.
        setup: The judge.
        settings: The environment.
        show: Draw progress bars.

    Raises:
        FinTasksError: As `judge_items`. Failures of the judge count over the first run; those of the second leave their
            items without a difference.
    """
    first = judge_items(items, setup, settings, show=show)
    cleaned = {at: text for at, item in enumerate(items) if (text := without_imperatives(item.response)).removed}
    affected = [replace(items[at], response=text.text) for at, text in cleaned.items()]
    again = _judge_tolerantly(affected, setup, settings, show=show) if affected else None
    second = dict(zip(cleaned, again.verdicts, strict=True)) if again else {}
    differences = tuple(
        Difference(
            index=items[at].index,
            position=at,
            removed=text.removed,
            score=first.verdicts[at].score,
            score_without=second[at].score,
        )
        for at, text in cleaned.items()
    )
    return Compared(
        with_them=first,
        without_them=replace(
            first,
            verdicts=tuple(second.get(at, verdict) for at, verdict in enumerate(first.verdicts)),
            spent=again.spent if again else Spent(prices=first.spent.prices),
        ),
        differences=differences,
        mean_difference=average_or_none(difference.points for difference in differences),
    )


def _judge_tolerantly(items: Sequence[JudgeItem], setup: JudgeSetup, settings: Settings, *, show: bool) -> Judged:
    try:
        return judge_items(items, setup, settings, show=show)
    except JudgingFailedError as error:
        return error.judged


@dataclass
class _Work:
    """A judging under way."""

    items: Sequence[JudgeItem]
    rubric: Rubric
    setup: JudgeSetup
    chat: Chat
    show: bool
    verdicts: list[Verdict] = field(init=False)
    lasting: set[str] = field(default_factory=set)
    """Errors of requests that will fail again until somebody changes something."""
    _pictures: dict[Path, Picture] = field(default_factory=dict)
    _kept: set[int] = field(default_factory=set)
    """Items all of whose replies were on the disk already."""

    def judge(self) -> None:
        """Score every item."""
        reasons = [response_failure(item.response) for item in self.items]
        self.verdicts = [Verdict(failed="response", error=reason) if reason else Verdict() for reason in reasons]
        waiting = [at for at, verdict in enumerate(self.verdicts) if verdict.failed is None]
        self._kept = set(waiting)
        exhausted = self._escalate(waiting, keep_unread=True)
        if again := sorted(self._kept & set(exhausted)) if self.setup.retry_failed else []:
            self._escalate(again, keep_unread=False)

    def _escalate(self, waiting: list[int], *, keep_unread: bool) -> list[int]:
        """Ask about items at one temperature after the other; return those whose replies were unreadable to the end."""
        for attempt, temperature in enumerate(self.rubric.temperatures):
            if not waiting:
                break
            replies = self._ask(waiting, temperature, first=attempt == 0, keep_unread=keep_unread)
            for at, reply in zip(waiting, replies, strict=True):
                self.verdicts[at] = self._verdict(reply, self.verdicts[at], tries=attempt)
                if not reply.kept:
                    self._kept.discard(at)
            waiting = [at for at in waiting if self.verdicts[at].failed == "reply"]
        return waiting

    def _verdict(self, reply: Reply, before: Verdict, *, tries: int) -> Verdict:
        if reply.wordless:
            return Verdict(tries=tries + 1, error=reply.error, failed="reply")
        if reply.text is None:
            return Verdict(raw=before.raw if tries else "", tries=tries, error=reply.error, failed="judge")
        score, error = read_score(reply.text, self.rubric)
        failed: Literal["reply"] | None = "reply" if score is None else None
        return Verdict(score=score, raw=reply.text, tries=tries + 1, error=error, failed=failed)

    def _ask(self, waiting: Sequence[int], temperature: float, *, first: bool, keep_unread: bool) -> list[Reply]:
        requests = [self._request(self.items[at], temperature) for at in waiting]

        def readable(_: int, text: str) -> bool:
            return read_score(text, self.rubric)[0] is not None

        what = "Judging" if first else f"Judging again at {temperature:g}"
        bar = asking(what, len(requests), self.chat) if self.show else nullcontext()
        try:
            with bar as on_done:
                replies = self.chat.ask(requests, accept=None if keep_unread else readable, on_done=on_done)
        except NoReplyError as error:  # of this round: the rounds before count all the same
            replies = list(error.replies)
        except EndpointError as error:
            return [Reply(error=str(error))] * len(requests)
        self.lasting |= {reply.error for reply in replies if reply.lasting and reply.error}
        return replies

    def _request(self, item: JudgeItem, temperature: float) -> ChatRequest:
        return judge_request(
            item,
            self.rubric,
            model=self.setup.model,
            temperature=temperature,
            max_tokens=self.setup.max_tokens or self.rubric.max_tokens,
            picture=self._picture(item),
        )

    def _picture(self, item: JudgeItem) -> Picture | None:
        if not self.setup.image or item.image is None:
            return None
        return self._pictures.setdefault(item.image, Picture(item.image))


def _category_known(item: JudgeItem, rubric: Rubric) -> None:
    try:
        rubric.category(item.category)
    except ConfigError as error:
        raise ConfigError(f"item {item.index}: {error}") from None


def _check(judged: Judged, *, lasting: Collection[str]) -> None:
    """Raise where the judge failed too often; `lasting` are errors that stay until somebody changes something."""
    asked = [verdict for verdict in judged.verdicts if verdict.failed != "response"]
    failed = [verdict for verdict in asked if verdict.score is None]
    if not failed or (len(failed) < len(asked) and len(failed) <= judged.setup.max_failed * len(asked)):
        return
    unanswered = [verdict.error or "" for verdict in failed if verdict.failed != "reply"]
    replied = len(failed) - len(unanswered)
    how = f"{replied} with replies that are no score, {len(unanswered)} without a reply"
    # what has to be put right is told before what time may heal
    first = next((error for error in unanswered if error in lasting), failed[0].error or "")
    remedies = _remedies(first, judged.setup, lasting=lasting) if unanswered else []
    if replied:
        remedies.append(
            "Run with --retry-failed (judge_retry_failed, retry_failed) to ask again for replies that are no score: "
            "they are kept like all others. A judge that thinks before it replies needs more max_tokens."
        )
    wanted = "some" if len(failed) == len(asked) else f"at least {1 - judged.setup.max_failed:.0%}"
    raise JudgingFailedError(
        f"judge {judged.setup.model}: expected scores for {wanted} of {len(asked)} responses, got {len(failed)} "
        f"unscored ({how}). First: {escape(first)}{'' if first.endswith(('.', '?')) else '.'} {' '.join(remedies)}",
        judged,
    )


def _remedies(error: str, setup: JudgeSetup, *, lasting: Collection[str]) -> list[str]:
    """Say what to do where requests got no reply."""
    remedies = []
    if setup.image and _PICTURE_REFUSED.search(error):
        remedies.append("A judge that takes no pictures can judge without them: --no-image, judge_image: false.")
    if error in lasting:
        remedies.append("Correct this first, then run the same again: replies so far are kept.")
    else:
        remedies.append(
            "Run the same again to go on: replies so far are kept, and what was not replied to is asked again."
        )
    return remedies

"""A step of scoring that asks a judge, or a model that reads answers, about all responses of a task."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from fin_tasks.errors import FinTasksError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.sandbox import Ran

_log = logging.getLogger(__name__)
Document = Mapping[str, Any]
ItemOf = Callable[[Document, str], Item | None]


class JudgeStep:
    """Asks about the responses for which `item` makes an item; `facts` is what results say about the judge.

    Both variants of a task share one step, and the judge is asked once.
    """

    def __init__(self, item: ItemOf, rubric: Rubric, judge: JudgeModel | None) -> None:
        self.item = item
        self.rubric = rubric
        self.judge = judge
        self.facts: dict[str, Any] = judge.facts(rubric) if judge else {}
        self._last: tuple[list[Item], list[Judged]] | None = None

    def judge_responses(
        self, docs: Sequence[Document], responses: Sequence[Sequence[str | Ran]]
    ) -> list[list[Judged | Ran]]:
        """Return each document's responses with the judge's replies.

        A response whose program ran stays as it is. If the judge failed too often, all responses are
        unscored, and nothing raises.
        """
        items: list[list[Item | None]] = []
        for doc, doc_responses in zip(docs, responses, strict=True):
            items.append([self._item_of(doc, response) for response in doc_responses])
        asked = [item for item in chain.from_iterable(items) if item is not None]
        answers = iter(self._ask(asked))
        judged: list[list[Judged | Ran]] = []
        for doc_responses, doc_items in zip(responses, items, strict=True):
            pairs = zip(doc_responses, doc_items, strict=True)
            judged.append([_with_replies(response, item, answers) for response, item in pairs])
        return judged

    def _item_of(self, doc: Document, response: str | Ran) -> Item | None:
        if isinstance(response, Ran) and response.outcomes:
            return None
        return self.item(doc, text_of(response))

    def _ask(self, items: list[Item]) -> list[Judged]:
        if self.judge is None:
            return [Judged(item.response) for item in items]
        if self._last is None or self._last[0] != items:
            try:
                judged = judge_items(items, self.rubric, self.judge)
                check_failures(judged, self.rubric, self.judge.max_failed)
            except (FinTasksError, OSError) as error:
                _log.error("All responses that were to be judged stay unscored: %s", error)
                judged = [Judged(item.response, (), str(error)) for item in items]
            self.facts["usage"] = self.judge.spent()
            self._last = (items, judged)
        return self._last[1]


def _with_replies(
    response: str | Ran, item: Item | None, answers: Iterator[Judged]
) -> Judged | Ran:
    if item is not None:
        # An item may show only a part of the response.
        return replace(next(answers), response=text_of(response))
    if isinstance(response, Ran) and response.outcomes:
        return response
    return Judged(text_of(response))


def text_of(response: str | Ran) -> str:
    """Return the text of a response."""
    return response.response if isinstance(response, Ran) else response

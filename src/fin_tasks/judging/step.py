"""A step of scoring that asks a model about all responses of a task.

The model is a judge, or reads answers.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from fin_tasks.errors import FinTasksError
from fin_tasks.judging.item import Facts, Item, Judged
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.sandbox import Ran

_log = logging.getLogger(__name__)

Document = Mapping[str, Any]
Response = str | Ran
JudgedResponse = Judged | Ran
ItemOf = Callable[[Document, str], Item | None]


class JudgeStep:
    """Asks about the responses for which `item` makes an item.

    `facts` is what results say about the judge. Both variants of a task share one step, and the judge is asked once.
    """

    def __init__(self, item: ItemOf, rubric: Rubric, judge: JudgeModel | None) -> None:
        self.item = item
        self.rubric = rubric
        self.judge = judge
        self.facts: Facts = judge.facts(rubric) if judge else {}
        self._items: list[Item] | None = None
        self._judged: list[Judged] = []

    def judge_responses(
        self,
        docs: Sequence[Document],
        responses: Sequence[Sequence[Response]],
    ) -> list[list[JudgedResponse]]:
        """Return each document's responses with the judge's replies.

        A response whose program ran stays as it is. If the judge failed too often, all responses
        are unscored, and nothing raises.
        """
        items_by_doc: list[list[Item | None]] = []
        all_items: list[Item] = []
        for doc, doc_responses in zip(docs, responses, strict=True):
            items = [self._item_of(doc, response) for response in doc_responses]
            items_by_doc.append(items)
            all_items += filter(None, items)
        judged_items = iter(self.judge_once(all_items))
        judged_by_doc: list[list[JudgedResponse]] = []
        for doc_responses, items in zip(responses, items_by_doc, strict=True):
            judged: list[JudgedResponse] = []
            for response, item in zip(doc_responses, items, strict=True):
                if item is not None:
                    # An item may show only a part of the response.
                    text = text_of(response)
                    judged.append(replace(next(judged_items), response=text))
                elif has_result(response):
                    judged.append(response)
                else:
                    judged.append(Judged(text_of(response)))
            judged_by_doc.append(judged)
        return judged_by_doc

    def _item_of(self, doc: Document, response: Response) -> Item | None:
        if has_result(response):
            return None
        return self.item(doc, text_of(response))

    def judge_once(self, items: list[Item]) -> list[Judged]:
        """Return the judge's replies about each item; the judge is asked about new items only."""
        if self.judge is None:
            return [Judged(item.response) for item in items]
        if self._items != items:
            self._judged = self._ask_judge(items, self.judge)
            self._items = items
            self.facts["usage"] = self.judge.spent()
        return self._judged

    def _ask_judge(self, items: list[Item], judge: JudgeModel) -> list[Judged]:
        try:
            judged = judge_items(items, self.rubric, judge)
            check_failures(judged, self.rubric, judge.max_failed)
        except (FinTasksError, OSError) as error:
            _log.error("All responses that were to be judged stay unscored: %s", error)
            return [Judged(item.response, (), str(error)) for item in items]
        return judged


def has_result(response: Response) -> TypeGuard[Ran]:
    """Return whether programs of a response were run."""
    return isinstance(response, Ran) and bool(response.outcomes)


def text_of(response: Response) -> str:
    """Return the text of a response."""
    return response.response if isinstance(response, Ran) else response

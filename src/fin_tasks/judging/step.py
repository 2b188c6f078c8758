"""A step of scoring that asks a model about all responses of a task: a judge, or a reader of answers."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fin_tasks.errors import FinTasksError, JudgeError
from fin_tasks.sandbox import Ran

from .item import Facts, Item, Judged
from .judge import JudgeModel, check_failures, judge_items
from .rubric import Rubric

_log = logging.getLogger(__name__)

Document = Mapping[str, Any]
Response = str | Ran
JudgedResponse = Judged | Ran


@dataclass
class JudgeStep:
    """Asks the judge about each response for which `item` makes an item; without a judge, asks nothing.

    Both variants of a task share one step, and the judge is asked once.
    """

    item: Callable[[Document, str], Item | None]
    rubric: Rubric
    judge: JudgeModel | None = None
    facts: Facts = field(default_factory=dict)
    """What results say about the judge, once it was asked."""
    _items: Sequence[Item] = ()
    _judged: Sequence[Judged] = ()

    def judge_responses(
        self, docs: Sequence[Document], responses: Sequence[Sequence[Response]]
    ) -> list[list[JudgedResponse]]:
        """Return each document's responses with the judge's replies.

        A response whose program ran stays as it is. If the judge failed too often, the log says so; what it
        failed on is unscored, and nothing raises.
        """
        rows: list[list[JudgedResponse]] = []
        slots = []
        items = []
        for doc, doc_responses in zip(docs, responses, strict=True):
            row: list[JudgedResponse] = []
            for response in doc_responses:
                if isinstance(response, Ran) and response.outcomes:
                    row.append(response)
                    continue
                text = response if isinstance(response, str) else response.response
                item = self.item(doc, text)
                if item is not None:
                    items.append(item)
                    slots.append((row, len(row)))
                row.append(Judged(text))
            rows.append(row)
        for (row, index), judged in zip(slots, self.judge_once(items), strict=True):
            # The item may hold only a part of the response; the whole one stays.
            row[index] = replace(judged, response=row[index].response)
        return rows

    def judge_once(self, items: Sequence[Item]) -> Sequence[Judged]:
        """Return the items with the judge's replies; the same items again are not asked again."""
        if self.judge is None:
            return [Judged(item.response) for item in items]
        if self._items != items:
            self._items = items
            try:
                self._judged = judge_items(items, self.rubric, self.judge)
                check_failures(self._judged, self.rubric, self.judge.max_failed)
            except JudgeError as error:
                _log.error("%s", error)
            except (FinTasksError, OSError) as error:
                text = "all responses that were to be judged stay unscored: %s"
                _log.error(text, error)
                self._judged = [Judged(item.response, (), str(error)) for item in items]
        self.facts.update(self.judge.facts(self.rubric))
        return self._judged

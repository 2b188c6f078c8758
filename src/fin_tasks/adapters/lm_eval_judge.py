"""The filter that asks a judge about all responses of a task at once."""

import itertools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter
from tqdm import tqdm

from fin_tasks.benchmarks.mme_finance.upstream_judge import rubric_named
from fin_tasks.errors import FinTasksError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeModel, check_failures, judge_from, judge_items
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

__all__ = ["AskJudge", "Judging", "with_judges"]

_log = logging.getLogger(__name__)


class Judging:
    """The judging of one task, which its filters share, so that the judge is asked once."""

    def __init__(self, task: str, rubric: Rubric, judge: JudgeModel | None) -> None:
        self.task, self.rubric, self.judge = task, rubric, judge
        self.facts = judge.facts(rubric) if judge else None
        self._last: tuple[tuple[Item, ...], list[Judged]] = ((), [])

    def ask(self, items: tuple[Item, ...]) -> list[Judged]:
        """Return the judged responses; if the judge failed too often, all are unscored, and nothing raises."""
        if self._last[0] == items or self.judge is None or self.facts is None:
            return self._last[1] if self.judge else [Judged(item.response) for item in items]
        try:
            with tqdm(total=len(items), desc=f"Judging {self.task}", unit="response") as bar:
                judged = judge_items(items, self.rubric, self.judge, on_done=lambda done: bar.update(done - bar.n))
            check_failures(judged, self.rubric, self.judge.max_failed)
        except (FinTasksError, OSError) as error:
            _log.error("%s: all responses stay unscored: %s", self.task, error)
            judged = [Judged(item.response, (), str(error)) for item in items]
        self.facts["usage"] = self.judge.spent()
        self._last = (items, judged)
        return judged


@register_filter("fin_tasks_judge")
class AskJudge(Filter):  # type: ignore[misc]
    """Turn each response into a `Judged`. `item` makes an item of a document and a response, or None: not asked.

    Without a judge, responses stay as they are if the judge is optional, and are unscored otherwise.
    """

    def __init__(
        self, *, item: Callable[..., Item | None], rubric: str, optional: bool = False, judging: Judging | None = None
    ) -> None:
        self.item, self.optional, self.judging = item, optional, judging

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """Return one list per document."""
        nested = [[text if isinstance(text, str) else "" for text in responses] for responses in resps]
        if self.judging is None or (self.optional and self.judging.judge is None):
            return nested
        asked = [[self.item(doc, text) for text in texts] for doc, texts in zip(docs, nested, strict=True)]
        judged = iter(self.judging.ask(tuple(one for one in itertools.chain(*asked) if one is not None)))
        return [
            [Judged(text) if one is None else next(judged) for one, text in zip(items, texts, strict=True)]
            for items, texts in zip(asked, nested, strict=True)
        ]


def with_judges(
    pipelines: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any], *, task: str, options: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], Judging | None]:
    """Give the filters of a task the judge and the rubric that the metadata names."""
    steps = [step for pipeline in pipelines for step in pipeline["filter"] if step["function"] == "fin_tasks_judge"]
    if not steps:
        return [dict(pipeline) for pipeline in pipelines], None
    named = str(metadata.get("rubric") or steps[0]["rubric"].format(**options))
    place = {name: metadata[name] for name in ("source", "data_dir") if name in metadata}
    rubric = rubric_named(named, language=options.get("language", "en"), **place)
    judge = judge_from(metadata, Settings.from_environ())
    if judge is None and not steps[0].get("optional"):
        _log.warning("%s: no judge is named (metadata judge_model), so all responses stay unscored.", task)
    judging = Judging(task, rubric, judge)
    return [
        {**pipeline, "filter": [{**step, "judging": judging} if step in steps else step for step in pipeline["filter"]]}
        for pipeline in pipelines
    ], judging

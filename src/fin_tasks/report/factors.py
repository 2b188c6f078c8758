"""What results of one model may differ in, and be compared by: style, mode, scoring, judge, decoding."""

from collections.abc import Mapping
from dataclasses import dataclass

from fin_tasks.benchmarks.scored_task import SCORINGS

from .conditions import Conditions, conditions_of, setting_text
from .model import TaskResult

_WORDING = ("style.", "prompts.", "mode", "version", "retrieval.")
"""Beginnings of the names of settings that differ with the style, the mode or the knowledge."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """What results differ in; all else of a group is the same."""

    conditions: tuple[str, ...] = ()
    """The conditions that name a result."""
    settings: tuple[str, ...] = ()
    """The settings that name a result."""
    may_differ: tuple[str, ...] = ()
    """Beginnings of the names of settings that may differ without a note."""
    scorings: tuple[str, ...] = ()
    """The scorings that are compared; without them it is the one that the user chose."""

    def label_of(self, result: TaskResult) -> str:
        """Return what a table calls a result; empty if nothing is stated."""
        conditions = conditions_of(result)
        names = [getattr(conditions, name) for name in self.conditions]
        stated = {**result.settings, **result.decoding}
        for name in self.settings:
            if name in stated:
                names.append(setting_text(stated[name]))
        return ", ".join(filter(None, names))

    def shared_conditions(self, result: TaskResult) -> Conditions:
        """Return the conditions that the compared results share."""
        return conditions_of(result)._replace(**dict.fromkeys(self.conditions, ""))


def _decoding(setting: str) -> Factor:
    return Factor(settings=(f"decoding.{setting}",), may_differ=("decoding.",))


FACTORS: Mapping[str, Factor] = {
    "style": Factor(conditions=("mode", "style"), may_differ=_WORDING),
    "mode": Factor(conditions=("mode",), may_differ=_WORDING),
    "knowledge": Factor(conditions=("retrieval",), may_differ=_WORDING),
    "variant": Factor(conditions=("split",), may_differ=_WORDING),
    "corrections": Factor(may_differ=("corrections.", *_WORDING)),
    "scoring": Factor(scorings=tuple(SCORINGS)),
    "judge": Factor(settings=("judge.model", "judge.rubric"), may_differ=("judge.",)),
    "limit": _decoding("limit"),
    "temperature": _decoding("temperature"),
}
"""What one model's results may be compared by; `memorization.py` compares variants, and corrections differ between the
reports."""

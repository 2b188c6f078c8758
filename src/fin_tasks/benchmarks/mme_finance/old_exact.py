"""Truths that need no judge, and whether a response gives them.

Only sets that were built here have them. What counts as the answer of a response: reasoning in its tags goes; what a
marker (`The answer is`, `答案是`) or a box announces comes first, the last one where there are several; else see
`exact_numbers.answer_number` and `exact_names`. A response that hedges, lists every candidate or names two of them
that differ is wrong.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from fin_tasks.benchmarks.mme_finance.exact_days import days_in
from fin_tasks.benchmarks.mme_finance.exact_declines import declines
from fin_tasks.benchmarks.mme_finance.exact_names import gives_all, gives_choice, gives_text
from fin_tasks.benchmarks.mme_finance.exact_numbers import answer_number, scale_of
from fin_tasks.benchmarks.mme_finance.exact_words import lines_of, marked_sentence, readable
from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.errors import DataError

__all__ = ["Truth", "TruthKind", "score_exact"]

TruthKind = Literal["number", "day", "text", "choice", "all", "not_applicable"]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What a right answer says.

    Attributes:
        kind: A number, a day, a text, one of listed choices, all of several texts, or that the picture does not tell.
        value: Of a number, in `unit`.
        margin: How far a number may be off, in `unit`.
        relative: How far it may be off as a share of `value`; the larger of both counts.
        unit: Of a number, as the picture prints it (`%`, `USD million`, `亿元`); empty for none.
        worked: A number's answer may show its working; otherwise it says one number.
        day: Of a day, as `2012-05-31`.
        accepted: Forms of the right text or choice.
        parts: For `all`, the forms of each part.
        wrong: Names that must not be given beside the right ones.
    """

    kind: TruthKind
    value: float | None = None
    margin: float = 0.0
    relative: float = 0.0
    unit: str = ""
    worked: bool = False
    day: str = ""
    accepted: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    wrong: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return it as one line of JSON, without what is empty.

        Example:
            >>> Truth(kind="number", value=4.5, unit="%").to_json()
            '{"kind": "number", "value": 4.5, "unit": "%"}'
        """
        kept = {name: value for name, value in vars(self).items() if name == "kind" or value not in (None, "", (), 0.0)}
        if self.value == 0.0:
            kept["value"] = 0.0
        return json.dumps(kept, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Truth":
        """Read what `to_json` wrote.

        Raises:
            DataError: The text is no truth.

        Example:
            >>> Truth.from_json('{"kind": "text", "accepted": ["EPS"]}').accepted
            ('EPS',)
        """
        try:
            fields: dict[str, Any] = json.loads(text)
            for name in ("accepted", "wrong"):
                fields[name] = tuple(map(_text, fields.get(name, ())))
            fields["parts"] = tuple(tuple(map(_text, part)) for part in fields.get("parts", ()))
            truth = cls(**fields)
            _check(truth)
        except (ValueError, TypeError, AttributeError) as error:
            raise DataError(
                f"truth: expected JSON as `fin-tasks build mme-finance` writes it, got {text[:200]!r} ({error})."
            ) from error
        return truth


def score_exact(truth: Truth, response: str, *, language: Language) -> bool | None:
    """Return whether a response is right; None where there is no response.

    Args:
        truth: What is right.
        response: What the model wrote.
        language: Of the question; answers in the other language are read too.

    Example:
        >>> close = Truth(kind="number", value=1284.5, unit="USD")
        >>> [score_exact(close, text, language="en") for text in ("$1,284.50", "1,284.50 or 1,290", "")]
        [True, False, None]
        >>> score_exact(Truth(kind="not_applicable"), "无法回答", language="zh")
        True
    """
    if not response.strip():
        return None
    if truth.kind == "not_applicable":
        return declines(response)
    text = readable(response, counted=truth.kind in ("number", "day"))
    if truth.kind == "number":
        return _is_number(truth, text)
    if truth.kind == "day":
        return _is_day(date.fromisoformat(truth.day), text)
    if truth.kind == "all":
        return gives_all(text, truth.parts, truth.wrong)
    if truth.kind == "text":
        return gives_text(text, truth.accepted)
    return gives_choice(text, truth.accepted, truth.wrong)


def _is_number(truth: Truth, text: str) -> bool:
    reading = answer_number(text, worked=truth.worked, spread=truth.relative if truth.worked else 0.0)
    if reading is None or truth.value is None:
        return False
    margin = max(truth.margin, truth.relative * abs(truth.value))
    return reading.is_near(truth.value, margin=margin, scale=scale_of(truth.unit))


def _is_day(day: date, text: str) -> bool:
    marked = marked_sentence(text)
    for part in [*([marked] if marked else []), text, *lines_of(text)[-1:]]:
        if found := days_in(part, year=day.year):
            return all(day in named for named in found)
    return False


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected text, got {value!r}")
    return value


def _check(truth: Truth) -> None:
    """Refuse a truth that nothing could be compared with."""
    if truth.kind not in get_args(TruthKind):
        raise ValueError(f"expected one of {', '.join(get_args(TruthKind))} as its kind, got {truth.kind!r}")
    needed: Mapping[str, object] = {
        "number": truth.value is not None,
        "day": truth.day,
        "text": truth.accepted,
        "choice": truth.accepted,
        "all": truth.parts,
    }
    if not needed.get(truth.kind, True):
        raise ValueError(f"a truth of kind {truth.kind} lacks what is right")
    if truth.value is not None and not (isinstance(truth.value, int | float) and math.isfinite(truth.value)):
        raise ValueError(f"expected a finite number, got {truth.value!r}")
    if truth.day:
        date.fromisoformat(truth.day)

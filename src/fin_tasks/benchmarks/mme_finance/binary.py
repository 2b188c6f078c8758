"""Questions of 是 or 否: readers and metrics; no judge is needed."""

import math
import re
from collections.abc import Sequence
from typing import Any

from fin_tasks.answers.text import strip_reasoning
from fin_tasks.answers.types import Reading
from fin_tasks.judging.item import missing_reason

from ..contract import Document

_YES = "是"
_NO = "否"
_CLAUSE = re.compile(
    "(是的?|对的?|正确|yes|true)|否|不是的?|不|不对|不正确|错误?|no|false",
    re.IGNORECASE,
)
"""A whole clause that says 是 (then it is group 1) or 否."""
_MARKED = re.compile(
    r"(?:答案|结论|回答|(?<![a-z])answer)(?:应?[为是]|\sis)?\s*[:：]?\s*"
    r"(不是|是的?(?!否|不是)|否(?!正确|存在|高于|低于)|yes\b|no\b)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,，。.;；:：!！?？\n]+")
_NOTATION = re.compile(r"[*_`\"“”「」\[\]()（）]")

PartOfF1 = list[float] | None
"""Whether a response finds a 是, and whether it finds a 是, misses one or says 是 wrongly: 1 or 0 each."""


def read(response: str, *, scoring: str) -> Reading:
    """Read 是 or 否: `paper` takes the whole response without 。 at its ends, `robust` the answer it commits to."""
    if scoring == "paper":
        return Reading(scoring=scoring, answer=response.strip("。"))
    reason = missing_reason(response)
    if reason:
        return Reading(scoring=scoring, answer=None, reason=reason, unscored=True)
    answer = _answer_in(_NOTATION.sub("", strip_reasoning(response)))
    reason = "" if answer else "neither 是 nor 否 is said"
    return Reading(scoring=scoring, answer=answer, reason=reason)


def _answer_in(text: str) -> str | None:
    """Return the last marked answer in a text, else that of its first and last clause unless they differ."""
    marked = _MARKED.findall(text)
    if marked:
        return _answer_of(marked[-1])
    clauses = _BREAK.sub("\n", text).strip().split("\n")
    answers = {_answer_of(clauses[0]), _answer_of(clauses[-1])} - {None}
    return answers.pop() if len(answers) == 1 else None


def _answer_of(clause: str) -> str | None:
    match = _CLAUSE.fullmatch(clause.strip())
    if match is None:
        return None
    return _YES if match[1] else _NO


def truth_of(doc: Document) -> str:
    """Return the right answer, 是 or 否."""
    return str(doc["answer"]).strip("。")


def metrics_of_response(doc: Document, reading: Reading) -> dict[str, Any]:
    """Return the metrics of one response; `f1` is what it adds to F1."""
    truth = truth_of(doc)
    if reading.unscored:
        return dict.fromkeys(("acc", "f1", "no_answer"))
    return {
        "acc": float(reading.answer == truth),
        "f1": _part_of_f1(truth, reading),
        "no_answer": float(reading.answer not in (_YES, _NO)),
    }


def _part_of_f1(truth: str, reading: Reading) -> PartOfF1:
    """Return what a response adds to F1.

    A response that says neither is a missed 是 under `robust`, and does not count under `paper`.
    """
    says_yes = reading.answer == _YES
    is_found = says_yes and truth == _YES
    is_wanted = truth == _YES and (reading.answer == _NO or reading.scoring != "paper")
    return [float(is_found), float(says_yes or is_wanted)]


def f1(parts: Sequence[PartOfF1]) -> float:
    """Return F1 of 是, 2 tp / (2 tp + fp + fn); 0 if there is no 是, and NaN if nothing is scored."""
    known = [part for part in parts if part is not None]
    if not known:
        return math.nan
    n_found = sum(part[0] for part in known)
    n_counted = sum(part[1] for part in known)
    return 2 * n_found / (n_found + n_counted) if n_counted else 0.0

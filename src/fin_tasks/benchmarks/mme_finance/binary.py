"""Questions of 是 or 否: documents, readers and metrics; no judge is needed."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.contract import directions_of
from fin_tasks.judging.item import no_response
from fin_tasks.stats.averages import Metric, rate

_YES, _NO = "是", "否"
_WORDS = {
    **dict.fromkeys(("是", "是的", "对", "对的", "正确", "yes", "true"), _YES),
    **dict.fromkeys(
        ("否", "不是", "不是的", "不", "不对", "不正确", "错误", "错", "no", "false"), _NO
    ),
}
_MARKED = re.compile(
    r"(?:答案|结论|回答|(?<![a-z])answer)(?:应?[为是]|\sis)?\s*[:：]?\s*"
    r"(不是|是的?(?!否|不是)|否(?!正确|存在|高于|低于)|yes\b|no\b)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,，。.;；:：!！?？\n]+")


def read(response: str, *, variant: str) -> Reading:
    """Read 是 or 否: `paper` takes the whole response without 。 at its ends, `robust` the answer it commits to."""
    if variant == "paper":
        return Reading(variant=variant, answer=response.strip("。"))
    if silent := no_response(response):
        return Reading(variant=variant, answer=None, reason=silent, unscored=True)
    found = _committed(re.sub(r"[*_`\"“”「」\[\]()（）]", "", strip_reasoning(response)).strip())
    return Reading(
        variant=variant, answer=found, reason="" if found else "neither 是 nor 否 is said"
    )


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the truth."""
    correct = None if reading.unscored else reading.answer == doc["answer"].strip("。")
    answer = reading.answer if isinstance(reading.answer, str) else None
    return Score(answer=answer, correct=correct, correct_err=None, reason=reading.reason)


def values(doc: Mapping[str, Any], reading: Reading) -> dict[str, float | None]:
    """Return the metrics of one response; `f1` is what it adds to `f1`."""
    is_unclear = reading.answer not in (_YES, _NO)
    return {
        "acc": rate(compare(doc, reading).correct),
        "f1": _part_of_f1(doc["answer"].strip("。"), reading),
        "no_answer": None if reading.unscored else float(is_unclear),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }


def _part_of_f1(truth: str, reading: Reading) -> float | None:
    """Return 1 for a found 是, 0 for a wrong or a missed one, else None.

    A response that says neither is a missed 是 under `robust`, and does not count under `paper`.
    """
    if reading.answer == _YES:
        return float(truth == _YES)
    if truth != _YES or reading.unscored:
        return None
    if reading.variant == "paper" and reading.answer != _NO:
        return None
    return 0.0


def metrics() -> dict[str, bool | Metric]:
    """Name the metrics, the headline first, and whether more is better."""
    return {
        "acc": True,
        "f1": Metric(higher_is_better=True, aggregate=f1),
        **directions_of(("no_answer", "cut_off", "unscored")),
    }


def f1(parts: Sequence[float | None]) -> float:
    """Return F1 of 是, 2 tp / (2 tp + fp + fn); 0 if nothing was found.

    `parts` are what each response adds: 1, 0 or None, as in `values`.
    """
    known = [part for part in parts if part is not None]
    if not known:
        return 0.0
    n_found = sum(known)
    return 2 * n_found / (n_found + len(known))


def _committed(text: str) -> str | None:
    whole = _WORDS.get(_BREAK.sub("", text).strip().lower())
    if whole:
        return whole
    if marked := _MARKED.findall(text):
        return _WORDS[marked[-1].lower()]
    clauses = [clause.strip().lower() for clause in _BREAK.split(text) if clause.strip()]
    said = {_WORDS[clause] for clause in clauses[:1] + clauses[-1:] if clause in _WORDS}
    return said.pop() if len(said) == 1 else None

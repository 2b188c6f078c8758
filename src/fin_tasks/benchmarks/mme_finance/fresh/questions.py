"""The questions about a picture's parts, with answers computed from their data."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple

from fin_tasks.benchmarks.mme_finance.fresh.scenes import Part, words

OCR, ENTITY, SPATIAL = "OCR", "Entity Recognition", "Spatial Awareness"
ACCURATE, ESTIMATE, NOT_SHOWN = (
    "Accurate Numerical Calculation",
    "Numerical Calculation",
    "Not Applicable",
)
CATEGORIES = (OCR, ENTITY, SPATIAL, ACCURATE, ESTIMATE, NOT_SHOWN)


class _Form(NamedTuple):
    category: str
    sentence: str  # of the wording
    answer: float | str | None  # None if the picture does not show it
    fields: Mapping[str, Any] = {}  # of the sentence, besides the part's facts
    digits: int = 2
    tolerance: float = 0.0
    working: str = ""


def questions(
    parts: Sequence[Part], language: str, category: str, random: Random
) -> Iterator[dict[str, str]]:
    """Yield a category's questions about a picture in random order.

    A question has the columns `question`, `answer`, `task_category` and `truth`: JSON with `kind`, `value` and, for
    numbers, `tolerance` in the unit of the value.
    """
    word, kinds = (
        words(language),
        {"candles": _of_stock, "indicator": _of_stock, "report": _of_report},
    )
    made = [
        (part, form)
        for part in parts
        for form in kinds.get(part.kind, _of_figures)(part, word, random)
    ]
    forms = [(part, form) for part, form in made if form.category == category]
    random.shuffle(forms)
    for part, form in forms:
        truth: dict[str, Any] = {"kind": "na", "value": ""}
        answer, finish = word["not_applicable"], word["finish"]["number"]
        if isinstance(form.answer, str):
            truth = {"kind": "text", "value": form.answer}
            answer, finish = word["answer"].format(form.answer), word["finish"]["words"]
        elif form.answer is not None:
            value = round(form.answer, form.digits) + 0.0  # no -0.0
            truth = {"kind": "number", "value": value, "tolerance": form.tolerance}
            answer = word["answer"].format(f"{value:,.{form.digits}f}")
        place = word["parts"][part.kind] if len(parts) > 1 else ""
        yield {
            "question": place
            + word["questions"][form.sentence].format(**{**part.facts, **form.fields})
            + finish,
            "answer": f"{form.working}\n{answer}".strip(),
            "task_category": category,
            "truth": json.dumps(truth, ensure_ascii=False),
        }


def _printed(part: Part, random: Random) -> _Form:
    label = random.choice(list(part.printed))
    return _Form(OCR, f"{part.kind}_print", part.printed[label], {"label": label})


def _percent(sentence: str, new: float, old: float) -> _Form:
    working = f"({new} − {old}) / {old} × 100"
    return _Form(ACCURATE, sentence, (new - old) / old * 100, tolerance=0.01, working=working)


def _estimate(sentence: str, value: float, fields: Mapping[str, str] | None = None) -> _Form:
    return _Form(ESTIMATE, sentence, value, fields or {}, tolerance=round(value / 10, 4))


def _of_stock(part: Part, word: Any, random: Random) -> Iterator[_Form]:
    days: Any = part.table
    line, unknown = (
        random.choice(list(part.colors)),
        days.index[0] - timedelta(days=random.randint(60, 2000)),
    )
    fields = {"color": word["colors"][part.colors[line]], "options": ", ".join(part.colors)}
    yield _printed(part, random)
    yield _Form(ENTITY, "stock_color", line, fields)
    highs, lows = (
        (days["high"], days["low"]) if part.kind == "candles" else (days["close"], days["close"])
    )
    spread, middle = float(highs.max() - lows.min()), len(days) // 2
    left, right = (
        highs[: middle + 3].max(),
        highs[middle - 3 :].max(),
    )  # equal if the highest is in the middle
    if abs(left - right) > 0.03 * spread:  # else the eye cannot tell
        yield _Form(SPATIAL, "stock_half", word["sides"]["left" if left > right else "right"])
    yield _percent("stock_body", float(days["close"].iloc[-1]), float(days["open"].iloc[-1]))
    yield _estimate("stock_range", spread)
    yield _Form(NOT_SHOWN, "stock_outside", None, {"day": str(unknown.date())})


def _of_figures(part: Part, word: Any, random: Random) -> Iterator[_Form]:
    table: Any = part.table
    labels, series = list(table.index), random.choice(list(table))
    if part.kind == "line":
        label, color = random.choice(labels), word["colors"][part.colors[series]]
        one, two = random.sample(list(table), 2)
        gap = table[one] - table[two]
        clearest = gap.abs().idxmax()
        fields = {"label": labels[0], "last": labels[-1], "names": ", ".join(table)}
        yield _Form(OCR, "line_title", part.title, fields)
        yield _Form(ENTITY, "line_color", series, {"color": color, "options": ", ".join(table)})
        side = word["sides"]["above" if gap[clearest] > 0 else "below"]
        yield _Form(SPATIAL, "line_order", side, {"one": one, "two": two, "label": clearest})
        yield _estimate(
            "line_estimate", float(table.at[label, series]), {"label": label, "series": series}
        )
        unknown = {"label": f"{int(labels[-1]) + random.randint(2, 6)}", "series": series}
    else:
        at = random.randrange(len(labels) - 1)
        label, column = labels[at], table[series]
        large, small = sorted(random.sample(labels, 2), key=column.get, reverse=True)
        fields = {"one": large, "two": small, "series": series}
        shown = {"label": label, "series": series}
        yield _Form(OCR, "figures_value", float(column[label]), shown, digits=1)
        yield _Form(
            ENTITY,
            "figures_highest",
            column.idxmax(),
            {"options": ", ".join(labels), "series": series},
        )
        yield _Form(SPATIAL, "figures_next", labels[at + 1], {"label": label})
        total, working = float(column[large] + column[small]), f"{column[large]} + {column[small]}"
        yield _Form(
            ACCURATE, "figures_sum", total, fields, digits=1, tolerance=0.05, working=working
        )
        yield _estimate("figures_times", float(column[large] / column[small]), fields)
        unknown = {"label": label, "series": f"{int(table.columns[-1]) + random.randint(2, 6)}"}
    yield _Form(NOT_SHOWN, "figures_value", None, unknown)


def _of_report(part: Part, word: Any, random: Random) -> Iterator[_Form]:
    facts, headings = part.facts, list(part.sections)
    one, two = random.sample(range(len(headings)), 2)
    side = word["sides"]["above" if one < two else "below"]
    yield _printed(part, random)
    yield _Form(ENTITY, "report_publisher", facts["publisher"])
    yield _Form(SPATIAL, "report_order", side, {"one": headings[one], "two": headings[two]})
    yield _percent("report_growth", facts["revenue"], facts["revenue_before"])
    yield _estimate("report_times", facts["value"] / facts["revenue"])
    yield _Form(NOT_SHOWN, "report_unknown", None, {"unknown": random.choice(word["unknown"])})

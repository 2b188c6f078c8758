"""The questions about a scene, with answers computed from its data."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any

from fin_tasks.benchmarks.mme_finance.fresh.scenes import Figures, Part, Report, Scene, Stock, words

OCR, ENTITY, SPATIAL = "OCR", "Entity Recognition", "Spatial Awareness"
ACCURATE, ESTIMATE, NOT_SHOWN = "Accurate Numerical Calculation", "Numerical Calculation", "Not Applicable"
CATEGORIES = (OCR, ENTITY, SPATIAL, ACCURATE, ESTIMATE, NOT_SHOWN)


@dataclass(frozen=True)
class _Form:
    category: str
    sentence: str  # of the wording, filled with the fields
    answer: float | str | None  # None if the picture does not show it
    fields: Mapping[str, Any]
    digits: int = 2
    tolerance: float = 0.0
    working: str = ""
    is_choice: bool = False


def questions(scene: Scene, category: str, random: Random) -> Iterator[dict[str, str]]:
    """Yield a category's questions about a scene in random order.

    A question has the columns `question`, `answer`, `task_category` and `truth`: JSON with `kind`, `value` and, for
    numbers, `tolerance` in the unit of the value.
    """
    word = words(scene.language)
    forms = [(part, form) for part in scene.parts for form in _FORMS[type(part)](part, random, word)]
    forms = [(part, form) for part, form in forms if form.category == category]
    random.shuffle(forms)
    for part, form in forms:
        truth: dict[str, Any] = {"kind": "na", "value": ""}
        answer, is_text = word["not_applicable"], isinstance(form.answer, str)
        if isinstance(form.answer, float):
            value = round(form.answer, form.digits) + 0.0  # no -0.0
            truth = {"kind": "number", "value": value, "tolerance": form.tolerance}
            answer = word["answer"].format(f"{value:,.{form.digits}f}")
        elif is_text:
            truth = {"kind": "choice" if form.is_choice else "text", "value": form.answer}
            answer = word["answer"].format(form.answer)
        place = word["parts"][part.kind] if len(scene.parts) > 1 else ""
        text = word["questions"][form.sentence].format(**form.fields)
        yield {
            "question": place + text + word["finish"]["words" if is_text else "number"],
            "answer": f"{form.working}\n{answer}".strip(),
            "task_category": category,
            "truth": json.dumps(truth, ensure_ascii=False),
        }


def _percent(sentence: str, new: float, old: float, fields: Mapping[str, str]) -> _Form:
    change, working = (new - old) / old * 100, f"({new} − {old}) / {old} × 100"
    return _Form(ACCURATE, sentence, change, fields, tolerance=0.01, working=working)


def _estimate(sentence: str, value: float, fields: Mapping[str, str], working: str = "") -> _Form:
    digits, tolerance = 0 if value >= 100 else 2 if value >= 1 else 4, round(value / 10, 4)
    return _Form(ESTIMATE, sentence, value, fields, digits=digits, tolerance=tolerance, working=working)


def _of_stock(stock: Stock, random: Random, word: Any) -> Iterator[_Form]:
    days, printed, lines = stock.days, stock.printed, list(stock.lines)
    first_day, last_day = days.index[0].date(), days.index[-1].date()
    about = {"symbol": stock.symbol, "name": stock.name, "start": str(first_day), "end": str(last_day)}
    names = {key: word["prints"].get(key, key) for key in printed}
    key, line, unknown = random.choice(list(printed)), random.choice(lines), random.choice(word["unknown"])
    yield _Form(OCR, "stock_print", printed[key], {"label": names[key], **about})
    yield _Form(ENTITY, "stock_symbol", stock.symbol, about)
    fields = {"color": word["colors"][stock.lines[line]], "options": ", ".join(lines), **about}
    yield _Form(ENTITY, "stock_color", line, fields, is_choice=True)

    high, low = ("close", "close") if stock.indicator else ("high", "low")  # indicator charts show closes only
    for extreme, values in {"higher": days[high], "lower": -days[low]}.items():
        best, middle = int(values.to_numpy().argmax()), (len(values) - 1) / 2
        rest = values.iloc[int(middle) - 2 :] if best < middle else values.iloc[: int(middle) + 3]
        if values.max() - rest.max() > 0.03 * (values.max() - values.min()):  # else the eye cannot tell
            fields = {"extreme": word["sides"][extreme], **about}
            side = word["sides"]["left" if best < middle else "right"]
            yield _Form(SPATIAL, "stock_half", side, fields, is_choice=True)
    one, two = random.sample(lines, 2)
    drawn = days[lines if stock.indicator else ["high", "low"]]
    if abs(printed[one] - printed[two]) > 0.03 * (drawn.max().max() - drawn.min().min()):
        side = word["sides"]["above" if printed[one] > printed[two] else "below"]
        yield _Form(SPATIAL, "stock_lines", side, {"one": one, "two": two, **about}, is_choice=True)

    yield _percent("stock_body", printed["close"], printed["open"], about)
    for first, second in (("high", "low"), ("close", "open"), (one, two)):
        gap, working = printed[first] - printed[second], f"{printed[first]} − {printed[second]}"
        fields = {"one": names[first], "two": names[second], **about}
        yield _Form(ACCURATE, "stock_gap", gap, fields, tolerance=0.005, working=working)
    top, bottom = float(days[high].max()), float(days[low].min())
    yield _estimate("stock_range", top - bottom, about, f"{top} − {bottom}")
    if not stock.indicator:
        yield _estimate("stock_volume", float(days["volume"].max()), about)
    past = {"day": str(first_day - timedelta(days=random.randint(60, 2000)))}
    yield _Form(NOT_SHOWN, "stock_outside", None, past | about)
    yield _Form(NOT_SHOWN, "stock_unknown", None, {"unknown": unknown, **about})


def _of_figures(figures: Figures, random: Random, word: Any) -> Iterator[_Form]:
    table, digits, is_line = figures.table, figures.decimals, figures.kind == "line"
    labels, names, unknown = list(table.index), list(table.columns), random.choice(word["unknown"])
    label, series, extreme = random.choice(labels), random.choice(names), random.choice(("higher", "lower"))
    column, value = table[series], float(table.at[label, series])
    about = {"title": figures.title, "series": series, "label": label}
    fields = {"label": labels[0], "last": labels[-1], "names": ", ".join(names)}
    yield _Form(OCR, "figures_title", figures.title, fields)
    if len(figures.colors) > 1:
        name, options = random.choice(list(figures.colors)), ", ".join(figures.colors)
        color = word["colors"][figures.colors[name]]
        yield _Form(ENTITY, "figures_color", name, {"color": color, "options": options, **about}, is_choice=True)
    ranked = column.sort_values(ascending=extreme == "lower")
    if abs(ranked.iloc[0] - ranked.iloc[1]) > (0 if figures.printed else 0.06 * column.max()):
        fields = {"extreme": word["sides"][extreme], "options": ", ".join(labels), **about}
        yield _Form(ENTITY, "figures_extreme", ranked.index[0], fields, is_choice=True)
    one, two = random.sample(names if is_line else labels, 2)
    if is_line:
        gap = table.at[label, one] - table.at[label, two]
        if abs(gap) > 0.06 * (table.max().max() - table.min().min()):
            side = word["sides"]["above" if gap > 0 else "below"]
            yield _Form(SPATIAL, "figures_lines", side, {"one": one, "two": two, **about}, is_choice=True)
    else:
        at = random.randrange(len(labels) - 1)
        yield _Form(SPATIAL, f"figures_next_{figures.kind}", labels[at + 1], {**about, "label": labels[at]})

    if figures.printed:
        yield _Form(OCR, "figures_value", value, about, digits=digits)
        large, small = float(column[one]), float(column[two])
        fields, half, working = {"one": one, "two": two, **about}, 0.5 * 10**-digits, f"{large} + {small}"
        yield _Form(ACCURATE, "figures_sum", large + small, fields, digits=digits, tolerance=half, working=working)
        if large > 1.2 * small:
            yield _estimate("figures_times", large / small, fields, f"{large} / {small}")
        if len(names) > 1:
            old, new = sorted(random.sample(names, 2))
            fields = {"one": old, "two": new, **about}
            yield _percent("figures_change", float(table.at[label, new]), float(table.at[label, old]), fields)
    elif value > 0.25 * column.max():
        yield _estimate("figures_estimate", value, about)
    key, last = ("label", labels[-1]) if is_line else ("series", names[-1])
    absent = {key: f"{last[:-4]}{int(last[-4:]) + random.randint(2, 6)}"}  # ends in a year
    yield _Form(NOT_SHOWN, "figures_value", None, {**about, **absent})
    name = figures.company or (series if is_line else label)
    yield _Form(NOT_SHOWN, "figures_unknown", None, {"unknown": unknown, "name": name, **about})


def _of_report(report: Report, random: Random, word: Any) -> Iterator[_Form]:
    facts, values = report.facts, report.values
    revenue, profit, value = (values[key] for key in ("revenue", "profit", "value"))
    for key in ("target", "price", "value", "rating"):
        fields = {"label": word["box"][key], **facts}
        yield _Form(OCR, "report_print", values.get(key, facts[key]), fields)
    for key, category in (("number", OCR), ("analyst", ENTITY), ("publisher", ENTITY), ("best", ENTITY)):
        yield _Form(category, f"report_{key}", facts[key], facts)
    headings = list(report.sections)
    one, two = random.sample(range(len(headings)), 2)
    fields = {"one": headings[one], "two": headings[two], **facts}
    yield _Form(SPATIAL, "report_order", word["sides"]["above" if one < two else "below"], fields, is_choice=True)
    yield _percent("report_growth", revenue, values["revenue_before"], facts)
    yield _percent("report_upside", values["target"], values["price"], facts)
    working = f"{profit} / {revenue} × 100"
    yield _Form(ACCURATE, "report_margin", profit / revenue * 100, facts, tolerance=0.01, working=working)
    yield _estimate("report_times", value / revenue, facts, f"{value} / {revenue}")
    yield _estimate("report_year", 4 * revenue, facts, f"4 × {revenue}")
    yield _Form(NOT_SHOWN, "report_unknown", None, {"unknown": random.choice(word["unknown"]), **facts})


_Asking = Callable[[Any, Random, Any], Iterator[_Form]]
_FORMS: dict[type[Part], _Asking] = {Stock: _of_stock, Figures: _of_figures, Report: _of_report}

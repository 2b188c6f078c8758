"""Questions about a picture's panels, with answers that follow from what the panels show."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import yaml

from fin_tasks.benchmarks.mme_finance.fresh.company import evaluate, in_language, read_words
from fin_tasks.benchmarks.mme_finance.fresh.scenes import Panel

Question = dict[str, str]
"""The columns `question`, `answer`, `task_category` and `truth`, JSON as `exact.Truth` reads it."""
Facts = dict[str, Any]

_ROUNDING = 0.01
"""By how much a calculated number may be off."""
_LETTERS = "ABCD"
_KINDS = {
    "number",
    "text",
    "printed",
    "color",
    "row_of",
    "year_of",
    "largest",
    "band",
    "caption",
    "missing",
}
"""The keys of templates that say how the answer follows from the picture."""


@cache
def read_templates(language: str) -> Any:
    """Return the templates of questions in a language, in the same order in both languages."""
    text = Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8")
    return in_language(yaml.safe_load(text), language)


def questions(
    panels: Sequence[Panel], language: str, category: str, random: Random
) -> Iterator[Question]:
    """Yield a category's questions about a picture in random order."""
    templates = read_templates(language)
    pairs = []
    for panel in panels:
        for template in templates["questions"]:
            if template["category"] == category and panel.kind in template["shows"].split():
                pairs.append((panel, template))
    random.shuffle(pairs)
    for panel, template in pairs:
        draft = _Draft(template, panel, language, random)
        answer = draft.answer()
        if answer is None:
            continue
        panel_name = templates["panels"][panel.kind] if len(panels) > 1 else ""
        wording = template["ask"].format(**draft.facts)
        finish = templates["finish"][answer.finish]
        working = template.get("working", "").format(**draft.facts)
        yield {
            "question": panel_name + wording + draft.captions + finish,
            "answer": f"{working}\n{answer.text}".strip(),
            "task_category": category,
            "truth": json.dumps(answer.truth, ensure_ascii=False),
        }


class _Answer(NamedTuple):
    text: str
    truth: Mapping[str, Any]
    finish: str
    """What the last line of a response should hold: a number, a text or a letter."""


class _Draft:
    """A template that becomes a question about a panel: `facts` fill it, and its key says how it is answered."""

    def __init__(
        self,
        template: Any,
        panel: Panel,
        language: str,
        random: Random,
    ) -> None:
        self.template = template
        self.panel = panel
        self.words = read_words(language)
        self.texts = read_templates(language)
        self.random = random
        self.captions = ""
        unknown = self.texts["unknown"]["report" if panel.kind == "report" else "company"]
        self.facts = {
            **panel.facts,
            "unknown": random.choice(unknown),
            **_drawn_facts(panel, random),
        }

    def answer(self) -> _Answer | None:
        """Return the answer; None if the question does not fit the panel or its answer is not clear."""
        condition = self.template.get("only_if")
        if condition and not evaluate(condition, self.facts):
            return None
        (kind,) = _KINDS & self.template.keys()
        make = getattr(self, f"_{kind}")
        answer: _Answer | None = make(self.template[kind])
        return answer

    def _words_answer(self, text: str) -> _Answer:
        truth = {"kind": "text", "value": text}
        return _Answer(self.texts["answer"].format(text), truth, "text")

    def _number_answer(
        self,
        number: float,
        digits: int,
        tolerance: float,
    ) -> _Answer:
        value = round(number, digits) + 0.0  # no -0.0
        text = self.texts["answer"].format(f"{value:,.{digits}f}")
        truth = {"kind": "number", "value": value, "tolerance": tolerance}
        return _Answer(text, truth, "number")

    def _number(self, formula: str) -> _Answer:
        value = evaluate(formula, self.facts)
        tolerance = self.template.get("tolerance", _ROUNDING)
        if "within" in self.template:
            tolerance = round(abs(value) * self.template["within"], 4)
        digits = self.template.get("digits", 2)
        return self._number_answer(value, digits, tolerance)

    def _text(self, fact: str) -> _Answer:
        return self._words_answer(self.facts[fact])

    def _printed(self, _: bool) -> _Answer:
        label = self.random.choice(list(self.panel.printed))
        self.facts["label"] = label
        value = self.panel.printed[label]
        if isinstance(value, str):
            return self._words_answer(value)
        return self._number_answer(value, 2, 0.0)

    def _color(self, _: bool) -> _Answer:
        colors = self.panel.colors
        name = self.random.choice(list(colors))
        self.facts["color"] = self.words["colors"][colors[name]]
        self.facts["options"] = ", ".join(colors)
        return self._words_answer(name)

    def _row_of(self, formula: str) -> _Answer:
        values = {}
        for label, row in self.panel.table.iterrows():
            ends = {
                "first": float(row.iloc[0]),
                "last": float(row.iloc[-1]),
            }
            values[str(label)] = evaluate(formula, {**self.facts, **ends})
        return self._words_answer(_largest_of(values))

    def _year_of(self, formula: str) -> _Answer:
        values = self.panel.years.eval(formula, engine="python")
        return self._words_answer(_largest_of(values.to_dict()))

    def _largest(self, formulas: Mapping[str, str]) -> _Answer:
        values = {}
        for account, formula in formulas.items():
            label = self.words["accounts"][account]
            values[label] = evaluate(formula, self.facts)
        self.facts["options"] = ", ".join(values)
        return self._words_answer(_largest_of(values))

    def _band(self, formula: str) -> _Answer | None:
        value = evaluate(formula, self.facts)
        bounds = np.array(self.template["bounds"])
        if np.abs(bounds - value).min() < self.template["clear_of"]:
            return None
        band = np.digitize(value, bounds)
        return self._words_answer(self.template["answers"][band])

    def _caption(self, caption: str) -> _Answer:
        values = [evaluate(formula, self.facts) for formula in self.template["values"]]
        right = values[0]
        self.random.shuffle(values)
        for letter, value in zip(_LETTERS, values, strict=True):
            self.captions += f"\n{letter}. {caption.format(value, **self.facts)}"
        self.captions += "\n"
        letter = _LETTERS[values.index(right)]
        truth = {"kind": "choice", "value": letter}
        return _Answer(self.texts["answer"].format(letter), truth, "letter")

    def _missing(self, _: bool) -> _Answer:
        return _Answer(
            self.texts["not_applicable"],
            {"kind": "na", "value": ""},
            "number",
        )


def _largest_of(values: Mapping[str, float]) -> str:
    return max(values, key=values.__getitem__)


def _drawn_facts(panel: Panel, random: Random) -> Facts:
    """Draw a row and a series of a table or chart of a company, and return what they hold."""
    if not panel.facts.get("company"):
        return {}
    table = panel.table
    position = random.randrange(len(table) - 1)
    label = table.index[position]
    other_label = random.choice(table.index.drop(label))
    facts = {
        "label": label,
        "next_label": table.index[position + 1],
        "other": other_label,
    }
    if table.empty:  # the sections of a report
        return facts
    series = random.choice(table.columns)
    column = table[series]
    row = table.loc[label]
    top, second = column.nlargest(2)
    options = table.columns if panel.kind == "line" else table.index
    return facts | {
        "series": series,
        "value": float(column[label]),
        "other_value": float(column[other_label]),
        "top": float(top),
        "second": float(second),
        "top_label": column.idxmax(),
        "top_series": row.idxmax(),
        "total": float(column.sum()),
        "squares": float((column**2).sum()),
        "first_series": table.columns[0],
        "last_series": table.columns[-1],
        "first": float(row.iloc[0]),
        "last": float(row.iloc[-1]),
        "total_first": float(table.iloc[:, 0].sum()),
        "total_last": float(table.iloc[:, -1].sum()),
        "options": ", ".join(options),
    }

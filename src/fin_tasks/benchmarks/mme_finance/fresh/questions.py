"""Questions about a picture's panels, with answers that follow from what the panels show."""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from fin_tasks.answers.choices import lettered

from .company import Facts, evaluate, read_texts
from .scenes import Panel

Question = dict[str, str]
"""The columns `question`, `answer`, `task_category` and `truth`, JSON as `exact.Truth` reads it."""

_ROUNDING = 0.01
"""By how much the number in an answer may be off, unless the template says otherwise."""
_LETTERS = "ABCD"


def questions(
    panels: Sequence[Panel],
    language: str,
    category: str,
    random: Random,
) -> Iterator[Question]:
    """Yield a category's questions about a picture in random order."""
    texts = read_texts("questions", language)
    pairs = []
    for panel in panels:
        for template in texts["questions"][category]:
            if panel.kind in template["shows"].split():
                pairs.append((panel, template))
    random.shuffle(pairs)
    for panel, template in pairs:
        facts = dict(panel.facts)
        truth = _truth_of(template, facts, random)
        if truth is None:
            continue
        question = template["ask"].format(**facts)
        if len(panels) > 1:
            question = texts["panels"][panel.kind] + question
        kind = truth["kind"]
        working = template.get("working", "").format(**facts)
        value = truth["value"]
        if kind == "number":
            value = f"{value:,.{template.get('digits', 2)}f}"
        yield {
            "question": question + texts["finish"][kind],
            "answer": f"{working}\n{texts['answers'][kind].format(value)}".strip(),
            "task_category": category,
            "truth": json.dumps(truth, ensure_ascii=False),
        }


def _truth_of(
    template: Any,
    facts: Facts,
    random: Random,
) -> Facts | None:
    """Return the truth of a question; None if the question does not fit the panel or has no clear answer.

    If the question has captions to choose from, they are added to the facts.
    """
    if not evaluate(template.get("only_if", "1"), facts):
        return None
    if "caption" in template:
        values = [evaluate(formula, facts) for formula in template["values"]]
        captions = [template["caption"].format(value, **facts) for value in values]
        right_caption = captions[0]
        random.shuffle(captions)
        facts["captions"] = lettered(captions)
        return {"kind": "choice", "value": _LETTERS[captions.index(right_caption)]}
    if "answer" not in template:
        return {"kind": "na", "value": ""}
    value = evaluate(template["answer"], facts)
    if "bounds" in template:
        bounds = np.array(template["bounds"])
        if np.abs(bounds - value).min() < template["clear_of"]:
            return None
        value = template["answers"][np.digitize(value, bounds)]
    if isinstance(value, str):
        return {"kind": "text", "value": value}
    tolerance = template.get("tolerance", _ROUNDING)
    if "within" in template:
        tolerance = round(abs(value) * template["within"], 4)
    rounded = round(float(value), template.get("digits", 2))
    return {"kind": "number", "value": rounded + 0.0, "tolerance": tolerance}  # no -0.0

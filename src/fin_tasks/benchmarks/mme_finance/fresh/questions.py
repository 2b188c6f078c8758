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
"""By how much a calculated number may be off."""
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
        wording = template["ask"].format(**facts)
        if len(panels) > 1:
            wording = texts["panels"][panel.kind] + wording
        kind = truth["kind"]
        working = template.get("working", "").format(**facts)
        value = truth["value"]
        if kind == "number":
            value = f"{value:,.{template.get('digits', 2)}f}"
        yield {
            "question": wording + texts["finish"][kind],
            "answer": f"{working}\n{texts['answers'][kind].format(value)}".strip(),
            "task_category": category,
            "truth": json.dumps(truth, ensure_ascii=False),
        }


def _truth_of(
    template: Any,
    facts: Facts,
    random: Random,
) -> Facts | None:
    """Return the truth of a question; None if the question does not fit the panel or is not clear.

    Captions to choose from are added to the facts.
    """
    if not evaluate(template.get("only_if", "1"), facts):
        return None
    if "caption" in template:
        values = [evaluate(formula, facts) for formula in template["values"]]
        sentences = [template["caption"].format(value, **facts) for value in values]
        right = sentences[0]
        random.shuffle(sentences)
        facts["captions"] = lettered(sentences)
        return {"kind": "choice", "value": _LETTERS[sentences.index(right)]}
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

"""The model's prompt: the picture, then role, question, requirements of the category, and the background."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from fin_tasks.judging.rubric import load_rubric

from ..contract import Document

IMAGE_MARK = "<image>\n"
"""Marks the place in a document's `prompt` where lm-eval's multimodal models put the picture."""

ALLOW_NA = "Not Applicable"
"""The category whose requirement allows a model to decline; the NA setting adds it to all others."""

CUES = {"en": "Answer:", "zh": "答案："}
"""Words that make a base model start answering; left out where a chat template is used."""

_BINARY = "只回答“是”或“否”。"


class Wording(NamedTuple):
    """The texts around a question, and the requirements by category."""

    name: str
    before_question: str
    before_requirements: str
    requirements: Mapping[str, str]
    between_requirements: str

    before_background: str

    def fill(
        self,
        question: str,
        doc: Document,
    ) -> str:
        """Return the prompt of a question, with the requirements of its category and its background."""
        category = doc["category"] if doc["part"] == "open" else ""
        required = self.requirements.get(category, "")
        if doc["na"] and category != ALLOW_NA:
            required += self.between_requirements + self.requirements[ALLOW_NA]
        text = self.before_question + question
        if required:
            text += self.before_requirements + required
        if doc["background"]:
            text += self.before_background + doc["background"]
        return text


BARE = Wording("upstream", "", "", {}, "", "")
"""No texts, as the authors ask binary questions and conversations."""


@lru_cache(maxsize=4)
def house_wording(part: str, language: str) -> Wording:
    """Return our own wording for a part; the requirements of open questions are those of the rubric."""
    texts = yaml.safe_load(Path(__file__).with_name("wording.yaml").read_text("utf-8"))
    requirements = {}
    if part == "binary":
        requirements[""] = _BINARY
    elif part == "open":
        for name, category in load_rubric(f"mme_finance_{language}").categories.items():
            requirements[name] = category.requirements
    return Wording(name="house", requirements=requirements, **texts[language])

"""The model's prompt: the picture, then role, question, requirements of the category, and the background."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from fin_tasks.judging.rubric import load_rubric

IMAGE_MARK = "<image>\n"
"""Marks the place in a document's `prompt` where lm-eval's multimodal models put the picture."""

ALLOW_NA = "Not Applicable"
"""The category whose requirement allows a model to decline; the NA setting adds it to all others."""

CUES = {"en": "Answer:", "zh": "答案："}
"""Words that make a base model start answering; left out where a chat template is used."""

_BINARY = "只回答“是”或“否”。"


class Wording(NamedTuple):
    """The texts around a question; requirements by category."""

    name: str
    before_question: str
    before_requirements: str
    requirements: Mapping[str, str]
    between: str
    """Separates two requirements."""
    before_background: str

    def fill(
        self,
        question: str,
        category: str,
        *,
        background: str,
        also: str = "",
    ) -> str:
        """Return the whole text; `also` is a further requirement."""
        requirements = filter(None, (self.requirements.get(category), also))
        required = self.between.join(requirements)
        text = self.before_question + question
        if required:
            text += self.before_requirements + required
        if background:
            text += self.before_background + background
        return text

    def sha256(self) -> str:
        """Return the hash of all texts; results with the same hash had the same prompts."""
        text = json.dumps(self, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


_ENGLISH = Wording(
    name="house",
    before_question="You are a financial analyst who reads charts, tables and reports for a living. "
    "Answer the question about the picture.\n\nQuestion: ",
    before_requirements="\n\nHow to answer: ",
    requirements={},
    between=" ",
    before_background="\n\nBackground: ",
)
_CHINESE = Wording(
    name="house",
    before_question="你是一名金融分析师，平日的工作就是研读行情图、表格和研究报告。"
    "请根据图片回答问题。\n\n问题：",
    before_requirements="\n\n作答要求：",
    requirements={},
    between="",
    before_background="\n\n背景：",
)
BARE = Wording("upstream", "", "", {}, "", "")
"""No texts, as the authors ask binary questions and conversations."""


@lru_cache(maxsize=4)
def house(part: str, language: str) -> Wording:
    """Return our own wording."""
    wording = _ENGLISH if language == "en" else _CHINESE
    if part == "binary":
        return wording._replace(requirements={"": _BINARY})
    if part == "multi_turn":
        return wording
    requirements = {}
    for name, category in load_rubric(f"mme_finance_{language}").categories.items():
        requirements[name] = category.requirements
    return wording._replace(requirements=requirements)

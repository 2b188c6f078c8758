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

_ROLES = {
    "en": "You are a financial analyst who reads charts, tables and reports for a living. "
    "Answer the question about the picture.",
    "zh": "你是一名金融分析师，平日的工作就是研读行情图、表格和研究报告。请根据图片回答问题。",
}
_LABELS = {
    "en": ("Question: ", "How to answer: ", " ", "Background: "),
    "zh": ("问题：", "作答要求：", "", "背景："),
}
_BINARY = "只回答“是”或“否”。"


class Wording(NamedTuple):
    """The texts around a question; requirements by category."""

    name: str
    before_question: str
    before_requirements: str
    requirements: Mapping[str, str]
    between: str  # separates two requirements
    before_background: str

    def fill(self, question: str, category: str, *, background: str, also: str = "") -> str:
        """Return the whole text; `also` is a further requirement."""
        wanted = self.between.join(filter(None, (self.requirements.get(category, ""), also)))
        parts = [self.before_question, question, self.before_requirements if wanted else "", wanted]
        return "".join([*parts, self.before_background + background if background else ""])

    def sha256(self) -> str:
        """Return the hash of all texts; results with the same hash had the same prompts."""
        return hashlib.sha256(json.dumps(self, ensure_ascii=False).encode()).hexdigest()


@lru_cache(maxsize=4)
def house(part: str, language: str) -> Wording:
    """Return our own wording."""
    asked, how, between, background = _LABELS[language]
    requirements = {"": _BINARY} if part == "binary" else {}
    if part == "open":
        categories = load_rubric(f"mme_finance_{language}").categories
        requirements = {name: one.requirements for name, one in categories.items()}
    start = f"{_ROLES[language]}\n\n{asked}"
    return Wording("house", start, f"\n\n{how}", requirements, between, f"\n\n{background}")


BARE = Wording("upstream", "", "", {}, "", "")
"""No texts, as the authors ask binary questions and conversations."""

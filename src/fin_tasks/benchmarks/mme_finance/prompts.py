"""The model's prompt: the picture, then role, question, requirements of the category, and the background."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml

from fin_tasks.judging.rubric import load_rubric

CATEGORIES: Mapping[str, Sequence[str]] = {
    "Image Caption": ("perception", "IC"),
    "OCR": ("perception", "OCR"),
    "Entity Recognition": ("perception", "ER"),
    "Spatial Awareness": ("perception", "SA"),
    "Accurate Numerical Calculation": ("reasoning", "ANC"),
    "Numerical Calculation": ("reasoning", "ENC"),
    "Risk Warning": ("cognition", "RW"),
    "Investment Advice": ("cognition", "IA"),
    "Explain Reason": ("cognition", "RE"),
    "Financial Knowledge": ("cognition", "FQA"),
    "Not Applicable": ("NA",),
}
"""The categories by their names in the files, in the paper's order, with the figures that they count in."""

ALLOW_NA = "Not Applicable"
"""The category whose requirements allow a model to decline; the NA setting adds them to all others."""

IMAGE_MARK = "<image>\n"
"""Marks the place in a document's `prompt` where lm-eval's multimodal models put the picture."""

_BINARY = "只回答“是”或“否”。"


class Wording(NamedTuple):
    """A template for prompts, and the requirements that it is filled with."""

    name: str
    passages: Mapping[str, str]
    """Texts with `{question}`, `{requirements}` and `{background}`, by these names, in the prompt's order."""
    requirements: Mapping[str, str] = {}
    """By category; those under "" hold for the other categories."""
    before_declining: str = ""
    """Stands between the requirements of a category and those that allow a model to decline."""
    cue: str = ""
    """Makes a base model start answering; left out where a chat template is used."""

    def fill(
        self,
        question: str,
        *,
        category: str = "",
        background: str = "",
        may_decline: bool = False,
    ) -> str:
        """Return the prompt of a question; a passage is left out if it has nothing to say."""
        requirements = self.requirements.get(category, self.requirements.get("", ""))
        if may_decline and category != ALLOW_NA:
            requirements += self.before_declining + self.requirements[ALLOW_NA]
        texts = {
            "question": question,
            "requirements": requirements,
            "background": background,
        }
        prompt = ""
        for name, passage in self.passages.items():
            if texts[name]:
                prompt += passage.replace(f"{{{name}}}", texts[name])
        return prompt


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

"""The model's prompt: the picture, then role, question, requirements of the category, and the background."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..request import Prompts

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


class Wording(NamedTuple):
    """How questions are asked."""

    template: Prompts
    """Has the fields `{question}` and `{requirements}`; its context is the background of a question."""
    requirements: Mapping[str, str]
    """What an answer must be like, by category."""
    between_requirements: str = ""
    """Stands between the requirements of a category and those that allow a model to decline."""

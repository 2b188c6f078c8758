"""What the model is asked: who it is, the question, what an answer looks like, and what else it is told.

How answers are written comes from the rubric pack of the language, so that model and judge read the same requirements.
The picture goes before the words; whoever sends the prompt puts it there.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, LANGUAGES, Language, Row
from fin_tasks.judging.old_rubric import load_rubric

__all__ = ["NAME", "Prompt", "allowance", "fill", "rubric_of", "sha256"]

NAME = "house"
"""The one set there is: the authors' wording is printed as a picture in their paper."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt.

    Attributes:
        system: System message.
        user: Question with its requirements; the picture goes before it.
        cue: Words that make a base model start answering; only added where no chat template is used.
    """

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class _Wording:
    """The words around a question in one language."""

    system: str
    background: str
    question: str
    requirements: str
    cue: str


_UNANSWERABLE = "Not Applicable"
_WORDING: Mapping[Language, _Wording] = {
    "en": _Wording(
        system="You are a financial analyst who reads charts, tables and reports for a living. "
        "Answer the question about the picture.",
        background="Background: {}",
        question="Question: {}",
        requirements="How to answer: {}",
        cue="Answer:",
    ),
    "zh": _Wording(
        system="你是一名金融分析师，平日的工作就是研读行情图、表格和研究报告。请根据图片回答问题。",
        background="背景：{}",
        question="问题：{}",
        requirements="作答要求：{}",
        cue="答案：",
    ),
}


def rubric_of(language: Language) -> str:
    """Name the rubric pack of a language."""
    return f"mme_finance_{language}"


def fill(row: Row, *, language: Language, na: bool = False) -> Prompt:
    """Word the prompt of a row.

    Args:
        row: The row.
        language: Of the words around the question.
        na: Allow "Not Applicable" (in Chinese 无法回答) whatever the category, in the words that the unanswerable
            questions come with in any case: the paper's second setting (appendix A.2).
    """
    wording = _WORDING[language]
    paragraphs = [
        wording.background.format(row.background.strip()) if row.background.strip() else "",
        wording.question.format(row.question.strip()),
        wording.requirements.format(_requirements(language)[row.category]),
        allowance(row.category, language=language) if na else "",
    ]
    return Prompt(system=wording.system, user="\n\n".join(filter(None, paragraphs)), cue=wording.cue)


def allowance(category: str, *, language: Language) -> str:
    """Return what allows "Not Applicable" as an answer, in the paper's second setting; the judge reads it too.

    Args:
        category: Of the question.
        language: Of the words around it.

    Returns:
        The requirement of unanswerable questions; empty for these, which say it in any case.
    """
    return "" if category == _UNANSWERABLE else _requirements(language)[_UNANSWERABLE]


def sha256(*, language: Language, na: bool) -> str:
    """Return the hash of every word around a question, so that two results can be told to be asked alike."""
    parts = [NAME, na, asdict(_WORDING[language]), dict(_requirements(language))]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


@lru_cache(maxsize=len(LANGUAGES))
def _requirements(language: Language) -> Mapping[str, str]:
    """Category to how its answers are written."""
    rubric = load_rubric(rubric_of(language))
    return MappingProxyType({name: rubric.category(name).requirements.strip() for name in CATEGORIES})

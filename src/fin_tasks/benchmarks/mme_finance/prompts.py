"""What the model is asked: who it is, the question, what an answer looks like, and what else it is told.

How answers are written comes from the rubric pack of the language, so that model and judge read the same requirements.
The picture goes before the words; whoever sends the prompt puts it there.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, Language, Row
from fin_tasks.judging.rubric import Rubric, load_rubric

__all__ = ["NAME", "Prompt", "fill", "rubric_of", "sha256"]

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
    not_applicable: str
    cue: str

    def parts(self) -> list[str]:
        return [self.system, self.background, self.question, self.requirements, self.not_applicable, self.cue]


_WORDING: Mapping[Language, _Wording] = {
    "en": _Wording(
        system="You are a financial analyst who reads charts, tables and reports for a living. "
        "Answer the question about the picture.",
        background="Background: {}",
        question="Question: {}",
        requirements="How to answer: {}",
        not_applicable='Should the picture not hold what the question asks for, reply "Not Applicable" and nothing '
        "else.",
        cue="Answer:",
    ),
    "zh": _Wording(
        system="你是一名金融分析师,平日的工作就是研读行情图、表格和研究报告。请根据图片回答问题。",
        background="背景:{}",
        question="问题:{}",
        requirements="作答要求:{}",
        not_applicable="如果图片中没有问题所需的信息,请只回复“无法回答”。",
        cue="答案:",
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
        na: Allow "Not Applicable" (in Chinese 无法回答) whatever the category, the paper's second setting (appendix
            A.2). Without it only the requirements of the unanswerable questions name it.
    """
    wording = _WORDING[language]
    requirements = wording.requirements.format(_requirements(row.category, load_rubric(rubric_of(language))))
    paragraphs = [
        wording.background.format(row.background.strip()) if row.background.strip() else "",
        wording.question.format(row.question.strip()),
        requirements,
        wording.not_applicable if na and CATEGORIES[row.category].kind != "unanswerable" else "",
    ]
    return Prompt(system=wording.system, user="\n\n".join(filter(None, paragraphs)), cue=wording.cue)


def sha256(*, language: Language, na: bool) -> str:
    """Return the hash of every word around a question, so that two results can be told to be asked alike."""
    rubric = load_rubric(rubric_of(language))
    requirements = {name: _requirements(name, rubric) for name in CATEGORIES}
    parts = [NAME, na, _WORDING[language].parts(), requirements]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _requirements(category: str, rubric: Rubric) -> str:
    return rubric.categories[category].requirements.strip()

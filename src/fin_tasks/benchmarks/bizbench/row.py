"""One question of BizBench."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["PARTS", "Kind", "Part", "Row"]

Part = Literal["fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e", "secnum", "finknow", "formulaeval"]
Kind = Literal["number", "choice", "code"]

PARTS: Mapping[Part, str] = {
    "fincode": "FinCode",
    "codefinqa": "CodeFinQA",
    "codetatqa": "CodeTAT-QA",
    "convfinqa_e": "ConvFinQA (E)",
    "tatqa_e": "TAT-QA (E)",
    "secnum": "SEC-NUM",
    "finknow": "FinKnow",
    "formulaeval": "FormulaEval",
}
"""Part to its name; the files write some of them in other ways."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One question.

    Attributes:
        id: `<split>_<position>`, the position counted from 0 in the file as it is.
        part: Key of `PARTS`.
        kind: What an answer is: a number, one of `options`, or the code of a function.
        question: As it stands in the file.
        context: Document the question is about, tables and text; empty where there is none.
        context_type: As it stands in the file; empty where there is none.
        options: Choices in order; empty unless `kind` is `choice`.
        answer: The answer as it stands in the file.
        program: Program that computes the answer; empty where there is none.
        correct: Place of the right option, from 0; None where `kind` is not `choice`, or `answer` is none of them.
    """

    id: str
    part: Part
    kind: Kind
    question: str
    context: str
    context_type: str
    options: tuple[str, ...]
    answer: str
    program: str
    correct: int | None = None

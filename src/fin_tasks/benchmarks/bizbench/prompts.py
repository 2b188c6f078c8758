"""Prompts, in which the document comes first, and right answers in the words that a model should use."""

import ast
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.answers.choices import choice_texts, lettered
from fin_tasks.answers.numbers import Number, as_written
from fin_tasks.data.documents import hash_of

from ..short_answers_paper import MARKER
from .formulas import stub_of
from .score import number_truth

Kind = Literal["choice", "number", "code"]
Mode = Literal["cot", "pot", "code"]


@cache
def house_texts() -> Any:
    """Read our wording from `house.yaml`; the fields in braces are filled for each question."""
    text = Path(__file__).with_name("house.yaml").read_text("utf-8")
    return yaml.safe_load(text.replace("{marker}", MARKER))


def fill(
    kind: Kind,
    mode: Mode,
    *,
    question: str,
    context: str = "",
    options: Sequence[str] = (),
) -> dict[str, str]:
    """Return the system message, the prompt, and the cue that makes a base model start its answer."""
    texts = house_texts()
    document = ""
    hint = ""
    if context.strip():
        document = texts["document"].format(context=context.strip("\n"))
        hint = texts["hints"].get(mode, "")
    prompt = texts["user"][kind][mode].format(
        document=document,
        question=_shown(question, mode),
        options=lettered(choice_texts(options)),
        hint=hint,
    )
    cue = texts["cue"][mode].format(head=_head(question, mode))
    return {"system": texts["system"][mode], "prompt": prompt, "cue": cue.rstrip("\n")}


def sha256() -> str:
    """Return the hash of all templates, for the provenance."""
    return hash_of("house", house_texts())


def target_of(
    kind: Kind,
    mode: Mode,
    *,
    answer: str,
    letter: str,
    program: str,
) -> str:
    """Return the right answer as a response, for few-shot examples; empty if the row has no usable truth."""
    if kind == "choice":
        return f"{MARKER} {letter}." if letter else ""
    if kind == "number":
        truth = number_truth(answer)
        if truth is None:
            return ""
        if mode == "cot":
            return f"{MARKER} [{_digits(truth)}]."
        if "def solution(" not in program:
            program = f"def solution():\n    return {_digits(truth)}"
    if not program:
        return ""
    return f"```python\n{program.strip()}\n```"


def _shown(question: str, mode: Mode) -> str:
    # A question that is code stands in a fence.
    code = question.strip("\n").rstrip()
    if "```" in code or not re.match(
        r"def \w+\s*\(|import \w|from [\w.]+ import |@\w", code
    ):
        return question.strip()
    fenced = f"```python\n{code}\n```"
    return fenced if mode == "code" else f"\n{fenced}"


def _head(question: str, mode: Mode) -> str:
    # The first line of the function that a response finishes.
    stub = stub_of(question)
    if stub is None or mode != "code":
        return ""
    return ast.unparse(stub).split("\n")[0]


def _digits(truth: Number) -> str:
    return f"{Decimal(repr(as_written(truth))):f}".removesuffix(".0")

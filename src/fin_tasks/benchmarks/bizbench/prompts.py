"""What the model is asked: document, question, and what form the answer has.

The document comes first: it is the long part, and what is asked should stand nearest to where the answer begins. Every
answer but code ends in XFinBench's marker, numbers in square brackets, because that is what `paper` reads.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from fin_tasks.answers.choices import choice_texts
from fin_tasks.answers.marked import MARKER
from fin_tasks.benchmarks.bizbench.functions import read_stub
from fin_tasks.benchmarks.bizbench.row import Kind

__all__ = ["MARKER", "NAME", "Prompt", "fill", "sha256"]

NAME = "house"
"""The one set there is: the authors' prompts are not published with the data."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt.

    Attributes:
        system: System message.
        user: Document and question with its instructions.
        cue: Words that make a base model start answering; only added where no chat template is used.
    """

    system: str
    user: str
    cue: str


_ROLE = "You are an expert in business and finance."
_SYSTEM = {
    "cot": f"{_ROLE} Answer the question you are given.",
    "pot": f"{_ROLE} Answer the question you are given with a Python program whose return value is the answer.",
    "code": f"{_ROLE} Write the Python function you are asked for.",
}
_DOCUMENT = "Document:\n{context}\n\n"
_KEEP_SCALE = " Where the question names no unit or scale, keep those of the document."
_KEEP_FIGURES = " Write the figures it needs from the document into the program."
_USER = {
    ("choice", "cot"): "{document}Question: {question}\n\nChoices:\n{options}\n\n"
    "Pick the choice that answers the question best. Reason step by step, then finish with a line of this form, which "
    f"names the letter of your choice:\n{MARKER} <letter>.",
    ("number", "cot"): "{document}Question: {question}\n\nFind the number asked for.{hint} Reason step by step, then "
    f"finish with a line of this form, with the number in square brackets:\n{MARKER} [<number>].",
    (
        "number",
        "pot",
    ): "{document}Question: {question}\n\nWrite a Python program that computes the answer.{hint} It may "
    "import math, statistics, numpy, scipy and sympy. Reply with one code block that holds one function of this form, "
    "which returns the answer as a plain number:\n\n```python\ndef solution():\n    ...\n    return answer\n```",
    (
        "code",
        "code",
    ): "{document}Finish this Python function:\n\n{question}\n\nReply with one code block that holds the "
    "whole function, under the same name and with the same parameters. It has to return its result and print nothing.",
}
_HINTS = {"cot": _KEEP_SCALE, "pot": _KEEP_SCALE + _KEEP_FIGURES}
_CUE = {"cot": "Solution:", "pot": "```python\ndef solution():", "code": "```python\n{head}"}


def fill(*, kind: Kind, mode: str, question: str, context: str = "", options: Sequence[str] = ()) -> Prompt:
    """Word the prompt of a row.

    Args:
        kind: What an answer is.
        mode: `cot`, `pot` or `code`.
        question: As the file has it.
        context: The document, already cut to its length; empty where there is none.
        options: Choices in order, with or without letters.
    """
    document = _DOCUMENT.format(context=context.strip("\n")) if context.strip() else ""
    pieces = {
        "document": document,
        "question": _fenced(question, opens=kind != "code"),
        "options": "\n".join(
            f"{letter}. {text}" for letter, text in zip(ascii_uppercase, choice_texts(options), strict=False)
        ),
        "hint": _HINTS.get(mode, "") if document else "",
    }
    # All fields at once, so that a question which happens to hold "{options}" reaches the model as it is.
    return Prompt(system=_SYSTEM[mode], user=_USER[kind, mode].format(**pieces), cue=_cue(mode, question))


def sha256() -> str:
    """Return the hash of every template, so that two results can be told to come from the same wording."""
    user = sorted((*key, text) for key, text in _USER.items())
    parts = [NAME, sorted(_SYSTEM.items()), user, _DOCUMENT, sorted(_HINTS.items()), sorted(_CUE.items())]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _fenced(question: str, *, opens: bool) -> str:
    """Put a question that is code as a whole into a fence, on a line of its own where other words stand before it."""
    code = question.strip("\n").rstrip()
    if "```" in code or not re.match(r"(?:def \w+\s*\(|import \w|from [\w.]+ import |@\w)", code):
        return question.strip()
    fence = f"```python\n{code}\n```"
    return f"\n{fence}" if opens else fence


def _cue(mode: str, question: str) -> str:
    stub = read_stub(question) if mode == "code" else None
    return _CUE[mode].format(head="" if stub is None else stub.head).rstrip("\n")

"""Prompts, in which the document comes first, and right answers in the words that a model should use."""

import ast
import hashlib
import json
import re
from collections.abc import Sequence
from decimal import Decimal
from string import ascii_uppercase

from fin_tasks.answers.choices import choice_texts
from fin_tasks.answers.numbers import as_written
from fin_tasks.benchmarks.bizbench.formulas import stub_of
from fin_tasks.benchmarks.bizbench.score import number_truth
from fin_tasks.benchmarks.short_answers_paper import MARKER, marked_number

_ROLE = "You are an expert in business and finance."
_SYSTEM = {
    "cot": f"{_ROLE} Answer the question you are given.",
    "pot": f"{_ROLE} Answer the question you are given with a Python program whose return value is the answer.",
    "code": f"{_ROLE} Write the Python function you are asked for.",
}
_DOCUMENT = "Document:\n{context}\n\n"
_KEEP_SCALE = " Where the question names no unit or scale, keep those of the document."
_HINTS = {
    "cot": _KEEP_SCALE,
    "pot": f"{_KEEP_SCALE} Write the figures it needs from the document into the program.",
}
_CUE = {"cot": "Solution:", "pot": "```python\ndef solution():", "code": "```python\n{head}"}
_USER = {
    (
        "choice",
        "cot",
    ): "{document}Question: {question}\n\nChoices:\n{options}\n\nPick the choice that answers the "
    "question best. Reason step by step, then finish with a line of this form, which names the letter of your choice:\n"
    f"{MARKER} <letter>.",
    (
        "number",
        "cot",
    ): "{document}Question: {question}\n\nFind the number asked for.{hint} Reason step by step, then "
    f"finish with a line of this form, with the number in square brackets:\n{MARKER} [<number>].",
    (
        "number",
        "pot",
    ): "{document}Question: {question}\n\nWrite a Python program that computes the answer.{hint} It "
    "may import math, statistics, numpy, scipy and sympy. Reply with one code block that holds one function of this "
    "form, which returns the answer as a plain number:\n\n```python\ndef solution():\n    ...\n    return answer\n```",
    (
        "code",
        "code",
    ): "{document}Finish this Python function:\n\n{question}\n\nReply with one code block that holds "
    "the whole function, under the same name and with the same parameters. It has to return its result and print "
    "nothing.",
}


def fill(
    kind: str, mode: str, *, question: str, context: str = "", options: Sequence[str] = ()
) -> dict[str, str]:
    """Return the system message, the prompt, and the cue that makes a base model start its answer."""
    document = _DOCUMENT.format(context=context.strip("\n")) if context.strip() else ""
    stub = stub_of(question) if mode == "code" else None
    asked, code = question.strip(), question.strip("\n").rstrip()
    if "```" not in code and re.match(r"def \w+\s*\(|import \w|from [\w.]+ import |@\w", code):
        asked = f"{'' if mode == 'code' else chr(10)}```python\n{code}\n```"
    lettered = zip(ascii_uppercase, choice_texts(options), strict=False)
    pieces = {
        "document": document,
        "question": asked,
        "options": "\n".join(f"{letter}. {text}" for letter, text in lettered),
        "hint": _HINTS.get(mode, "") if document else "",
    }
    head = "" if stub is None else ast.unparse(stub).split("\n")[0]
    cue = _CUE[mode].format(head=head).rstrip("\n")
    return {"system": _SYSTEM[mode], "prompt": _USER[kind, mode].format(**pieces), "cue": cue}


def sha256() -> str:
    """Return the hash of all templates, for the provenance."""
    user = sorted((*key, text) for key, text in _USER.items())
    parts = [
        "house",
        sorted(_SYSTEM.items()),
        user,
        _DOCUMENT,
        sorted(_HINTS.items()),
        sorted(_CUE.items()),
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def target_of(kind: str, mode: str, *, answer: str, letter: str, program: str) -> str:
    """Return the right answer as a response, for few-shot examples; empty if the row has no usable truth."""
    if kind == "choice":
        return f"{MARKER} {letter}." if letter else ""
    if kind == "number":
        if (truth := number_truth(answer)) is None:
            return ""
        digits = f"{Decimal(repr(as_written(truth))):f}".removesuffix(".0")
        shown = (
            answer.strip()
            if marked_number(f"{MARKER} [{answer}].").answer == as_written(truth)
            else digits
        )
        if mode == "cot":
            return f"{MARKER} [{shown}]."
        program = program if "def solution(" in program else f"def solution():\n    return {digits}"
    return f"```python\n{program.strip()}\n```" if program else ""

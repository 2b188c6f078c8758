"""What the model is asked, in our own words; the marker before the answer is the authors'."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["MARKER", "MODES", "Prompt", "fill", "prompts_sha256"]

MARKER = "Therefore, the answer is"
"""What a model is asked to write before its answer."""

MODES = ("cot", "pot")

_SYSTEM = {
    "cot": (
        "You are a finance professional who works problems out on paper. Go through the calculation in order, then "
        f'close with one line of the form "{MARKER} X.", where X is the number asked for and nothing but a number with '
        "its sign and, where it has one, its unit."
    ),
    "pot": (
        "You are a finance professional who solves problems in Python. Write one function `solution()` that takes no "
        "arguments, names the given quantities, computes the result step by step and returns it as a single number. "
        "Standard library and numpy only; no input, no printing. Give the program alone, in a Python code block."
    ),
}
_ASK = {
    "cot": "Solve this step by step.",
    "pot": "Write the function that computes this.",
}
_CUE = {"cot": "Let us go step by step.", "pot": "```python\ndef solution():"}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt.

    Attributes:
        system: System message.
        user: The question with its tables.
        cue: Words that make a base model start answering; only added where no chat template is used.
    """

    system: str
    user: str
    cue: str


def fill(question: str, tables: Sequence[str], *, mode: str) -> Prompt:
    r"""Write the prompt for a question.

    Args:
        question: Its text.
        tables: Its tables in Markdown; they come after it.
        mode: `cot` or `pot`.

    Example:
        >>> print(fill("What is the total?", ["| a | b |"], mode="cot").user)
        Question: What is the total?
        <BLANKLINE>
        Table:
        | a | b |
        <BLANKLINE>
        Solve this step by step.
    """
    numbered = len(tables) > 1
    parts = [f"Question: {question}"]
    parts += [f"Table{f' {number}' if numbered else ''}:\n{table}" for number, table in enumerate(tables, start=1)]
    return Prompt(system=_SYSTEM[mode], user="\n\n".join([*parts, _ASK[mode]]), cue=_CUE[mode])


def prompts_sha256(mode: str) -> str:
    """Identify the wording of a mode."""
    wording = json.dumps([_SYSTEM[mode], _ASK[mode], _CUE[mode]])
    return hashlib.sha256(wording.encode()).hexdigest()

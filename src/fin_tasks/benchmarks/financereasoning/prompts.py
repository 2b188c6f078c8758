"""Prompts in our wording (`house`) or the authors' (`upstream`), which are read from their code."""

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from fin_tasks.data.source_text import follow_statements
from fin_tasks.errors import DataError

Mode = Literal["cot", "pot"]

UPSTREAM_FILE = "utils/prompts.py"
UPSTREAM_CODE = "inference.py"
"""The authors' texts, and their code; both are parsed and never executed."""

_BEFORE_CONTEXT = "Document:"

_SYSTEM: Mapping[str, str] = {
    "cot": (
        "You are an analyst who answers questions about finance. Work through the calculation, "
        'then write a last line of the form "Therefore, the answer is X.", where X is the number '
        "asked for with its unit, or True or False if the question asks for a verdict."
    ),
    "pot": (
        "You are an analyst who answers questions about finance with Python. Write one function "
        "`solution()` without arguments that names the given quantities, computes the result and "
        "returns it: a number, or True or False if the question asks for a verdict. Use the "
        "standard library and numpy; read and print nothing. Reply with the program alone, in a "
        "Python code block."
    ),
}
_ASK: Mapping[str, str] = {
    "cot": "Reason step by step.",
    "pot": "Write the function that computes the answer.",
}
_CUE: Mapping[str, str] = {
    "cot": "Step by step:",
    "pot": "```python\ndef solution():",
}


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The wording of one mode."""

    name: str
    system: str
    before_context: str
    ask: str
    """What follows the question."""
    cue: str = ""
    """A base model continues from these words."""

    def fill(self, question: str, context: str) -> str:
        """Return the prompt of a question."""
        parts = [f"Question: {question}\n\n{self.ask}"]
        if context:
            parts.insert(0, f"{self.before_context}\n{context}\n\n")
        return "".join(parts)

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        texts = [self.system, self.before_context, self.ask, self.cue]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def house_prompts(mode: Mode) -> Prompts:
    """Return our own wording."""
    return Prompts(
        name="house",
        system=_SYSTEM[mode],
        before_context=_BEFORE_CONTEXT,
        ask=_ASK[mode],
        cue=_CUE[mode],
    )


def upstream_prompts(file: Path, code: Path | None, mode: Mode) -> Prompts:
    """Read the authors' wording from their file of texts.

    The sentence before a context stands in their code. Without that file, ours takes its place.
    """
    known: dict[str, object] = {}
    follow_statements(_parse(file).body, known)
    prefix = mode.upper()
    return Prompts(
        name="upstream",
        system=_text_named(f"{prefix}_SYSTEM_INPUT", known, file),
        before_context=_sentence_before_context(code) if code else _BEFORE_CONTEXT,
        ask=_text_named(f"{prefix}_PROGRAM_PREFIX_INPUT", known, file),
    )


def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        problem = f"expected Python code, got {error}"
        raise DataError(f"{file}: {problem}. Take the file of the pinned commit.") from error


def _text_named(name: str, known: Mapping[str, object], file: Path) -> str:
    text = known.get(name)
    if not isinstance(text, str):
        problem = f"expected a text in {name}, found none"
        raise DataError(f"{file}: {problem}. Take the file of the pinned commit.")
    return text


def _sentence_before_context(code: Path) -> str:
    """Return the text that stands before the context in the first f-string that holds one."""
    for node in ast.walk(_parse(code)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, part in pairwise(node.values):
            if isinstance(before, ast.Constant) and "context" in ast.unparse(part):
                return str(before.value).strip("\n")
    raise DataError(
        f"{code}: expected a text before the context, found none. Take the file of the pinned commit."
    )

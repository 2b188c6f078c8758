"""Prompts in our wording (`house`) or the authors' (`upstream`), which are read from their code."""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.data.source_text import value_of
from fin_tasks.errors import DataError

Mode = Literal["cot", "pot"]

UPSTREAM_FILE = "utils/model_input_utils.py"
"""The authors' file; it is parsed and never executed."""

_SYSTEM: Mapping[str, str] = {
    "cot": (
        "You are a finance professional who works problems out on paper. Go through the "
        "calculation in order, then close with one line of the form "
        '"Therefore, the answer is X.", where X is the number asked for and nothing but a '
        "number with its sign and, where it has one, its unit."
    ),
    "pot": (
        "You are a finance professional who solves problems in Python. Write one function "
        "`solution()` that takes no arguments, names the given quantities, computes the result "
        "step by step and returns it as a single number. Standard library and numpy only; no "
        "input, no printing. Give the program alone, in a Python code block."
    ),
}
_ASK: Mapping[str, str] = {
    "cot": "Solve this step by step.",
    "pot": "Write the function that computes this.",
}
_CUE: Mapping[str, str] = {
    "cot": "Let us go step by step.",
    "pot": "```python\ndef solution():",
}
_UPSTREAM_FUNCTIONS: Mapping[str, str] = {
    "cot": "prepare_cot_model_input",
    "pot": "prepare_pot_model_input",
}


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording for one mode."""

    mode: Mode
    name: str = "house"

    @property
    def system(self) -> str:
        """The system message."""
        return _SYSTEM[self.mode]

    @property
    def cue(self) -> str:
        """From these words a base model continues."""
        return _CUE[self.mode]

    def fill(self, question: str, tables: Sequence[str]) -> str:
        """Return the prompt of a question."""
        parts = [f"Question: {question.strip()}"]
        for number, table in enumerate(tables, start=1):
            title = "Table" if len(tables) == 1 else f"Table {number}"
            parts.append(f"{title}:\n{table.strip()}")
        parts.append(_ASK[self.mode])
        return "\n\n".join(parts)

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return _sha256(_SYSTEM[self.mode], _ASK[self.mode], _CUE[self.mode])


@dataclass(frozen=True, kw_only=True)
class UpstreamPrompts:
    """The authors' wording for one mode."""

    mode: Mode
    system: str
    prefix: str
    """What follows the question."""
    before_tables: str
    """The sentence before the tables; chains of thought have the word `Table:` there."""
    name: str = "upstream"
    cue: str = ""

    def fill(self, question: str, tables: Sequence[str]) -> str:
        """Return the prompt of a question, put together as the authors' functions do."""
        tables_text = ""
        if tables and self.mode == "pot":
            tables_text = self.before_tables + "".join(f"{table}\n" for table in tables)
        elif tables:
            tables_text = "Table:\n" + "\n\n".join(tables) + "\n"
        return f"{tables_text}\nQuestion: {question}\n\n{self.prefix}"

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return _sha256(self.system, self.prefix, self.before_tables)


Prompts = HousePrompts | UpstreamPrompts


def upstream_prompts(path: Path, mode: Mode) -> UpstreamPrompts:
    """Read the authors' wording for one mode from their file."""
    function = _function(path, _UPSTREAM_FUNCTIONS[mode])
    return UpstreamPrompts(
        mode=mode,
        system=_text_of(function, "system_input", path),
        prefix=_text_of(function, "program_prefix_input", path),
        before_tables=_text_of(function, "table_input", path) if mode == "pot" else "",
    )


def _function(path: Path, name: str) -> ast.FunctionDef:
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected Python code, got {error}. Take the file of the pinned commit."
        ) from error
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise DataError(
        f"{path}: expected the function {name}, found none. Take the file of the pinned commit."
    )


def _text_of(
    function: ast.FunctionDef,
    variable: str,
    path: Path,
) -> str:
    """Return the first text that is put into a variable."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        elif isinstance(node, ast.AugAssign):
            target = node.target
        else:
            continue
        text = _constant(node.value) if ast.unparse(target) == variable else ""
        if text:
            return text
    raise DataError(
        f"{path}: expected a text in {variable} of {function.name}, found none. "
        "Take the file of the pinned commit."
    )


def _constant(expression: ast.expr) -> str:
    """Return the text that an expression of constants gives, or an empty text."""
    try:
        text = value_of(expression, {})
    except (DataError, KeyError, TypeError, ValueError):
        return ""
    return text if isinstance(text, str) else ""


def _sha256(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()

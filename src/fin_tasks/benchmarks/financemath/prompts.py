"""Prompts in our wording (`house`) or the authors' (`upstream`), which are read from their code."""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from fin_tasks.data.source_text import value_of
from fin_tasks.errors import DataError

Mode = Literal["cot", "pot"]

UPSTREAM_FILE = "utils/model_input_utils.py"
"""The authors' file; it is parsed and never executed."""

_UPSTREAM_FUNCTIONS: Mapping[str, str] = {
    "cot": "prepare_cot_model_input",
    "pot": "prepare_pot_model_input",
}


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording for one mode."""

    system: str
    ask: str
    """What follows the question."""
    cue: str
    """From these words a base model continues."""
    name: str = "house"

    def fill(self, question: str, tables: Sequence[str]) -> str:
        """Return the prompt of a question."""
        parts = [f"Question: {question.strip()}"]
        for number, table in enumerate(tables, start=1):
            title = "Table" if len(tables) == 1 else f"Table {number}"
            parts.append(f"{title}:\n{table.strip()}")
        return "\n\n".join([*parts, self.ask])

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return _sha256(self.system, self.ask, self.cue)


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


def house_prompts(mode: Mode) -> HousePrompts:
    """Read our wording for one mode from `house.yaml`."""
    text = Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
    return HousePrompts(**yaml.safe_load(text)[mode])


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


def _text_of(function: ast.FunctionDef, variable: str, path: Path) -> str:
    """Return the first text that is put into a variable."""
    for node in ast.walk(function):
        text = ""
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AugAssign(target=target, value=value)
            ) if ast.unparse(target) == variable:
                text = _constant(value)
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

"""Prompts in our wording (`house`) or the authors' (`upstream`), which are read from their code."""

import ast
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from fin_tasks.data.documents import hash_of
from fin_tasks.data.source_text import UNKNOWN, not_found, parse_code, value_of

Mode = Literal["cot", "pot"]

UPSTREAM_FILE = "utils/model_input_utils.py"
"""The authors' file; it is parsed and never executed."""


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording for one mode."""

    system: str
    ask: str
    """What follows the question."""
    cue: str
    """A base model continues from these words."""

    def fill(self, question: str, tables: Sequence[str]) -> dict[str, str]:
        """Return the messages for a question."""
        parts = [f"Question: {question.strip()}"]
        for number, table in enumerate(tables, start=1):
            title = "Table" if len(tables) == 1 else f"Table {number}"
            parts.append(f"{title}:\n{table.strip()}")
        prompt = "\n\n".join([*parts, self.ask])
        return {"system": self.system, "prompt": prompt, "cue": self.cue}

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return hash_of(self.system, self.ask, self.cue)


@dataclass(frozen=True, kw_only=True)
class UpstreamPrompts:
    """The authors' wording for one mode."""

    system: str
    ask: str
    """What follows the question."""
    before_tables: str
    """The sentence before the tables; empty in `cot`, which has the word `Table:` there."""

    def fill(self, question: str, tables: Sequence[str]) -> dict[str, str]:
        """Return the messages for a question, put together as the authors' functions do."""
        table_text = ""
        if tables and self.before_tables:
            table_text = self.before_tables + "".join(f"{table}\n" for table in tables)
        elif tables:
            table_text = "Table:\n" + "\n\n".join(tables) + "\n"
        prompt = f"{table_text}\nQuestion: {question}\n\n{self.ask}"
        return {"system": self.system, "prompt": prompt, "cue": ""}

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return hash_of(self.system, self.ask, self.before_tables)


def house_prompts(mode: Mode) -> HousePrompts:
    """Read our wording for one mode from `house.yaml`."""
    text = Path(__file__).with_name("house.yaml").read_text("utf-8")
    return HousePrompts(**yaml.safe_load(text)[mode])


def upstream_prompts(path: Path, mode: Mode) -> UpstreamPrompts:
    """Read the authors' wording for one mode from their file."""
    name = f"prepare_{mode}_model_input"
    for node in parse_code(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            before_tables = ""
            if mode == "pot":
                before_tables = _text_of(node, "table_input", path)
            return UpstreamPrompts(
                system=_text_of(node, "system_input", path),
                ask=_text_of(node, "program_prefix_input", path),
                before_tables=before_tables,
            )
    raise not_found(path, f"the function {name}")


def _text_of(function: ast.FunctionDef, variable: str, path: Path) -> str:
    """Return the first text that is put into a variable and is made of constants."""
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AugAssign(target=target, value=value)
            ) if ast.unparse(target) == variable:
                with suppress(*UNKNOWN):
                    text = value_of(value, {})
                    if text and isinstance(text, str):
                        return text
    raise not_found(path, f"a text in {variable} of {function.name}")

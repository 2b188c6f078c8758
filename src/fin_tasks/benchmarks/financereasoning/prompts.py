"""Prompts in our wording (`house`) or the authors' (`upstream`), which are read from their code."""

import ast
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.data.documents import hash_of
from fin_tasks.data.source_text import follow_statements, not_found, parse_code

Mode = Literal["cot", "pot"]

UPSTREAM_FILE = "utils/prompts.py"
UPSTREAM_CODE = "inference.py"
"""The authors' texts, and their code; both are parsed and never executed."""

_BEFORE_CONTEXT = "Document:"


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """The wording of one mode."""

    system: str
    ask: str
    """What follows the question."""
    cue: str = ""
    """A base model continues from these words."""
    before_context: str = _BEFORE_CONTEXT

    def fill(self, question: str, context: str) -> dict[str, str]:
        """Return the messages for a question."""
        prompt = f"Question: {question}\n\n{self.ask}"
        if context:
            prompt = f"{self.before_context}\n{context}\n\n{prompt}"
        return {"system": self.system, "prompt": prompt, "cue": self.cue}

    @property
    def sha256(self) -> str:
        """The hash of the wording."""
        return hash_of(self.system, self.before_context, self.ask, self.cue)


def house_prompts(mode: Mode) -> Prompts:
    """Read our own wording from `house.yaml`."""
    text = Path(__file__).with_name("house.yaml").read_text("utf-8")
    return Prompts(**yaml.safe_load(text)[mode])


def upstream_prompts(file: Path, code: Path | None, mode: Mode) -> Prompts:
    """Read the authors' wording from their file of texts.

    The sentence before a context stands in their code. Without that file, ours takes its place.
    """
    texts: dict[str, Any] = {}
    follow_statements(parse_code(file).body, texts)
    names = [f"{mode.upper()}_SYSTEM_INPUT", f"{mode.upper()}_PROGRAM_PREFIX_INPUT"]
    for name in names:
        if not isinstance(texts.get(name), str):
            raise not_found(file, f"a text in {name}")
    system, ask = (texts[name] for name in names)
    before_context = _sentence_before_context(code) if code else _BEFORE_CONTEXT
    return Prompts(system=system, ask=ask, before_context=before_context)


def _sentence_before_context(code: Path) -> str:
    """Return the text that stands before the context in the first f-string that holds one."""
    for node in ast.walk(parse_code(code)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, part in pairwise(node.values):
            if isinstance(before, ast.Constant) and "context" in ast.unparse(part):
                return str(before.value).strip("\n")
    raise not_found(code, "a text before the context")

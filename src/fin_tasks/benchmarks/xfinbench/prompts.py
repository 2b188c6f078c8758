"""What the model is asked: in our own wording (`house`), or by the authors' templates read from their files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from fin_tasks.answers.paper import MARKER
from fin_tasks.benchmarks.xfinbench.knowledge import Term
from fin_tasks.errors import ConfigError

__all__ = ["MARKER", "STYLES", "TEMPLATES", "PromptSet", "Style", "house_prompts", "style_named", "upstream_prompts"]


class Style(NamedTuple):
    """The mode (`cot`, `da`, `pot`), and whether a system message gives the model the role of a finance expert."""

    mode: str
    role: bool


STYLES = {name: Style(name[: -len("_role")], True) for name in ("cot_role", "da_role")}
STYLES |= {"cot": Style("cot", False), "da": Style("da", False)}
"""The four styles of the paper's sensitivity study."""


def style_named(name: str | None, *, mode: str) -> Style:
    """Return the style of a task; None is the task's own mode with the role, and `pot` keeps its mode in any style."""
    if name is None:
        return Style(mode, True)
    allowed = [style for style in STYLES if mode != "da" or STYLES[style].mode == "da"]
    if name not in allowed:
        hint = " Use the task without _da." if name in STYLES else ""
        raise ConfigError(f"xfinbench style: expected one of {', '.join(allowed)}, got {name!r}.{hint}")
    return STYLES[name]._replace(mode="pot") if mode == "pot" else STYLES[name]


class PromptSet(NamedTuple):
    """Templates for every task and mode, with the fields `{knowledge}`, `{question}` and `{choices}`."""

    name: str
    system: Mapping[str, str]  # by mode
    user: Mapping[tuple[str, str], str]  # by task and mode
    cue: Mapping[str, str]  # by mode: from these words a base model continues
    after_terms: str  # stands between the finance terms and the question

    def fill(self, task: str, style: Style, *, question: str, choices: str, terms: Sequence[Term]) -> dict[str, str]:
        """Return `system`, `prompt` and `cue` of a question, with finance terms before it."""
        shown = [": ".join(filter(None, (term.name, term.definition))) for term in terms]
        knowledge = "\n\n".join([_HEADING, *shown]) + self.after_terms if terms else ""
        # No str.format: LaTeX has braces, and a question that contains "{choices}" must stay as it is.
        before, _, after = self.user[task, style.mode].partition("{question}")
        text = before.replace("{knowledge}", knowledge) + question + after.replace("{choices}", choices)
        return {"system": self.system[style.mode] if style.role else "", "prompt": text, "cue": self.cue[style.mode]}

    def sha256(self, *, knowledge: bool) -> str:
        """Return the hash of all templates; the layout of finance terms counts only if they are shown."""
        parts: list[Any] = [self.name, *(sorted(part.items()) for part in (self.system, self.user, self.cue))]
        parts += [(_HEADING, "\n\n", ": ", self.after_terms)] if knowledge else []
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


_HEADING = "Finance terms that may be of use:"
_ROLE = "You are an expert in finance. Solve the problem you are given"
_ASK = {
    "bool": "{knowledge}Statement: {question}\n\nDecide whether this statement is true or false.",
    "mcq": "{knowledge}Question: {question}\n\nChoices:\n{choices}\n\nPick the choice that answers the question best.",
    "calcu": "{knowledge}Question: {question}\n\nWork out the number asked for.",
}
_FORM = {
    "bool": f"one of these two lines:\n{MARKER} true.\n{MARKER} false.",
    "mcq": f"a line of this form, which names the letter of your choice:\n{MARKER} <letter>.",
    "calcu": f"a line of this form, with the number in square brackets:\n{MARKER} [<number>].",
}
_HOW = {"cot": "Reason step by step, then finish with ", "da": "Give no reasoning. Reply only with "}
_PROGRAM = (
    "{knowledge}Question: {question}\n\n"
    "Write a Python program that computes the answer. It may import math, statistics, numpy, scipy and sympy. "
    "Reply with one code block that holds one function of this form, which returns the answer as a plain number in the "
    "unit asked for:\n\n```python\ndef solution():\n    ...\n    return answer\n```"
)


def house_prompts() -> PromptSet:
    """Return our own wording."""
    system = {"cot": f"{_ROLE}.", "da": f"{_ROLE}."}
    system["pot"] = f"{_ROLE} with a Python program whose return value is the answer."
    user = {(task, mode): f"{_ASK[task]} {how}{_FORM[task]}" for task in _ASK for mode, how in _HOW.items()}
    cue = {"cot": "Solution:", "da": "Answer:", "pot": "```python\ndef solution():"}
    return PromptSet("house", system, {**user, ("calcu", "pot"): _PROGRAM}, cue, "\n\n")


_MODES = {"cot": "CoT", "da": "DA", "pot": "PoT"}
_PAIRS = [*product(_ASK, _HOW), ("calcu", "pot")]
TEMPLATES = (*(f"{task}_{_MODES[mode]}.txt" for task, mode in _PAIRS), *(f"Sys_msg/{m}.txt" for m in _MODES.values()))
"""The authors' files, below their template folder."""


def upstream_prompts(texts: Mapping[str, str]) -> PromptSet:
    r"""Return the authors' wording: each of `TEMPLATES` to its text, in which a literal `\n` means a newline."""
    lines = {name: text.replace("\\n", "\n") for name, text in texts.items()}
    system = {mode: lines[f"Sys_msg/{name}.txt"] for mode, name in _MODES.items()}
    user = {(task, mode): lines[f"{task}_{_MODES[mode]}.txt"] for task, mode in _PAIRS}
    return PromptSet("upstream", system, user, dict.fromkeys(_MODES, ""), "")  # the templates have a blank line there

"""What the model is asked: one question, with or without a role, in one of three modes.

Two prompt sets exist. `house` is our own wording. `upstream` is the authors' templates, read from their files at run
time and filled in without changing a byte. Both end in the same answer marker, and calculation answers stand in
square brackets, because that is what the scorer of the paper reads.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any

from fin_tasks.answers.paper import MARKER
from fin_tasks.errors import ConfigError

__all__ = [
    "MARKER",
    "STYLES",
    "KnowledgeBlock",
    "Prompt",
    "PromptSet",
    "Style",
    "house_prompts",
    "style_named",
    "upstream_prompts",
]


@dataclass(frozen=True, kw_only=True)
class Style:
    """One of the four prompt styles of the paper's sensitivity study.

    Attributes:
        mode: `cot` reasons before it answers, `da` answers at once.
        role: Whether a system message gives the model the role of a finance expert.
    """

    mode: str
    role: bool


STYLES: Mapping[str, Style] = {
    "cot_role": Style(mode="cot", role=True),
    "da_role": Style(mode="da", role=True),
    "cot": Style(mode="cot", role=False),
    "da": Style(mode="da", role=False),
}


def style_named(name: str | None, *, mode: str) -> Style:
    """Return the style a task runs in.

    Args:
        name: A key of `STYLES`, or None for the task's own mode with the role.
        mode: The task's mode, `cot`, `da` or `pot`. A program-of-thought task takes the role of the style and keeps
            its own mode, so one `style` can be given to a whole run.

    Raises:
        ConfigError: The style does not exist, or asks a direct-answer task to reason.
    """
    if name is None:
        return Style(mode=mode, role=True)
    if name not in STYLES:
        raise ConfigError(f"metadata style: expected one of {', '.join(STYLES)}, got {name!r}.")
    style = STYLES[name]
    if mode == "pot":
        return Style(mode="pot", role=style.role)
    if mode == "da" and style.mode != "da":
        raise ConfigError(
            f"metadata style: a direct-answer task expected da_role or da, got {name!r}. Use the task without _da."
        )
    return style


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A finished prompt.

    Attributes:
        system: System message; empty without a role.
        user: The question with its instructions.
        cue: Words that make a base model start answering; only added where no chat template is used.
    """

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class KnowledgeBlock:
    """How finance terms are laid out before a question.

    Attributes:
        heading: Line above the terms.
        between: Stands after the heading and between two terms.
        colon: Stands between a term's name and its definition.
        end: Stands after the last term; a template may have its own blank line before the question.
    """

    heading: str = "Finance terms that may be of use:"
    between: str = "\n\n"
    colon: str = ": "
    end: str = ""

    def write(self, terms: Iterable[tuple[str, str]]) -> str:
        r"""Lay out terms, given as name and definition; no terms give no block.

        Example:
            >>> print(KnowledgeBlock(between="\n").write([("Par value", "What a bond repays at maturity.")]))
            Finance terms that may be of use:
            Par value: What a bond repays at maturity.
        """
        # No str.format: definitions hold the braces of LaTeX.
        lines = [self.colon.join(part for part in term if part) for term in terms]
        return self.between.join([self.heading, *lines]) + self.end if lines else ""


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """Templates for every task and mode.

    Attributes:
        name: `house` or `upstream`.
        system: Mode to system message.
        user: (task, mode) to template with the fields `{knowledge}`, `{question}` and `{choices}`.
        cue: Mode to the words a base model continues from.
        knowledge: Layout of what replaces `{knowledge}`.
    """

    name: str
    system: Mapping[str, str]
    user: Mapping[tuple[str, str], str]
    cue: Mapping[str, str]
    knowledge: KnowledgeBlock = KnowledgeBlock()

    def fill(self, *, task: str, style: Style, question: str, choices: str = "", knowledge: str = "") -> Prompt:
        """Fill in the template of a task.

        Args:
            task: `bool`, `mcq` or `calcu`.
            style: Mode and role.
            question: The question, with any LaTeX table in it.
            choices: The choices as the file has them, one a line.
            knowledge: Finance terms to put before the question, laid out by `self.knowledge`; empty without knowledge
                augmentation.
        """
        text = self.user[task, style.mode]
        # str.format would trip over the braces of LaTeX in a template's neighbour fields, and the order matters:
        # a question that happens to contain "{choices}" must reach the model as it is.
        before, _, rest = text.partition("{question}")
        before = before.replace("{knowledge}", knowledge)
        rest = rest.replace("{choices}", choices)
        system = self.system[style.mode] if style.role else ""
        return Prompt(system=system, user=f"{before}{question}{rest}", cue=self.cue[style.mode])

    def sha256(self, *, knowledge: bool = False) -> str:
        """Return the hash of every template, so that two results can be told to come from the same wording.

        Args:
            knowledge: Whether finance terms are shown, and their layout counts too. A run without any has the hash it
                had before there was a layout.
        """
        parts: list[Any] = [self.name, *(sorted(part.items()) for part in (self.system, self.user, self.cue))]
        if knowledge:
            parts.append(astuple(self.knowledge))
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


_ROLE = "You are an expert in finance."
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
    user = {(task, mode): f"{ask} {how}{_FORM[task]}" for task, ask in _ASK.items() for mode, how in _HOW.items()}
    return PromptSet(
        name="house",
        system={
            "cot": f"{_ROLE} Solve the problem you are given.",
            "da": f"{_ROLE} Solve the problem you are given.",
            "pot": f"{_ROLE} Solve the problem you are given with a Python program whose return value is the answer.",
        },
        user={**user, ("calcu", "pot"): _PROGRAM},
        cue={"cot": "Solution:", "da": "Answer:", "pot": "```python\ndef solution():"},
        knowledge=KnowledgeBlock(end="\n\n"),
    )


def upstream_prompts(templates: Mapping[str, str]) -> PromptSet:
    r"""Return the authors' wording.

    Args:
        templates: File name below `prompt_template/` to its text, such as `bool_CoT.txt` or `Sys_msg/CoT.txt`, with
            their literal `\n` already turned into newlines.

    Raises:
        ConfigError: A template is missing.
    """
    modes = {"cot": "CoT", "da": "DA", "pot": "PoT"}
    pairs = [(task, mode) for task in ("bool", "mcq", "calcu") for mode in ("cot", "da")] + [("calcu", "pot")]
    wanted = {f"{task}_{modes[mode]}.txt" for task, mode in pairs} | {f"Sys_msg/{m}.txt" for m in modes.values()}
    if missing := sorted(wanted - templates.keys()):
        raise ConfigError(
            f"metadata prompts: upstream needs the template files {', '.join(missing)}; found {sorted(templates)}. "
            "Run `fin-tasks fetch xfinbench`, or point FIN_TASKS_DATA at a folder that has them."
        )
    return PromptSet(
        name="upstream",
        system={mode: templates[f"Sys_msg/{name}.txt"] for mode, name in modes.items()},
        user={(task, mode): templates[f"{task}_{modes[mode]}.txt"] for task, mode in pairs},
        cue={"cot": "", "da": "", "pot": ""},
        knowledge=KnowledgeBlock(),  # a template has its own blank line below it
    )

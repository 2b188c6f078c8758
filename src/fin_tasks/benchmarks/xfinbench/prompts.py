"""Prompts in our wording (`house`) or the authors' (`upstream`)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fin_tasks.data.documents import hash_of
from fin_tasks.data.locate import Located
from fin_tasks.errors import ConfigError

from .document import Mode, Task
from .terms import Term

_HEADING = "Finance terms that may be of use:"
_BETWEEN_TERMS = "\n\n"
_IN_TERM = ": "
_UPSTREAM_MODES: Mapping[str, str] = {"cot": "CoT", "da": "DA", "pot": "PoT"}


class Style(NamedTuple):
    """How a question is asked."""

    mode: Mode
    role: bool
    """Whether a system message gives the model the role of a finance expert."""


STYLES: Mapping[str, Style] = {
    "cot_role": Style("cot", role=True),
    "da_role": Style("da", role=True),
    "cot": Style("cot", role=False),
    "da": Style("da", role=False),
}
"""The four styles of the paper's sensitivity study."""


def check_option(name: str, value: str, allowed: Iterable[str]) -> None:
    """Refuse a value that an option does not know."""
    if value not in list(allowed):
        raise ConfigError(
            f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}."
        )


def style_named(name: str | None, *, mode: Mode) -> Style:
    """Return the style in which a task of this mode asks; None means its own mode with the role.

    Programs stay programs in any style.
    """
    if name is None:
        return Style(mode, role=True)
    check_option("style", name, STYLES)
    style = STYLES[name]
    if mode == "da" and style.mode == "cot":
        raise ConfigError(
            f"xfinbench style: expected da or da_role, got {name!r}. Use the task without _da."
        )
    return style._replace(mode="pot") if mode == "pot" else style


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """Templates for every task and mode, with the fields `{knowledge}`, `{question}` and `{choices}`."""

    name: str
    system: Mapping[str, str]
    """By mode."""
    user: Mapping[tuple[str, str], str]
    """By task and mode."""
    cue: Mapping[str, str]
    """By mode."""
    after_terms: str
    """What stands between the finance terms and the question."""

    def fill(
        self,
        task: Task,
        style: Style,
        *,
        question: str,
        choices: str,
        terms: Sequence[Term],
    ) -> dict[str, str]:
        """Return the messages for a question, with finance terms before it."""
        knowledge = ""
        if terms:
            paragraphs = [_HEADING, *(term.text for term in terms)]
            knowledge = _BETWEEN_TERMS.join(paragraphs) + self.after_terms
        template = self.user[task, style.mode]
        prompt = fill_fields(
            template, knowledge=knowledge, question=question, choices=choices
        )
        system = self.system[style.mode] if style.role else ""
        return {"system": system, "prompt": prompt, "cue": self.cue[style.mode]}

    def sha256(self, *, knowledge: bool) -> str:
        """Return the hash of all templates; the layout of finance terms counts only if they are shown."""
        templates = (self.system, self.user, self.cue)
        parts: list[Any] = [self.name, *(sorted(texts.items()) for texts in templates)]
        if knowledge:
            parts.append((_HEADING, _BETWEEN_TERMS, _IN_TERM, self.after_terms))
        return hash_of(*parts)


@cache
def house_prompts() -> PromptSet:
    """Return our own wording."""
    file = Path(__file__).with_name("house.yaml")
    texts = yaml.safe_load(file.read_text("utf-8"))
    user = {}
    for task, template_by_mode in texts["user"].items():
        for mode, template in template_by_mode.items():
            user[task, mode] = template
    return PromptSet(
        name="house",
        system=texts["system"],
        user=user,
        cue=texts["cue"],
        after_terms="\n\n",
    )


def upstream_prompts(files: Located) -> PromptSet:
    r"""Return the authors' wording. The two characters `\n` in their files stay two characters."""

    def read(name: str) -> str:
        path = f"evaluate/prompt_template/{name}.txt"
        return files.with_files([path]).files[path].read_text("utf-8", "replace")

    user = {}
    for task, mode in house_prompts().user:
        user[task, mode] = read(f"{task}_{_UPSTREAM_MODES[mode]}")
    return PromptSet(
        name="upstream",
        system={
            mode: read(f"Sys_msg/{name}") for mode, name in _UPSTREAM_MODES.items()
        },
        user=user,
        cue=dict.fromkeys(_UPSTREAM_MODES, ""),
        after_terms="",  # the templates have a blank line there
    )


def fill_fields(template: str, **fields: str) -> str:
    """Put texts in place of the fields in braces; other braces stay, as LaTeX has many."""
    # No str.format: a question that contains "{choices}" must stay as it is.
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), template)

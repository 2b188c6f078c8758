"""What a model is asked about a row, in our wording. The document comes first."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from fin_tasks.answers.choices import choice_texts, lettered
from fin_tasks.data.documents import hash_of

from ..request import Prompts

Kind = Literal["choice", "number", "code"]
Mode = Literal["cot", "pot", "code"]

_CODE = re.compile(r"def \w+\s*\(|import \w|from [\w.]+ import |@\w")


@cache
def house_texts() -> Any:
    """Read our wording from `house.yaml`; the fields in braces are filled for each question."""
    return yaml.safe_load(Path(__file__).with_name("house.yaml").read_text("utf-8"))


def sha256() -> str:
    """Return the hash of all templates, for the provenance."""
    return hash_of("house", house_texts())


def messages_of(
    kind: Kind,
    mode: Mode,
    *,
    question: str,
    context: str,
    options: Sequence[str],
    head: str,
) -> dict[str, str]:
    """Return the messages about a question; `head` is the first line of the function that is asked for."""
    texts = house_texts()
    prompts = Prompts(
        system=texts["system"][mode],
        user=texts["user"][kind][mode],
        cue=texts["cue"][mode],
        context=texts["context"],
    )
    document = ""
    hint = ""
    if context.strip():
        document = context.strip("\n")
        hint = texts["hints"].get(mode, "")
    messages = prompts.fill(
        context=document,
        question=shown(question, mode),
        options=lettered(choice_texts(options)),
        hint=hint,
        head=head,
    )
    return {**messages, "cue": messages["cue"].rstrip("\n")}


def shown(question: str, mode: Mode) -> str:
    """Return the question; if it is code, in a fence."""
    code = question.strip("\n").rstrip()
    if "```" in code or not _CODE.match(code):
        return question.strip()
    fence = f"```python\n{code}\n```"
    return fence if mode == "code" else f"\n{fence}"

"""What a model is asked: templates whose fields in braces are filled for each question."""

import re
from pathlib import Path
from typing import NamedTuple

import yaml


class Prompts(NamedTuple):
    """The templates of one way to ask; `user`, `cue` and `context` have fields such as `{question}`."""

    system: str
    user: str
    cue: str = ""
    """A base model continues from these words."""
    context: str = ""
    """What stands for `{context}` in `user` if a question has tables or a document; `{context}` is their text."""

    def fill(self, *, context: str = "", **fields: str) -> dict[str, str]:
        """Return the messages about a question, without a context if its text is empty."""
        if context:
            context = fill_fields(self.context, context=context)
        return {
            "system": self.system,
            "prompt": fill_fields(self.user, context=context, **fields),
            "cue": fill_fields(self.cue, **fields),
        }


def read_prompts(file: Path, mode: str) -> Prompts:
    """Read the templates of one mode from a YAML file that has them by mode."""
    return Prompts(**yaml.safe_load(file.read_text("utf-8"))[mode])


def fill_fields(template: str, **fields: str) -> str:
    """Put texts in place of the fields in braces; other braces stay, as LaTeX has many."""
    # No str.format: a question that contains "{choices}" must stay as it is.
    return re.sub(r"\{(\w+)\}", lambda match: fields.get(match[1], match[0]), template)

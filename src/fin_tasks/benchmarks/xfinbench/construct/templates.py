"""What models are asked when they make, check, compare and label questions."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from fin_tasks.benchmarks.xfinbench.prompts import fill_fields
from fin_tasks.errors import ConfigError

_UPSTREAM_FILES: Mapping[str, str] = {
    "statement_true": "generate/bool_true.txt",
    "statement_false": "generate/bool_false.txt",
    "mcq": "generate/mcq.txt",
    "calcu": "generate/calcu.txt",
    "verify_statement_true": "verify/bool_true.txt",
    "verify_statement_false": "verify/bool_false.txt",
    "verify_mcq": "verify/mcq.txt",
    "verify_calcu": "verify/calcu.txt",
    "pair": "verify/bool_deduplicate.txt",
}
"""The authors' file for each purpose, in their folder of prompts."""
_OUR_FIELDS: Mapping[str, str] = {
    "{orig_ques}": "{source_question}",
    "{orig_ans}": "{source_answer}",
    "{context_1}": "{context}",
    "{statement_1}": "{true_statement}",
    "{statement_0}": "{false_statement}",
}
"""The authors' names of fields, and ours."""
_NUMBERED_QUESTION = re.compile(r"\bQ\d")


@dataclass(frozen=True, kw_only=True)
class Templates:
    """Templates by purpose, with fields in braces."""

    name: str
    texts: Mapping[str, str]

    def fill(self, purpose: str, **fields: str) -> str:
        """Return a template with its fields filled in."""
        return fill_fields(self.texts[purpose], **fields)

    def n_questions(self, purpose: str) -> int:
        """Return how many yes-or-no questions a template asks; they are numbered Q1, Q2, ..."""
        numbers = set(_NUMBERED_QUESTION.findall(self.texts[purpose]))
        return len(numbers) or 1

    @property
    def sha256(self) -> str:
        """The hash of all templates."""
        return hashlib.sha256(repr(sorted(self.texts.items())).encode()).hexdigest()


def load_templates(folder: Path | None = None) -> Templates:
    """Return our templates; those for making questions are the authors' if their folder is given."""
    file = Path(__file__).with_name("prompts.yaml")
    house: dict[str, str] = yaml.safe_load(file.read_text(encoding="utf-8"))
    if folder is None:
        return Templates(name="house", texts=house)
    texts = {}
    for purpose, text in house.items():
        if purpose in _UPSTREAM_FILES:
            text = _read_upstream(folder / _UPSTREAM_FILES[purpose], ours=text)
        texts[purpose] = text
    return Templates(name="upstream", texts=texts)


def _read_upstream(path: Path, *, ours: str) -> str:
    """Read a template of the authors, which must have the fields that ours has."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(
            f"{path}: expected a template of the authors' construct_data/prompts, "
            f"got {error.strerror}. Name their folder."
        ) from error
    for theirs, our_name in _OUR_FIELDS.items():
        text = text.replace(theirs, our_name)
    fields = re.findall(r"\{\w+\}", ours)
    missing = [field for field in fields if field not in text]
    if missing:
        raise ConfigError(
            f"{path}: expected a template with {', '.join(missing)}, or the authors' names "
            f"of these fields, got one without. Take their file."
        )
    return text

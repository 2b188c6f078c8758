"""Prompts in our wording (`house`) or the authors' (`upstream`), and the finance terms before a question.

The templates by which a model makes, verifies and labels questions are here, too.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import Located
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.retrieval.search import retrieve, retriever_provenance
from fin_tasks.settings import Settings

CONDITIONS = ("none", "bm25", "dense", "oracle")
_TERM = ("id", "term_name", "term_definition")
_FIELD = re.compile(r"\{(\w+)\}")
STYLES = ("cot_role", "da_role", "cot", "da")
"""The four styles of the paper's sensitivity study."""


class Style(NamedTuple):
    """The mode (`cot`, `da`, `pot`), and whether a system message gives the model the role of a finance expert."""

    mode: str
    role: bool


def style_named(name: str | None, *, mode: str) -> Style:
    """Return a style by its name; None means the task's own mode with the role. Programs stay programs in any style."""
    if name not in (None, *STYLES):
        raise ConfigError(f"xfinbench style: expected one of {', '.join(STYLES)}, got {name!r}.")
    asked, _, role = (name or f"{mode}_role").partition("_")
    if mode == "da" and asked == "cot":
        raise ConfigError(
            f"xfinbench style: expected da or da_role, got {name!r}. Use the task without _da."
        )
    return Style("pot" if mode == "pot" else asked, bool(role))


class Term(NamedTuple):
    """A term of the knowledge bank; it has a score if retrieval found it."""

    id: str
    name: str
    definition: str
    score: float | None = None


class PromptSet(NamedTuple):
    """Templates for every task and mode, with the fields `{knowledge}`, `{question}` and `{choices}`."""

    name: str
    system: Mapping[str, str]  # by mode
    user: Mapping[tuple[str, str], str]  # by task and mode
    cue: Mapping[str, str]  # by mode: from these words a base model continues
    after_terms: str  # stands between the finance terms and the question

    def fill(
        self, task: str, style: Style, *, question: str, choices: str, terms: Sequence[Term]
    ) -> dict[str, str]:
        """Return `system`, `prompt` and `cue` of a question, with finance terms before it."""
        shown = [": ".join(filter(None, (term.name, term.definition))) for term in terms]
        knowledge = "\n\n".join([_HEADING, *shown]) + self.after_terms if terms else ""
        text = _filled(
            self.user[task, style.mode], knowledge=knowledge, question=question, choices=choices
        )
        return {
            "system": self.system[style.mode] if style.role else "",
            "prompt": text,
            "cue": self.cue[style.mode],
        }

    def sha256(self, *, knowledge: bool) -> str:
        """Return the hash of all templates; the layout of finance terms counts only if they are shown."""
        parts: list[Any] = [
            self.name,
            *(sorted(part.items()) for part in (self.system, self.user, self.cue)),
        ]
        parts += [(_HEADING, "\n\n", ": ", self.after_terms)] if knowledge else []
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


_HEADING = "Finance terms that may be of use:"


def house_prompts() -> PromptSet:
    """Return our own wording."""
    texts = yaml.safe_load(Path(__file__).with_name("house.yaml").read_text(encoding="utf-8"))
    user = {(task, mode): text for task, of in texts["user"].items() for mode, text in of.items()}
    return PromptSet("house", texts["system"], user, texts["cue"], "\n\n")


def upstream_prompts(files: Located) -> PromptSet:
    r"""Return the authors' wording. A literal `\n` in their files means a newline."""
    modes = {"cot": "CoT", "da": "DA", "pot": "PoT"}
    names = {(task, mode): f"{task}_{modes[mode]}.txt" for task, mode in house_prompts().user}
    names |= {("", mode): f"Sys_msg/{name}.txt" for mode, name in modes.items()}
    paths = {kind: f"evaluate/prompt_template/{name}" for kind, name in names.items()}
    found = files.with_files(paths.values()).files
    user = {
        kind: found[path].read_text("utf-8", "replace").replace("\\n", "\n")
        for kind, path in paths.items()
    }
    system = {mode: user.pop(("", mode)) for mode in modes}
    return PromptSet(
        "upstream", system, user, dict.fromkeys(modes, ""), ""
    )  # the templates have a blank line there


def find_terms(
    rows: Sequence[Mapping[str, Any]],
    bank: Path,
    method: str,
    top_k: int,
    encoder: str | None,
    settings: Settings,
) -> tuple[list[list[Term]], dict[str, Any]]:
    """Return each row's terms, the best first, and the provenance; see `retrieval.search.retrieve` for the options."""
    terms: dict[str, Term] = {}
    for record in read_csv(bank, _TERM):
        term_id, name, definition = (record.cells[column].strip() for column in _TERM)
        if term_id and (name or definition):
            terms.setdefault(term_id, Term(term_id, name, definition))
    if not terms:
        raise DataError(
            f"{bank}: expected finance terms with an id each, got none. Put the authors' file there."
        )
    provenance: dict[str, Any] = {
        "condition": method,
        "bank": {"n": len(terms), "sha256": sha256_of(bank)},
    }
    if method == "oracle":
        return [
            [terms[term] for term in row["gold_terms"] if term in terms] for row in rows
        ], provenance
    known = list(terms.values())
    texts, questions = (
        [f"{term.name} {term.definition}" for term in known],
        [row["question"] for row in rows],
    )
    hits = retrieve(
        texts, questions, method=method, top_k=top_k, encoder=encoder, settings=settings
    )
    provenance |= {"top_k": top_k, "retriever": retriever_provenance(method, encoder=encoder)}
    return [
        [known[place]._replace(score=score) for place, score in found] for found in hits
    ], provenance


class Templates(NamedTuple):
    """Prompts that make, verify and label questions, by purpose."""

    name: str
    texts: Mapping[str, str]

    def fill(self, purpose: str, **fields: str) -> str:
        """Return a template with its fields filled in."""
        return _filled(self.texts[purpose], **fields)

    @property
    def sha256(self) -> str:
        """The hash of all templates."""
        return hashlib.sha256(repr(sorted(self.texts.items())).encode()).hexdigest()


def load_templates(folder: Path | None = None) -> Templates:
    """Return our prompts; those for making questions are the authors' if their folder is given."""
    known = yaml.safe_load(
        Path(__file__).with_name("construct_prompts.yaml").read_text(encoding="utf-8")
    )
    texts = {purpose: one["text"] for purpose, one in known.items()}
    if folder is None:
        return Templates("house", texts)
    files = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in folder.rglob("*")
        if path.is_file()
    ]
    files = [
        re.sub(r"\{ ?([a-z][a-z_ -]*?) ?\}", _our_field, text.replace("\\n", "\n"))
        for text in files
    ]
    for purpose, words in [
        (purpose, one["upstream"]) for purpose, one in known.items() if "upstream" in one
    ]:
        fields = set(_FIELD.findall(texts[purpose]))
        found = [
            text
            for text in files
            if words in " ".join(text.split()) and fields <= set(_FIELD.findall(text))
        ]
        if len(found) != 1:
            expected = (
                f"one file with the words {words!r} and the fields {', '.join(sorted(fields))}"
            )
            raise ConfigError(f"{folder}: expected {expected}, got {len(found)}.")
        texts[purpose] = found[0]
    return Templates("upstream", texts)


def _filled(template: str, **fields: str) -> str:
    # No str.format: LaTeX has braces, and a question that contains "{choices}" must stay as it is.
    return _FIELD.sub(lambda match: fields.get(match[1], match[0]), template)


def _our_field(match: re.Match[str]) -> str:
    ours = {"after_class_question": "source_question", "after_class_solution": "source_answer"}
    field = re.sub(r"\W", "_", match[1])
    return f"{{{ours.get(field, field)}}}"

"""Statements that a prompt makes about a share, and mitigations against their effect: entries of YAML files."""

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel, Field, RootModel, TypeAdapter

from fin_tasks.data.documents import hash_of
from fin_tasks.errors import ConfigError
from fin_tasks.yaml_file import read_yaml

from .score import CHARTS, RECALL

DIRECTED_SLOTS = ("movement", "direction", "day", "n_toward", "target")
"""Slots of statements whose text depends on the movement that the statement predicts."""
_STATEMENT_SLOTS = (
    *DIRECTED_SLOTS,
    "ticker",
    "n_similar",
    "close",
    "last_day",
    "name",
    "role",
    "standing",
)
_FIGURE_SLOTS = ("name", "role", "standing")
"""Slots that only windows of authority fill."""
_MITIGATION_SLOTS = ("ticker", "n_rises", "n_known")

_Text = Annotated[str, Field(max_length=2000)]
_Title = Annotated[str, Field(min_length=1, max_length=60)]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Statement(BaseModel, extra="forbid", frozen=True, use_attribute_docstrings=True):
    """A sentence that a prompt makes about a share."""

    title: _Title
    """For people."""
    tests: _Text = ""
    """What it tests."""
    sentence: Annotated[_Text, Field(min_length=1)]
    """With slots such as `{ticker}`."""
    aligned: _Text = ""
    """The same content without the bias, for the arm `aligned`; empty if there is none."""
    direction: Literal["against_past", "up", "down", "none"] = "against_past"
    """The movement that it predicts: the opposite of what the past suggests, a given one, or none."""
    windows: Literal["recency", "authority"] = "recency"
    """The windows about which it is made."""
    target_distance: float = Field(0.4, gt=0, lt=1)
    """How far `{target}` lies above or below the last close, as a share of it."""


class Mitigation(BaseModel, extra="forbid", frozen=True, use_attribute_docstrings=True):
    """What may take off some of a statement's effect."""

    title: _Title
    """For people."""
    sentence: _Text = ""
    """Stands at the end of the guidelines; empty for none."""
    history: float = Field(1, ge=1, le=5)
    """How many times as many reports are shown, as far as the data go."""


class _StatementFile(RootModel[dict[_Name, Statement]]):
    root: dict[_Name, Statement] = Field(min_length=1, max_length=100)


class _MitigationFile(RootModel[dict[_Name, Mitigation]]):
    root: dict[_Name, Mitigation] = Field(min_length=1, max_length=100)


_Entry = TypeVar("_Entry")

STATEMENTS_FILE = Path(__file__).with_name("statements.yaml")
MITIGATIONS_FILE = Path(__file__).with_name("mitigations.yaml")
STATEMENTS = TypeAdapter(dict[str, Statement]).validate_python(
    yaml.safe_load(STATEMENTS_FILE.read_bytes())
)
"""Our statements by name."""
MITIGATIONS = TypeAdapter(dict[str, Mitigation]).validate_python(
    yaml.safe_load(MITIGATIONS_FILE.read_bytes())
)
"""Our mitigations by name."""


STATEMENT = "statement"
"""The `bias` of the tasks whose statement the metadata choose."""
ADDED = ("statement", "statements", "mitigation", "mitigations")
"""The metadata that add to a prompt."""
_USUAL = "herding_analysts"
"""The statement of these tasks if the metadata name none."""


class Added(NamedTuple):
    """What the metadata of a task add to its prompts."""

    statement: Statement | None = None
    mitigation: Mitigation | None = None
    facts: Mapping[str, Any] = {}
    """What the provenance says of both."""


def added_by(
    bias: str,
    *,
    statement: str = "",
    statements: Path | None = None,
    mitigation: str = "",
    mitigations: Path | None = None,
) -> Added:
    """Return the statement and the mitigation that the metadata of a task name; each file holds entries by name.

    Tasks that ask for no forecast make no statement, whatever the metadata of all tasks name.
    """
    if bias in (RECALL, CHARTS):
        return Added()
    said = None
    helping = None
    facts: dict[str, Any] = {}
    if bias == STATEMENT:
        if not statements:
            statement = statement or _USUAL
        statement, said = chosen_statement(statement, statements)
        facts["windows"] = said.windows
        facts["statement"] = {
            "name": statement,
            "direction": said.direction,
            "sha256": hash_of(said.model_dump_json()),
        }
    elif statement or statements:
        raise ConfigError(
            f"metadata statement: expected none in a task of {bias}. dynostock_statement and "
            "dynostock_statement_text take one."
        )
    if mitigation or mitigations:
        mitigation, helping = chosen_mitigation(mitigation, mitigations)
        digest = hash_of(helping.model_dump_json())
        facts["mitigation"] = {"name": mitigation, "sha256": digest}
    return Added(said, helping, facts)


def chosen_statement(name: str, file: Path | None = None) -> tuple[str, Statement]:
    """Return the statement with this name, and its name; without a name that of a file which holds only one."""
    entries: Mapping[str, Statement] = STATEMENTS
    if file:
        entries = read_statements(file)
    return _chosen("statement", name, entries)


def chosen_mitigation(name: str, file: Path | None = None) -> tuple[str, Mitigation]:
    """Return the mitigation with this name, and its name; without a name that of a file which holds only one."""
    entries: Mapping[str, Mitigation] = MITIGATIONS
    if file:
        entries = read_mitigations(file)
    return _chosen("mitigation", name, entries)


def _chosen(kind: str, name: str, entries: Mapping[str, _Entry]) -> tuple[str, _Entry]:
    if not name and len(entries) == 1:
        (name,) = entries
    if name not in entries:
        raise ConfigError(
            f"dynostock {kind}: expected one of {', '.join(entries)}, got {name!r:.80}."
        )
    return name, entries[name]


def read_statements(file: Path) -> Mapping[str, Statement]:
    """Read statements; raise ConfigError if the file holds no statements, or a sentence cannot be filled."""
    entries = read_yaml(
        file, _StatementFile, expected="statements by name with title and sentence"
    ).root
    for name, entry in entries.items():
        slots = list(_STATEMENT_SLOTS)
        if entry.windows != "authority":
            slots = [slot for slot in slots if slot not in _FIGURE_SLOTS]
        found = set()
        for text in (entry.sentence, entry.aligned):
            found |= _slots_of(f"{file}, {name}", text, slots)
        is_directed = bool(found.intersection(DIRECTED_SLOTS))
        if entry.direction == "none" and (is_directed or entry.aligned):
            raise ConfigError(
                f"{file}, {name}: expected no {', '.join(DIRECTED_SLOTS)} and no aligned in a statement "
                "without a direction, got one."
            )
        if entry.direction == "against_past" and not is_directed:
            raise ConfigError(
                f"{file}, {name}: expected one of the slots {', '.join(DIRECTED_SLOTS)}, or direction up, "
                "down or none; got a sentence that is the same for a rise and a fall."
            )
    return entries


def read_mitigations(file: Path) -> Mapping[str, Mitigation]:
    """Read mitigations; raise ConfigError if the file is none of them, or an entry does nothing."""
    entries = read_yaml(
        file, _MitigationFile, expected="mitigations by name with title and sentence"
    ).root
    for name, entry in entries.items():
        _slots_of(f"{file}, {name}", entry.sentence, _MITIGATION_SLOTS)
        if not entry.sentence and entry.history == 1:
            raise ConfigError(
                f"{file}, {name}: expected a sentence or a history above 1, got neither."
            )
    return entries


def _slots_of(where: str, text: str, known: Sequence[str]) -> set[str]:
    """Return the slots of a sentence; raise ConfigError if one is not known."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise ConfigError(
            f"{where}: expected slots such as {{ticker}}, got {error}: {text!r:.80}. "
            "A brace of the text itself is doubled."
        ) from error
    found = set()
    for _, slot, form, conversion in parts:
        if slot is None:
            continue
        if slot not in known or form or conversion:
            raise ConfigError(
                f"{where}: expected slots among {', '.join(known)}, got {{{slot:.40}}}."
            )
        found.add(slot)
    return found

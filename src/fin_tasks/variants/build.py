"""Make variants of questions, run their programs, and keep those that are sound."""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from fin_tasks.sandbox import Outcome
from fin_tasks.variants.draw import Change, draw_changes
from fin_tasks.variants.literals import ProgramNumber, literals_in, parse, values_in, with_literals
from fin_tasks.variants.mentions import Mention, mentions_in, replaced
from fin_tasks.variants.relations import related

RULES_VERSION = 1
"""A change that moves any variant raises it."""

_TOLERANCE = 0.002
_LEAST_CHANGE = 0.01
_LARGEST_RATIO = 5
_DRAWS_PER_VARIANT = 2
_MOST_DECIMALS = 8

RunPrograms = Callable[[Sequence[str | None]], Sequence[Outcome]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A published question with the program that computes its truth."""

    id: str
    question: str
    texts: tuple[str, ...]
    """Its tables or its context."""
    texts_column: Literal["context", "tables"]
    """The column of the benchmark's rows that holds the texts: one text, or a list."""
    program: str
    """It defines `solution()`."""
    truth: bool | float
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What else the benchmark's rows hold, such as the level."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A question with other numbers, and the truth that its program gives."""

    id: str
    source: str
    """Id of the published question."""
    question: str
    texts: list[str]
    texts_column: str
    program: str
    truth: float
    published_truth: float
    changes: list[dict[str, str]]
    fields: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the file."""
        row: dict[str, Any] = asdict(self)
        texts = row.pop("texts")
        column = row.pop("texts_column")
        row[column] = texts[0] if column == "context" else texts
        fields: Mapping[str, Any] = row.pop("fields")
        return {**row, **fields}


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What a source offers to change."""

    source: Source
    tree: Any
    mentions: list[Mention]
    literals: list[ProgramNumber]


@dataclass(frozen=True, kw_only=True)
class _Draft:
    parts: _Parts
    changes: list[Change]
    program: str


def build_variants(
    sources: Sequence[Source], run_programs: RunPrograms, *, per_question: int, seed: int
) -> tuple[list[Variant], Counter[str]]:
    """Return variants, and how many questions have none, by reason."""
    dropped: Counter[str] = Counter()
    sound = _sound_sources(sources, run_programs, dropped)
    drafts: list[_Draft] = []
    for parts, _ in sound:
        # A draw of its own for each question, so that others do not change it.
        draw = random.Random(f"{seed} {parts.source.id}")  # noqa: S311 - no secret is drawn
        drafts += _drafts(parts, per_question * _DRAWS_PER_VARIANT, draw)
    outcomes = run_programs([draft.program for draft in drafts])
    results: dict[str, list[tuple[_Draft, Outcome]]] = {}
    for draft, outcome in zip(drafts, outcomes, strict=True):
        results.setdefault(draft.parts.source.id, []).append((draft, outcome))
    variants: list[Variant] = []
    for parts, decimals in sound:
        own = _variants_of(parts, results.get(parts.source.id, []), decimals, per_question)
        variants += own
        if not own:
            dropped["no plausible variant"] += 1
    return variants, dropped


def _sound_sources(
    sources: Sequence[Source], run_programs: RunPrograms, dropped: Counter[str]
) -> list[tuple[_Parts, int | None]]:
    """Return questions whose program gives the truth, each with the decimals that the truth is rounded to."""
    outcomes = run_programs([source.program for source in sources])
    sound = []
    for source, outcome in zip(sources, outcomes, strict=True):
        reason = _flaw_of(source, outcome)
        if reason:
            dropped[reason] += 1
            continue
        parts = _parts_of(source)
        if parts is None or not parts.literals:
            dropped["no number that program and question share once"] += 1
            continue
        sound.append((parts, _decimals_of(source, outcome)))
    return sound


def _flaw_of(source: Source, outcome: Outcome) -> str:
    if isinstance(source.truth, bool):
        return "the truth is a verdict"
    if not outcome.ran:
        return "the program does not run"
    if outcome.number is None or not math.isfinite(outcome.number):
        return "the program gives no number"
    if not _is_near(outcome.number, source.truth, _TOLERANCE):
        return "the program gives another number than the truth"
    if source.truth == 0:
        return "the truth is zero"
    return ""


def _parts_of(source: Source) -> _Parts | None:
    tree = parse(source.program)
    if tree is None:
        return None
    mentions = mentions_in([source.question, *source.texts])
    tied = related(mentions)
    literals = [literal for literal in literals_in(tree, mentions) if literal.mention not in tied]
    return _Parts(source=source, tree=tree, mentions=mentions, literals=literals)


def _decimals_of(source: Source, outcome: Outcome) -> int | None:
    """Return how many decimals the truth is rounded to; None if it is what the program gives."""
    number = outcome.number or 0.0
    if _is_near(number, source.truth, 1e-12):
        return None
    for decimals in range(_MOST_DECIMALS):
        if math.isclose(round(number, decimals), source.truth, rel_tol=1e-12):
            return decimals
    return None


def _drafts(parts: _Parts, count: int, draw: random.Random) -> list[_Draft]:
    drafts: list[_Draft] = []
    programs = set()
    for _ in range(count):
        changes = draw_changes(parts.literals, values_in(parts.tree), parts.mentions, draw)
        if not changes:
            continue
        values = {literal.value: new * literal.factor for literal, new in changes}
        program = with_literals(parts.tree, values)
        if program not in programs:
            programs.add(program)
            drafts.append(_Draft(parts=parts, changes=changes, program=program))
    return drafts


def _variants_of(
    parts: _Parts,
    results: Sequence[tuple[_Draft, Outcome]],
    decimals: int | None,
    per_question: int,
) -> list[Variant]:
    source = parts.source
    variants: list[Variant] = []
    truths = {float(source.truth)}
    for draft, outcome in results:
        truth = outcome.number
        if truth is None or not outcome.ran or not _is_plausible(truth, float(source.truth)):
            continue
        truth = round(truth, _MOST_DECIMALS if decimals is None else decimals)
        if truth in truths or not _is_plausible(truth, float(source.truth)):
            continue
        truths.add(truth)
        number = len(variants) + 1
        variants.append(_variant(draft, f"{source.id}~{number}", truth))
        if number == per_question:
            break
    return variants


def _variant(draft: _Draft, name: str, truth: float) -> Variant:
    source = draft.parts.source
    written = []
    for literal, new in draft.changes:
        written.append((literal.mention, literal.mention.with_value(new)))
    question, *texts = replaced([source.question, *source.texts], written)
    return Variant(
        id=name,
        source=source.id,
        question=question,
        texts=texts,
        texts_column=source.texts_column,
        program=draft.program,
        truth=truth,
        published_truth=float(source.truth),
        changes=[{"from": mention.written, "to": new} for mention, new in written],
        fields=source.fields,
    )


def _is_plausible(truth: float, published: float) -> bool:
    """Return whether a truth has the size and the sign of the published one, and is another one."""
    if not math.isfinite(truth) or truth == 0 or (truth > 0) != (published > 0):
        return False
    ratio = abs(truth / published)
    is_alike = 1 / _LARGEST_RATIO <= ratio <= _LARGEST_RATIO
    return is_alike and not _is_near(truth, published, _LEAST_CHANGE)


def _is_near(number: float, truth: float, tolerance: float) -> bool:
    return abs(number - truth) <= tolerance * abs(truth)

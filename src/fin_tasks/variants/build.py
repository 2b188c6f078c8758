"""Make variants of questions, run their programs, and keep those that are sound."""

import ast
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Literal, NamedTuple

from fin_tasks.sandbox import Outcome, Status

from .draw import Change, draw_changes
from .literals import ProgramNumber, literals_in, parse, values_in, with_literals
from .mentions import Mention, mentions_in, replace_mentions
from .relations import related

RULES_VERSION = 5
"""Raise it with each change that alters variants."""

# Tolerances are shares of a value.
_TRUTH_TOLERANCE = 0.002  # between a published truth and the result of its program
_TRUTH_DECIMALS = 3  # to which FinanceMath rounds its truths
_FLOAT_TOLERANCE = 1e-12
_PROGRAM_TOLERANCE = 1e-6  # between the results of two programs
_MIN_TRUTH_CHANGE = 0.01
_MAX_TRUTH_RATIO = 5
_DRAFTS_PER_VARIANT = 2
_MAX_DECIMALS = 8

_WHOLE = re.compile(r"nearest (?:integer|whole|dollar)|how many", re.IGNORECASE)
"""The question asks for a whole number."""

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
    others: Sequence[str] | None = None
    """Programs of other models, one of which must agree on each variant; None if an expert wrote `program`."""
    truth: bool | float
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other columns of the benchmark's rows, such as the level."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A question with other numbers, and the truth that its program gives."""

    id: str
    source: str
    """Id of the published question."""
    question: str
    program: str
    truth: float
    published_truth: float
    changes: list[dict[str, str]]
    fields: Mapping[str, Any]
    """The texts in their column, and what else the benchmark's rows hold."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the file."""
        row = {**vars(self), **self.fields}
        del row["fields"]
        return row


class _Program(NamedTuple):
    tree: ast.Module
    literals: list[ProgramNumber]
    """Those that may change."""

    def shared_with(self, other: "_Program") -> list[ProgramNumber]:
        """Return the literals that stand for a number of the question which the other program uses too."""
        mentions = [literal.mention for literal in other.literals]
        return [literal for literal in self.literals if literal.mention in mentions]

    def changed(self, values: Mapping[Mention, Decimal]) -> str:
        """Return the program for new numbers in the question."""
        new_values = {}
        for literal in self.literals:
            if literal.mention in values:
                new_values[literal.value] = values[literal.mention] * literal.factor
        return with_literals(self.tree, new_values)


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A source with the numbers that may change."""

    source: Source
    programs: list[_Program]
    """The source's program; if two must agree, also the program of another model."""
    mentions: list[Mention]
    literals: list[ProgramNumber]
    """Those of the first program that all programs share."""
    decimals: int
    """Decimals to which truths are rounded."""


class _Draft(NamedTuple):
    """Changes of a question, before its programs are run."""

    question: _Question
    changes: list[Change]
    programs: list[str]


def build_variants(
    sources: Sequence[Source],
    run_programs: RunPrograms,
    *,
    per_question: int,
    seed: int,
) -> tuple[list[Variant], Counter[str]]:
    """Return variants, and how many questions have none, by reason."""
    dropped: Counter[str] = Counter()
    drafts = []
    # Each question's variants by their truth, so that two of them differ in it.
    variants_by_source: dict[str, dict[float, Variant]] = {}
    outcomes = run_programs([source.program for source in sources])
    for source, outcome in zip(sources, outcomes, strict=True):
        reason = _flaw_of(source, outcome)
        question = None if reason else _question_of(source, outcome.number or 0.0)
        if question is None:
            dropped[reason or "no number that program and question share once"] += 1
        else:
            variants_by_source[source.id] = {}
            # Each question has its own generator, so that it is drawn in the same way beside other questions.
            generator = random.Random(f"{seed} {source.id}")  # noqa: S311 - no secret is drawn
            drafts += _drafts(question, per_question * _DRAFTS_PER_VARIANT, generator)
    programs = []
    for draft in drafts:
        programs += draft.programs
    results = iter(run_programs(programs))
    for draft in drafts:
        variants = variants_by_source[draft.question.source.id]
        own_results = list(islice(results, len(draft.programs)))
        variant = _variant_of(draft, own_results, len(variants) + 1)
        if variant and len(variants) < per_question:
            variants.setdefault(variant.truth, variant)
    kept: list[Variant] = []
    for variants in variants_by_source.values():
        kept += variants.values()
        if not variants:
            dropped["no plausible variant"] += 1
    return kept, dropped


def _flaw_of(source: Source, outcome: Outcome) -> str:
    """Return why a question cannot have variants, by what its program gave; empty if it can."""
    if isinstance(source.truth, bool):
        return "the truth is a verdict"
    if source.others is not None and not source.others:
        return "no two models' programs give the truth"
    if outcome.status is not Status.ok:
        return "the program does not run"
    if outcome.number is None or not math.isfinite(outcome.number):
        return "the program gives no number"
    is_near = math.isclose(outcome.number, source.truth, rel_tol=_TRUTH_TOLERANCE)
    if not is_near and round(outcome.number, _TRUTH_DECIMALS) != source.truth:
        return "the program gives another number than the truth"
    if source.truth == 0:
        return "the truth is zero"
    return ""


def _question_of(source: Source, result: float) -> _Question | None:
    """Return a question with the numbers that may change; None if there are none.

    Args:
        source: The question.
        result: What its program gives; the truth may be this number rounded.
    """
    mentions = mentions_in([source.question, *source.texts])
    tied_mentions = related(mentions)
    programs = []
    for text in (source.program, *(source.others or ())):
        tree = parse(text)
        literals = literals_in(tree, mentions)
        free = [literal for literal in literals if literal.mention not in tied_mentions]
        programs.append(_Program(tree, free))
    main, *others = programs
    shared_literals = list(map(main.shared_with, others)) or [main.literals]
    literals = max(shared_literals, key=len)
    if not literals:
        return None
    if others:
        programs = [main, others[shared_literals.index(literals)]]
    return _Question(
        source=source,
        programs=programs,
        mentions=mentions,
        literals=literals,
        decimals=_decimals_of(source, result),
    )


def _decimals_of(source: Source, result: float) -> int:
    """Return to how few decimals a result can be rounded to give the truth; the most if no rounding gives it."""
    is_for_whole_number = _WHOLE.search(source.question)
    if is_for_whole_number and float(source.truth).is_integer():
        return 0
    if not math.isclose(result, source.truth, rel_tol=_FLOAT_TOLERANCE):
        for decimals in range(_MAX_DECIMALS):
            rounded = round(result, decimals)
            if math.isclose(rounded, source.truth, rel_tol=_FLOAT_TOLERANCE):
                return decimals
    return _MAX_DECIMALS


def _drafts(question: _Question, count: int, generator: random.Random) -> list[_Draft]:
    drafts: dict[str, _Draft] = {}
    values = values_in(question.programs[0].tree)
    for _ in range(count):
        changes = draw_changes(question.literals, values, question.mentions, generator)
        new_values = {literal.mention: new for literal, new in changes}
        programs = [program.changed(new_values) for program in question.programs]
        if changes:
            drafts.setdefault(programs[0], _Draft(question, changes, programs))
    return list(drafts.values())


def _variant_of(
    draft: _Draft, outcomes: Sequence[Outcome], number: int
) -> Variant | None:
    """Return a variant; None if programs disagree, or if the truth is too far from the published one, or too near."""
    source = draft.question.source
    published = float(source.truth)
    results = []
    for outcome in outcomes:
        if outcome.status is not Status.ok:
            return None
        results.append(outcome.number or 0.0)
    if not math.isclose(results[0], results[-1], rel_tol=_PROGRAM_TOLERANCE):
        return None
    truth = round(results[0], draft.question.decimals)
    has_same_size = 1 / _MAX_TRUTH_RATIO <= truth / published <= _MAX_TRUTH_RATIO
    if not has_same_size or math.isclose(truth, published, rel_tol=_MIN_TRUTH_CHANGE):
        return None
    changes = []
    for literal, new in draft.changes:
        changes.append((literal.mention, literal.mention.with_value(new)))
    question, *texts = replace_mentions([source.question, *source.texts], changes)
    column = source.texts_column
    return Variant(
        id=f"{source.id}~{number}",
        source=source.id,
        question=question,
        program=draft.programs[0],
        truth=truth,
        published_truth=published,
        changes=[{"from": mention.written, "to": new} for mention, new in changes],
        fields={column: texts[0] if column == "context" else texts, **source.fields},
    )

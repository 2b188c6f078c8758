"""Verdicts, and the checks that need no harness: documents, prompts, rows, scores and settings."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from fin_tasks.benchmarks.breakdowns import fields_of
from fin_tasks.data.pins import find_pins
from fin_tasks.report.conditions import differences
from fin_tasks.report.model import TaskResult

_ASKED = (
    "question",
    "answer",
    "ground_truth",
    "exact_truth",
    "truth",
    "outcome",
)  # what recordings say of a document
_PATHS = ("chart", "figure_path", "image_path", "image_paths")  # which differ between machines
_TEMPLATE = 400  # characters that a chat template may add to every prompt
_NO_PROOF = (
    "timeout",
    "memory",
    "broken",
    "unsupported",
)  # ends of programs that depend on the machine
_UNUSUAL = (
    "rows",
    "samples",
    "fewshot",
    "system",
    "repeats",
    "version",
    "scorer",
)  # these settings only warn

Status = Literal["pass", "warn", "not checked", "fail"]
"""The verdict of one check, or of all: the worst one counts."""

_WORST_FIRST: tuple[Status, ...] = ("fail", "not checked", "warn", "pass")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found in one task of a run, with examples."""

    check: str
    run: str
    task: str
    status: Status
    message: str
    details: tuple[str, ...] = ()


@dataclass
class Checks:
    """All findings about a submission. New findings are about `run` and `task`."""

    findings: list[Finding] = field(default_factory=list)
    tasks: int = 0
    rows: int = 0  # scored again, each once per variant
    run: str = ""
    task: str = ""

    def add(self, check: str, status: Status, message: str, details: Iterable[str] = ()) -> None:
        """Add a finding."""
        about = {"check": check, "run": self.run, "task": self.task}
        self.findings.append(
            Finding(**about, status=status, message=message, details=tuple(details))
        )

    def none_of(
        self, check: str, details: Sequence[str], wrong: str, fine: str, status: Status = "fail"
    ) -> None:
        """Add a finding that passes if there are no details."""
        self.add(
            check,
            status if details else "pass",
            f"{len(details):,} {wrong}" if details else fine,
            details,
        )

    @property
    def verdict(self) -> Status:
        """The worst of all findings."""
        found = {one.status for one in self.findings}
        return next((one for one in _WORST_FIRST if one in found), "pass")

    def exit_status(self, *, strict: bool) -> int:
        """Return 0, 1 (failed) or 2 (not checked); with `strict` 1 for warnings, 3 if only a judge was not asked."""
        if self.verdict in ("fail", "not checked"):
            return 1 if self.verdict == "fail" else 2
        warned = {one.check for one in self.findings if one.status == "warn"}
        return 0 if not (strict and warned) else 3 if warned == {"judge"} else 1

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        found = [vars(one) for one in self.findings]
        return {"verdict": self.verdict, "tasks": self.tasks, "rows": self.rows, "checks": found}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a submission's samples: what the submission says of one document under one variant."""

    id: str
    doc: Mapping[str, Any]  # the benchmark's own
    responses: list[str]
    readings: list[dict[str, Any]]  # one for each response
    metrics: dict[str, Any]


Rows = Mapping[str, Sequence[Row]]
"""Rows by variant, in the benchmark's order."""

Scored = tuple[list[Any], Mapping[str, Any]]
"""The readings and metrics that our scorers give a row."""


class Counted(NamedTuple):
    """What counts in the totals for a row."""

    readings: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, Any]


def same(one: Any, other: Any) -> bool:
    """Compare JSON values; numbers within 1e-6, None like NaN."""
    one, other = (None if isinstance(x, float) and x != x else x for x in (one, other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other)):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def changed_fields(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], *, recorded: bool
) -> list[str]:
    """Name the fields in which a document is not ours; numbers may be text, and what it does not say is ours."""
    said = {name for name in ours.keys() - set(_PATHS) if theirs.get(name) not in (None, "")}
    return [
        name
        for name in sorted(said.intersection(_ASKED) if recorded else said)
        if not same(theirs[name], ours[name])
        and str(theirs[name]).split() != str(ours[name]).split()
    ]


def check_prompts(
    checks: Checks, sent: Sequence[tuple[str, str, Mapping[str, Any]]], *, shots: bool
) -> None:
    """Check that prompts (id, text, our document) hold our question, and that all say the same beside our texts."""
    lacking = [
        f"{name!r:.60}: {text!r:.200}"
        for name, text, doc in sent
        if _words(doc["prompt"]) not in _words(text)
    ]
    checks.none_of(
        "prompts", lacking, "prompts lack our question", f"{len(sent):,} prompts hold our question"
    )
    beside = {}
    for name, text, doc in sent:
        if doc.get("turn", 1) == 1:  # later turns repeat the model's own answers
            beside[name] = _words(text)
            for part in ("prompt", "system", "cue"):
                beside[name] = _words(beside[name].replace(_words(doc.get(part)), " ", 1))
    common = Counter(beside.values()).most_common(1)[0][0] if beside else ""
    more = [f"{name!r:.60}: {said!r:.200}" for name, said in beside.items() if said != common]
    status: Status = "warn" if shots else "fail"  # examples differ from question to question
    checks.none_of(
        "prompts",
        more,
        "prompts say more than the others",
        "all say the same beside our texts",
        status,
    )
    if len(common) > _TEMPLATE:
        checks.add("prompts", "warn", f"beside our texts all prompts say {common!r:.300}")


def _words(text: Any) -> str:
    return " ".join(str(text or "").replace("<image>", " ").split())


def check_rows(
    checks: Checks, result: TaskResult, rows: Rows, docs: Mapping[str, Any], *, recorded: bool
) -> None:
    """Check that each of our documents is there once, and that a shorter run is one over the first of them."""
    variants = Counter(row.id for of in rows.values() for row in of)
    short = [f"{name!r:.60}" for name, count in variants.items() if count < len(rows)]
    checks.none_of("rows", short, "rows lack a variant", "every row has both variants")
    found, n = len(variants), len(docs)
    if not recorded and (result.n, result.n_all) != (found, n):
        told = f"the results file says {result.n} of {result.n_all} rows, found {found:,} of {n:,}"
        checks.add("rows", "fail", told)
    elif missing := [f"{name!r:.60}" for name in docs if name not in variants]:
        may_choose = recorded or "samples" in result.settings
        is_chosen = not may_choose and set(list(docs)[:found]) != variants.keys()
        told = f"{found:,} of {n:,} rows{', not the first ones' if is_chosen else ''}; missing are"
        checks.add("rows", "fail" if is_chosen else "warn", told, missing)


def check_scores(
    checks: Checks, variant: str, rows: Sequence[Row], made: Sequence[Scored]
) -> list[Counted]:
    """Compare metrics and answers with those that our scorers made; return what totals follow from.

    A program may run out of time on one machine and not on another: then the claim is believed, with a warning.
    """
    wrong: list[str] = []
    unproven: list[str] = []
    counted: list[Counted] = []
    for row, (readings, ours) in zip(rows, made, strict=True):
        now = [fields_of(reading) for reading in readings]
        pairs = {name: (value, ours.get(name)) for name, value in row.metrics.items()}
        pairs["answer"] = (
            [one.get("answer") for one in row.readings],
            [one.get("answer") for one in now],
        )
        off = [
            f"{name} {one!r:.60}, ours {two!r:.60}"
            for name, (one, two) in pairs.items()
            if not same(one, two)
        ]
        excused = bool(off) and any(one.get("status") in _NO_PROOF for one in [*row.readings, *now])
        if off:
            (unproven if excused else wrong).append(
                f"{row.id!r:.60}, {variant}: {'; '.join(off[:4])}"
            )
        if excused:
            counted.append(Counted(row.readings, {**ours, **row.metrics}))
        else:
            counted.append(Counted(now, ours))
    checks.rows += len(rows)
    checks.none_of(
        "scores", wrong, "scores are not ours", f"{len(rows):,} {variant} scores are ours"
    )
    if unproven:
        status: Status = "fail" if len(unproven) > max(3, 0.1 * len(rows)) else "warn"
        checks.add(
            "programs",
            status,
            "programs ended in another way here, such as out of time or memory",
            unproven,
        )
    return counted


def check_data(checks: Checks, benchmark: str, provenance: Mapping[str, Any]) -> None:
    """Say with which data the submission was compared; warn unless they are the benchmark's own pinned files."""
    data = provenance.get("data", {})
    hashes = set(data["files"].values()) if isinstance(data.get("files"), Mapping) else set()
    pins = find_pins(benchmark)
    pinned = {pin.sha256 for pin in pins.files} if pins else set()
    facts = {
        "source": data.get("origin"),
        "split": provenance.get("split"),
        "revision": data.get("revision"),
    }
    told = f"compared with {', '.join(f'{name} {value}' for name, value in facts.items())}"
    if data.get("origin") == "upstream" or (hashes and hashes <= pinned):
        checks.add("data", "pass", f"{told}: the benchmark's own pinned files")
    elif data.get("origin") == "package" and pins is None:
        checks.add("data", "pass", f"{told}: the files of the benchmark's package")
    else:
        checks.add(
            "data",
            "warn",
            f"{told}: NOT VERIFIED, as these are not the benchmark's own pinned files",
        )


def check_settings(checks: Checks, theirs: TaskResult, ours: TaskResult, *, recorded: bool) -> None:
    """Compare data, prompts, style and versions with ours; recordings need not name them."""
    unusual: list[str] = []
    other: list[str] = []
    for told in differences(theirs, ours):
        name = told.partition(":")[0]
        named = not recorded or (name in theirs.settings and name in ours.settings)
        named = named and theirs.settings.get(name) != "unknown"  # of a recording
        if named and name != "data.origin" and not name.startswith("judge."):
            (unusual if name in _UNUSUAL else other).append(
                told.replace(", reference: ", ", ours ")
            )
    checks.none_of(
        "settings", unusual, "settings or versions are unusual", "the usual settings", "warn"
    )
    checks.none_of(
        "provenance", other, "facts about data or prompts are not ours", "our data and prompts"
    )

"""Verdicts, and the checks that need no harness: documents, prompts, rows, scores and settings."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fin_tasks.data.files import load_pins
from fin_tasks.report.comparable import differences
from fin_tasks.report.model import TaskResult

_ASKED = ("question", "answer", "ground_truth", "exact_truth", "truth", "outcome")  # what recordings say of a document
_PATHS = ("chart", "figure_path", "image_path", "image_paths")  # which differ between machines
_TEMPLATE = 400  # characters that a chat template may add to every prompt
_NO_PROOF = ("timeout", "memory", "broken", "unsupported")  # ends of programs that depend on the machine
_UNUSUAL = ("rows", "samples", "fewshot", "system", "repeats", "version", "scorer")  # these settings only warn


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
        self.findings.append(Finding(**about, status=status, message=message, details=tuple(details)))

    def none_of(self, check: str, details: Sequence[str], wrong: str, fine: str, status: Status = "fail") -> None:
        """Add a finding that passes if there are no details."""
        found: tuple[Status, str] = (status, f"{len(details):,} {wrong}") if details else ("pass", fine)
        self.add(check, *found, details)

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

Made = Mapping[str, Sequence[tuple[list[Any], Mapping[str, Any]]]]
"""Readings and metrics that our scorers made of these rows."""


def same(one: Any, other: Any) -> bool:
    """Compare JSON values; numbers within 1e-6, None like NaN."""
    one, other = (None if isinstance(x, float) and x != x else x for x in (one, other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other)):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def changed_fields(theirs: Mapping[str, Any], ours: Mapping[str, Any], *, recorded: bool) -> list[str]:
    """Name the fields in which a document is not ours; recordings may lack fields and hold numbers as text."""
    if recorded:
        named = [name for name in _ASKED if theirs.get(name) not in (None, "") and name in ours]
        return [n for n in named if not same(theirs[n], ours[n]) and str(theirs[n]).split() != str(ours[n]).split()]
    names = sorted((theirs.keys() | ours.keys()).difference(_PATHS))
    pairs = [(name, theirs.get(name), ours.get(name)) for name in names]
    return [name for name, one, other in pairs if (one or other) and not same(one, other)]


def check_prompts(checks: Checks, sent: Sequence[tuple[str, str, Mapping[str, Any]]], *, shots: bool) -> None:
    """Check that prompts (id, text, our document) hold our question, and that all say the same beside our texts."""
    beside = [(name, _beside(text, doc), doc.get("turn", 1) > 1) for name, text, doc in sent]
    usual = Counter(said for _, said, later in beside if said is not None and not later).most_common(1)
    common = usual[0][0] if usual else ""
    foreign = [
        f"{name!r:.60}: {said!r:.200}"
        for name, said, later in beside
        if said is None or (said != common and not later)  # later turns repeat the model's own answers
    ]
    status: Status = "warn" if shots else "fail"  # examples differ from question to question
    fine = f"all {len(sent):,} prompts in the files are ours"
    checks.none_of("prompts", foreign, "prompts lack our question, or say more than the others", fine, status)
    if len(common) > _TEMPLATE:
        checks.add("prompts", "warn", f"beside our texts all prompts say {common!r:.300}")
    lacking = [name for name, text, doc in sent if _words(doc.get("system")) not in _words(text)]
    if lacking:
        checks.add("prompts", "warn", f"{len(lacking):,} prompts lack our system message", lacking)


def _beside(prompt: str, doc: Mapping[str, Any]) -> str | None:
    """Return what a prompt says beside our system message, question and cue; None if it lacks the question."""
    rest = _words(prompt)
    if _words(doc.get("prompt")) not in rest:
        return None
    for part in ("prompt", "system", "cue"):
        rest = rest.replace(_words(doc.get(part)), " ", 1)
    return _words(rest)


def _words(text: Any) -> str:
    return " ".join(str(text or "").replace("<image>", " ").split())


def check_rows(checks: Checks, result: TaskResult, rows: Rows, docs: Mapping[str, Any], *, recorded: bool) -> None:
    """Check that each of our documents is there once, and that a shorter run is one over the first of them."""
    variants = Counter(row.id for of in rows.values() for row in of)
    found = variants.keys()
    short = [f"{name!r:.60}" for name in found if variants[name] < len(rows)]
    checks.none_of("rows", short, "rows lack a variant", "every row has both variants")
    n = len(docs)
    if not recorded and (result.n, result.n_all) != (len(found), n):
        told = f"{result.n} of {result.n_all} rows"
        checks.add("rows", "fail", f"the results file says {told}, found {len(found):,} of {n:,}")
    elif len(found) < n:
        whole = recorded or "samples" in result.settings  # what they hold is theirs to choose
        chosen = not whole and set(list(docs)[: len(found)]) != found
        which = "not the first ones" if chosen else "not the whole benchmark"
        missing = [f"{name!r:.60}" for name in docs if name not in found]
        told = f"{len(found):,} of {n:,} rows, {which}; missing are"
        checks.add("rows", "fail" if chosen else "warn", told, missing)


def check_scores(checks: Checks, rows: Rows, made: Made) -> dict[str, list[Mapping[str, Any]]]:
    """Compare metrics and answers with those that our scorers made; return by variant what totals follow from.

    A program may run out of time on one machine and not on another: then the claim is believed, with a warning.
    """
    wrong: list[str] = []
    unproven: list[str] = []
    counted: dict[str, list[Mapping[str, Any]]] = {variant: [] for variant in rows}
    for variant, of_variant in rows.items():
        for row, (readings, ours) in zip(of_variant, made[variant], strict=True):
            now = [json.loads(str(one)) for one in readings]
            pairs = {name: (value, ours.get(name)) for name, value in row.metrics.items()}
            pairs["answer"] = ([one.get("answer") for one in row.readings], [one.get("answer") for one in now])
            off = [f"{name} {one!r:.60}, ours {two!r:.60}" for name, (one, two) in pairs.items() if not same(one, two)]
            is_unproven = any(one.get("status") in _NO_PROOF for one in [*row.readings, *now])
            if off:
                (unproven if is_unproven else wrong).append(f"{row.id!r:.60}, {variant}: {'; '.join(off[:4])}")
            counted[variant].append({**ours, **row.metrics} if off and is_unproven else ours)
    scored = sum(map(len, rows.values()))
    checks.rows += scored
    checks.none_of("scores", wrong, "scores are not ours", f"{scored:,} scores are ours")
    if unproven:
        status: Status = "fail" if len(unproven) > max(3, 0.1 * scored) else "warn"
        checks.add("programs", status, "programs ended in another way here, such as out of time or memory", unproven)
    return counted


def check_data(checks: Checks, benchmark: str, provenance: Mapping[str, Any]) -> None:
    """Say with which data the submission was compared; warn unless they are the benchmark's own pinned files."""
    data = provenance.get("data", {})
    origin, files = data.get("origin"), data.get("files")
    hashes = set(files.values()) if isinstance(files, Mapping) else set()
    pinned = origin == "upstream" or (hashes and hashes <= {pin.sha256 for pin in load_pins(benchmark).files})
    facts = [f"source {origin}", f"split {provenance.get('split', 'none')}", f"revision {data.get('revision', 'none')}"]
    told = f"compared with {', '.join(facts)}"
    if pinned:
        checks.add("data", "pass", f"{told}: the benchmark's own pinned files")
    else:
        checks.add("data", "warn", f"{told}: NOT VERIFIED, as these are not the benchmark's own pinned files")


def check_settings(checks: Checks, theirs: TaskResult, ours: TaskResult, *, recorded: bool) -> None:
    """Compare data, prompts, style and versions with ours; recordings need not name them."""
    unusual: list[str] = []
    other: list[str] = []
    for one in differences(theirs, ours):
        name = one.partition(":")[0]
        named = not recorded or (name in theirs.settings and name in ours.settings)
        if named and name != "data.origin" and not name.startswith("judge."):
            (unusual if name in _UNUSUAL else other).append(one.replace(", reference: ", ", ours "))
    fine = "the usual settings, our versions"
    checks.none_of("settings", unusual, "settings or versions are unusual", fine, "warn")
    checks.none_of("provenance", other, "facts about data or prompts are not ours", "our data and prompts")

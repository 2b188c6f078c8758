"""Verdicts, and the checks that need no harness: documents, prompts, rows, scores, settings and odd responses."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fin_tasks.data.fetch import load_pins
from fin_tasks.report.comparable import differences
from fin_tasks.report.model import TaskResult

_SHOWN, _WIDEST = 10, 400  # details of a finding, characters of a detail
_GOLD = ("target", "answer", "python_solution", "program", "ground_truth")  # fields that word the right answer
_ASKED = ("question", "answer", "ground_truth", "exact_truth", "truth", "outcome")  # what recordings say of a document
_PATHS = ("figure_path", "image_path", "image_paths", "chart")  # whose folders differ between machines
_NO_PROOF = ("timeout", "memory", "broken", "unsupported")  # ends of programs that depend on the machine
_MEANT_TO_DIFFER = ("rows", "samples", "fewshot", "system", "repeats", "version", "scorer")


class Status(str, Enum):
    """The verdict of one check, or of all."""

    passed = "pass"
    warned = "warn"
    failed = "fail"
    unchecked = "not checked"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found in one task of a run; `details` holds the first of `count` examples."""

    check: str
    run: str
    task: str
    status: Status
    message: str
    details: tuple[str, ...] = ()
    count: int = 0


@dataclass
class Checks:
    """All findings about a submission; `run` and `task` are what is being checked."""

    findings: list[Finding] = field(default_factory=list)
    tasks: int = 0
    rows: int = 0  # scored again, each once per variant
    run: str = ""
    task: str = ""

    def add(self, check: str, status: Status, message: str, details: Iterable[str] = ()) -> None:
        """Add a finding."""
        found = list(details)
        short = tuple(one if len(one) <= _WIDEST else f"{one[:_WIDEST]}…" for one in found[:_SHOWN])
        about = {"check": check, "run": self.run, "task": self.task}
        self.findings.append(Finding(**about, status=status, message=message, details=short, count=len(found)))

    def none_of(
        self, check: str, details: Iterable[str], wrong: str, fine: str, status: Status = Status.failed
    ) -> None:
        """Add a finding that passes if there are no details."""
        found = list(details)
        self.add(check, *((status, f"{len(found):,} {wrong}") if found else (Status.passed, fine)), found)

    @property
    def verdict(self) -> Status:
        """The worst of all findings: fail, not checked, warn, pass."""
        found = {one.status for one in self.findings}
        order = (Status.failed, Status.unchecked, Status.warned)
        return next((one for one in order if one in found), Status.passed)

    def exit_status(self, *, strict: bool) -> int:
        """Return 0, 1 (failed) or 2 (not checked); with `strict` 1 for warnings, 3 if only a judge was not asked."""
        if self.verdict in (Status.failed, Status.unchecked):
            return 1 if self.verdict is Status.failed else 2
        warned = {one.check for one in self.findings if one.status is Status.warned}
        return 0 if not (strict and warned) else 3 if warned == {"judge"} else 1

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        counts = {status.value: sum(one.status is status for one in self.findings) for status in Status}
        found = [{**vars(one), "status": one.status.value, "details": list(one.details)} for one in self.findings]
        return {
            "verdict": self.verdict.value,
            "counts": counts,
            "tasks": self.tasks,
            "rows": self.rows,
            "checks": found,
        }


@dataclass
class Row:
    """A document of a submission with its responses; `claimed` and `readings` are what it says, by variant."""

    id: str
    doc: Mapping[str, Any]  # the benchmark's own; the submission's if `own` is false
    own: bool
    responses: list[str]
    claimed: dict[str, dict[str, Any]] = field(default_factory=dict)
    readings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def same(one: Any, other: Any) -> bool:
    """Compare JSON values; numbers within 1e-6, None like NaN."""
    one, other = (None if isinstance(x, float) and x != x else x for x in (one, other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other)):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def changed_fields(theirs: Mapping[str, Any], ours: Mapping[str, Any], *, recorded: bool) -> list[str]:
    """Name the fields in which a document is not ours; recordings may lack fields and hold numbers as text."""
    if recorded:
        named = [name for name in _ASKED if theirs.get(name) not in (None, "") and name in ours]
        return [n for n in named if not same(theirs[n], ours[n]) and str(theirs[n]).split() != str(ours[n]).split()]
    found = []
    for name in sorted(theirs.keys() | ours.keys()):
        one, other = theirs.get(name), ours.get(name)
        if name in _PATHS:
            one, other = _files(one), _files(other)
        if name != "chart" and (one or other) and not same(one, other):
            found.append(name)
    return found


def _files(paths: Any) -> list[str]:
    return [re.split(r"[/\\]", str(path))[-1] for path in (paths if isinstance(paths, list) else [paths or ""])]


def prompt_of(sample: Mapping[str, Any]) -> str | None:
    """Return all texts that were sent for a sample, a chat's messages joined; None if the file has no prompts."""
    arguments = sample.get("arguments")
    if arguments is None:
        return None
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    sent = first.get("arg_0") if isinstance(first, dict) else None
    if isinstance(sent, list) and sent:  # a chat's messages, wrapped
        sent = sent[0]
    try:
        sent = json.loads(sent) if isinstance(sent, str) and sent.startswith("[{") else sent
        return "\n".join(_texts(sent))
    except (ValueError, RecursionError):
        return str(sent)


def _texts(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, name)
    elif name not in ("role", "type") and not re.match(r"data:image/[\w.+-]+;(sha256|base64),[\w+/=]*$", str(value)):
        yield str(value)


def _words(text: Any) -> str:
    return " ".join(str(text or "").replace("<image>", " ").split())


def _beside(prompt: str, doc: Mapping[str, Any]) -> str | None:
    """Return what a prompt says beside the document's system message, question and cue; None without the question."""
    question, system, cue = (_words(doc.get(name)) for name in ("prompt", "system", "cue"))
    before, found, after = _words(prompt).rpartition(question)
    if not found:
        return None
    if doc.get("turn", 1) > 1:  # the earlier turns, with the model's own answers
        return ""
    before = before.replace(system, "", 1) if system in before else f"(no system message) {before}"
    return " ".join(f"{before} {after.replace(cue, '', 1)}".split())


def check_prompts(checks: Checks, sent: Sequence[tuple[str, str, Mapping[str, Any]]], *, shots: bool) -> None:
    """Compare prompts (id, text, our document) with ours; what stands beside ours must be the same in all of them."""
    if not sent:
        checks.add("prompts", Status.passed, "the files hold documents, no prompts as they were sent")
        return
    beside = [(name, _beside(text, doc)) for name, text, doc in sent]
    usual = Counter(one for name, one in beside if one is not None).most_common(1)
    common = usual[0][0] if usual else ""
    foreign = [f"{name!r:.60}: our question is not in the prompt" for name, one in beside if one is None]
    turns = {name for name, _, doc in sent if doc.get("turn", 1) > 1}
    foreign += [
        f"{name!r:.60}: beside ours it says {one!r:.200}"
        for name, one in beside
        if one is not None and one != common and name not in turns
    ]
    status = Status.warned if shots else Status.failed
    checks.none_of("prompts", foreign, "prompts are not ours", f"all {len(sent):,} prompts are ours", status)
    if len(re.sub(r"<[^<>]{1,40}>", "", common)) > 100 or common.startswith("(no system message)"):
        checks.add("system", Status.warned, f"beside ours all prompts say {common!r:.300}")


def check_rows(
    checks: Checks, result: TaskResult, rows: Mapping[str, Row], docs: Mapping[str, Any], *, recorded: bool
) -> None:
    """Check that each of our documents is there once, and that a shorter run is one over the first of them."""
    short = [f"{row.id!r:.60}: {sorted(row.claimed)}" for row in rows.values() if len(row.claimed) != 2]
    checks.none_of("variants", short, "rows lack a variant", "every row has both variants")
    if recorded:
        guests = [f"{row.id!r:.60}" for row in rows.values() if docs and not row.own]
        wrong = "rows are not in our data: NOT VERIFIED, they were scored with the gold answers of the file"
        checks.none_of("documents", guests, wrong, "all rows are in our data", Status.warned)
        return
    n = len(docs)
    if (result.n, result.n_all) != (len(rows), n):
        told = f"{result.n} of {result.n_all} rows"
        checks.add("rows", Status.failed, f"the results speak of {told}, found {len(rows):,} of {n:,}")
    elif len(rows) < n:
        first = list(docs)[: len(rows)]
        chosen = set(first) != rows.keys() and "samples" not in result.settings
        status, which = (Status.failed, "chosen ones") if chosen else (Status.warned, "not the whole benchmark")
        missing = [f"{name!r:.60}" for name in docs if name not in rows]
        checks.add("limit", status, f"{len(rows):,} of {n:,} rows, {which}; missing are", missing)


def check_scores(
    checks: Checks,
    rows: Sequence[Row],
    made: Mapping[str, Sequence[tuple[list[Any], Mapping[str, Any]]]],
    doubtful: Collection[int],
) -> dict[str, list[Mapping[str, Any]]]:
    """Compare what the rows claim with what our scorers give; return the values that totals follow from.

    `made` holds the readings and metrics of each row by variant, `doubtful` the positions of rows whose programs give
    something else each time.
    """
    wrong: list[str] = []
    excused: list[str] = []
    counted = {}
    for variant, of_variant in made.items():
        values: list[Mapping[str, Any]] = []
        for at, (row, (readings, ours)) in enumerate(zip(rows, of_variant, strict=True)):
            claimed, told = row.claimed.get(variant), row.readings.get(variant, [])
            if claimed is None:
                values.append(ours)
                continue
            now = [json.loads(str(one)) for one in readings]
            off = [
                f"{n} {claimed[n]!r:.40}, ours {ours.get(n)!r:.40}"
                for n in claimed
                if not same(claimed[n], ours.get(n))
            ]
            answers = [[one.get("answer") for one in of] for of in (told, now)]
            if not off and not same(*answers):
                off = [f"answer {answers[0]!r:.60}, ours {answers[1]!r:.60}"]
            excuse = at in doubtful or any(one.get("status") in _NO_PROOF for one in [*told, *now])
            if off:
                (excused if excuse else wrong).append(f"{row.id!r:.60}, {variant}: {'; '.join(off[:4])}")
            values.append({**ours, **claimed} if off and excuse else ours)
        counted[variant] = values
    scored = sum(map(len, made.values()))
    checks.rows += scored
    checks.none_of("scores", wrong, "scores are not ours", f"{scored:,} scores are ours")
    if excused:
        status = Status.failed if len(excused) > max(3, 0.1 * scored) else Status.warned
        checks.add(
            "programs", status, "programs ended otherwise here, for want of time or memory or by chance", excused
        )
    return counted


def check_data(checks: Checks, benchmark: str, provenance: Mapping[str, Any], *, recorded: bool) -> None:
    """Say which data the submission was held against; warn unless they are the benchmark's own pinned files."""
    data = provenance.get("data", {})
    origin, files = data.get("origin"), data.get("files")
    hashes = set(files.values()) if isinstance(files, Mapping) else set()
    pinned = origin == "upstream" or (hashes and hashes <= {pin.sha256 for pin in load_pins(benchmark).files})
    facts = [f"source {origin}", f"split {provenance.get('split', 'none')}", f"revision {data.get('revision', 'none')}"]
    told = f"held against: {', '.join(facts)}" + (", for saved responses that name no data" if recorded else "")
    if pinned:
        checks.add("data", Status.passed, f"{told}: the benchmark's own pinned files")
    else:
        checks.add("data", Status.warned, f"{told}: NOT VERIFIED, as these are not the benchmark's own pinned files")


def check_settings(checks: Checks, theirs: TaskResult, ours: TaskResult, *, recorded: bool) -> None:
    """Compare data, prompts, style and versions with ours; recordings need not name them."""
    found = differences(theirs, ours)
    names = [one.partition(":")[0] for one in found]
    known = [
        (name, one.replace(", reference: ", ", ours "))
        for name, one in zip(names, found, strict=True)
        if name != "data.origin"
        and not name.startswith("judge.")
        and (not recorded or (name in theirs.settings and name in ours.settings))
    ]
    odd = [one for name, one in known if name in _MEANT_TO_DIFFER]
    checks.none_of("settings", odd, "settings or versions are unusual", "usual settings, our versions", Status.warned)
    other = [one for name, one in known if name not in _MEANT_TO_DIFFER]
    checks.none_of("provenance", other, "facts about data or prompts are not ours", "data and prompts are as named")


def check_responses(checks: Checks, rows: Sequence[Row]) -> None:
    """Warn of responses that are identical, or that are the gold answer word for word."""
    texts = [text.strip() for row in rows for text in row.responses if text.strip()]
    often = [
        f"{count} of {len(texts)} responses are {text!r:.120}"
        for text, count in Counter(texts).most_common(_SHOWN)
        if (len(text) >= 40 and count > max(3, 0.02 * len(texts))) or (len(texts) >= 20 and count >= 0.9 * len(texts))
    ]
    checks.none_of("identical", often, "responses stand in many rows", "no response stands in many rows", Status.warned)
    echoed = []
    for row in rows:
        golds = {_plain(row.doc[name]): name for name in _GOLD if isinstance(row.doc.get(name), str)}
        said = [_plain(text) for text in row.responses if row.doc.get("mode") != "da"]  # asked for the answer alone
        echoed += [f"{row.id!r:.60}: the document's {golds[one]}" for one in said if len(one) >= 20 and one in golds]
    echoed = echoed if len(echoed) >= max(3, 0.05 * len(rows)) else []
    wrong = "responses are the gold answer word for word"
    checks.none_of("echoed", echoed, wrong, "responses do not repeat gold answers", Status.warned)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"```\w*", " ", text).split())

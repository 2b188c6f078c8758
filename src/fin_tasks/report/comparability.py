"""Which values may stand beside each other, and in what those that may not differ."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fin_tasks.report.entry import Entry, RunFacts
from fin_tasks.report.settings import Setting, below, of_rows_asked, short, text_of

__all__ = ["facts_of", "group_of", "in_common", "mark", "mark_beside_papers", "mark_reruns"]

_LABELS = {
    "data": "data revision",
    "fewshot": "number of examples",
    "limit": "limit",
    "rows": "number of rows",
    "samples": "choice of rows",
    "scorer": "scorer version",
    "version": "task version",
}
# told by another fact, or a mere trace of how the questions came here
_ELSEWHERE = tuple(f"provenance.{name}" for name in ("data", "prompts", "scorer", "split", "fin_tasks", "blank_image"))
_TRACES = ("provenance.data.origin", "provenance.data.commit")
_UNKNOWN = "not known"
_TOLD = ("judge.model", "judge.rubric", "judge.rubric_sha256")  # each with a place of its own
_ASKED = "data revision and prompts"
_AGAIN = "run more than once with the same settings, and nothing says which is later"
_CHOSEN = frozenset({"fewshot", "limit", "samples", "system message"})
_HARNESSES = ("lm-eval", "VLMEvalKit")
_SLACK = 0.02


def facts_of(setting: Setting, *, version: str = "", rows: int = 0, of: int = 0) -> dict[str, str]:
    """Gather what decides whether a value may stand beside another: all that was asked and how it was scored.

    The model, its arguments and how it generates are not part of it: they are what is compared.

    Args:
        setting: See `settings`.
        version: Of the task.
        rows: Documents that were asked.
        of: Documents there were to ask; 0 where not known.

    Returns:
        Name of the fact to its text, only those there are. A limit that leaves nothing out is none.

    Example:
        >>> facts_of({"limit": "8", "provenance.scorer": "1"}, version="1", rows=6, of=6)
        {'version': '1', 'rows': '6', 'scorer': '1'}
    """
    if "results" in setting:
        return {"results": _UNKNOWN, "rows": str(rows)}
    said: dict[str, str | None] = {
        "version": version,
        "data": _data(setting),
        "prompts": _prompts(setting),
        "limit": _limit(setting, of),
        "samples": setting.get("samples"),
        "rows": str(rows) if rows else None,
        "scorer": setting.get("provenance.scorer"),
        "split": of_rows_asked(setting).get("provenance.split"),
        "judge": setting.get("judge.model"),
        "rubric": " ".join(
            text_of(setting[name]) for name in ("judge.rubric", "judge.rubric_sha256") if name in setting
        ),
        "fewshot": setting.get("num_fewshot") if setting.get("num_fewshot") != "0" else None,
        "system message": setting.get("system_instruction_sha"),
    }
    rest = {
        name.removeprefix("provenance."): value
        for name, value in setting.items()
        if (name.startswith("provenance") and not below(name, _ELSEWHERE))
        or (below(name, ("judge",)) and name not in _TOLD)
    }
    return {name: text_of(value) for name, value in {**said, **rest}.items() if value}


def in_common(facts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Put the facts of a group's tasks together: what they share as it is, a hash of all where they differ.

    Args:
        facts: Of each task, by its name.
    """
    names = sorted({name for of_task in facts.values() for name in of_task})
    together = {"tasks": " ".join(sorted(facts))}
    for name in names:
        values = {task: of_task.get(name, "") for task, of_task in sorted(facts.items())}
        if name == "rows":
            together[name] = str(sum(int(value) for value in values.values() if value.isdecimal()))
        elif len(set(values.values())) == 1:
            together[name] = next(iter(values.values()))
        else:
            together[name] = _hash(values)
    return together


def group_of(benchmark: str, task: str, facts: Mapping[str, str]) -> str:
    """Return what equal entries have in common: a short hash."""
    return _hash([benchmark, task, dict(facts)])[:16]


def mark(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Say of every entry with whom it may be compared, and why not with most.

    Within a table (benchmark, task, split, variant, mode, style, retrieval, arm) the group that most models are in is
    the one to be in; of several the one over more rows, then one asked in the usual way. Published entries belong to
    no run whose facts could be held against them and stay as they are; a harness's run that does not say what was
    asked is marked whatever the others say.

    Args:
        entries: With their facts.

    Returns:
        The same, in order, with `group`, and with `marks` where the group is not the common one of its table.
    """
    grouped = [
        entry
        if entry.source == "published"
        else replace(entry, group=group_of(entry.benchmark, entry.task, entry.facts))
        for entry in entries
    ]
    tables: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in grouped:
        if entry.source != "published":
            tables[_table(entry)].append(entry)
    common = {table: _common(of_table) for table, of_table in tables.items()}
    return tuple(
        entry
        if entry.source == "published"
        else replace(entry, marks=(*entry.marks, *_lacks(entry), *_differences(entry, common[_table(entry)])))
        for entry in grouped
    )


def mark_reruns(entries: Sequence[Entry], runs: Sequence[RunFacts]) -> tuple[Entry, ...]:
    """Mark values that the same model got again later in the same setting: only the newest stands for it.

    One variant never supersedes the other: each replay of a recording tells one of them.
    """
    known = {run.id: run for run in runs}
    settings = {run.id: _setting(run) for run in runs}
    variants: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        variants[entry.run].add(entry.variant)
    newest: dict[tuple[object, ...], str] = {}
    for run in sorted(runs, key=lambda run: (run.date, bool(run.samples))):
        newest |= {(settings[run.id], variant): run.id for variant in variants[run.id]}
    marked = []
    for entry in entries:
        run = known[entry.run]
        last = known[newest[settings[run.id], entry.variant]]
        if entry.source != "published" and last.id != run.id:
            again = f"run again later with the same settings ({last.date})" if last.date > run.date else _AGAIN
            entry = replace(entry, marks=(*entry.marks, again))
        marked.append(entry)
    return tuple(marked)


def mark_beside_papers(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Mark values of runs that a paper's figure in the same column is over other rows, or by another judge, than.

    A run over a sample, or with a limit, answers other questions than a paper did, whatever its groups say. Rows may
    differ by a fiftieth, as files lose a row or two.

    Args:
        entries: Of runs and of papers.
    """
    papers: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.source == "published" and entry.n:
            papers[_column(entry)].append(entry)
    return tuple(
        entry
        if entry.source == "published"
        else replace(entry, marks=(*entry.marks, *_unlike(entry, papers.get(_column(entry), ()))))
        for entry in entries
    )


def _column(entry: Entry) -> tuple[str, ...]:
    return (*_table(entry), entry.metric)


def _unlike(entry: Entry, papers: Sequence[Entry]) -> list[str]:
    if not papers:
        return []
    rows = entry.n + entry.unscored
    theirs = min((paper.n for paper in papers), key=lambda n: abs(n - rows))
    judges = {paper.judge for paper in papers if paper.judge}
    marks = [f"over {rows} rows, the paper's figures over {theirs}"] if abs(rows - theirs) > _SLACK * theirs else []
    if judges and _judge(entry.judge) not in map(_judge, judges):
        marks.append(f"graded by {entry.judge or 'no judge'}, the paper's by {' and '.join(sorted(judges))}")
    return marks


def _judge(name: str) -> str:
    """Name a judge's model so that spellings agree: `GPT-4o` and `openai/gpt-4o, mme_finance_en@1`."""
    return re.sub(r"[\W_]+", "", name.partition(",")[0].rpartition("/")[2]).casefold()


def _setting(run: RunFacts) -> tuple[object, ...]:
    # runs of which nothing is known are each their own
    known = run.id if not run.provenance or "results" in run.provenance else ""
    return (run.source, run.model, run.task, tuple(sorted(of_rows_asked(run.provenance).items())), known)


def _table(entry: Entry) -> tuple[str, ...]:
    variants = (entry.split, entry.variant, entry.mode, entry.style, entry.retrieval, entry.arm)
    return (entry.benchmark, entry.task, *variants)


@dataclass(frozen=True)
class _Common:
    """The group of a table that others are held against."""

    group: str
    facts: Mapping[str, str]
    called: str


def _common(entries: Iterable[Entry]) -> _Common:
    """Find the group that most models are in."""
    models: dict[str, set[str]] = defaultdict(set)
    of_group: dict[str, Entry] = {}
    rows: Counter[str] = Counter()
    for entry in entries:
        models[entry.group].add(entry.model)
        of_group.setdefault(entry.group, entry)
        rows[entry.group] = max(rows[entry.group], entry.n)

    def place(group: str) -> tuple[object, ...]:
        facts = of_group[group].facts
        return (len(models[group]), rows[group], not _unknown(facts), not facts.keys() & _CHOSEN, group)

    group = max(models, key=place)
    alone = "the other" if len(models) == 2 else "the one over most rows"
    return _Common(group, of_group[group].facts, "most others" if len(models[group]) > 1 else alone)


def _unknown(facts: Mapping[str, str]) -> bool:
    """Say whether nothing tells what was asked: every task of ours records its data and its prompts."""
    return "data" not in facts and "prompts" not in facts


def _lacks(entry: Entry) -> list[str]:
    """Say what a run does not tell of itself; what was judged or replayed alone never told it."""
    if entry.source not in _HARNESSES or not _unknown(entry.facts):
        return []
    missing = "results" in entry.facts
    return ["its results file is missing, so what was asked is not known"] if missing else [f"{_ASKED} not known"]


def _differences(entry: Entry, common: _Common) -> list[str]:
    facts, others = entry.facts, common.facts
    if entry.group == common.group or "results" in facts:
        return []
    names = [name for name in sorted(facts.keys() | others.keys()) if facts.get(name, "") != others.get(name, "")]
    if entry.source in _HARNESSES and _unknown(facts) != _unknown(others):
        # one of them tells next to nothing, so only what both tell can be held against it
        told = _told([name for name in names if name == "limit" or (name in facts and name in others)], facts, common)
        return told if _unknown(facts) else [f"{_ASKED} of {common.called} not known", *told]
    return _told(names, facts, common)


def _told(names: Iterable[str], facts: Mapping[str, str], common: _Common) -> list[str]:
    return [
        f"{_label(name)}: {short(facts.get(name, ''))}, {common.called}: {short(common.facts.get(name, ''))}"
        for name in names
    ]


def _label(name: str) -> str:
    return f"judge's {name.removeprefix('judge.')}" if name.startswith("judge.") else _LABELS.get(name, name)


def _data(setting: Setting) -> str | None:
    if "provenance.data.revision" in setting:
        return setting["provenance.data.revision"]
    facts = {
        name: value
        for name, value in setting.items()
        if name.startswith("provenance.data.") and not below(name, _TRACES)
    }
    return _hash(facts) if facts else None


def _prompts(setting: Setting) -> str | None:
    facts = {name: value for name, value in setting.items() if below(name, ("provenance.prompts",))}
    if facts.keys() <= {"provenance.prompts.set", "provenance.prompts.sha256"}:
        return facts.get("provenance.prompts.sha256", facts.get("provenance.prompts.set"))
    return _hash(facts)


def _limit(setting: Setting, of: int) -> str | None:
    limit = setting.get("limit")
    if limit is None:
        return None
    value = json.loads(limit)
    whole = isinstance(value, (int, float)) and of and value >= of and value >= 1
    return None if whole else f"{value:g}" if isinstance(value, (int, float)) else limit


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

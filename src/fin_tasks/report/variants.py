"""In which of the ways that a benchmark knows a task was asked, by what its run recorded and by its name."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fin_tasks.report.runs import CONDITIONS, benchmark_of
from fin_tasks.report.settings import SAMPLE, Setting, is_sample, text_of

__all__ = ["MIXED", "Variants", "common_variants", "split_title", "variants_of"]

MIXED = "mixed"
"""Where the tasks of a group differ."""

_SUFFIXES = {  # of tasks' names, which say the same as a variant
    "xfinbench": (*CONDITIONS, "da", "pot"),
    "dynostock": ("text",),
    "mme_finance": ("na",),
    "financemath": ("pot",),
    "bizbench": ("pot",),
}


@dataclass(frozen=True, kw_only=True)
class Variants:
    """The fields of an entry that say how it was asked; see `Entry`."""

    task: str
    split: str = ""
    mode: str = ""
    style: str = ""
    retrieval: str = ""
    arm: str = ""
    judge: str = ""

    @property
    def fields(self) -> dict[str, Any]:
        """They as arguments of an `Entry`."""
        return asdict(self)


def variants_of(task: str, setting: Setting) -> Variants:
    """Say how a task was asked.

    Args:
        task: lm-eval's name of it.
        setting: What was recorded.

    Example:
        >>> found = variants_of("xfinbench_calc_pot_bm25", {"provenance.style.mode": '"pot"'})
        >>> found.task, found.mode, found.retrieval
        ('xfinbench_calc', 'pot', 'bm25')
        >>> variants_of("xfinbench_bool", {"provenance.split": '"test"', "provenance.data.origin": '"sample"'}).split
        'sample'
    """
    benchmark = benchmark_of(task)
    base, suffixes = _without_suffixes(task, benchmark)
    said = {name.removeprefix("provenance."): text_of(value) for name, value in setting.items()}
    condition = next((suffix for suffix in suffixes if suffix in CONDITIONS), "none")
    by_name = next((suffix for suffix in suffixes if suffix in ("da", "pot", "text")), "")
    rubric = f", {said['judge.rubric']}" if said.get("judge.rubric") else ""
    return Variants(
        task=base,
        split=SAMPLE if is_sample(setting) else said.get("split", ""),
        mode=said.get("style.mode") or said.get("mode") or by_name,
        style=", ".join(_styles(said, suffixes)),
        retrieval=said.get("retrieval.condition", condition) if benchmark == "xfinbench" else "",
        arm=said.get("arm", ""),
        judge=f"{said['judge.model']}{rubric}" if said.get("judge.model") else "",
    )


def common_variants(group: str, members: Sequence[Variants]) -> Variants:
    """Say how a group was asked: as all of its tasks, `mixed` where they differ."""
    base, _ = _without_suffixes(group, benchmark_of(group))
    fields = {}
    for name in ("split", "mode", "style", "retrieval", "arm", "judge"):
        values = {getattr(member, name) for member in members}
        fields[name] = values.pop() if len(values) == 1 else MIXED if values else ""
    return Variants(task=base, **fields)


def split_title(split: str) -> str:
    """Name a split for people.

    Example:
        >>> split_title("test"), split_title(SAMPLE), split_title("")
        ('test split', 'sample', '')
    """
    return split if split in ("", SAMPLE, MIXED) else f"{split} split"


def _styles(said: dict[str, str], suffixes: Sequence[str]) -> list[str]:
    """Name all in which the wording is not the default."""
    styles = []
    if said.get("prompts.set", "house") != "house":
        styles.append(f"{said['prompts.set']} prompts")
    if said.get("style.role") == "false":
        styles.append("no role")
    if said.get("prompts.style", "structured") != "structured":
        styles.append(said["prompts.style"])
    if said.get("text", "table") != "table":
        styles.append(said["text"])
    if said.get("frequency", "daily") != "daily":
        styles.append(said["frequency"])
    if said.get("anonymise") == "true":
        styles.append("anonymised")
    if said.get("na") == "true" or ("na" not in said and "na" in suffixes):
        styles.append("may decline")
    return styles


def _without_suffixes(task: str, benchmark: str) -> tuple[str, list[str]]:
    found: list[str] = []
    while (suffix := task.rpartition("_")[2]) in _SUFFIXES.get(benchmark, ()):
        task = task.removesuffix(f"_{suffix}")
        found.append(suffix)
    return task, found

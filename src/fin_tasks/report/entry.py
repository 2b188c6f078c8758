"""One number of a leaderboard, with all that says what it is and whether it may stand beside another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Entry", "RunFacts", "Source"]

Source = Literal["lm-eval", "VLMEvalKit", "judge", "replay", "published"]


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """A run, or a table of a paper.

    Attributes:
        id: Short hash over its files' contents, or the paper and table.
        source: Who wrote it.
        model: The model's name.
        date: ISO date and time; empty where not known.
        path: The file that names it, relative to the path it was found under.
        provenance: What was asked and how it was scored, as dotted name to JSON text, without secrets.
    """

    id: str
    source: Source
    model: str
    date: str
    path: str
    provenance: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One value.

    Attributes:
        run: `RunFacts.id`.
        source: As in `RunFacts`.
        model: As in `RunFacts`.
        benchmark: `xfinbench`, `mme_finance`, `dynostock`, `financemath` or `bizbench`.
        task: lm-eval's name of the task, whatever the harness; without the variants below.
        split: Which rows; empty where a benchmark has one split.
        variant: `paper` or `robust`.
        mode: `cot`, `pot`, `da`, ...; empty where there is one.
        style: Of the prompt; empty for the default.
        retrieval: `none`, `bm25`, ...; empty where a benchmark has none.
        arm: Of a bias experiment; empty elsewhere.
        judge: Model, rubric and version; empty where no judge is asked.
        metric: As the task reports it.
        value: In `unit`; None where not defined.
        low: Lower bound of its 95 % interval; None where there is none.
        high: Upper bound.
        unit: `fraction`, `points` (0 to 100) or `number`.
        higher_is_better: None where neither is.
        n: Rows it is over.
        unscored: Rows left out because they could not be scored.
        group: Entries with equal groups may be compared: a hash of data, prompts, judge, limit and task version.
        marks: Why it stands apart, in words; empty where it does not.
        facts: What `group` is made of.
    """

    run: str
    source: Source
    model: str
    benchmark: str
    task: str
    split: str = ""
    variant: str
    mode: str = ""
    style: str = ""
    retrieval: str = ""
    arm: str = ""
    judge: str = ""
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    unit: Literal["fraction", "points", "number"] = "fraction"
    higher_is_better: bool | None = True
    n: int = 0
    unscored: int = 0
    group: str = ""
    marks: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

"""One number of a leaderboard, with all that says what it is and whether it may stand beside another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Entry", "RunFacts", "RunRead", "Scores", "Source"]

Source = Literal["lm-eval", "VLMEvalKit", "judge", "replay", "published"]


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """One task of a run, or a table of a paper.

    Attributes:
        id: Short hash over its files' contents and the task, or the paper and table.
        source: Who wrote it.
        model: The model's name.
        task: As in `Entry`.
        date: ISO date and time; empty where not known.
        path: The file that names it, relative to the path it was found under.
        samples: The file with its rows, likewise; empty where there is none.
        provenance: What was asked and how it was scored, as dotted name to JSON text, without secrets.
        claims: Short hash over the file with its totals and the task, equal for copies with and without rows; empty
            where there is no such file.
    """

    id: str
    source: Source
    model: str
    task: str = ""
    date: str
    path: str
    samples: str = ""
    provenance: Mapping[str, str]
    claims: str = ""


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """What each row of a run scored under one variant.

    Attributes:
        ids: Of the rows, in the file's order.
        clusters: What each row shares with others (a figure, a ticker, a picture); None where rows are independent.
        values: Metric to one number per row, NaN where it does not apply; only metrics that are means over rows.
    """

    ids: tuple[str, ...]
    clusters: tuple[str, ...] | None
    values: Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRead:
    """What is kept of one task of a run.

    Attributes:
        facts: The run.
        entries: Its values; `group` and `marks` are set once all runs are known, see `comparability`.
        scores: Variant to scores; empty where there are no rows.
        samples: Where the rows are on this machine, for links to them; None where there are none.
    """

    facts: RunFacts
    entries: tuple[Entry, ...]
    scores: Mapping[str, Scores]
    samples: Path | None

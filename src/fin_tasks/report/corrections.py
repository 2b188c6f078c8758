"""Judges' means that people's labels corrected: `corrected.json`, and what reports say of them."""

from collections.abc import Collection
from pathlib import Path

from pandas import DataFrame
from pydantic import BaseModel

from fin_tasks.errors import ConfigError
from fin_tasks.limited_file import RESULTS_MB, read_limited_json
from fin_tasks.stats.pairs import holm

from .comparison_model import Rounded, Share
from .leaderboard_model import Corrected

METRIC = "score"
"""The metric that people's scores correct."""


class CorrectedPair(Corrected):
    """The difference of two runs, first less second, over the rows that the judge scored in both."""

    task: str
    scoring: str
    judge: str
    first: str
    """The model's name; text of strangers."""
    second: str
    n: int
    """Rows that the judge scored."""
    p: Share = 1.0
    """p-value of the difference; 1 if it cannot be tested."""
    runs: tuple[str, str]
    """The ids of both results."""


class CorrectedRun(Corrected):
    """The mean of a run."""

    task: str
    scoring: str
    judge: str
    model: str
    n: int
    judge_mean: Rounded
    people_mean: Rounded
    """Over the labeled rows."""
    run: str
    """The id of the result."""


class Corrections(BaseModel):
    """What `fin-tasks label agree` writes."""

    runs: list[CorrectedRun] = []
    differences: list[CorrectedPair] = []
    refused: list[str] = []
    """Why labels correct nothing."""

    def of(self, run: str, scoring: str, metric: str) -> Corrected | None:
        """Return the corrected value of a metric of a result."""
        for line in self.runs:
            if metric == METRIC and (line.run, line.scoring) == (run, scoring):
                return line
        return None

    def pairs(self, runs: Collection[str], scoring: str) -> DataFrame:
        """Return the pairs of some results as `stats.pairs.rank` takes them, with Holm's correction over them."""
        pairs = []
        for pair in self.differences:
            is_wanted = pair.scoring == scoring and {*pair.runs} <= {*runs}
            if is_wanted and pair.corrected is not None:
                pairs.append(
                    (
                        *pair.runs,
                        pair.labels,
                        pair.corrected,
                        pair.low,
                        pair.high,
                        pair.p,
                    )
                )
        names = ["first", "second", "n", "difference", "low", "high", "p"]
        table = DataFrame(pairs, columns=names)
        return table.assign(p_holm=holm(table["p"].to_numpy(float)))

    def difference_note(self, first: str, second: str, scoring: str) -> str:
        """Say the corrected difference of two results; empty if it is not known."""
        for line in self.differences:
            if {*line.runs} == {first, second} and line.scoring == scoring:
                return f"{line.first} less {line.second}: {note_of(line)}"
        return ""


def note_of(corrected: Corrected | None) -> str:
    """Return what to say beside a judge's value; empty if it is not corrected."""
    if not corrected or corrected.corrected is None:
        return ""
    text = f"corrected by {corrected.labels} labels: {corrected.corrected:.1f}"
    if corrected.low is None or corrected.high is None:
        return text
    return f"{text} [{corrected.low:.1f}…{corrected.high:.1f}]"


def read_corrections(path: str | Path | None) -> Corrections:
    """Read `corrected.json`; nothing without a path."""
    if path is None:
        return Corrections()
    try:
        return Corrections.model_validate_json(
            read_limited_json(Path(path), RESULTS_MB)
        )
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--corrected {path}: expected the file that `fin-tasks label agree` wrote, {error!s:.80}."
        ) from error

"""The shape of `leaderboard.json`: every value with its interval, and ranks."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, NonNegativeInt, PositiveInt

from fin_tasks.endpoints.prices import Prices

from . import Json
from .admissions import Admission
from .board_file import BoardModel
from .comparison_model import (
    Changes,
    Comparison,
    Finite,
    Gap,
    Rounded,
    Share,
    six_digits,
)
from .model import Metric, Problem

VERSION = "5.2"


class _Model(
    BaseModel, use_attribute_docstrings=True, extra="forbid", from_attributes=True
):
    """An object of `leaderboard.json`; the docstrings of its fields stand in the schema."""


class BoardRun(_Model):
    """One task of a run, or one table of a paper."""

    id: str
    """Hash of its files and the task; of a paper its title, table, judge and model."""
    label: str
    """The model's name; with what differs where the model has several runs of one task."""
    source: str
    """The harness or command that wrote it, or `published` for the authors of a paper."""
    model: str
    """The model's name; text of strangers."""
    task: str = ""
    """Name of the task; empty for a table of a paper."""
    date: str = ""
    """ISO date and time; empty if not known."""
    path: str
    """The file that names it, relative to the path where it was found."""
    provenance: Json
    """What was asked and how it was scored, without secrets, by dotted name."""
    decoding: str = ""
    """Temperature, limit of tokens and reasoning in words; empty if they are not stated."""
    admission: str = ""
    """Key of `admissions`; empty if the run was not admitted to a board."""


class BoardTask(_Model):
    """A task under one scoring."""

    id: str
    """How the task was asked and scored, as one text."""
    asked: str
    """How the task was asked: the id without the scoring."""
    benchmark: str
    """Whose task it is: the name of a benchmark, or `other`."""
    task: str
    """lm-eval's name of it, without what the following say."""
    split: str
    """Which rows: `test`, `validation`, ..., or `sample` for the packaged sample."""
    mode: str
    """`cot`, `pot`, `da`, ...; empty if there is one."""
    style: str
    """Of the prompt; empty for the default."""
    retrieval: str
    """`none`, `bm25`, ...; empty if there is none."""
    arm: str
    """Of an experiment; empty elsewhere."""
    scoring: str
    """`paper`: scored as the authors do. `robust`: as it should be. Others: a filter of the task."""
    family: str = ""
    """What tasks of several sizes share; empty elsewhere."""
    window: PositiveInt | None = None
    """The size of such a task."""
    headline: str
    """The metric that models are ranked by."""
    metrics: list[str] = []
    """Names of those with a value, the headline first."""


class CutOffs(_Model):
    """Cut-off responses behind a value, and the bounds that they leave."""

    share: Share
    """Of the scored responses."""
    upper: Annotated[float, BeforeValidator(six_digits)]
    """The value if all of them were right; `value` of the entry is the lower bound."""
    finished: Rounded = None
    """The value over the questions of which no response was cut off; null if it is not known."""
    n_finished: NonNegativeInt = 0
    """How many questions that are."""
    is_lower_bound: bool
    """Whether so many were cut off that the value itself is but a lower bound."""


class Corrected(_Model):
    """The value that people would give all rows, estimated from a judge's scores and their labels."""

    corrected: Rounded
    """In the metric's unit; of a pair the difference."""
    low: Rounded
    """Lower bound of its 95 % interval; null if there is none."""
    high: Rounded
    """Upper bound."""
    labels: NonNegativeInt
    """Rows that people scored."""


class QuestionCorrection(_Model):
    """A question that was excluded, or whose truth was corrected."""

    benchmark: str
    id: str
    task: str = ""
    """The beginning of the names of the tasks that are meant; empty for all."""
    exclude: bool = False
    truth: str = ""
    """The right answer."""
    published: str = ""
    """The truth that the runs' documents hold."""
    reason: str = ""
    by: str = ""
    """Who says so."""
    date: str = ""


class Entry(_Model):
    """One value."""

    task: str
    """`id` of the task."""
    model: str
    """The model's name; text of strangers."""
    run: str
    """`id` of the run."""
    metric: str
    """As in `metrics`."""
    value: Finite
    """Null if not defined."""
    low: Rounded = None
    """Lower bound of the interval, not above the value; null if there is none."""
    high: Rounded = None
    """Upper bound, not below the value."""
    method: str = ""
    """How the 95 % interval was made, such as `Wilson`; empty without an interval."""
    n: NonNegativeInt
    """Rows it is over; 0 if not known."""
    unscored: NonNegativeInt = 0
    """Rows left out of the headline because they could not be scored."""
    judge: str = ""
    """Who graded: model and rubric; empty if no judge is asked."""
    group: str = ""
    """Only values of the same task, metric and group may be compared; a key of `groups`."""
    is_shown: bool = True
    """Whether the run stands for its model in tables: of its runs the most complete, then the newest."""
    doubts: list[str] = []
    """Why it is doubtful, not comparable or not ranked, in words."""
    remarks: list[str] = []
    """What to know of it that does not make it doubtful, such as that it is a lower bound."""
    results_file: str | None = None
    """The results file, relative to the report's folder; null if it does not lie beside or below that folder."""
    cut_off: CutOffs | None = None
    """Null if no response was cut off."""
    corrected: Corrected | None = None
    """A judge's value, corrected by people's labels; null without them."""
    question_corrections: str = ""
    """How many questions are excluded or have another truth; empty if none."""
    uncorrected: Finite = None
    """Of the headline, the value under the published truths of all questions; null if this report corrected none."""


class Cost(_Model):
    """Tokens, seconds and cost of a task, or of a whole run."""

    run: str = ""
    """`id` of the task's entry in `runs`; a hash of the file for a whole run."""
    model: str
    """The model's name; text of strangers."""
    task: str
    """Name of the task or group; empty for the whole run."""
    path: str
    """As in `runs`."""
    tokens_in: Finite
    """Tokens of the prompts; null if not known."""
    tokens_out: Finite
    """Tokens of the responses."""
    seconds: Finite
    """Time in which the model answered."""
    cost: Finite = None
    """In the currency of `prices`."""
    estimated: list[str] = []
    """Names of the values that are estimates."""


class Leaderboard(_Model):
    """Everything a report shows, in one document.

    A new key raises the minor version, a changed or removed one the major version.
    """

    format: Literal["fin-tasks leaderboard"] = "fin-tasks leaderboard"
    version: str = VERSION
    """Of this schema, as major.minor."""
    fin_tasks: str
    """Version of the package that wrote it."""
    title: str
    generated: str
    """When, as ISO date and time in UTC."""
    alpha: float
    """Level at which two models count as different, over all pairs of a task together."""
    runs: list[BoardRun]
    models: dict[str, BoardModel] = {}
    """What `board.yaml` says of models, by their names."""
    admissions: dict[str, Admission] = {}
    """What the maintainers of the board checked, by `admission` of the runs."""
    question_corrections: list[QuestionCorrection] = []
    """Questions that were excluded or corrected in this report."""
    first_view: list[str] = []
    """Names of the tasks that the first view shows; empty for those of the benchmarks."""
    tasks: list[BoardTask] = []
    """The tasks; each names its conditions and its scoring."""
    metrics: dict[str, Metric] = {}
    """What the metrics mean, by name."""
    groups: dict[str, Json]
    """What rows of a group have in common, by `group` of the entries: data, prompts, judge, ..."""
    entries: list[Entry] = []
    """The values, by task, model and metric."""
    comparisons: list[Comparison] = []
    """Ranks for the headline of a task, for each group that may be compared."""
    gaps: list[Gap] = []
    """Memorization gaps; empty if no run was asked variants."""
    costs: list[Cost] = []
    """What each task of a run used, and each run as a whole."""
    changes: Changes | None = None
    """Null if the folder held no report."""
    prices: Prices | None
    problems: list[Problem]
    """Files that could not be used in full."""
    notes: list[str] = []
    """What was left out or is not known, in sentences."""

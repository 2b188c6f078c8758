"""The names of XFinBench's parts, and a question as it is scored."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

Task = Literal["bool", "mcq", "calcu"]
"""The file's column `task`."""
Subset = Literal["bool", "mcq", "mcq_visual", "calc"]
"""What a task of lm-eval asks."""
Mode = Literal["cot", "da", "pot"]
"""How the model answers: it reasons, answers directly, or writes a program."""

MODES: Mapping[str, Mode] = {"cot": "cot", "da": "da", "pot": "pot"}
TASKS: Mapping[str, Task] = {
    "bool": "bool",
    "mcq": "mcq",
    "mcq_visual": "mcq",
    "calc": "calcu",
}
"""The file's word for each subset."""
CAPABILITIES: Mapping[str, str] = {
    "TU": "terminology understanding",
    "TR": "temporal reasoning",
    "FF": "future forecasting",
    "SP": "scenario planning",
    "NM": "numerical modelling",
}


class _Labeled(TypedDict, total=False):
    math_types: Sequence[str]
    """Of a calculation, if the task was given a file with labels."""


class XFinBenchDocument(_Labeled):
    """What the scorer must know of a question."""

    task: Task
    subset: Subset
    mode: Mode
    ground_truth: str
    """As in the file."""
    choices: Sequence[str]
    """Without their letters."""
    capabilities: Sequence[str]
    has_table: bool | None
    """None if nobody knows."""


class NamedTerm(TypedDict):
    """A finance term that stands before a question."""

    id: str
    name: str
    score: float | None
    """Of the retriever; None for the right terms."""


class AskedDocument(XFinBenchDocument):
    """A question as a harness gets it."""

    id: str
    question: str
    """As in the file."""
    figure: str
    figure_path: str
    """The file of the figure; empty without one."""
    gold_terms: Sequence[str]
    """Ids of the finance terms that help."""
    terms: Sequence[NamedTerm]
    """The terms that the prompt shows."""
    target: str
    """The right answer as a response."""
    system: str
    prompt: str
    cue: str

"""Studies: YAML files that say what people are asked about which rows. `docs/labels.md` explains the keys."""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fin_tasks.errors import ConfigError
from fin_tasks.resources import studies_dir

__all__ = ["Question", "Study", "load_study"]

Text = Annotated[str, Field(min_length=1, max_length=5000)]
Value = Annotated[  # YAML takes a bare yes for true, and a list in a spreadsheet cannot hold a comma
    str,
    BeforeValidator(lambda one: ("no", "yes")[one] if isinstance(one, bool) else one),
    Field(pattern=r'^[^,"=:]{1,40}$'),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(_Strict):
    """What is asked about each row, what a cell may hold, and how several people's labels become one."""

    ask: Text
    values: list[Value] = Field(["yes", "no"], min_length=2)
    scale: tuple[int, int] | None = None  # lowest and highest score, in place of `values`
    choose: Literal[1, 2] = 1  # of the values, at most
    rule: Literal["majority", "mode", "mean"] = "majority"

    @property
    def allowed(self) -> list[str]:
        """Return the texts that a cell may hold."""
        return list(map(str, range(self.scale[0], self.scale[1] + 1))) if self.scale else self.values


class Study(_Strict):
    """A study with people."""

    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    title: Text
    instructions: Text
    benchmark: Literal["xfinbench", "mme_finance", "financemath", "bizbench", "dynostock"]
    tasks: list[Text]  # lm-eval's names of the tasks whose responses are drawn
    documents: list[dict[str, Any]] = []  # options of the benchmark's data, for a draw without a run
    select: Literal["all", "wrong", "figure"] = "all"  # of the responses
    strata: Literal["", "task", "capability", "category", "topic"] = ""
    n: int | dict[str, int]  # rows, or rows by stratum
    annotators: int = Field(3, ge=1, le=50)
    show: list[Literal["task", "question", "prompt", "choices", "picture", "terms", "gold", "response"]]
    questions: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Question] = {}
    minutes: dict[str, float] = {}  # task to the time for an answer: people answer the questions themselves
    types: dict[str, str] = {}  # name of a type of error to the label that shows it, such as `rounding=yes`
    split: str = ""  # the question whose values divide the table of combinations of types

    @model_validator(mode="after")
    def _fits(self) -> "Study":
        if bool(self.questions) == bool(self.minutes):
            raise ValueError("expected either questions or minutes")
        if any((one.scale is None) != (one.rule == "majority") for one in self.questions.values()):
            raise ValueError("questions: expected rule mode or mean for a scale, and majority for values")
        single = {name: one for name, one in self.questions.items() if one.scale is None and one.choose == 1}
        known = {f"{name}={value}" for name, one in single.items() for value in one.values}
        if unknown := [label for label in self.types.values() if label not in known]:
            raise ValueError(f"types: expected a question=value, got {unknown[0]!r}")
        if self.split and self.split not in single:
            raise ValueError(f"split: expected one of {', '.join(single)}, got {self.split!r}")
        return self

    def columns(self) -> dict[str, str]:
        """Return the columns that people fill, each with its question; a second choice has a column of its own."""
        if self.minutes:
            return {"answer": "", "minutes": ""}
        return {n: name for name, one in self.questions.items() for n in [name, f"{name} 2"][: one.choose]}


def load_study(name: str) -> Study:
    """Read a study by the name of a packaged one or by the path of a file."""
    packaged = {path.stem: path for path in sorted(studies_dir().glob("*.yaml"))}
    path = packaged.get(name, Path(name))
    try:
        return Study.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(f"study: expected a YAML file or one of {', '.join(packaged)}, got {name!r}.") from error
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: expected a study as in docs/labels.md, got {error}") from error

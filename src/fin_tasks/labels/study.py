"""Studies: YAML files with the questions that people answer about rows. `docs/labels.md` explains the keys."""

from itertools import combinations
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fin_tasks.errors import ConfigError
from fin_tasks.resources import studies_dir

__all__ = ["Question", "Study", "load_study"]

Text = Annotated[str, Field(min_length=1, max_length=5000)]
Value = Annotated[  # YAML takes a bare yes for true; a comma separates the words that a spreadsheet's cell may hold
    str,
    BeforeValidator(lambda one: ("no", "yes")[one] if isinstance(one, bool) else one),
    Field(pattern=r'^[^,+"]{1,40}$'),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(_Strict):
    """A question about each row."""

    ask: Text
    values: list[Value] = Field(["yes", "no"], min_length=2)
    choose: Literal[1, 2] = 1  # of the values, at most; two are written as `TU+TR`
    types: dict[Value, str] = {}  # a value to the type of error that it shows
    scale: tuple[int, int] | None = None  # lowest and highest score, in place of `values`
    rule: Literal["mode", "mean"] = "mode"  # how scores become one; without a most frequent score always their mean

    @property
    def allowed(self) -> list[str]:
        """Return the texts that a cell may hold."""
        if self.scale:
            return [str(score) for score in range(self.scale[0], self.scale[1] + 1)]
        return self.values + ["+".join(two) for two in combinations(self.values, 2) if self.choose == 2]


class Study(_Strict):
    """A study with people."""

    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    title: Text
    instructions: Text
    benchmark: Literal["xfinbench", "mme_finance", "financemath", "bizbench", "dynostock"]
    tasks: dict[str, dict[str, Any]]  # lm-eval's names of tasks, each with the options of its documents
    wrong: bool = False  # whether only wrong responses are drawn
    strata: Literal["", "task", "capability", "category", "topic"] = ""
    n: int | dict[str, int]  # rows, or rows by stratum
    annotators: int = Field(3, ge=1, le=50)
    show: list[Literal["task", "question", "prompt", "choices", "picture", "terms", "gold", "response"]]
    questions: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Question] = {}
    minutes: dict[str, float] = {}  # task to the time for an answer: people answer the questions themselves

    @model_validator(mode="after")
    def _asks_something(self) -> "Study":
        if bool(self.questions) == bool(self.minutes):
            raise ValueError("expected either questions or minutes")
        return self

    def columns(self) -> dict[str, str]:
        """Return the columns that people fill in, each with its question."""
        if self.minutes:
            limits = ", ".join(f"{task} {limit:g}" for task, limit in self.minutes.items())
            answer = "Your answer: true or false, the letter of a choice, or a number; none if you have none in time"
            return {"answer": answer, "minutes": f"The minutes that you took, at most: {limits}"}
        return {name: f"{one.ask} ({', '.join(one.allowed)})" for name, one in self.questions.items()}

    def allowed(self, column: str, doc: dict[str, Any]) -> tuple[list[str], float | None]:
        """Return the words that a cell may hold, and the largest number if it may hold a number."""
        if not self.minutes:
            return self.questions[column].allowed, None
        task = doc["task"]
        if column == "minutes":
            return [], self.minutes[task]
        if task == "calcu":
            return ["none"], 1e15
        return [*(["true", "false"] if task == "bool" else ascii_uppercase[: len(doc["choices"])]), "none"], None


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

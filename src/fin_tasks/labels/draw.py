"""Studies (see `docs/labels.md`), and the rows that they draw from a run or from a benchmark's documents."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate, combinations
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from fin_tasks import report
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.data import documents
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.model import headline
from fin_tasks.report.rows import read_samples
from fin_tasks.resources import folder_of

Value = Annotated[  # YAML takes a bare yes for true; a comma separates the words that a spreadsheet's cell may hold
    str,
    BeforeValidator(lambda one: ("no", "yes")[one] if isinstance(one, bool) else one),
    Field(pattern=r'^[^,+"]{1,40}$'),
]


class Question(BaseModel, extra="forbid", frozen=True):
    """A question about each row."""

    ask: str
    values: list[Value] = Field(["yes", "no"], min_length=2)
    choose: Literal[1, 2] = 1  # of the values, at most; two are written as `TU+TR`
    types: dict[Value, str] = {}  # a value to the type of error that it shows
    scale: tuple[int, int] | None = None  # lowest and highest score, in place of `values`
    rule: Literal["mode", "mean"] = (
        "mode"  # how scores become one; without a most frequent score always their mean
    )

    @property
    def allowed(self) -> list[str]:
        """Return the texts that a cell may hold."""
        if self.scale:
            return [str(score) for score in range(self.scale[0], self.scale[1] + 1)]
        return self.values + [
            "+".join(two) for two in combinations(self.values, 2) if self.choose == 2
        ]


class Study(BaseModel, extra="forbid", frozen=True):
    """A study with people."""

    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    title: str
    instructions: str
    benchmark: Annotated[str, AfterValidator(lambda name: benchmark_named(name).name)]
    tasks: dict[
        str, dict[str, Any]
    ]  # lm-eval's names of tasks, each with the options of its documents
    wrong: bool = False  # whether only wrong responses are drawn
    strata: str = ""  # `task`, or a breakdown of the benchmark
    n: int | dict[str, int]  # rows, or rows by stratum
    annotators: int = Field(3, ge=1, le=50)
    show: list[
        Literal["task", "question", "prompt", "choices", "picture", "terms", "gold", "response"]
    ]
    questions: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Question] = {}
    minutes: dict[
        str, float
    ] = {}  # in place of `questions`: people answer themselves, in this time for each task

    @model_validator(mode="after")
    def _check_strata(self) -> "Study":
        known = ["", "task", *benchmark_named(self.benchmark).breakdowns]
        if self.strata not in known:
            raise ValueError(f"strata: expected one of {known[1:]}, got {self.strata!r}")
        return self

    def columns(self) -> dict[str, str]:
        """Return the columns that people fill in, each with its question."""
        if self.minutes:
            answer = "Your answer: true or false, the letter of a choice, or a number; none if you have none in time"
            return {"answer": answer, "minutes": "The minutes that you took"}
        return {
            name: f"{one.ask} ({', '.join(one.allowed)})" for name, one in self.questions.items()
        }

    def allowed(self, column: str, doc: dict[str, Any]) -> tuple[list[str], float | None]:
        """Return the words that a cell may hold, and the largest number if it may hold a number."""
        if not self.minutes:
            return self.questions[column].allowed, None
        task = doc["task"]
        if column == "minutes":
            return [], self.minutes[task]
        if task == "calcu":
            return ["none"], 1e15
        return [
            *(["true", "false"] if task == "bool" else ascii_uppercase[: len(doc["choices"])]),
            "none",
        ], None


class Row(BaseModel):
    """A row that people label. Its facts, such as its task, break shares down."""

    id: str = ""
    doc_id: str
    task: str
    doc: dict[str, Any]
    facts: dict[str, list[str]]
    response: str = ""


class Draw(BaseModel):
    """The rows of a study. People who label must not see it, as it holds the gold answers."""

    study: Study
    model: str = ""
    provenance: dict[str, dict[str, Any]] = {}  # by task
    rows: list[Row] = []


def load_study(name: str) -> Study:
    """Read a study by the name of a packaged one or by the path of a file."""
    packaged = {path.stem: path for path in sorted(folder_of("studies").glob("*.yaml"))}
    path = packaged.get(name, Path(name))
    try:
        return Study.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ConfigError(
            f"study: expected a YAML file or one of {', '.join(packaged)}, got {name!r}."
        ) from error
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: expected a study as in docs/labels.md, got {error}") from error


def draw(
    study: Study, run: Path | None, *, n: int | None, seed: int, options: Mapping[str, Any]
) -> Draw:
    """Draw n rows, or as many as the study wants, at random from each stratum.

    The questions are the benchmark's documents, with the options `source`, `data_dir` and `split`; the responses are
    those of the run.
    """
    found = Draw(study=study)
    if run:
        _read_run(found, run, options)
    elif "response" in study.show or study.wrong:
        raise ConfigError(
            f"label draw: the study {study.name} is about responses. Name a run folder."
        )
    else:
        for task in study.tasks:
            found.rows += _questions(found, task, options)
    if not found.rows:
        raise DataError(
            "label draw: expected rows for the study, got none. Check RUN, --data-dir and --split."
        )
    strata: dict[str, list[Row]] = defaultdict(list)
    for row in found.rows:
        strata[(row.facts.get(study.strata) or [""])[0]].append(row)
    weights = (
        study.n if isinstance(study.n, dict) else {name: len(own) for name, own in strata.items()}
    )
    total = sum(weights.values())
    goal = n or (study.n if isinstance(study.n, int) else total)
    found.rows = []
    # Rounding where strata end, and not their sizes, makes the sizes add up.
    ends = [round(goal * end / total) for end in accumulate(weights.values(), initial=0)]
    for name, start, end in zip(weights, ends, ends[1:], strict=False):
        if end > start:  # the same number may stand for questions of two tasks
            found.rows += documents.draw_rows(
                study.benchmark,
                strata[name],
                end - start,
                seed,
                lambda row: f"{row.task} {row.doc_id}",
            )
    ids = [study.name, found.model, *(row.doc_id for row in found.rows)]
    prefix = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:4]
    for number, row in enumerate(found.rows, 1):
        row.id = f"{prefix}-{number:04d}"
    return found


def _read_run(found: Draw, path: Path, options: Mapping[str, Any]) -> None:
    """Add the model of a run, its responses, and their questions."""
    study = found.study
    runs = report.read([path]).runs
    results = [one for run in runs for one in run.tasks if one.samples and one.task in study.tasks]
    models = {run.model for run in runs}
    if len(models) != 1 or len({one.task for one in results}) < len(results):
        got = f"{len(results)} of {len(models)} models"
        raise DataError(f"{path}: expected results of one model, each task once, got {got}.")
    found.model = models.pop()
    for result in results:
        questions = {row.doc_id: row for row in _questions(found, result.task, options)}
        metric = headline(result)
        for sample in read_samples(result.samples):
            row = questions.get(id_of(sample["doc"]))
            if (
                row is None or sample["filter"] == "robust"
            ):  # the lines of `paper` hold the same responses
                continue
            row.response = sample["resps"][0][0]
            score = sample.get(metric)
            if score is not None:
                row.facts["response"] = ["right" if score > 0 else "wrong"]
            if not study.wrong or score == 0:
                found.rows.append(row)


def _questions(found: Draw, task: str, options: Mapping[str, Any]) -> list[Row]:
    """Return the documents of a task as rows, and add its provenance."""
    benchmark = benchmark_named(found.study.benchmark)
    given = {name: value for name, value in options.items() if value is not None}
    (data,) = benchmark.load(**found.study.tasks[task], **given).values()
    about = json.loads(data.info.description)
    found.provenance[task] = {
        name: about[name] for name in ("split", "data", "scorer") if name in about
    }
    rows = []
    for doc in data:
        facts = {"task": [doc.get("task") or task], **benchmark.parts_of(doc)}
        rows.append(Row(doc_id=id_of(doc), task=task, doc=doc, facts=facts))
    return rows

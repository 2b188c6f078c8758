"""The `Benchmark` object, by which a package describes its benchmark to reports, commands and harnesses.

The package has two modules:

- `data.py` with `load(**options) -> {split: datasets.Dataset}`;
- `score.py` with the functions of `Scorer`. It also has `programs` if tasks run programs, `reader_item`
  if a model may read answers, and `judge_item` and `rubric_named` if a judge scores responses. It may
  have `breakdown_values` and `BREAKDOWN_AGGREGATES`; `scored_task.py` says what they do. `READING` is the
  type of its readings if they have fields of their own.

The package may have the files `metrics.csv`, `tables.yaml` and `published.csv`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Protocol, cast

from fin_tasks.errors import ConfigError
from fin_tasks.resources import task_yaml_dir

if TYPE_CHECKING:
    from datasets import Dataset

    from fin_tasks.answers.types import Reading, Score
    from fin_tasks.sandbox import Ran

_log = logging.getLogger(__name__)

Document = Mapping[str, Any]
"""A question as the harness gets it; each benchmark's `data.py` says which fields it has."""
ReadingFields = Mapping[str, Any]
"""A reading as the samples of a run hold it."""


def id_of(doc: Document) -> str:
    """Return the id of a document of any benchmark."""
    return str(doc["id"] if "id" in doc else doc["question_id"])


class Scorer(Protocol):
    """The functions of a benchmark's `score.py`; `scoring` is `paper` or `robust`."""

    def read(self, doc: Document, response: str | Ran, *, scoring: str) -> Reading:
        """Read the answer in a response, or in the results of its programs once they ran."""

    def compare(self, doc: Document, reading: Any) -> Score:
        """Compare a reading with the truth."""

    def metric_values(
        self, doc: Document, readings: Sequence[Any]
    ) -> Mapping[str, Any]:
        """Return a document's metrics, each the mean over its responses."""

    def process_results(self, doc: Document, results: Sequence[Any]) -> dict[str, Any]:
        """Return the metrics that have a value, of what a filter made of the responses."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """How to read the benchmark's `published.csv`."""

    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles for people of the sources that the file names."""
    scale: float = 100
    """A printed value divided by this number is a value of our metric."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A benchmark: its names, and how reports group, rank and label its results."""

    name: str
    """Prefix of its tasks in lm-eval, and its name in commands."""
    title: str
    description: str
    """What it asks, in one sentence for the page."""
    version: int
    """A change that moves any score raises it."""
    package: str
    """The package with `data.py` and `score.py`."""
    headlines: Sequence[str] = ("acc",)
    """The metrics that models are ranked by; a result uses the first one that it has."""
    source_of: Callable[[Document], str] = lambda doc: ""
    """Name what a row shares with other rows, such as a picture; these rows are one cluster.

    By default every row is a cluster of its own."""
    breakdowns: Mapping[str, str] = field(default_factory=dict)
    """Columns that rows are grouped by, with their labels."""
    breakdown_fields: Mapping[str, str] = field(default_factory=dict)
    """The document's field of a breakdown, where it has another name than the column."""
    truth_fields: Sequence[str] = ("target",)
    """The document's fields that hold the right answer; the first one that is filled counts."""
    group_breakdowns: Sequence[str] = ()
    """The columns by which a group of tasks is broken down, because all its tasks have them."""
    group_fallbacks: Mapping[str, str] = field(default_factory=dict)
    """In a group, the metric that replaces another one in tasks without it: `acc` for `acc_err`."""
    part_labels: Mapping[str, str] = field(default_factory=dict)
    """What a task asks, by the task's name without the benchmark's."""
    usual_conditions: Mapping[str, str] = field(default_factory=dict)
    """The value of a condition that a run does not name: a run without `retrieval` has `none`."""
    sized_tasks: str = ""
    """Pattern for names of tasks with a size, such as `recency_w4`; it has the groups `family` and `size`."""
    answer_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Words for answers, by the start of a task's name."""
    overview_tasks: Sequence[str] = ()
    """The tasks in the first view of a report, the main one first.

    If the main one was not run, the tasks that were run by themselves are shown too; if none are named, the task that
    most models did."""
    overview_metrics: Sequence[str] = ()
    """The metrics of these tasks in the first view; if none are named, the headline."""
    replay_tasks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The tasks whose responses one file of `fin-tasks replay NAME` may hold, by `--mode`."""
    order: int = 100
    """Place in reports."""
    usual_split: str = "test"
    hub_files: Sequence[str] = ()
    """Files to fetch from a hub, as patterns; without them, those of the pins are fetched."""
    published: Published = Published()
    has_house_rules: bool = False
    """Whether both scorings are rules of the house, because no authors published a scorer."""
    is_private: bool = False
    """Whether its questions must not be published; the page says so."""
    task_folder: Path | None = None
    """The folder with its task files; None for the package's own folder of task files."""

    @property
    def page_text(self) -> str:
        """What the page says of it: what it asks, whose rules score, and whether its questions are private."""
        sentences = [self.description]
        if self.has_house_rules:
            sentences.append("All responses are scored by the house rules.")
        if self.is_private:
            sentences.append(
                "Its questions are private: publish only a report made with --no-samples."
            )
        return " ".join(sentences)

    def load(self, **options: Any) -> Mapping[str, Dataset]:
        """Load the documents of one split, by its name. The options are the task's and those in the metadata."""
        splits: Mapping[str, Dataset] = import_module(f"{self.package}.data").load(
            **options
        )
        return splits

    @property
    def scorer(self) -> Scorer:
        """The functions of its `score.py`."""
        # Not kept in the object, as VLMEvalKit pickles its data sets, and a module cannot be pickled.
        name = f"{self.package}.score"
        return cast("Scorer", sys.modules.get(name) or import_module(name))

    def module(self, name: str) -> Any:
        """Return a module of its package; None if the package has none of this name."""
        path = f"{self.package}.{name}"
        return import_module(path) if find_spec(path) else None

    @property
    def folder(self) -> Path:
        """The folder of its package."""
        return Path(str(files(self.package)))

    def groups_of(self, doc: Document) -> dict[str, list[str]]:
        """Return the groups of a document by breakdown; a breakdown in which it has none is left out."""
        groups = {}
        for column in self.breakdowns:
            value = doc.get(self.breakdown_fields.get(column, column))
            if value:
                names = value if isinstance(value, list) else [value]
                groups[column] = [str(name) for name in names if name]
        return groups

    def truth_of(self, doc: Document) -> Any:
        """Return the right answer of a document; None if it has none."""
        for name in self.truth_fields:
            truth = doc.get(name)
            if truth not in (None, ""):
                return truth
        return None

    def text_of(self, name: str) -> str | None:
        """Return the text of a file of its package; None if it has no such file."""
        file = self.folder / name
        return file.read_text("utf-8") if file.is_file() else None

    def headline(self, metrics: Sequence[str]) -> str:
        """Return the metric that a result with these metrics is ranked by."""
        for headline in self.headlines:
            if headline in metrics:
                return headline
        return self.headlines[0]


# --- All benchmarks ---

GROUP = "fin_tasks.benchmarks"
"""The entry-point group under which a package registers its benchmark."""


@cache
def all_benchmarks() -> Mapping[str, Benchmark]:
    """Return all benchmarks by name: ours in the order of reports, then others."""
    own = []
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            own.append(import_module(f"{__package__}.{module.name}").BENCHMARK)
    own.sort(key=lambda benchmark: benchmark.order)
    benchmarks = {benchmark.name: benchmark for benchmark in own}
    for benchmark in _registered():
        if benchmark.name in benchmarks:
            raise ConfigError(
                f"entry point {GROUP}: expected a new name, got {benchmark.name!r}, "
                "which another benchmark has. Rename or uninstall one of them."
            )
        benchmarks[benchmark.name] = benchmark
    return benchmarks


def benchmark_of(task: str) -> Benchmark | None:
    """Return the benchmark whose name, the longest if there are several, begins a task's; None for tasks of others."""
    benchmarks = all_benchmarks()
    names = [name for name in benchmarks if f"{task}_".startswith(f"{name}_")]
    return benchmarks[max(names, key=len)] if names else None


def benchmark_named(name: str) -> Benchmark:
    """Return a benchmark by its name, or raise ConfigError."""
    benchmarks = all_benchmarks()
    if name not in benchmarks:
        raise ConfigError(
            f"benchmark: expected one of {', '.join(benchmarks)}, got {name!r:.80}. "
            f"Other packages register theirs under the entry-point group {GROUP}."
        )
    return benchmarks[name]


def task_folders() -> list[Path]:
    """Return the folders with task files: ours, then those of registered benchmarks."""
    folders = [task_yaml_dir()]
    for benchmark in all_benchmarks().values():
        if benchmark.task_folder is not None:
            folders.append(benchmark.task_folder)
    return folders


def _registered() -> Iterator[Benchmark]:
    for entry_point in entry_points(group=GROUP):
        try:
            benchmark = entry_point.load()
        except Exception as error:  # noqa: BLE001 - the code of another package
            _log.warning("entry point %s is left out: %s", entry_point.value, error)
            continue
        if isinstance(benchmark, Benchmark):
            yield benchmark
        else:
            _log.warning(
                "entry point %s is left out: expected a Benchmark, got %s.",
                entry_point.value,
                type(benchmark).__name__,
            )

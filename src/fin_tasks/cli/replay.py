"""`fin-tasks replay`: score saved responses again, without a model."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.benchmarks import all_benchmarks, benchmark_named
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.saved.columns import Json, read_columns
from fin_tasks.saved.origin import models_of

from .options import (
    AnsweringModel,
    AsJson,
    ColumnNames,
    CorrectionFile,
    DataDir,
    Metadata,
    Out,
    Responses,
    ShowAll,
    Source,
    Strict,
    task_options,
)
from .output import show, warn

if TYPE_CHECKING:
    from fin_tasks.saved.recordings import Recording
    from fin_tasks.saved.run_folder import SavedRun

    Reader = Callable[[Path, Mapping[str, str]], Recording]

_WINDOW_COLUMNS = "^(model|bias|window|n|acc|bias_index)(_std)?$"

app = typer.Typer(no_args_is_help=True, help="Score saved responses, without a model.")


@dataclass(frozen=True)
class Replay:
    """What is scored, and where the results go."""

    files: list[Path]
    model: str | None
    out: Path | None
    show_all: bool
    as_json: bool
    task: str = ""
    """It is no part of the names of models, which the files' names say."""

    def run(self, score: "Callable[[Path], list[SavedRun]]") -> None:
        """Score each file, write its run folder if the user named a place for it, and print its figures."""
        from fin_tasks.saved.summary import summary_of

        models = models_of(self.files, self.task)
        for file, file_model in zip(self.files, models, strict=True):
            try:
                runs = score(file)
            except DataError as error:
                if file.name in str(error):
                    raise
                raise DataError(f"{file}: {error}") from error
            model = self.model or file_model
            self.write(runs, model)
            figures_of = summary_of if self.as_json or self.show_all else _main_figures
            figures = figures_of(runs)
            summary = {"model": model, "file": str(file), **figures}
            show(summary, self.as_json, self.show_all)

    def write(self, runs: "list[SavedRun]", model: str) -> None:
        """Write the runs of a model into one folder, if the user named a place for it."""
        from fin_tasks.saved.run_folder import write_run

        if self.out:
            path = write_run(self.out, runs, model=model, made_by="fin-tasks replay")
            warn(f"wrote {path}")


def _main_figures(runs: "list[SavedRun]") -> Json:
    """Return a table of metrics for each task."""
    from fin_tasks.report.model import metric_of

    figures: Json = {"figures of parts": "--all shows them"}
    for task in [run.scored for run in runs]:
        totals = task.totals()
        rows = []
        rules = "house rules" if task.benchmark.has_house_rules else "authors' scorer"
        for metric in task.metrics:
            rows.append(
                {
                    "Measure": metric_of(metric).label,
                    f"paper (the {rules})": totals[f"{metric},paper"],
                    "robust (a careful reader)": totals[f"{metric},robust"],
                }
            )
        n = len(task.docs)
        figures[f"{task.name}, {n} of {task.n_all or n} questions"] = rows
    return figures


@app.command("task")
def replay_task(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A task of any benchmark.")
    ],
    files: Responses,
    *,
    data_dir: DataDir = None,
    model: AnsweringModel = None,
    out: Out = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
    metadata: Metadata = "{}",
    corrections: CorrectionFile = None,
    columns: ColumnNames = "",
    strict: Strict = False,
) -> None:
    """Score responses to any task: CSV, XLSX, Parquet, JSON, JSON lines, lm-eval's samples, logs, or batches.

    Columns, encoding and split are found, and rows that do not fit are counted and left out. Programs run in the
    sandbox. Judged tasks need fin-tasks judge.

    Example: fin-tasks replay task bizbench_finknow gpt-4o.csv --metadata '{"source": "sample"}' --out results
    """
    from fin_tasks.saved.scoring import score_file

    options = task_options(metadata, data_dir=data_dir, corrections=corrections)
    names = read_columns(columns)

    def score(file: Path) -> "list[SavedRun]":
        return [score_file(name, file, options, columns=names, strict=strict)]

    Replay(files, model, out, show_all, as_json, name).run(score)


def _add_command(benchmark: Benchmark) -> None:
    """Add the command of a benchmark whose tasks share one file of responses."""

    def replay_benchmark(
        files: Responses,
        *,
        data_dir: DataDir = None,
        model: AnsweringModel = None,
        out: Out = None,
        show_all: ShowAll = False,
        as_json: AsJson = False,
        metadata: Metadata = "{}",
        corrections: CorrectionFile = None,
        mode: Annotated[
            str,
            typer.Option(
                help="How the model answered: cot (in words) or pot (by a program)."
            ),
        ],
        source: Source = "auto",
        columns: ColumnNames = "",
        strict: Strict = False,
    ) -> None:
        tasks = benchmark.replay_tasks.get(mode)
        if not tasks:
            modes = ", ".join(benchmark.replay_tasks)
            raise ConfigError(f"--mode: expected one of {modes}, got {mode!r:.80}.")
        options = task_options(
            metadata, data_dir=data_dir, source=source, corrections=corrections
        )
        replay = Replay(files, model, out, show_all, as_json, benchmark.name)
        read = _reader_of(benchmark.name, mode)
        replay.run(_scorer_of(benchmark.name, tasks, options, columns, read, strict))

    first_mode = next(iter(benchmark.replay_tasks))
    replay_benchmark.__doc__ = (
        f"Score {benchmark.title} responses in any of the files that replay task reads.\n\n"
        "The truths are the benchmark's own, found by the ids; "
        "others in the file are counted and named.\n\n"
        f"Example: fin-tasks replay {benchmark.name} --mode {first_mode} "
        "gpt-4o.json --out results"
    )
    app.command(benchmark.name)(replay_benchmark)


def _reader_of(benchmark: str, mode: Any) -> "Reader | None":
    """Return the reader of the questions that authors' files hold; None if their files hold none."""
    from fin_tasks.saved.recordings import read_financemath, read_financereasoning

    if benchmark == "financemath":
        return partial(read_financemath, mode=mode)
    if benchmark == "financereasoning":
        return partial(read_financereasoning, mode=mode)
    return None


def _scorer_of(
    benchmark: str,
    tasks: Sequence[str],
    options: Json,
    columns: str,
    read: "Reader | None",
    strict: bool,
) -> "Callable[[Path], list[SavedRun]]":
    """Return the function that scores a file of responses to some tasks."""
    from fin_tasks.saved.recordings import score_authors_file

    return partial(
        score_authors_file,
        benchmark,
        tasks,
        metadata=options,
        read=read,
        columns=read_columns(columns),
        strict=strict,
    )


@app.command("xfinbench")
def replay_xfinbench(
    files: Responses,
    *,
    data_dir: DataDir = None,
    model: AnsweringModel = None,
    out: Out = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
    metadata: Metadata = "{}",
    corrections: CorrectionFile = None,
    task: Annotated[
        Literal["bool", "mcq", "calc"] | None,
        typer.Option(help="Only questions of this kind. Default: all, by their ids."),
    ] = None,
    mode: Annotated[
        Literal["cot", "da", "pot"],
        typer.Option(help="pot: programs; cot, da: words."),
    ] = "cot",
    columns: ColumnNames = "",
    strict: Strict = False,
) -> None:
    """Score XFinBench responses in any of the files that replay task reads.

    The truths are the benchmark's own, found by the ids; others in the file are counted and named.

    Example: fin-tasks replay xfinbench --mode pot gpt-4o.csv --out results
    """
    from fin_tasks.saved.recordings import read_xfinbench

    tasks = []
    for name in benchmark_named("xfinbench").replay_tasks[mode]:
        if f"{name}_".startswith(f"xfinbench_{task or ''}"):
            tasks.append(name)
    if not tasks:
        raise ConfigError(f"--mode: expected cot or da for {task}, got pot.")
    options = task_options(metadata, data_dir=data_dir, corrections=corrections)
    read = partial(read_xfinbench, task=task, mode=mode) if task else None
    replay = Replay(files, model, out, show_all, as_json, "xfinbench")
    replay.run(_scorer_of("xfinbench", tasks, options, columns, read, strict))


@app.command("dynostock")
def replay_dynostock(
    files: Responses,
    *,
    data_dir: DataDir = None,
    model: AnsweringModel = None,
    out: Out = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
    metadata: Metadata = "{}",
) -> None:
    """Score the authors' recordings of DynoStock (MODEL/exp_recency_4.json) and show the rows of Table 1.

    Example: fin-tasks replay dynostock recordings/ --out results
    """
    from fin_tasks.benchmarks.dynostock import replay as recordings
    from fin_tasks.report.experiment import by_window, notes_on_indices
    from fin_tasks.saved.run_folder import SavedRun

    replay = Replay(files, model, out, show_all, as_json)
    scored = recordings.replay(files)
    runs_by_folder: dict[Path, list[SavedRun]] = {}
    for recording, task in scored:
        folder = recording.file.resolve().parent
        runs_by_folder.setdefault(folder, []).append(
            SavedRun(task, recordings.ASKED, {})
        )
    for folder, runs in runs_by_folder.items():
        replay.write(runs, replay.model or folder.name)
    table = by_window(recordings.rows_of(scored, scoring="paper"))
    notes = notes_on_indices(table)
    if not replay.as_json:
        table = table.filter(regex=_WINDOW_COLUMNS)
    windows = json.loads(table.to_json(orient="records"))
    show({"windows": windows}, replay.as_json, replay.show_all)
    for note in notes:
        warn(f"note: {note}")


for _benchmark in all_benchmarks().values():
    if _benchmark.replay_tasks and _benchmark.name != "xfinbench":
        _add_command(_benchmark)

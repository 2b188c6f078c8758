"""`fin-tasks replay`: score saved responses again, without a model."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fin_tasks.benchmarks import all_benchmarks
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
    from fin_tasks.saved.run_folder import SavedRun

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
        for metric in task.metrics:
            rows.append(
                {
                    "Measure": metric_of(metric).label,
                    "paper (the authors' scorer)": totals[f"{metric},paper"],
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
        from fin_tasks.saved.scoring import score_benchmark_file

        tasks = benchmark.replay_tasks.get(mode)
        if not tasks:
            modes = ", ".join(benchmark.replay_tasks)
            raise ConfigError(f"--mode: expected one of {modes}, got {mode!r:.80}.")
        options = task_options(
            metadata, data_dir=data_dir, source=source, corrections=corrections
        )

        names = read_columns(columns)

        def score(file: Path) -> "list[SavedRun]":
            return score_benchmark_file(
                benchmark.name, tasks, file, options, columns=names, strict=strict
            )

        Replay(files, model, out, show_all, as_json, benchmark.name).run(score)

    replay_benchmark.__doc__ = (
        f"Score {benchmark.title} responses: CSV, JSON or JSON lines with question_id and output, or "
        "lm-eval's samples.\n\nExample: "
        f"fin-tasks replay {benchmark.name} --mode {next(iter(benchmark.replay_tasks))} gpt-4o.json --out results"
    )
    app.command(benchmark.name)(replay_benchmark)


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
        Literal["bool", "mcq", "calc"], typer.Option(help="Kind of the questions.")
    ],
    mode: Annotated[
        Literal["cot", "da", "pot"],
        typer.Option(help="pot: programs; cot, da: words."),
    ] = "cot",
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/JSON/JSONL with id, ground_truth, model_response.

    Capabilities and choices that a file lacks are taken from the benchmark's own files, by id.

    Example: fin-tasks replay xfinbench --task calc --mode pot gpt-4o.csv --out results
    """
    from fin_tasks.saved.recordings import read_xfinbench, score_recording

    options = task_options(metadata, data_dir=data_dir, corrections=corrections)

    def score(file: Path) -> "list[SavedRun]":
        recording = read_xfinbench(file, task=task, mode=mode, data_dir=data_dir)
        return [score_recording(recording, options)]

    Replay(files, model, out, show_all, as_json).run(score)


@app.command("financemath")
def replay_financemath(
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
        Literal["cot", "pot"], typer.Option(help="pot: programs; cot: words.")
    ],
) -> None:
    """Score FinanceMath responses: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples.

    Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results
    """
    from fin_tasks.saved.recordings import read_financemath, score_recording

    options = task_options(metadata, data_dir=data_dir, corrections=corrections)

    def score(file: Path) -> "list[SavedRun]":
        return [score_recording(read_financemath(file, mode=mode), options)]

    Replay(files, model, out, show_all, as_json).run(score)


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
    if _benchmark.replay_tasks:
        _add_command(_benchmark)

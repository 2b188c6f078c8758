"""`fin-tasks replay`: score saved responses again, without a model."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.cli.options import (
    DataDir,
    Json,
    Out,
    ReaderKey,
    ReaderModel,
    ReaderUrl,
    Source,
    WhoseModel,
    json_options,
    show,
)
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from fin_tasks.adapters.saved_run import SavedRun
    from fin_tasks.benchmarks.contract import Benchmark
    from fin_tasks.benchmarks.scored_task import ScoredTask
    from fin_tasks.judging.judge import JudgeModel
    from fin_tasks.sandbox import Runner

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Saved responses; for dynostock also folders."),
]

app = typer.Typer(no_args_is_help=True, help="Score saved responses, without a model.")


@app.command("task")
def replay_task(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A task of any benchmark.")],
    files: Files,
    metadata: Annotated[
        str, typer.Option(metavar="JSON", help="Options of the task, as lm_eval --metadata.")
    ] = "{}",
    data_dir: DataDir = None,
    model: WhoseModel = None,
    reader_model: ReaderModel = None,
    reader_base_url: ReaderUrl = None,
    reader_key: ReaderKey = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score responses to any task: CSV, JSON or JSON lines with id and response, or lm-eval's samples_*.jsonl.

    Several rows of one id are several responses. Programs run in the sandbox. Judged tasks need fin-tasks judge.

    Example: fin-tasks replay task bizbench_finknow gpt-4o.csv --metadata '{"source": "sample"}' --out results
    """
    from fin_tasks.adapters.responses import read_responses
    from fin_tasks.adapters.saved_run import score_responses
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.benchmarks.summary import summary_of

    options = json_options(metadata) | _options(data_dir, reader_model, reader_base_url, reader_key)
    for file in files:
        run = score_responses(name, read_responses(file), options)
        model_name = model or model_of(file)
        _write_runs(out, [run], model_name)
        show({"model": model_name, **summary_of([run.scored])}, as_json=as_json)


def _add_command(benchmark: "Benchmark") -> None:
    """Add the command of a benchmark whose tasks share one file of responses."""
    modes = list(benchmark.replay_tasks)

    def replay(
        files: Files,
        mode: Annotated[str, typer.Option(help=f"How the model answered: {', '.join(modes)}.")],
        source: Source = "auto",
        data_dir: DataDir = None,
        model: WhoseModel = None,
        reader_model: ReaderModel = None,
        reader_base_url: ReaderUrl = None,
        reader_key: ReaderKey = None,
        out: Out = None,
        as_json: Json = False,
    ) -> None:
        from fin_tasks.adapters.responses import read_responses
        from fin_tasks.adapters.saved_run import score_benchmark
        from fin_tasks.benchmarks.scored_task import model_of
        from fin_tasks.benchmarks.summary import summary_of
        from fin_tasks.errors import ConfigError

        if mode not in modes:
            raise ConfigError(f"--mode: expected one of {', '.join(modes)}, got {mode!r:.80}.")
        options = _options(data_dir, reader_model, reader_base_url, reader_key)
        options["source"] = source
        for file in files:
            tasks = benchmark.replay_tasks[mode]
            runs = score_benchmark(benchmark.name, tasks, read_responses(file), options)
            model_name = model or model_of(file)
            _write_runs(out, runs, model_name)
            figures = summary_of([run.scored for run in runs])
            facts = {"model": model_name, "file": str(file), "mode": mode}
            show({**facts, **figures}, as_json=as_json)

    replay.__doc__ = (
        f"Score {benchmark.title} responses: CSV, JSON or JSON lines with question_id and output, or "
        "lm-eval's samples.\n\nExample: "
        f"fin-tasks replay {benchmark.name} --mode {modes[0]} gpt-4o.json --out results"
    )
    app.command(benchmark.name)(replay)


@app.command("xfinbench")
def replay_xfinbench(
    files: Files,
    task: Annotated[Literal["bool", "mcq", "calc"], typer.Option(help="Kind of the questions.")],
    mode: Annotated[
        Literal["cot", "da", "pot"], typer.Option(help="pot: programs; cot, da: words.")
    ] = "cot",
    data_dir: DataDir = None,
    model: WhoseModel = None,
    reader_model: ReaderModel = None,
    reader_base_url: ReaderUrl = None,
    reader_key: ReaderKey = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/JSON/JSONL with id, ground_truth, model_response.

    Capabilities and choices that a file lacks are taken from the benchmark's own files, by id.

    Example: fin-tasks replay xfinbench --task calc --mode pot gpt-4o.csv --out results
    """
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.benchmarks.summary import summary_of
    from fin_tasks.benchmarks.xfinbench import VERSION, recording
    from fin_tasks.report.recorded import questions_of

    reader = _answer_reader(reader_model, reader_base_url, reader_key)
    for file in files:
        with _sandbox(mode) as runner:
            scored = recording.score_file(
                file,
                task=task,
                mode=mode,
                data_dir=data_dir,
                run_programs=runner.run if runner else None,
                answer_reader=None if runner else reader,
            )
        questions = questions_of(file, split=recording.split_of(scored.docs))
        facts = {"style": {"mode": mode}, "scorer": VERSION, **questions}
        model_name = model or model_of(file)
        _write(out, [scored], model_name, facts, runner)
        tier = {"sandbox": runner.tier} if runner else {}
        figures = summary_of([scored])
        show({"model": model_name, **questions, **figures, **tier}, as_json=as_json)


@app.command("financemath")
def replay_financemath(
    files: Files,
    mode: Annotated[Literal["cot", "pot"], typer.Option(help="pot: programs; cot: words.")],
    model: WhoseModel = None,
    reader_model: ReaderModel = None,
    reader_base_url: ReaderUrl = None,
    reader_key: ReaderKey = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score FinanceMath responses: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples.

    Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results
    """
    from fin_tasks.benchmarks.financemath import VERSION, recording
    from fin_tasks.benchmarks.scored_task import by_document, model_of, score_task
    from fin_tasks.benchmarks.summary import summary_of
    from fin_tasks.report.recorded import questions_of

    reader = _answer_reader(reader_model, reader_base_url, reader_key)
    name = "financemath" if mode == "cot" else "financemath_pot"
    for file in files:
        docs, responses = by_document(recording.read(file, mode=mode))
        with _sandbox(mode) as runner:
            scored = score_task(
                "financemath",
                name,
                docs,
                responses,
                options={"mode": mode},
                run_programs=runner.run if runner else None,
                answer_reader=None if runner else reader,
            )
        model_name = model or model_of(file)
        questions = questions_of(file, split=recording.split_of(docs))
        facts = {"mode": mode, "scorer": VERSION, **questions}
        _write(out, [scored], model_name, facts, runner)
        figures = summary_of([scored])
        show({"model": model_name, "file": str(file), **facts, **figures}, as_json=as_json)


@app.command("dynostock")
def replay_dynostock(
    files: Files, model: WhoseModel = None, out: Out = None, as_json: Json = False
) -> None:
    """Score the authors' recordings of DynoStock (MODEL/exp_recency_4.json) and show the rows of Table 1.

    Example: fin-tasks replay dynostock recordings/ --out results
    """
    from fin_tasks.benchmarks.dynostock.experiment import by_window
    from fin_tasks.benchmarks.dynostock.replay import replay, rows_of

    scored = replay(files)
    tasks_by_folder: dict[Path, list[ScoredTask]] = {}
    for recording, task in scored:
        folder = recording.file.resolve().parent
        tasks_by_folder.setdefault(folder, []).append(task)
    facts = {"mode": "image", "arm": "signal", "anonymize": False}
    for folder, tasks in tasks_by_folder.items():
        _write(out, tasks, model or folder.name, facts, None)
    table = by_window(rows_of(scored, variant="paper"))
    if not as_json:
        columns = ["model", "bias", "window", "n"]
        for metric in ("acc", "bias_index"):
            columns += [metric, f"{metric}_std", f"{metric}_low", f"{metric}_high"]
        table = table[columns]
    show({"windows": json.loads(table.to_json(orient="records"))}, as_json=as_json)


def _options(
    data_dir: Path | None, model: str | None, base_urls: list[str] | None, key: str | None
) -> dict[str, Any]:
    """Return the metadata of a task that the usual options set."""
    options = {
        "data_dir": str(data_dir) if data_dir else None,
        "reader_model": model,
        "reader_base_url": base_urls or None,
        "reader_key": key,
    }
    return {name: value for name, value in options.items() if value is not None}


def _write_runs(out: Path | None, runs: "Sequence[SavedRun]", model: str) -> None:
    """Write the run folder of one model if the user named a place for it."""
    from fin_tasks.report.run_folder import write_run

    if out is None:
        return
    metadata: dict[str, Any] = {}
    for run in runs:
        metadata |= run.metadata
    path = write_run(
        out,
        [run.scored for run in runs],
        model=model,
        made_by="fin-tasks replay",
        provenance={run.scored.name: run.provenance for run in runs},
        metadata=metadata,
    )
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


def _answer_reader(
    model: str | None, base_urls: list[str] | None, key: str | None
) -> "JudgeModel | None":
    from fin_tasks.judging.judge import answer_reader_from

    options = {"reader_model": model, "reader_base_url": base_urls or None, "reader_key": key}
    return answer_reader_from(options, Settings.from_environ())


def _sandbox(mode: str) -> "AbstractContextManager[Runner | None]":
    """Return the sandbox for a mode that asks for programs."""
    from fin_tasks.sandbox import open_runner

    if mode != "pot":
        return nullcontext()
    settings = Settings.from_environ()
    return open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)


def _write(
    out: Path | None,
    tasks: "Sequence[ScoredTask]",
    model: str,
    facts: Mapping[str, Any],
    runner: "Runner | None",
) -> None:
    """Write a run folder if the user named a place for it."""
    from fin_tasks.report.run_folder import write_run

    if out is None:
        return
    metadata: dict[str, Any] = {}
    if runner:
        metadata["sandbox"] = {"tier": runner.tier, "reason": runner.reason}
    path = write_run(
        out,
        tasks,
        model=model,
        made_by="fin-tasks replay",
        provenance={task.name: facts for task in tasks},
        metadata=metadata,
    )
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


for _benchmark in all_benchmarks().values():
    if _benchmark.replay_tasks:
        _add_command(_benchmark)

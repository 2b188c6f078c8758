"""`fin-tasks replay`: score saved responses again, without a model."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.cli.options import App, Source, json_options, show

if TYPE_CHECKING:
    from fin_tasks.adapters.saved_run import SavedRun
    from fin_tasks.benchmarks.contract import Benchmark, Document

Facts = Mapping[str, Any]
_SHOWN = ("mode", "style", "scorer", "split", "source")
"""Parts of a provenance that are printed beside the figures."""

app = App(help="Score saved responses, without a model.")


@app.command("task")
def replay_task(
    name: str,
    files: list[Path],
    metadata: str = "{}",
    data_dir: Path | None = None,
    model: str | None = None,
    reader_model: str | None = None,
    reader_base_url: list[str] | None = None,
    reader_key: str | None = None,
    out: Path | None = None,
    show_all: bool = False,
    as_json: bool = False,
) -> None:
    """Score responses to any task: CSV, JSON or JSON lines with id and response, or lm-eval's samples_*.jsonl.

    Several rows of one id are several responses. Programs run in the sandbox. Judged tasks need fin-tasks judge.

    Example: fin-tasks replay task bizbench_finknow gpt-4o.csv --metadata '{"source": "sample"}' --out results
    """
    from fin_tasks.adapters.responses import read_responses
    from fin_tasks.adapters.saved_run import score_responses

    options = json_options(metadata) | _options(
        data_dir, reader_model, reader_base_url, reader_key
    )

    def score(file: Path) -> "list[SavedRun]":
        return [score_responses(name, read_responses(file), options)]

    _replay(files, score, model, out, show_all=show_all, as_json=as_json)


def _add_command(benchmark: "Benchmark") -> None:
    """Add the command of a benchmark whose tasks share one file of responses."""
    modes = list(benchmark.replay_tasks)

    def replay(
        files: list[Path],
        mode: str,
        source: Source = "auto",
        data_dir: Path | None = None,
        model: str | None = None,
        reader_model: str | None = None,
        reader_base_url: list[str] | None = None,
        reader_key: str | None = None,
        out: Path | None = None,
        show_all: bool = False,
        as_json: bool = False,
    ) -> None:
        from fin_tasks.adapters.responses import read_responses
        from fin_tasks.adapters.saved_run import score_benchmark
        from fin_tasks.errors import ConfigError

        if mode not in modes:
            raise ConfigError(
                f"--mode: expected one of {', '.join(modes)}, got {mode!r:.80}."
            )
        options = _options(data_dir, reader_model, reader_base_url, reader_key)
        options["source"] = source

        def score(file: Path) -> "list[SavedRun]":
            tasks = benchmark.replay_tasks[mode]
            return score_benchmark(benchmark.name, tasks, read_responses(file), options)

        _replay(files, score, model, out, show_all=show_all, as_json=as_json)

    replay.__doc__ = (
        f"Score {benchmark.title} responses: CSV, JSON or JSON lines with question_id and output, or "
        "lm-eval's samples.\n\nExample: "
        f"fin-tasks replay {benchmark.name} --mode {modes[0]} gpt-4o.json --out results"
    )
    app.command(benchmark.name)(replay)


@app.command("xfinbench")
def replay_xfinbench(
    files: list[Path],
    task: Literal["bool", "mcq", "calc"],
    mode: Literal["cot", "da", "pot"] = "cot",
    data_dir: Path | None = None,
    model: str | None = None,
    reader_model: str | None = None,
    reader_base_url: list[str] | None = None,
    reader_key: str | None = None,
    out: Path | None = None,
    show_all: bool = False,
    as_json: bool = False,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/JSON/JSONL with id, ground_truth, model_response.

    Capabilities and choices that a file lacks are taken from the benchmark's own files, by id.

    Example: fin-tasks replay xfinbench --task calc --mode pot gpt-4o.csv --out results
    """
    from fin_tasks.benchmarks.xfinbench import VERSION, recording

    options = _options(None, reader_model, reader_base_url, reader_key)
    facts = {"style": {"mode": mode}, "scorer": VERSION}

    def score(file: Path) -> "list[SavedRun]":
        pairs = recording.read(file, task=task, mode=mode, data_dir=data_dir)
        name = recording.task_of([doc for doc, _ in pairs], mode)
        return _score_recording(file, name, pairs, options, facts)

    _replay(files, score, model, out, show_all=show_all, as_json=as_json)


@app.command("financemath")
def replay_financemath(
    files: list[Path],
    mode: Literal["cot", "pot"],
    model: str | None = None,
    reader_model: str | None = None,
    reader_base_url: list[str] | None = None,
    reader_key: str | None = None,
    out: Path | None = None,
    show_all: bool = False,
    as_json: bool = False,
) -> None:
    """Score FinanceMath responses: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples.

    Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results
    """
    from fin_tasks.benchmarks.financemath import VERSION, recording

    options = _options(None, reader_model, reader_base_url, reader_key)
    name = "financemath" if mode == "cot" else "financemath_pot"
    facts = {"mode": mode, "scorer": VERSION}

    def score(file: Path) -> "list[SavedRun]":
        return _score_recording(
            file, name, recording.read(file, mode=mode), options, facts
        )

    _replay(files, score, model, out, show_all=show_all, as_json=as_json)


def _score_recording(
    file: Path,
    task: str,
    pairs: "Sequence[tuple[Document, str]]",
    options: Facts,
    facts: Facts,
) -> "list[SavedRun]":
    """Score responses to documents that stand in the same file."""
    from fin_tasks.adapters.saved_run import score_documents
    from fin_tasks.benchmarks.contract import id_of
    from fin_tasks.benchmarks.scored_task import by_document
    from fin_tasks.report.recorded import questions_of

    docs, responses = by_document(pairs)
    provenance = {**facts, **questions_of(file, ids=map(id_of, docs))}
    return [score_documents(task, docs, responses, options, provenance)]


@app.command("dynostock")
def replay_dynostock(
    files: list[Path],
    model: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Score the authors' recordings of DynoStock (MODEL/exp_recency_4.json) and show the rows of Table 1.

    Example: fin-tasks replay dynostock recordings/ --out results
    """
    from fin_tasks.adapters.saved_run import SavedRun
    from fin_tasks.benchmarks.dynostock.experiment import by_window
    from fin_tasks.benchmarks.dynostock.replay import replay, rows_of

    scored = replay(files)
    facts = {"mode": "image", "arm": "signal", "anonymize": False}
    runs_by_folder: dict[Path, list[SavedRun]] = {}
    for recording, task in scored:
        folder = recording.file.resolve().parent
        runs_by_folder.setdefault(folder, []).append(SavedRun(task, facts, {}))
    for folder, runs in runs_by_folder.items():
        _write_runs(out, runs, model or folder.name)
    table = by_window(rows_of(scored, variant="paper"))
    if not as_json:
        columns = ["model", "bias", "window", "n"]
        for metric in ("acc", "bias_index"):
            columns += [metric, f"{metric}_std", f"{metric}_low", f"{metric}_high"]
        table = table.reindex(columns=columns)
    show({"windows": json.loads(table.to_json(orient="records"))}, as_json=as_json)


def _options(
    data_dir: Path | None,
    model: str | None,
    base_urls: list[str] | None,
    key: str | None,
) -> dict[str, Any]:
    """Return the metadata of a task that the usual options set."""
    options = {
        "data_dir": str(data_dir) if data_dir else None,
        "reader_model": model,
        "reader_base_url": base_urls or None,
        "reader_key": key,
    }
    return {name: value for name, value in options.items() if value is not None}


def _replay(
    files: Iterable[Path],
    score: "Callable[[Path], list[SavedRun]]",
    model: str | None,
    out: Path | None,
    *,
    show_all: bool,
    as_json: bool,
) -> None:
    """Score each file, write its run folder if the user named a place for it, and print its figures."""
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.benchmarks.summary import summary_of

    for file in files:
        runs = score(file)
        model_name = model or model_of(file)
        _write_runs(out, runs, model_name)
        facts = {
            name: fact for name, fact in runs[0].provenance.items() if name in _SHOWN
        }
        figures = summary_of([run.scored for run in runs])
        if "sandbox" in runs[0].metadata:
            figures["sandbox"] = runs[0].metadata["sandbox"]["tier"]
        summary = {"model": model_name, "file": str(file), **facts, **figures}
        show(summary, show_all=show_all, as_json=as_json)


def _write_runs(out: Path | None, runs: "Sequence[SavedRun]", model: str) -> None:
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


for _benchmark in all_benchmarks().values():
    if _benchmark.replay_tasks:
        _add_command(_benchmark)

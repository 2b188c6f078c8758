"""The `fin-tasks` command."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import fin_tasks
from fin_tasks.errors import ConfigError, FinTasksError

__all__ = ["app", "main"]

app = typer.Typer(
    name="fin-tasks",
    help="Finance benchmarks for lm-evaluation-harness.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _writable(path: Path | None) -> Path | None:
    """Find out before the work, not after it, that a file cannot be written."""
    if path is not None:
        try:
            path.open("a").close()
        except OSError as error:
            raise ConfigError(f"--items {path}: expected a file that can be written, got {error.strerror}.") from error
    return path


replay_app = typer.Typer(no_args_is_help=True, help="Score saved responses again, without a model.")
app.add_typer(replay_app, name="replay")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Items = Annotated[
    Path | None,
    typer.Option("--items", metavar="OUT.jsonl", help="Write one line per row here.", callback=_writable),
]
Responses = Annotated[Path, typer.Argument(metavar="FILE", help="Saved responses.")]


def main() -> None:
    """Run the command; errors of ours are printed without a traceback and end with status 1."""
    try:
        app()
    except FinTasksError as error:
        from fin_tasks.sandbox import escape  # a message may quote a stranger's file

        print("fin-tasks: error: " + "\n".join(map(escape, str(error).split("\n"))), file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("fin-tasks: stopped", file=sys.stderr)
        sys.exit(130)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        print(fin_tasks.__version__)
        raise typer.Exit


@app.command()
def path() -> None:
    """Print the folder with the task files, for `lm_eval --include_path`."""
    from fin_tasks.resources import task_yaml_dir

    print(task_yaml_dir())


@app.command(
    "lm-eval",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def lm_eval(context: typer.Context) -> None:
    """Run lm-eval's own command line with only our tasks indexed: the same options, a faster start."""
    from fin_tasks.adapters.lm_eval_cli import run

    run(context.args)


@app.command()
def doctor(
    benchmark: Annotated[str | None, typer.Argument(help="Check this benchmark's files, such as xfinbench.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the files; FIN_TASKS_DATA otherwise.")] = None,
    source: Annotated[str, typer.Option(help="auto, upstream, data_dir or sample.")] = "auto",
    as_json: Json = False,
) -> None:
    """Say what works here: harness, sandbox, model packages; and for a benchmark, its files, rows and defects."""
    from fin_tasks import doctor as checks

    if benchmark is None:
        checks.show_installation(as_json=as_json)
    else:
        checks.show_benchmark(benchmark, source=source, data_dir=data_dir, as_json=as_json)


@app.command()
def fetch(
    benchmark: Annotated[str, typer.Argument(help="xfinbench or financemath.")],
    verify: Annotated[bool, typer.Option("--verify", help="Only hash what is already here and compare.")] = False,
) -> None:
    """Download a benchmark's files into the cache, resuming where an earlier download stopped."""
    from fin_tasks import doctor as checks

    if verify:
        raise typer.Exit(0 if checks.verify_cache(benchmark) else 1)
    checks.fetch_all(benchmark)


@app.command()
def demo(
    model: Annotated[str | None, typer.Option(help="GGUF file or hub name; SmolLM2-135M-Instruct otherwise.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions per task.")] = 4,
    max_tokens: Annotated[int, typer.Option(min=8, help="Tokens a response may have.")] = 256,
    output: Annotated[Path, typer.Option(help="Folder for lm-eval's results and samples.")] = Path("results"),
) -> None:
    """Let a small language model answer the sample questions, offline, and show the scores."""
    from rich.console import Console

    from fin_tasks.demo import Demo, find_model

    Demo(model=model or str(find_model()), limit=limit, max_tokens=max_tokens, output=output).run(Console())


@replay_app.command("xfinbench")
def replay_xfinbench(
    file: Responses,
    task: Annotated[str, typer.Option(help="bool, mcq or calc.")],
    mode: Annotated[str, typer.Option(help="cot, da or pot (calc only: the responses are programs).")] = "cot",
    data_dir: Annotated[
        Path | None, typer.Option(help="XFinBench's files; adds capabilities and choices the file lacks, by id.")
    ] = None,
    as_json: Json = False,
    items: Items = None,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/JSONL with id, ground_truth, model_response."""
    from fin_tasks.benchmarks.xfinbench.replay import replay

    with _counting("Running programs" if mode == "pot" else None) as on_done:
        result = replay(file, task=task, mode=mode, data_dir=data_dir, on_done=on_done)
    _report(result, as_json=as_json, items=items)


@replay_app.command("financemath")
def replay_financemath(
    file: Responses,
    mode: Annotated[str, typer.Option(help="pot: the responses are programs.")] = "pot",
    as_json: Json = False,
    items: Items = None,
) -> None:
    """Run recorded FinanceMath programs again: JSON or JSONL with question_id, output, ground_truth."""
    from fin_tasks.benchmarks.financemath.replay import replay_pot
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings

    if mode != "pot":
        raise ConfigError(f"replay financemath --mode: expected pot, got {mode!r}.")
    settings = Settings.from_environ()
    with (
        _counting("Running programs") as on_done,
        open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner,
    ):
        result = replay_pot(file, runner=runner, on_done=on_done)
    _report(result, as_json=as_json, items=items)


@contextmanager
def _counting(what: str | None) -> Iterator[Callable[[int], None] | None]:
    """Count finished items on stderr, where that is a terminal."""
    if what is None:
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc=what, unit="program", disable=None) as bar:

        def advance(done: int) -> None:
            bar.update(done - bar.n)

        yield advance


def _report(result: Any, *, as_json: bool, items: Path | None) -> None:
    import json

    if items is not None:
        with items.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(item, allow_nan=False) + "\n" for item in result.items())
    if as_json:
        print(json.dumps(result.summary()))
        return
    from rich.console import Console

    from fin_tasks.doctor import summary_table

    Console().print(summary_table(result.summary()))


if __name__ == "__main__":
    main()

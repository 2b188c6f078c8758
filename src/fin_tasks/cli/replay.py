"""`fin-tasks replay`: score saved responses again, without a model."""

from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Items, Json, Responses, counting, report, sub_commands
from fin_tasks.errors import ConfigError

__all__ = ["app"]

app = sub_commands("Score saved responses again, without a model.")


@app.command("xfinbench")
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

    with counting("Running programs" if mode == "pot" else None, "program") as on_done:
        result = replay(file, task=task, mode=mode, data_dir=data_dir, on_done=on_done)
    report(result, as_json=as_json, items=items)


@app.command("financemath")
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
        counting("Running programs", "program") as on_done,
        open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner,
    ):
        result = replay_pot(file, runner=runner, on_done=on_done)
    report(result, as_json=as_json, items=items)

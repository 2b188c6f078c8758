"""`fin-tasks build xfinbench`: questions like XFinBench's, made by a model."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fin_tasks.settings import OPENAI, Settings

from .options import AsJson, AskedModel, BaseUrl, OutDir, Seed
from .output import exit_with, show


def build_xfinbench(
    table: Annotated[
        Path,
        typer.Option(
            "--from",
            metavar="CSV",
            help="id, source, chapter, question, answer, kinds.",
        ),
    ],
    model: AskedModel,
    out: OutDir,
    verify_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Another model to verify."),
    ] = None,
    upstream_prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The authors' construct_data/prompts, to ask in their words.",
        ),
    ] = None,
    ask_again: Annotated[
        bool,
        typer.Option(
            "--ask-again", help="Ask again where an earlier reply could not be used."
        ),
    ] = False,
    as_json: AsJson = False,
    base_url: BaseUrl = OPENAI,
    rules: Annotated[
        Literal["house", "paper"],
        typer.Option(help="What drops a question: our rules, or the authors'."),
    ] = "house",
    validation: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of sources in the validation split."),
    ] = 0.25,
    seed: Seed = 0,
) -> None:
    """Make questions like XFinBench's: a model writes and verifies them. A second run goes on where the first stopped.

    The status is 1 if every question was dropped.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from anyio.from_thread import start_blocking_portal

    from fin_tasks.benchmarks.xfinbench.construct.build import Maker
    from fin_tasks.benchmarks.xfinbench.construct.templates import load_templates
    from fin_tasks.endpoints.chat import Endpoint, open_chat

    settings = Settings.from_environ()
    templates = load_templates(upstream_prompts)
    asked_writer = Endpoint(model=model, base_url=(base_url,))
    asked_verifier = Endpoint(model=verify_model or model, base_url=(base_url,))

    async def build() -> dict[str, Any]:
        async with (
            open_chat(asked_writer, settings) as writer,
            open_chat(asked_verifier, settings) as verifier,
        ):
            maker = Maker(
                models={"writer": writer, "verifier": verifier},
                templates=templates,
                rules=rules,
                seed=seed,
                ask_again=ask_again,
            )
            return await maker.build(table, out, validation=validation)

    # Ctrl-C ends the loop in its thread, and with it all requests.
    with start_blocking_portal() as portal:
        report = portal.call(build)
    show(report, as_json)
    if report["kept"] == 0:
        exit_with(
            [
                f"build xfinbench: expected questions to keep, got {report['dropped']} that "
                f"were all dropped; {out / 'questions.jsonl'} says why. Take another model or "
                "other exercises, or --ask-again if replies could not be used."
            ]
        )

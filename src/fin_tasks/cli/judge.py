"""`fin-tasks judge`: have a judge score saved predictions."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.errors import ConfigError

from .options import AsJson, ColumnNames, OutDir, Strict
from .output import show, warn


def judge(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Saved responses in any form, such as VLMEvalKit's predictions.",
        ),
    ],
    rubric: Annotated[
        str,
        typer.Option(
            metavar="NAME|YAML",
            help="The rubric: mme_finance_en, mme_finance_zh, upstream, or a YAML file.",
        ),
    ],
    *,
    judge_model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="The model to ask."),
    ] = None,
    judge_base_url: Annotated[
        list[str] | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="OpenAI-compatible address of the model; repeatable.",
        ),
    ] = None,
    judge_key: Annotated[
        str | None,
        typer.Option(
            "--key-env",
            metavar="VARIABLE",
            help="The environment variable with the key; its name ends in _KEY.",
            show_default="OPENAI_API_KEY",
        ),
    ] = None,
    judge_concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            help="Number of requests at the same time.",
            show_default="32",
        ),
    ] = None,
    judge_requests_per_minute: Annotated[
        int | None,
        typer.Option(
            "--requests-per-minute",
            help="The largest number of requests in a minute.",
            show_default="no limit",
        ),
    ] = None,
    judge_timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            help="Seconds that a request may take.",
            show_default="120",
        ),
    ] = None,
    judge_max_failed: Annotated[
        float | None,
        typer.Option(
            "--max-failed",
            help="Share of failed responses above which the command ends with an error.",
            show_default="0.2",
        ),
    ] = None,
    judge_prices: Annotated[
        Path | None,
        typer.Option(
            "--token-prices",
            metavar="FILE",
            help="YAML: prices of models' tokens.",
        ),
    ] = None,
    judge_picture: Annotated[
        bool,
        typer.Option("--image/--no-image", help="Show the judge the pictures."),
    ] = True,
    image_root: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the pictures.",
            show_default="that of FILE",
        ),
    ] = None,
    batch: Annotated[
        Literal["submit", "status", "collect", "wait"] | None,
        typer.Option(
            help="Judge by a batch, which costs half the price: one step of it, or wait for its end."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Count requests, tokens and cost, and ask nothing."
        ),
    ] = False,
    as_json: AsJson = False,
    language: Annotated[
        str, typer.Option(help="Language of the rubric upstream: en or zh.")
    ] = "en",
    out: OutDir = Path("results"),
    columns: ColumnNames = "",
    strict: Strict = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed or could not be read.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.mme_finance.score import rubric_named
    from fin_tasks.judging.batch import PRICE_SHARE, judge_by_batch
    from fin_tasks.judging.batch_state import read_state
    from fin_tasks.judging.estimate import estimate
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items
    from fin_tasks.saved.columns import read_columns
    from fin_tasks.saved.judged import read_predictions, write_judged_run
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    options = {
        "judge_model": judge_model,
        "judge_base_url": judge_base_url,
        "judge_key": judge_key,
        "judge_concurrency": judge_concurrency,
        "judge_requests_per_minute": judge_requests_per_minute,
        "judge_timeout": judge_timeout,
        "judge_max_failed": judge_max_failed,
        "judge_prices": judge_prices,
        "judge_picture": judge_picture,
    }
    asked_model = judge_from(options, settings)
    assert asked_model  # noqa: S101 - with options, a missing model is an error
    if batch and len(asked_model.base_url) > 1:
        raise ConfigError(
            "--batch: expected one address, got more. A batch goes to one server."
        )
    rules = rubric_named(rubric, language=language)
    predictions = read_predictions(
        file,
        rules,
        settings=settings,
        image_root=image_root,
        pictures=judge_picture,
        columns=read_columns(columns),
        strict=strict,
    )
    items = predictions.items
    if asked_model.key not in settings.api_keys:
        warn(f"no key, as {asked_model.key} is not set")
    if batch and asked_model.prices:
        prices = asked_model.prices.model_copy(update={"share": PRICE_SHARE})
        asked_model = asked_model.model_copy(update={"prices": prices})
    if dry_run:
        show(estimate(items, rules, asked_model, settings), as_json)
        return
    if batch:
        state = read_state(out / "batch.json", asked_model, rules)
        seen_before = {"usage": state.usage, "refused": state.refused}
        asked_model = asked_model.model_copy(update=seen_before)
        judged, figures = judge_by_batch(
            batch, items, rules, asked_model, state, settings
        )
        if judged is None:
            show(figures, as_json)
            return
    else:
        judged = judge_items(items, rules, asked_model, settings=settings)
    check_failures(judged, rules, max_failed=1)
    summary = write_judged_run(predictions, judged, rules, asked_model, out)
    show(summary, as_json)
    if summary["unscored"]:
        warn(f"warning: {summary['unscored']} of {len(items)} responses are unscored")
    check_failures(judged, rules, asked_model.max_failed)

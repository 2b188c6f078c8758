"""`fin-tasks judge`: have a judge score saved predictions."""

from pathlib import Path
from typing import Literal

from fin_tasks.cli.options import say, show
from fin_tasks.errors import ConfigError

_MAX_UNSCORED = 0.02


def judge(
    file: Path,
    rubric: str,
    model: list[str] | None = None,
    base_url: list[str] | None = None,
    key_env: str | None = None,
    concurrency: int | None = None,
    requests_per_minute: int | None = None,
    timeout: float | None = None,
    max_failed: float | None = None,
    language: str = "en",
    image_root: Path | None = None,
    no_image: bool = False,
    token_prices: Path | None = None,
    batch: Literal["submit", "status", "collect", "wait"] | None = None,
    dry_run: bool = False,
    out: Path = Path("results"),
    as_json: bool = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
    from fin_tasks.endpoints.batches import PRICE_SHARE
    from fin_tasks.judging.batch import BatchJudge, read_state
    from fin_tasks.judging.estimate import estimate
    from fin_tasks.judging.item import no_response
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.judged_run import predictions_of, write_judged_run
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    options = {
        "judge_model": model,
        "judge_base_url": base_url,
        "judge_key": key_env,
        "judge_concurrency": concurrency,
        "judge_requests_per_minute": requests_per_minute,
        "judge_timeout": timeout,
        "judge_max_failed": max_failed,
        "judge_picture": not no_image,
        "judge_prices": token_prices,
    }
    asked_model = judge_from(options, settings)
    assert asked_model is not None  # noqa: S101 - with options, a missing model is an error
    if batch and (asked_model.judges or len(asked_model.base_url) > 1):
        expected = "expected one judge at one address, got more"
        raise ConfigError(f"--batch: {expected}. A batch goes to one server.")
    rules = rubric_named(rubric, language=language)
    items, rows = read_items(
        file, settings=settings, image_root=image_root, pictures=not no_image
    )
    for item in items:
        rules.check(item.category)
    predictions = predictions_of(file, rows, rules)
    if asked_model.key not in settings.api_keys:
        say(f"fin-tasks: no key, as {asked_model.key} is not set", error=True)
    if batch and asked_model.prices:
        prices = asked_model.prices.model_copy(update={"share": PRICE_SHARE})
        asked_model = asked_model.model_copy(update={"prices": prices})
    if dry_run:
        show(estimate(items, rules, asked_model, settings), as_json=as_json)
        return
    if batch:
        path = out / "batch.json"
        state = read_state(path, asked_model.facts(rules))
        asked_model = asked_model.model_copy(update={"usage": state.usage})
        with asked_model.chat(settings) as chat:
            batch_judge = BatchJudge(chat, asked_model, rules, path, state)
            if batch == "status":
                show({"batch": batch_judge.progress()}, as_json=as_json)
                return
            judged = batch_judge.run(batch, items)
        if judged is None:
            show({**batch_judge.facts(), **asked_model.spent()}, as_json=as_json)
            return
    else:
        judged = judge_items(items, rules, asked_model, settings=settings)
    check_failures(judged, rules, max_failed=1)
    summary = write_judged_run(predictions, judged, rules, asked_model, out)
    show(summary, as_json=as_json)
    unscored = summary["unscored"]
    if unscored > _MAX_UNSCORED * len(rows):
        missing = sum(bool(no_response(item.response)) for item in items)
        reason = f"{missing} rows have no response, which `paper` scores as 0"
        text = f"{unscored} of {len(rows)} responses are unscored; {reason}"
        say(f"warning: {text}", error=True)
    check_failures(judged, rules, asked_model.max_failed)

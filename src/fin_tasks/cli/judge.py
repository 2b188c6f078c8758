"""`fin-tasks judge`: have a judge score saved predictions."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.errors import ConfigError

from .options import show, warn


@dataclass(frozen=True)
class JudgeOptions:
    """The judge, as the metadata of a task name it."""

    judge_model: list[str] | None
    judge_base_url: list[str] | None
    judge_key: str | None
    judge_concurrency: int | None
    judge_requests_per_minute: int | None
    judge_timeout: float | None
    judge_max_failed: float | None
    judge_prices: Path | None
    judge_picture: bool = True


def judge(
    file: Path,
    rubric: str,
    options: JudgeOptions,
    image_root: Path | None,
    batch: Literal["submit", "status", "collect", "wait"] | None,
    dry_run: bool,
    as_json: bool,
    language: str = "en",
    out: Path = Path("results"),
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
    from fin_tasks.endpoints.batches import PRICE_SHARE
    from fin_tasks.judging.batch import BatchJudge, read_state
    from fin_tasks.judging.estimate import estimate
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.judged_run import predictions_of, write_judged_run
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    asked_model = judge_from(asdict(options), settings)
    assert asked_model  # noqa: S101 - with options, a missing model is an error
    if batch and (asked_model.judges or len(asked_model.base_url) > 1):
        raise ConfigError(
            "--batch: expected one judge at one address, got more. A batch goes to one server."
        )
    rules = rubric_named(rubric, language=language)
    items, rows = read_items(
        file, settings=settings, image_root=image_root, pictures=options.judge_picture
    )
    for item in items:
        rules.check(item.category)
    predictions = predictions_of(file, rows, rules)
    if asked_model.key not in settings.api_keys:
        warn(f"no key, as {asked_model.key} is not set")
    if batch and asked_model.prices:
        prices = asked_model.prices.model_copy(update={"share": PRICE_SHARE})
        asked_model = asked_model.model_copy(update={"prices": prices})
    if dry_run:
        show(estimate(items, rules, asked_model, settings), as_json)
        return
    if batch:
        path = out / "batch.json"
        state = read_state(path, asked_model.facts(rules))
        asked_model = asked_model.model_copy(update={"usage": state.usage})
        with asked_model.chat(settings) as chat:
            batch_judge = BatchJudge(chat, asked_model, rules, path, state)
            if batch == "status":
                show({"batch": batch_judge.progress()}, as_json)
                return
            judged = batch_judge.run(batch, items)
        if judged is None:
            show({**batch_judge.facts(), **asked_model.spent()}, as_json)
            return
    else:
        judged = judge_items(items, rules, asked_model, settings=settings)
    check_failures(judged, rules, max_failed=1)
    summary = write_judged_run(predictions, judged, rules, asked_model, out)
    show(summary, as_json)
    if summary["unscored"]:
        warn(f"warning: {summary['unscored']} of {len(rows)} responses are unscored")
    check_failures(judged, rules, asked_model.max_failed)

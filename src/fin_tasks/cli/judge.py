"""`fin-tasks judge`: have a judge score saved predictions."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Concurrency, Json, KeyVariable, Model, NewFolder, TokenPrices, show

if TYPE_CHECKING:
    from fin_tasks.benchmarks.scored_task import ScoredTask
    from fin_tasks.judging.item import Judged
    from fin_tasks.judging.rubric import Rubric

__all__ = ["judge"]

_MOST_UNSCORED = 0.02


def judge(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="VLMEvalKit's predictions, lm-eval's samples_*.jsonl, or JSON lines.")
    ],
    rubric: Annotated[
        str, typer.Option(metavar="NAME|YAML", help="mme_finance_en, mme_finance_zh, upstream, or a file.")
    ],
    model: Model = None,
    base_url: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="OpenAI-compatible address of the model; repeatable.")
    ] = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    language: Annotated[str, typer.Option(help="Language of rows that do not name one: en or zh.")] = "en",
    image_root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder that picture paths start from.", show_default="FILE's")
    ] = None,
    no_image: Annotated[bool, typer.Option("--no-image", help="Show the judge no pictures.")] = False,
    concurrency: Concurrency = 32,
    rpm: Annotated[int | None, typer.Option(min=1, help="Most requests a minute.")] = None,
    token_prices: TokenPrices = None,
    out: NewFolder = Path("results"),
    as_json: Json = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.data.fetch import sha256_of
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items, read_prices
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.run_folder import write_run
    from fin_tasks.settings import Settings
    from fin_tasks.stats.averages import average_or_none

    settings = Settings.from_environ()
    options = {
        "judge_model": model,
        "judge_base_url": base_url,
        "judge_key": key_variable,
        "judge_concurrency": concurrency,
        "judge_requests_per_minute": rpm,
        "judge_picture": not no_image,
        "judge_prices": read_prices(token_prices) if token_prices else None,
    }
    asked = judge_from(options, settings)
    assert asked is not None  # noqa: S101 - options are given, so a missing model is an error
    rules = rubric_named(rubric, language=language)
    items, rows = read_items(file, language=language, settings=settings, image_root=image_root, pictures=not no_image)
    for item in items:
        rules.check(item.category)
    judged = judge_items(items, rules, asked, settings=settings)
    docs = [{"id": row["index"], **{k: v for k, v in row.items() if k != "prediction"}} for row in rows]
    scored = _scored(docs, judged, rules)
    named = {row["model"] for row in rows if row.get("model")}
    folders = [one.name for one in file.resolve().parents if one.name and file.name.startswith(f"{one.name}_")]
    whose = named.pop() if len(named) == 1 else folders[0] if folders else model_of(file)
    provenance = {rules.name: {"file": file.name, "file_sha256": sha256_of(file)}}
    metadata = {"judge": {**asked.facts(rules), "usage": asked.spent()}}
    path = write_run(out, [scored], model=whose, made_by="fin-tasks judge", provenance=provenance, metadata=metadata)
    paper, robust = ([one["score"] for one in scored.values[variant]] for variant in ("paper", "robust"))

    def means(labels: Iterable[str]) -> dict[str, float | None]:
        pairs = list(zip(labels, paper, strict=True))
        return {name: average_or_none(score for of, score in pairs if of == name) for name, _ in pairs if name}

    found = {
        "n": len(rows),
        "unscored": robust.count(None),
        "overall": average_or_none(paper),
        "overall_robust": average_or_none(robust),
        "by_category": means(item.category for item in items),
        "by_type": means(row.get("image_type", "") for row in rows),
        "by_style": means(row.get("image_style", "") for row in rows),
        **asked.spent(),
        **{"judge": asked.model, "rubric": rules.label, "rubric_sha256": rules.sha256},
        **{"model": whose, "results": str(path)},
    }
    show(found, as_json=as_json)
    if found["unscored"] > _MOST_UNSCORED * len(rows):
        print(f"warning: {found['unscored']} of {len(rows)} responses are unscored", file=sys.stderr)
    check_failures(judged, rules, asked.max_failed)


def _scored(docs: Sequence[Any], judged: "Sequence[Judged]", rules: "Rubric") -> "ScoredTask":
    """Read the judge's replies under both variants."""
    from fin_tasks.benchmarks.scored_task import VARIANTS, ScoredTask
    from fin_tasks.judging.item import response_sha256

    readings: dict[str, list[list[Any]]] = {variant: [] for variant in VARIANTS}
    values: dict[str, list[dict[str, float | None]]] = {variant: [] for variant in VARIANTS}
    for one in judged:
        kept = {"replies": [reply.text for reply in one.replies], "response_sha256": response_sha256(one.response)}
        for variant in VARIANTS:
            verdict = rules.read(one, variant=variant)
            points = verdict.score["overall"] if isinstance(verdict.score, dict) else verdict.score
            reading = {"variant": variant, "answer": points, "reason": verdict.reason, "unscored": points is None}
            readings[variant].append([{**reading, **kept}])
            percent = None if points is None else 100 * (points - rules.lowest) / (rules.highest - rules.lowest)
            values[variant].append({"score": percent, "unscored": float(points is None)})
    return ScoredTask(
        name=rules.name,
        docs=docs,
        responses=[[one.response] for one in judged],
        readings=readings,
        values=values,
        metrics={"score": True, "unscored": False},
    )

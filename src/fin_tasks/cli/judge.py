"""`fin-tasks judge`: have a judge score saved predictions."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Json, Model, NewFolder, TokenPrices, show

_MOST_UNSCORED = 0.02


def judge(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="VLMEvalKit's predictions, samples_*.jsonl, or JSON."),
    ],
    rubric: Annotated[
        str,
        typer.Option(
            metavar="NAME|YAML", help="mme_finance_en, mme_finance_zh, upstream, or a file."
        ),
    ],
    model: Model = None,
    base_url: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="Address of the model; repeatable.")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Language of the rubric upstream: en or zh.")
    ] = "en",
    image_root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the pictures, else FILE's.")
    ] = None,
    no_image: Annotated[
        bool, typer.Option("--no-image", help="Show the judge no pictures.")
    ] = False,
    token_prices: TokenPrices = None,
    out: NewFolder = Path("results"),
    as_json: Json = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.mme_finance.judged import score_judged
    from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.data.files import sha256_of
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.recorded import questions_of
    from fin_tasks.report.run_folder import write_run
    from fin_tasks.settings import Settings
    from fin_tasks.stats.averages import average_or_none

    settings = Settings.from_environ()
    options = {
        "model": model,
        "base_url": base_url,
        "picture": not no_image,
        "prices": token_prices,
    }
    asked = judge_from({f"judge_{name}": value for name, value in options.items()}, settings)
    assert asked is not None  # noqa: S101 - options are given, so a missing model is an error
    rules = rubric_named(rubric, language=language)
    items, rows = read_items(file, settings=settings, image_root=image_root, pictures=not no_image)
    for item in items:
        rules.check(item.category)
    judged = judge_items(items, rules, asked, settings=settings)
    docs = [
        {"id": row["index"], **{k: v for k, v in row.items() if k != "prediction"}} for row in rows
    ]
    scored = score_judged(rules, docs, judged)
    named = {row["model"] for row in rows if row.get("model")}
    folders = [
        one.name
        for one in file.resolve().parents
        if one.name and file.name.startswith(f"{one.name}_")
    ]
    whose = named.pop() if len(named) == 1 else folders[0] if folders else model_of(file)
    questions = questions_of(file)
    facts = {"file": file.name, "file_sha256": sha256_of(file), **questions}
    provenance = {rules.name: facts}
    metadata = {"judge": {**asked.facts(rules), "usage": asked.spent()}}
    path = write_run(
        out,
        [scored],
        model=whose,
        made_by="fin-tasks judge",
        provenance=provenance,
        metadata=metadata,
    )
    paper, robust = (
        [one["score"] for one in scored.values[variant]] for variant in ("paper", "robust")
    )

    def means(labels: Iterable[str]) -> dict[str, float | None]:
        pairs = list(zip(labels, paper, strict=True))
        return {
            name: average_or_none(score for of, score in pairs if of == name)
            for name, _ in pairs
            if name
        }

    unscored = robust.count(None)
    found = {
        "n": len(rows),
        "unscored": unscored,
        **questions,
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
    if unscored > _MOST_UNSCORED * len(rows):
        print(f"warning: {unscored} of {len(rows)} responses are unscored", file=sys.stderr)
    check_failures(judged, rules, asked.max_failed)

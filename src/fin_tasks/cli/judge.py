"""`fin-tasks judge`: have a judge score saved predictions."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Concurrency, Json, KeyVariable, Model, NewFolder, Prices, counting, print_table

if TYPE_CHECKING:
    from fin_tasks.benchmarks.scored_task import ScoredTask
    from fin_tasks.judging.item import Judged
    from fin_tasks.judging.rubric import Rubric

__all__ = ["judge"]

_GROUPS = {"by_category": ("task_category", "category"), "by_type": ("image_type",), "by_style": ("image_style",)}
_MOST_UNSCORED = 0.02


def judge(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="VLMEvalKit's predictions, lm-eval's samples_*.jsonl, or JSON lines.")
    ],
    rubric: Annotated[str, typer.Option(metavar="R", help="mme_finance_en, mme_finance_zh, upstream, or a YAML file.")],
    model: Model = None,
    base_url: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="OpenAI-compatible address; one for each replica.")
    ] = None,
    out: NewFolder = Path("results"),
    key_variable: KeyVariable = "OPENAI_API_KEY",
    language: Annotated[str, typer.Option(help="Language of rows that do not name one: en or zh.")] = "en",
    task: Annotated[str | None, typer.Option(help="Name of the task in the results; the rubric's by default.")] = None,
    image_root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder that picture paths start from.")
    ] = None,
    no_image: Annotated[bool, typer.Option("--no-image", help="Show the judge no pictures.")] = False,
    concurrency: Concurrency = 32,
    rpm: Annotated[int | None, typer.Option(min=1, help="Most requests a minute.")] = None,
    max_failed: Annotated[float, typer.Option(help="Share of responses that the judge may fail on.")] = 0.2,
    prices: Prices = None,
    as_json: Json = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    The judge is --model, else FIN_TASKS_JUDGE_MODEL, at --base-url, else FIN_TASKS_JUDGE_BASE_URL.
    """
    from fin_tasks.benchmarks.mme_finance.upstream_judge import rubric_named
    from fin_tasks.data.fetch import sha256_of
    from fin_tasks.judging.judge import check_failures, judge_from, judge_items, read_prices
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.run_folder import write_run
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    rules = rubric_named(rubric, language=language)
    named = {"judge_model": model, "judge_base_url": base_url, "judge_key": key_variable}
    limits = {"judge_concurrency": concurrency, "judge_requests_per_minute": rpm, "judge_max_failed": max_failed}
    more = {"judge_picture": not no_image, "judge_prices": read_prices(prices) if prices else None}
    asked = judge_from({**named, **limits, **more}, settings)
    assert asked is not None  # noqa: S101 - options are given, so a missing model is an error
    items, rows = read_items(file, language=language, settings=settings, image_root=image_root, pictures=not no_image)
    for item in items:
        rules.check(item.category)
    with counting("Judging", "response", total=len(items)) as on_done:
        judged = judge_items(items, rules, asked, settings=settings, on_done=on_done)
    scored, whose = _scored(task or rules.name, rows, judged, rules), _model(file, rows)
    provenance = {scored.name: {"file": file.name, "file_sha256": sha256_of(file)}}
    metadata = {"judge": {**asked.facts(rules), "usage": asked.spent()}}
    path = write_run(out, [scored], model=whose, made_by="fin-tasks judge", provenance=provenance, metadata=metadata)
    found = {**_summary(rows, scored), **asked.spent(), "judge": asked.model, "rubric": rules.label}
    found |= {"rubric_sha256": rules.sha256, "model": whose, "results": str(path)}
    print(json.dumps(found)) if as_json else _show(found)
    if found["unscored"] > _MOST_UNSCORED * found["n"]:
        print(f"warning: {found['unscored']} of {found['n']} responses are unscored", file=sys.stderr)
    check_failures(judged, rules, max_failed)


def _scored(task: str, rows: Sequence[Mapping[str, str]], judged: "Sequence[Judged]", rules: "Rubric") -> "ScoredTask":
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
        name=task,
        docs=[{"id": row["index"], **{k: v for k, v in row.items() if k != "prediction"}} for row in rows],
        responses=[[row["prediction"]] for row in rows],
        readings=readings,
        values=values,
        metrics={"score": True, "unscored": False},
    )


def _model(file: Path, rows: Sequence[Mapping[str, str]]) -> str:
    from fin_tasks.benchmarks.scored_task import model_of

    named = {row.get("model", "") for row in rows} - {""}
    folders = [one.name for one in file.resolve().parents if one.name and file.name.startswith(f"{one.name}_")]
    return named.pop() if len(named) == 1 else folders[0] if folders else model_of(file)


def _summary(rows: Sequence[Mapping[str, str]], scored: "ScoredTask") -> dict[str, Any]:
    """Return means of the variant `paper`, and how many responses `robust` leaves unscored."""
    from fin_tasks.stats.averages import average_or_none

    paper, robust = ([one["score"] for one in scored.values[variant]] for variant in ("paper", "robust"))
    found: dict[str, Any] = {"n": len(rows), "unscored": robust.count(None)}
    found |= {"overall": average_or_none(paper), "overall_robust": average_or_none(robust)}
    for name, columns in _GROUPS.items():
        groups: dict[str, list[float | None]] = {}
        for row, one in zip(rows, paper, strict=True):
            groups.setdefault(next((row[column] for column in columns if row.get(column)), ""), []).append(one)
        found[name] = {label: average_or_none(of) for label, of in groups.items() if label}
    return found


def _show(found: Mapping[str, Any]) -> None:
    from fin_tasks.sandbox import escape

    means = {"overall": found["overall"], **found["by_category"], **found["by_type"], **found["by_style"]}
    rows = [[label, "–" if score is None else f"{score:.2f}"] for label, score in means.items()]
    print_table(f"{found['rubric']}, percent", ("", "paper"), rows)
    cost = f", cost {found['cost']:.2f}" if "cost" in found else ""
    tokens = f"{found['prompt_tokens']} + {found['completion_tokens']} tokens{cost}"
    print(f"{found['n']} responses, {found['unscored']} unscored; {found['requests']} requests, {tokens}")
    print(escape(found["results"]))

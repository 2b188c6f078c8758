"""`fin-tasks judge`: have a judge score saved predictions."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fin_tasks.cli.options import Json
from fin_tasks.errors import ConfigError

__all__ = ["judge"]

_GROUPS = {"by_category": ("task_category", "category"), "by_type": ("image_type",), "by_style": ("image_style",)}
_MOST_UNSCORED = 0.02


def judge(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="VLMEvalKit's predictions, lm-eval's samples_*.jsonl, or JSON lines.")
    ],
    rubric: Annotated[str, typer.Option(metavar="R", help="mme_finance_en, mme_finance_zh, upstream, or a YAML file.")],
    model: Annotated[str | None, typer.Option(metavar="M", help="The judge, else FIN_TASKS_JUDGE_MODEL.")] = None,
    base_url: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="OpenAI-compatible address; give it again for each replica of the judge."),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write a run folder in lm-eval's format here.")] = Path(
        "results"
    ),
    key_variable: Annotated[str, typer.Option(help="Environment variable with the judge's key.")] = "OPENAI_API_KEY",
    language: Annotated[str, typer.Option(help="Language of rows that do not name one: en or zh.")] = "en",
    task: Annotated[str | None, typer.Option(help="Name of the task in the results; the rubric's by default.")] = None,
    image_root: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder that picture paths start from.")
    ] = None,
    no_image: Annotated[bool, typer.Option("--no-image", help="Show the judge no pictures.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at the same time.")] = 32,
    rpm: Annotated[int | None, typer.Option(min=1, help="Most requests a minute.")] = None,
    max_failed: Annotated[float, typer.Option(help="Share of responses that the judge may fail on.")] = 0.2,
    prices: Annotated[Path | None, typer.Option(help="YAML file: date, prompt, completion (a million tokens).")] = None,
    as_json: Json = False,
) -> None:
    """Have a judge score saved predictions by a rubric. A second run asks only for what failed.

    Example: fin-tasks judge gpt4o_MMEFinance.xlsx --rubric mme_finance_en --model gpt-4o --out results
    """
    from tqdm import tqdm

    from fin_tasks.benchmarks.mme_finance.upstream_judge import rubric_named
    from fin_tasks.data.fetch import sha256_of
    from fin_tasks.judging.judge import check_failures, judge_items, judge_model, read_prices
    from fin_tasks.judging.saved import read_items
    from fin_tasks.report.run_folder import write_run
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    if not (name := model or settings.judge_model):
        raise ConfigError("judge: expected --model or FIN_TASKS_JUDGE_MODEL, got neither.")
    rules = rubric_named(rubric, language=language)
    asked = judge_model(
        model=name,
        base_urls=[url.strip().rstrip("/") for url in base_url or settings.judge_base_urls],
        key_variable=key_variable,
        concurrency=concurrency,
        requests_per_minute=rpm,
        max_failed=max_failed,
        picture=not no_image,
        prices=read_prices(prices) if prices else None,
    )
    items, rows = read_items(file, language=language, settings=settings, image_root=image_root, pictures=not no_image)
    for item in items:
        rules.check(item.category)
    with tqdm(total=len(items), desc="Judging", unit="response", disable=None) as bar:
        judged = judge_items(items, rules, asked, settings=settings, on_done=lambda done: bar.update(done - bar.n))
    verdicts = {v: [rules.read(one, variant=v) for one in judged] for v in ("paper", "robust")}
    points = {
        v: [one.score["overall"] if isinstance(one.score, dict) else one.score for one in of]
        for v, of in verdicts.items()
    }
    percent = {
        v: [None if x is None else 100 * (x - rules.lowest) / (rules.highest - rules.lowest) for x in of]
        for v, of in points.items()
    }
    whose = _model(file, rows)
    path = write_run(
        out,
        [_scored(task or rules.name, rows, judged, verdicts, points, percent)],
        model=whose,
        made_by="fin-tasks judge",
        provenance={task or rules.name: {"file": file.name, "file_sha256": sha256_of(file)}},
        metadata={"judge": {**asked.facts(rules), "usage": asked.spent()}},
    )
    found = {**_summary(rows, percent), **asked.spent(), "judge": name, "rubric": rules.label}
    found |= {"rubric_sha256": rules.sha256, "model": whose, "results": str(path)}
    print(json.dumps(found)) if as_json else _show(found)
    if found["unscored"] > _MOST_UNSCORED * found["n"]:
        print(f"warning: {found['unscored']} of {found['n']} responses are unscored", file=sys.stderr)
    check_failures(judged, rules, max_failed)


def _scored(
    task: str,
    rows: Sequence[Mapping[str, str]],
    judged: Sequence[Any],
    verdicts: Mapping[str, Sequence[Any]],
    points: Mapping[str, Sequence[Any]],
    percent: Mapping[str, Sequence[float | None]],
) -> Any:
    from fin_tasks.benchmarks.scored_task import ScoredTask
    from fin_tasks.judging.item import response_sha256

    def reading(variant: str, one: Any, verdict: Any, answer: Any) -> dict[str, Any]:
        told = {"answer": answer, "reason": verdict.reason, "unscored": verdict.score is None}
        told |= {"replies": [reply.text for reply in one.replies], "response_sha256": response_sha256(one.response)}
        return {"variant": variant, **told}

    return ScoredTask(
        name=task,
        docs=[{"id": row["index"], **{k: v for k, v in row.items() if k != "prediction"}} for row in rows],
        responses=[[row["prediction"]] for row in rows],
        readings={
            v: [[reading(v, *of_row)] for of_row in zip(judged, of, points[v], strict=True)]
            for v, of in verdicts.items()
        },
        values={v: [{"score": x, "unscored": float(x is None)} for x in of] for v, of in percent.items()},
        metrics={"score": True, "unscored": False},
    )


def _model(file: Path, rows: Sequence[Mapping[str, str]]) -> str:
    from fin_tasks.benchmarks.scored_task import model_of

    named = {row.get("model", "") for row in rows} - {""}
    folders = [one.name for one in file.resolve().parents if one.name and file.name.startswith(f"{one.name}_")]
    return named.pop() if len(named) == 1 else folders[0] if folders else model_of(file)


def _summary(rows: Sequence[Mapping[str, str]], percent: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """Return means of the variant `paper`, and how many responses `robust` leaves unscored."""
    from fin_tasks.stats.averages import average_or_none

    found: dict[str, Any] = {"n": len(rows), "unscored": list(percent["robust"]).count(None)}
    found |= {"overall": average_or_none(percent["paper"]), "overall_robust": average_or_none(percent["robust"])}
    for name, columns in _GROUPS.items():
        groups: dict[str, list[float | None]] = {}
        for row, one in zip(rows, percent["paper"], strict=True):
            groups.setdefault(next((row[column] for column in columns if row.get(column)), ""), []).append(one)
        found[name] = {label: average_or_none(of) for label, of in groups.items() if label}
    return found


def _show(found: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from fin_tasks.sandbox import escape as printable

    table = Table("", "score (paper)", box=None)
    for name in ("overall", *_GROUPS):
        groups = found[name] if isinstance(found[name], dict) else {name: found[name]}
        for label, score in groups.items():
            table.add_row(escape(printable(label)), "–" if score is None else f"{score:.2f}")
    console = Console(highlight=False)
    console.print(table)
    cost = f", cost {found['cost']:.2f}" if "cost" in found else ""
    tokens = f"{found['prompt_tokens']} + {found['completion_tokens']} tokens{cost}"
    console.print(f"{found['n']} responses, {found['unscored']} unscored; {found['requests']} requests, {tokens}")
    console.print(escape(found["results"]))

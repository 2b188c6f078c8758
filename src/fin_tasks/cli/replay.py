"""`fin-tasks replay`: score saved responses again, without a model."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.cli.options import DataDir, Json, KeyVariable, Model, Out, counting, print_table, sub_commands
from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI

if TYPE_CHECKING:
    import pandas as pd

    from fin_tasks.benchmarks.scored_task import ScoredTask

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, one model a file.")]

app = sub_commands("Score saved responses again, without a model.")


@app.command("xfinbench", epilog="Example: fin-tasks replay xfinbench --task calc --mode pot gpt-4o.csv --out results")
def replay_xfinbench(
    files: Files,
    task: Annotated[str, typer.Option(help="bool, mcq or calc.")],
    mode: Annotated[str, typer.Option(help="cot or da: the responses are words; pot: they are programs.")] = "cot",
    data_dir: DataDir = None,
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/TSV/JSON with id, ground_truth, model_response.

    Capabilities and choices that a file lacks are taken from the benchmark's own files, by id.
    """
    from fin_tasks.benchmarks.scored_task import by_document
    from fin_tasks.benchmarks.xfinbench import recording
    from fin_tasks.benchmarks.xfinbench.data import SCORER_VERSION

    summaries = []
    for file in files:
        docs, responses = by_document(recording.read(file, task=task, mode=mode, data_dir=data_dir))
        subsets = {doc["subset"] for doc in docs}
        subset = subsets.pop() if len(subsets) == 1 else "mcq"  # with figures and without
        name = f"xfinbench_{subset}" + ("" if mode == "cot" else f"_{mode}")
        scored, tier = _score("xfinbench", name, docs, responses, {"subset": subset, "mode": mode})
        summaries.append(recording.summary(scored, tier=tier["tier"] if tier else None))
        _write(out, [scored], model or file, {"style": {"mode": mode}, "scorer": SCORER_VERSION}, sandbox=tier)
    _show(summaries, as_json=as_json)


@app.command("financemath", epilog="Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results")
def replay_financemath(
    files: Files,
    mode: Annotated[Literal["cot", "pot"], typer.Option(help="cot: words; pot: programs.")] = "pot",
    judge_model: Annotated[
        str | None, typer.Option(help="cot: a chat model that reads the responses the rules cannot read.")
    ] = None,
    judge_base_url: Annotated[str, typer.Option(help="Its OpenAI-compatible address.")] = OPENAI,
    judge_key: KeyVariable = "OPENAI_API_KEY",
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score FinanceMath responses: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples."""
    from fin_tasks.benchmarks.financemath.recording import read, summary
    from fin_tasks.benchmarks.scored_task import by_document, model_of

    if judge_model is not None and mode == "pot":
        raise ConfigError("replay financemath --judge-model: expected --mode cot, got pot. Programs are run, not read.")
    judge = {"model": judge_model, "reads": "missing"} if judge_model else None
    name, summaries = "financemath" if mode == "cot" else "financemath_pot", []
    for file in files:
        docs, texts = by_document(read(file, mode=mode))
        given = _judged(docs, texts, judge_model, judge_base_url, judge_key) if judge_model else texts
        scored, tier = _score("financemath", name, docs, given, {"mode": mode})
        programs = sum("def solution" in text for of in texts for text in of)
        if (2 * programs > len(texts)) if mode == "cot" else not programs:
            print(f"fin-tasks: {programs} responses define solution(). Is --mode {mode} right?", file=sys.stderr)
        summaries.append(summary(docs, scored.values, judge=judge, file=str(file), model=model or model_of(file)))
        facts = {"mode": mode, "split": summaries[-1]["split"], "scorer": summaries[-1]["scorer"]}
        _write(out, [replace(scored, responses=texts)], model or file, facts, sandbox=tier, judge=judge)
    _show(summaries, as_json=as_json)


@app.command("dynostock", epilog="Example: fin-tasks replay dynostock recordings/ --out results")
def replay_dynostock(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, or folders with them.")],
    parser: Annotated[
        Literal["paper", "robust"], typer.Option("--parser", "--variant", help="Readings that the table shows.")
    ] = "paper",
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score the authors' recordings (MODEL/exp_recency_4.json) again and show the rows of Table 1."""
    from fin_tasks.benchmarks.dynostock.experiment import by_window
    from fin_tasks.benchmarks.dynostock.replay import find_files, replay, rows_of
    from fin_tasks.sandbox import escape  # messages quote other people's files

    with counting("Scoring", "file", total=len(find_files(files))) as on_done:
        scored, problems = replay(files, on_done=on_done)
    runs: dict[Path, list[ScoredTask]] = {}
    for recording, task in scored:
        runs.setdefault(recording.file.resolve().parent, []).append(task)
    for folder, tasks in runs.items():
        _write(out, tasks, model or folder.name, {"mode": "image", "arm": "signal", "anonymize": False})
    table = by_window(rows_of(scored, variant=parser))
    if as_json:
        windows = json.loads(table.to_json(orient="records"))
        print(json.dumps({"parser": parser, "windows": windows, "errors": problems}))
    else:
        _show_windows(table)
    for problem in problems[:20]:
        print(escape(f"fin-tasks: {problem}"), file=sys.stderr)
    if problems:
        print(f"fin-tasks: {len(problems)} file(s) or row(s) left out", file=sys.stderr)
        raise typer.Exit(1)


def _score(
    benchmark: str, name: str, docs: Sequence[Any], responses: Sequence[Any], options: Mapping[str, str]
) -> "tuple[ScoredTask, dict[str, str] | None]":
    """Score responses; programs run in the sandbox, and its tier and the reason for that tier are returned too."""
    from fin_tasks.benchmarks.scored_task import score_task
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings

    if options["mode"] != "pot":
        return score_task(benchmark, name, docs, responses, options=options), None
    settings = Settings.from_environ()
    opened = open_runner(tier=settings.sandbox, workers=settings.sandbox_workers)
    with counting("Running programs", "program") as on_done, opened as runner:
        run = partial(runner.run, on_done=on_done)
        scored = score_task(benchmark, name, docs, responses, options=options, run_programs=run)
        return scored, {"tier": runner.tier, "reason": runner.reason}


def _judged(docs: Sequence[Any], texts: Sequence[Sequence[str]], model: str, url: str, key: str) -> list[list[Any]]:
    """Let a judge copy the answers that the rules do not find."""
    from fin_tasks.adapters.lm_eval_filters import AskJudge, Judging
    from fin_tasks.benchmarks.financemath.score import judge_item

    metadata = {"judge_model": model, "judge_base_url": url, "judge_key": key}
    judging = Judging({"rubric": "financemath"}, metadata, {})
    return AskJudge(item=judge_item, rubric="financemath", judging=judging).apply(texts, docs)


def _write(
    out: Path | None, tasks: "Sequence[ScoredTask]", model: str | Path, facts: Mapping[str, Any], **metadata: Any
) -> None:
    from fin_tasks.benchmarks.scored_task import model_of
    from fin_tasks.report.run_folder import write_run

    if out is None:
        return
    path = write_run(
        out,
        tasks,
        model=model_of(model) if isinstance(model, Path) else model,
        made_by="fin-tasks replay",
        provenance={task.name: facts for task in tasks},
        metadata={name: fact for name, fact in metadata.items() if fact},
    )
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


def _show(summaries: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summaries[0] if len(summaries) == 1 else list(summaries)))
        return
    from rich.console import Console

    from fin_tasks.doctor import summary_table

    for one in summaries:
        Console().print(summary_table({name: value for name, value in one.items() if value is not None}))


def _show_windows(windows: "pd.DataFrame") -> None:
    rows = []
    for one in windows.to_dict("records"):
        cells = [one["model"], one["bias"], str(one["window"]), str(one["n"])]
        for name in ("acc", "bias_index"):
            mean, std, low, high = (100 * one[f"{name}{part}"] for part in ("", "_std", "_low", "_high"))
            deviation = "" if std != std else f" ± {std:.1f}"
            cells.append(f"{mean:.1f}{deviation} ({low:.0f}-{high:.0f})")
        rows.append(cells)
    title = "Percent, 95 % interval; ± is the deviation over window sizes"
    print_table(title, ("Model", "Bias", "Size", "n", "Accuracy", "Bias index"), rows)

"""`fin-tasks replay`: score saved responses again, without a model."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.cli.options import Json, counting, print_table, sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.scored_task import ScoredTask

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, one model a file.")]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Whose responses they are.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write a run folder as lm-eval does, for fin-tasks report.")
]

app = sub_commands("Score saved responses again, without a model.")


@app.command("xfinbench")
def replay_xfinbench(
    files: Files,
    task: Annotated[str, typer.Option(help="bool, mcq or calc.")],
    mode: Annotated[str, typer.Option(help="cot or da: the responses are words; pot: they are programs.")] = "cot",
    data_dir: Annotated[
        Path | None, typer.Option(help="XFinBench's files; adds capabilities and choices the file lacks, by id.")
    ] = None,
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/TSV/JSON with id, ground_truth, model_response.

    Example: fin-tasks replay xfinbench --task calc --mode pot responses.csv --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.scored_task import by_document, model_of
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
        facts = {"style": {"mode": mode}, "scorer": SCORER_VERSION}
        _write(out, [scored], model or model_of(file), {name: facts}, sandbox=tier)
    _show(summaries, as_json=as_json)


@app.command("financemath")
def replay_financemath(
    files: Files,
    mode: Annotated[Literal["cot", "pot"], typer.Option(help="cot: words; pot: programs.")] = "pot",
    judge_model: Annotated[
        str | None, typer.Option(help="cot: a chat model that reads the responses the rules cannot read.")
    ] = None,
    judge_base_url: Annotated[
        str, typer.Option(help="Where it is: an OpenAI-compatible address.")
    ] = "https://api.openai.com/v1",
    judge_key: Annotated[
        str, typer.Option(metavar="VARIABLE", help="The environment variable that holds its key.")
    ] = "OPENAI_API_KEY",
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score FinanceMath responses: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples.

    Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results
    """
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
        whose = model or model_of(file)
        summaries.append(summary(docs, scored.values, judge=judge, file=str(file), model=whose))
        facts = {"mode": mode, "split": summaries[-1]["split"], "scorer": summaries[-1]["scorer"]}
        _write(out, [replace(scored, responses=texts)], whose, {name: facts}, sandbox=tier, judge=judge)
    _show(summaries, as_json=as_json)


@app.command("dynostock")
def replay_dynostock(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, or folders with them.")],
    parser: Annotated[
        Literal["paper", "robust"], typer.Option("--parser", "--variant", help="Readings that the table shows.")
    ] = "paper",
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score DynoStock responses again: the authors' exp_*.json or lm-eval's samples_*.jsonl.

    Example: fin-tasks replay dynostock recordings/ --out results
    """
    from fin_tasks.benchmarks.dynostock.replay import SHARED, find_files, replay, summary
    from fin_tasks.sandbox import escape  # messages quote other people's files

    with counting("Scoring", "file", total=len(find_files(files))) as on_done:
        scored, problems = replay(files, on_done=on_done)
    runs: dict[Any, list[ScoredTask]] = {}
    for recording, task in scored:
        runs.setdefault((recording.file.parent, *(recording.facts[name] for name in SHARED)), []).append(task)
    for (_, whose, _, mode, arm, anonymised), tasks in runs.items():
        facts = {"mode": mode, "arm": arm, "anonymise": anonymised}
        _write(out, tasks, model or whose, {task.name: facts for task in tasks})
    found = {**summary(scored, parser=parser), "errors": problems}
    if as_json:
        print(json.dumps(found))
    else:
        _show_windows(found)
    for one in problems[:20]:
        where = f"{one['file']}, row {one['row']}: " if one["row"] is not None else ""
        print(escape(f"fin-tasks: {where}{one['error']}"), file=sys.stderr)
    if problems:
        print(f"fin-tasks: {len(problems)} file(s) or row(s) left out", file=sys.stderr)
        raise typer.Exit(1)


def _score(
    benchmark: str, name: str, docs: Sequence[Any], responses: Sequence[Any], options: Mapping[str, str]
) -> "tuple[ScoredTask, dict[str, str] | None]":
    """Score responses, their programs in the sandbox; return the tier that ran them and the reason for it as well."""
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


def _judged(
    docs: Sequence[Mapping[str, Any]], texts: Sequence[Sequence[str]], model: str, base_url: str, key_variable: str
) -> list[list[Any]]:
    """Have a judge copy the answers that the rules do not find."""
    from fin_tasks.benchmarks.financemath.score import judge_item
    from fin_tasks.judging.item import Judged
    from fin_tasks.judging.judge import judge_items, judge_model
    from fin_tasks.judging.rubric import load_rubric

    asked = [judge_item(doc, text) for doc, of in zip(docs, texts, strict=True) for text in of]
    items = [item for item in asked if item is not None]
    judge = judge_model(model=model, base_urls=[base_url], key_variable=key_variable)
    with counting("Asking the judge", "response", total=len(items)) as on_done:
        judged = judge_items(items, load_rubric("financemath"), judge, on_done=on_done)
    if failed := list(filter(None, (one.error for one in judged))):
        print(f"fin-tasks: {len(failed)} response(s) could not be judged: {failed[0]}", file=sys.stderr)
    found, wanted = iter(judged), iter(asked)
    return [[Judged(text) if next(wanted) is None else next(found) for text in of] for of in texts]


def _write(
    out: Path | None, tasks: "Sequence[ScoredTask]", model: str, provenance: Mapping[str, Any], **facts: Any
) -> None:
    from fin_tasks.report.run_folder import write_run

    if out is None:
        return
    metadata = {name: fact for name, fact in facts.items() if fact}
    path = write_run(out, tasks, model=model, made_by="fin-tasks replay", provenance=provenance, metadata=metadata)
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


def _show(summaries: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summaries[0] if len(summaries) == 1 else list(summaries)))
        return
    from rich.console import Console

    from fin_tasks.doctor import summary_table

    for one in summaries:
        Console().print(summary_table({name: value for name, value in one.items() if value is not None}))


def _show_windows(found: Mapping[str, Any]) -> None:
    """Show the paper's Table 1 and all files, in percent."""

    def cells(one: Mapping[str, Any], facts: Sequence[Any], mean: str, scale: int) -> list[str]:
        kind = [one["mode"]] * (one["mode"] != "image") + [one["arm"]] * (one["arm"] != "signal")
        shown = [" ".join([one["model"], *kind, *["anonymised"] * one["anonymised"]]), one["bias"] or "-"]
        shown += ["-" if fact is None else str(fact) for fact in facts]
        for name in ("accuracy", "bias_index"):
            value, low, high = (one[f"{name}{part}"] for part in (mean, "_low", "_high"))
            deviation = f" ± {one[f'{name}_std']:.1f}" if mean and value is not None else ""
            number = "-" if value is None else f"{scale * value:.1f}{deviation} ({scale * low:.0f}-{scale * high:.0f})"
            shown.append(number)
        return shown

    order = sorted(found["groups"], key=lambda one: (one["model"], one["bias"] or "", one["folder"]))
    means = [cells(one, [one["files"]], "_mean", 1) for one in order]
    title = "Mean ± standard deviation over files (95 % interval), percent"
    print_table(title, ("Model", "Bias", "Files", "Accuracy", "Bias index"), means)
    counts = ("window", "total", "correct", "wrong", "wrong_by_bias", "no_answer")
    rows = [cells(file, [file[name] for name in counts], "", 100) for file in found["files"]]
    print_table("Files", ("Model", "Bias", "w", "n", "Right", "Wrong", "By bias", "None", "Acc. %", "Index %"), rows)

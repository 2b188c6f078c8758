"""`fin-tasks replay`: score saved responses again, without a model."""

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Json, counting, sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Group

    from fin_tasks.benchmarks.scored_task import ScoredTask

__all__ = ["app"]

_SHOWN_PROBLEMS = 20
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, one model a file.")]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Whose responses they are.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write a run folder as lm-eval does, for fin-tasks report.")
]
Mode = Annotated[str, typer.Option(help="cot or da: the responses are words; pot: they are programs.")]

app = sub_commands("Score saved responses again, without a model.")


@app.command("xfinbench")
def replay_xfinbench(
    files: Files,
    task: Annotated[str, typer.Option(help="bool, mcq or calc.")],
    mode: Mode = "cot",
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
    from fin_tasks.benchmarks.scored_task import by_document
    from fin_tasks.benchmarks.xfinbench import recording
    from fin_tasks.benchmarks.xfinbench.data import SCORER_VERSION

    told = []
    for file in files:
        docs, responses = by_document(recording.read(file, task=task, mode=mode, data_dir=data_dir))
        subsets = {doc["subset"] for doc in docs}
        subset = subsets.pop() if len(subsets) == 1 else "mcq"  # with figures and without
        name = f"xfinbench_{subset}" + ("" if mode == "cot" else f"_{mode}")
        scored, tier = _score("xfinbench", name, docs, responses, {"subset": subset, "mode": mode})
        told.append(recording.summary(scored, tier=tier["tier"] if tier else None))
        facts = {"style": {"mode": mode}, "scorer": SCORER_VERSION}
        _write(out, [scored], model=model or _model_of(file), provenance={name: facts}, tier=tier)
    _show(told, as_json=as_json)


@app.command("financemath")
def replay_financemath(
    files: Files,
    mode: Mode = "pot",
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
    from fin_tasks.benchmarks.scored_task import by_document

    if mode not in ("cot", "pot"):
        raise ConfigError(f"replay financemath --mode: expected cot or pot, got {mode!r}.")
    if judge_model is not None and mode == "pot":
        raise ConfigError("replay financemath --judge-model: expected --mode cot, got pot. Programs are run, not read.")
    judge = {"model": judge_model, "reads": "missing"} if judge_model else None
    name, told = "financemath" if mode == "cot" else "financemath_pot", []
    for file in files:
        docs, texts = by_document(read(file, mode=mode))
        given = _judged(docs, texts, judge_model, judge_base_url, judge_key) if judge_model else texts
        scored, tier = _score("financemath", name, docs, given, {"mode": mode})
        _hint_at_mode([text for of in texts for text in of], scored, mode)
        whose = model or _model_of(file)
        counts = summary(docs, scored.values, judge=judge, file=str(file), model=whose)
        told.append(counts)
        facts = {"mode": mode, "split": counts["split"], "scorer": counts["scorer"]}
        _write(out, [replace(scored, responses=texts)], model=whose, provenance={name: facts}, tier=tier, judge=judge)
    _show(told, as_json=as_json)


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


def _hint_at_mode(texts: Sequence[str], scored: "ScoredTask", mode: str) -> None:
    programs, ran = sum("def solution" in text for text in texts), scored.totals()["execution_rate,paper"]
    if mode == "cot" and 2 * programs > len(texts):
        hint = f"{programs} of {len(texts)} responses define solution(). Programs are scored with --mode pot"
    elif mode == "pot" and not ran and not programs:
        hint = f"none of {len(texts)} responses holds a program that runs. Words are scored with --mode cot"
    else:
        return
    print(f"fin-tasks: {hint}.", file=sys.stderr)


def _score(
    benchmark: str,
    name: str,
    docs: Sequence[Mapping[str, Any]],
    responses: Sequence[Sequence[Any]],
    options: Mapping[str, Any],
) -> "tuple[ScoredTask, dict[str, str] | None]":
    """Score responses, their programs in the sandbox; return the tier that ran them and the reason for it as well."""
    from fin_tasks.benchmarks.scored_task import score_task
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings

    if options["mode"] != "pot":
        return score_task(benchmark, name, docs, responses, options=options), None
    settings = Settings.from_environ()
    with ExitStack() as stack:
        on_done = stack.enter_context(counting("Running programs", "program"))
        runner = stack.enter_context(open_runner(tier=settings.sandbox, workers=settings.sandbox_workers))
        run = partial(runner.run, on_done=on_done)
        scored = score_task(benchmark, name, docs, responses, options=options, run_programs=run)
        return scored, {"tier": runner.tier, "reason": runner.reason}


def _model_of(file: Path) -> str:
    """Name the model by the results beside lm-eval's samples, or their folder; else by the file's name."""
    from fin_tasks.judging.predictions_model import model_of

    if not file.name.startswith("samples_"):
        return file.stem
    return model_of(file, "samples", []) or file.resolve().parent.name


def _show(told: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(told[0] if len(told) == 1 else list(told)))
        return
    from rich.console import Console

    from fin_tasks.doctor import summary_table

    for one in told:
        Console().print(summary_table({name: value for name, value in one.items() if value is not None}))


@app.command("dynostock")
def replay_dynostock(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Saved responses, or folders with them.")],
    parser: Annotated[
        str, typer.Option("--parser", "--variant", help="What the table shows: paper or robust readings.")
    ] = "paper",
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score DynoStock responses again: the authors' exp_*.json or lm-eval's samples_*.jsonl.

    Example: fin-tasks replay dynostock recordings/ --out results
    """
    from rich.console import Console

    from fin_tasks.benchmarks.dynostock.records import find_files
    from fin_tasks.benchmarks.dynostock.replay import replay, scored_runs
    from fin_tasks.sandbox import escape  # messages quote strangers' files

    with counting("Reading", "file", total=len(find_files(files))) as on_done:
        result = replay(files, parser=parser, on_done=on_done)
    if out is not None:
        for found, tasks, provenance in scored_runs(result):
            _write(out, tasks, model=model or found, provenance=provenance)
    summary = result.summary()
    if as_json:
        print(json.dumps(summary))
    else:
        Console().print(_bias_tables(summary))
    for problem in result.problems[:_SHOWN_PROBLEMS]:
        where = f"{problem.file}, row {problem.row}: " if problem.row is not None else ""
        print(escape(f"fin-tasks: {where}{problem.error}"), file=sys.stderr)
    if result.problems:
        print(f"fin-tasks: {len(result.problems)} file(s) or row(s) left out", file=sys.stderr)
        raise typer.Exit(1)


def _write(
    out: Path | None,
    tasks: "Sequence[ScoredTask]",
    *,
    model: str,
    provenance: Mapping[str, Any],
    tier: Mapping[str, str] | None = None,
    judge: Mapping[str, str] | None = None,
) -> None:
    from fin_tasks.report.run_folder import write_run

    if out is None:
        return
    metadata = {name: fact for name, fact in (("sandbox", tier), ("judge", judge)) if fact}
    path = write_run(out, tasks, model=model, made_by="fin-tasks replay", provenance=provenance, metadata=metadata)
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


def _bias_tables(summary: Mapping[str, Any]) -> "Group":
    """Show a replay as the paper's Table 1, and below it the counts of each model's files."""
    from rich.console import Group
    from rich.markup import escape as as_text
    from rich.table import Table

    from fin_tasks.benchmarks.dynostock.records import Condition
    from fin_tasks.sandbox import escape

    names = [field.name for field in fields(Condition)]
    means = Table(title="Mean ± standard deviation over files (95 % interval), percent", title_justify="left")
    for column in ("Model", "Bias", "Files", "Accuracy", "Bias index"):
        means.add_column(column, overflow="fold", no_wrap=column != "Model")
    tables = []
    names_shown = [_named(group) for group in summary["groups"]]
    for group in sorted(summary["groups"], key=lambda group: (*_named(group), group["folder"])):
        model, bias = _named(group)
        if names_shown.count((model, bias)) > 1:
            model = f"{model} in {group['folder']}"
        shown = [as_text(escape(text)) for text in (model, bias)]
        means.add_row(*shown, str(group["files"]), _spread(group, "accuracy"), _spread(group, "bias_index"))
        files = Table(title=", ".join(shown), title_justify="left")
        for column in ("w", "Total", "Correct", "Wrong", "By bias", "None", "Accuracy %", "Bias index %"):
            files.add_column(column, justify="right")
        for file in sorted(summary["files"], key=lambda file: file["window"] or 0):
            same = all(file[name] == group[name] for name in names)
            if same and str(Path(file["file"]).parent) == group["folder"]:
                window = as_text(escape(Path(file["file"]).name)) if file["window"] is None else str(file["window"])
                counts = (file[name] for name in ("total", "correct", "wrong", "wrong_by_bias", "no_answer"))
                files.add_row(window, *map(str, counts), _interval(file, "accuracy"), _interval(file, "bias_index"))
        tables.append(files)
    return Group(means, *tables)


def _named(group: Mapping[str, Any]) -> tuple[str, str]:
    """A group's model, with how it was asked, and bias."""
    kind = [group["mode"]] * (group["mode"] != "image") + [group["arm"]] * (group["arm"] != "signal")
    return " ".join([group["model"] or "-", *kind, *["anonymised"] * group["anonymised"]]), group["bias"] or "-"


def _spread(group: Mapping[str, Any], name: str) -> str:
    mean, deviation, low, high = (group[f"{name}_{part}"] for part in ("mean", "std", "low", "high"))
    return "-" if mean is None else f"{mean:.1f} ± {deviation:.1f} ({low:.0f}-{high:.0f})"


def _interval(file: Mapping[str, Any], name: str) -> str:
    value, low, high = (file[key] for key in (name, f"{name}_low", f"{name}_high"))
    return "-" if value is None else f"{100 * value:.1f} ({100 * low:.0f}-{100 * high:.0f})"

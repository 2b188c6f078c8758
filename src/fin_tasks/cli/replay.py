"""`fin-tasks replay`: score saved responses again, without a model."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Json, Responses, counting, report, sub_commands
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Group

    from fin_tasks.benchmarks.scored_task import ScoredTask

__all__ = ["app"]

_SHOWN_PROBLEMS = 20
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Whose responses they are.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write a run folder as lm-eval does, for fin-tasks report.")
]

app = sub_commands("Score saved responses again, without a model.")


@app.command("xfinbench")
def replay_xfinbench(
    file: Responses,
    task: Annotated[str, typer.Option(help="bool, mcq or calc.")],
    mode: Annotated[str, typer.Option(help="cot, da or pot (calc only: the responses are programs).")] = "cot",
    data_dir: Annotated[
        Path | None, typer.Option(help="XFinBench's files; adds capabilities and choices the file lacks, by id.")
    ] = None,
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score XFinBench responses: lm-eval's samples_*.jsonl, or CSV/TSV/JSON with id, ground_truth, model_response.

    Example: fin-tasks replay xfinbench responses.csv --task calc --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.scored_task import score_task
    from fin_tasks.benchmarks.xfinbench import recording
    from fin_tasks.judging.predictions_model import model_of
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings

    settings, pot = Settings.from_environ(), mode == "pot"
    docs, texts = map(list, zip(*recording.read(file, task=task, mode=mode, data_dir=data_dir), strict=True))
    options = {"subset": docs[0]["subset"], "mode": mode}
    name = f"xfinbench_{options['subset']}" + ("" if mode == "cot" else f"_{mode}")
    with (
        counting("Running programs" if pot else None, "program") as on_done,
        open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) if pot else nullcontext() as runner,
    ):
        run = partial(runner.run, on_done=on_done) if runner else None
        scored = score_task("xfinbench", name, docs, [[text] for text in texts], options=options, run_programs=run)
    if out is not None:
        whose = model or (model_of(file, "samples", []) if file.name.startswith("samples_") else None) or file.stem
        _write(out, [scored], model=whose, provenance={name: {"style": {"mode": mode}}})
    told = recording.summary(docs, scored.readings, tier=runner.tier if runner else None)
    report(SimpleNamespace(summary=lambda: told), as_json=as_json, items=None)


@app.command("financemath")
def replay_financemath(
    file: Responses,
    mode: Annotated[str, typer.Option(help="cot: the responses end in a number; pot: they are programs.")] = "pot",
    variant: Annotated[str, typer.Option(help="Whose accuracy is called acc: paper or robust.")] = "paper",
    judge_model: Annotated[
        str | None, typer.Option(help="cot: a chat model that reads the responses the rules cannot read.")
    ] = None,
    judge_base_url: Annotated[
        str, typer.Option(help="Where it is: an OpenAI-compatible address.")
    ] = "https://api.openai.com/v1",
    judge_key: Annotated[
        str, typer.Option(metavar="VARIABLE", help="The environment variable that holds its key.")
    ] = "OPENAI_API_KEY",
    judge_max_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of a reply of its; models that reason need many.")
    ] = 2048,
    model: Model = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Score FinanceMath responses again: JSON or JSONL with question_id, output, ground_truth, or lm-eval's samples.

    Example: fin-tasks replay financemath --mode cot gpt-4o.json --out results
    """
    from fin_tasks.benchmarks.financemath.judge import read_by_judge
    from fin_tasks.benchmarks.financemath.recording import read, summary
    from fin_tasks.benchmarks.scored_task import score_task
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.endpoints.client import Endpoint
    from fin_tasks.judging.predictions_model import model_of
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings

    for option, value, allowed in (("mode", mode, ("cot", "pot")), ("variant", variant, ("paper", "robust"))):
        if value not in allowed:
            raise ConfigError(f"replay financemath --{option}: expected {' or '.join(allowed)}, got {value!r}.")
    if judge_model is not None and mode == "pot":
        raise ConfigError("replay financemath --judge-model: expected --mode cot, got pot. Programs are run, not read.")
    settings = Settings.from_environ()
    docs, texts = map(list, zip(*read(file, mode=mode), strict=True))
    name, options, judged = "financemath" if mode == "cot" else "financemath_pot", {"mode": mode}, None
    if judge_model is not None:
        chat = Chat(Endpoint(base_url=judge_base_url, model=judge_model, key_variable=judge_key), settings)
        with counting("Asking the judge", "response", total=len(texts)) as on_done:
            judged = read_by_judge(chat, texts, max_tokens=judge_max_tokens, on_done=on_done)
        if failed := list(filter(None, (getattr(one, "judge_error", "") for one in judged))):
            print(f"fin-tasks: {len(failed)} response(s) could not be judged: {failed[0]}", file=sys.stderr)
    given = [[one] for one in texts if judged is None] or [[one] for one in judged or ()]
    if mode == "pot":
        with (
            counting("Running programs", "program") as on_done,
            open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner,
        ):
            run = partial(runner.run, on_done=on_done)
            scored = score_task("financemath", name, docs, given, options=options, run_programs=run)
    else:
        scored = score_task("financemath", name, docs, given, options=options)
    _tell_wrong_mode(texts, mode, ran=any(row["execution_rate"] for row in scored.values["paper"]))
    whose = model or (model_of(file, "samples", []) if file.name.startswith("samples_") else None) or file.stem
    asked = None if judge_model is None else {"model": judge_model, "reads": "missing"}
    told = summary(docs, scored.values, variant=variant, judge=asked, file=str(file), model=whose)
    if out is not None:
        facts = {"mode": mode, "split": told["split"], "scorer": told["scorer"], "judge": asked}
        known = {fact: value for fact, value in facts.items() if value is not None}
        _write(out, [replace(scored, responses=[[one] for one in texts])], model=whose, provenance={name: known})
    counts = {key: value for key, value in told.items() if isinstance(value, int | float | dict) and key != "scorer"}
    report(SimpleNamespace(summary=lambda: told if as_json else counts), as_json=as_json, items=None)


def _tell_wrong_mode(texts: Sequence[str], mode: str, *, ran: bool) -> None:
    programs = sum("def solution" in text for text in texts)
    if mode == "cot" and 2 * programs > len(texts):
        hint = f"{programs} of {len(texts)} responses define solution(). Programs are scored with --mode pot"
    elif mode == "pot" and not ran and not programs:
        hint = f"none of {len(texts)} responses holds a program that runs. Words are scored with --mode cot"
    else:
        return
    print(f"fin-tasks: {hint}.", file=sys.stderr)


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
    from fin_tasks.benchmarks.dynostock.records import find_files
    from fin_tasks.benchmarks.dynostock.replay import replay, scored_runs
    from fin_tasks.sandbox import escape  # messages quote strangers' files

    with counting("Reading", "file", total=len(find_files(files))) as on_done:
        result = replay(files, parser=parser, on_done=on_done)
    if out is not None:
        for found, tasks, provenance in scored_runs(result):
            _write(out, tasks, model=model or found, provenance=provenance)
    report(result, as_json=as_json, items=None, table=_bias_tables)
    for problem in result.problems[:_SHOWN_PROBLEMS]:
        where = f"{problem.file}, row {problem.row}: " if problem.row is not None else ""
        print(escape(f"fin-tasks: {where}{problem.error}"), file=sys.stderr)
    if result.problems:
        print(f"fin-tasks: {len(result.problems)} file(s) or row(s) left out", file=sys.stderr)
        raise typer.Exit(1)


def _write(out: Path, tasks: "Sequence[ScoredTask]", *, model: str, provenance: Mapping[str, Any]) -> None:
    from fin_tasks.report.run_folder import write_run

    path = write_run(out, tasks, model=model, made_by="fin-tasks replay", provenance=provenance)
    print(f"fin-tasks: wrote {path}", file=sys.stderr)


def _bias_tables(summary: Mapping[str, Any]) -> "Group":
    """Show a replay as the paper's Table 1, and below it the counts of each model's files."""
    from rich.console import Group
    from rich.markup import escape as as_text
    from rich.table import Table

    from fin_tasks.benchmarks.dynostock.records import Condition
    from fin_tasks.sandbox import escape

    names = [field.name for field in fields(Condition)]
    means = Table(title="Mean ± standard deviation over files, percent", title_justify="left")
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
    mean, deviation = group[f"{name}_mean"], group[f"{name}_std"]
    return "-" if mean is None else f"{mean:.1f} ± {deviation:.1f}"


def _interval(file: Mapping[str, Any], name: str) -> str:
    value, low, high = (file[key] for key in (name, f"{name}_low", f"{name}_high"))
    return "-" if value is None else f"{100 * value:.1f} ({100 * low:.0f}-{100 * high:.0f})"

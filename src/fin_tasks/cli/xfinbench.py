"""`fin-tasks build xfinbench` and `fin-tasks label math`: XFinBench's questions and labels by a model."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import BaseUrl, Concurrency, Json, KeyVariable, NewFolder, print_table
from fin_tasks.settings import OPENAI

__all__ = ["build_xfinbench", "label_math"]

_PromptSet = Annotated[Literal["house", "upstream"], typer.Option(help="Our wording, or the authors'.")]
_UpstreamDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Their folder construct_data/prompts.")]


def build_xfinbench(
    table: Annotated[
        Path, typer.Option("--from", metavar="CSV", help="Columns id, source, chapter, question, answer, kinds.")
    ],
    model: Annotated[str, typer.Option(metavar="M", help="The model that writes the questions.")],
    out: NewFolder,
    verify_model: Annotated[str | None, typer.Option(metavar="M", help="Verifies them.", show_default="M")] = None,
    base_url: BaseUrl = OPENAI,
    verify_base_url: Annotated[str | None, typer.Option(metavar="URL", help="Of the verifying model.")] = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    prompts: _PromptSet = "house",
    upstream_dir: _UpstreamDir = None,
    validation: Annotated[float, typer.Option(min=0, max=1, help="Share of sources in the validation split.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Mixes the choices and draws the splits.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens a reply may have.")] = 4096,
    concurrency: Concurrency = 16,
    prices: Annotated[Path | None, typer.Option(help="M's, YAML: date, prompt, completion (a million tokens).")] = None,
    as_json: Json = False,
) -> None:
    """Make questions of your own like XFinBench's: a model writes and verifies them. A second run goes on.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.asking import load_prompts
    from fin_tasks.benchmarks.xfinbench.construct import Maker
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.judging.judge import read_prices
    from fin_tasks.settings import Settings

    settings, templates = Settings.from_environ(), load_prompts(prompts, upstream_dir)
    other = verify_model or model
    known = {model: read_prices(prices)} if prices else {}
    with (
        Chat(model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as writer,
        Chat(other, [verify_base_url or base_url], settings, key_variable=key_variable, concurrency=concurrency) as two,
    ):
        models = {"writer": writer, "verifier": two}
        maker = Maker(models, templates, settings, known, seed=seed, max_tokens=max_tokens, threads=concurrency)
        report = maker.build(table, out, validation=validation)
    if as_json:
        print(json.dumps(report))
        return
    rules = report["rules"]
    rows = [[name, *(str(counts[name]) for counts in rules.values())] for name in {"kept": 0, **rules["all"]}]
    dropped = f"dropped {report['dropped']:.1%}, in the paper {report['dropped_in_paper']:.1%}"
    print_table(f"{report['sources']} source questions: {dropped}", ["", *rules], rows)
    columns = ("model", "replies", "asked_now", "prompt_tokens", "completion_tokens", "cost", "currency")
    spent = [[role, *(str(one.get(name, "")) for name in columns)] for role, one in report["models"].items()]
    print_table("Requests", ["", *columns], spent)


def label_math(
    model: Annotated[str, typer.Option(metavar="M", help="The model that labels.")],
    out: Annotated[Path, typer.Option(metavar="CSV", help="Columns id, math_types, reason.")] = Path("math_types.csv"),
    split: Annotated[Literal["test", "validation"], typer.Option(help="Which questions.")] = "test",
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR|CSV", help="The questions, else FIN_TASKS_DATA, else downloaded.")
    ] = None,
    base_url: BaseUrl = OPENAI,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    prompts: _PromptSet = "house",
    upstream_dir: _UpstreamDir = None,
    concurrency: Concurrency = 16,
    as_json: Json = False,
) -> None:
    """Have a model name the mathematical types of XFinBench's calculations. A second run goes on.

    Example: fin-tasks label math --model gpt-4o-mini --split validation
    """
    import pandas as pd

    from fin_tasks.benchmarks.xfinbench.asking import load_prompts
    from fin_tasks.benchmarks.xfinbench.data import SPLITS, read_rows
    from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES, PUBLISHED, label_rows
    from fin_tasks.data.fetch import locate, write_file
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.settings import Settings
    from fin_tasks.stats.averages import average_or_none

    settings, templates = Settings.from_environ(), load_prompts(prompts, upstream_dir, labels=True)
    files = locate("xfinbench", [SPLITS[split]], data_dir=data_dir, settings=settings)
    rows = [row for row in read_rows(files.files[SPLITS[split]]) if row["task"] == "calcu"]
    with Chat(model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as chat:
        labels = label_rows(rows, chat, templates, concurrency=concurrency)
    write_file(out, pd.DataFrame(labels, columns=["id", "math_types", "reason"]).to_csv(index=False).encode())
    named = [one["math_types"].split(";") for one in labels if one["math_types"]]
    shares = {name: average_or_none(float(name in of) for of in named) for name in MATH_TYPES}
    reasons = Counter(one["reason"] for one in labels if one["reason"])
    if as_json:
        print(json.dumps({"n": len(labels), "labeled": len(named), "shares": shares, "not_labeled": reasons}))
        return
    shown = [
        [name, *("–" if share is None else f"{share:.1%}" for share in (found, PUBLISHED.get(name)))]
        for name, found in shares.items()
    ]
    print_table(f"{len(named)} of {len(labels)} questions in {out}", ["", "share", "paper"], shown)
    if reasons:
        print_table("Not labeled", ["reason", "questions"], [[name, str(count)] for name, count in reasons.items()])

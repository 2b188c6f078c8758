"""`fin-tasks build xfinbench` and `fin-tasks label math`: XFinBench's questions and labels by a model."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import BaseUrl, Concurrency, DataDir, Json, KeyVariable, NewFolder, Seed, TokenPrices, show
from fin_tasks.settings import OPENAI, Settings

__all__ = ["build_xfinbench", "label_math"]

AskedModel = Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")]
UpstreamPrompts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Ask in the authors' words, from their folder construct_data/prompts."),
]


def build_xfinbench(
    table: Annotated[
        Path, typer.Option("--from", metavar="CSV", help="Columns id, source, chapter, question, answer, kinds.")
    ],
    model: AskedModel,
    out: NewFolder,
    verify_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that verifies.", show_default="--model")
    ] = None,
    base_url: BaseUrl = OPENAI,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    upstream_prompts: UpstreamPrompts = None,
    validation: Annotated[float, typer.Option(min=0, max=1, help="Share of sources in the validation split.")] = 0.25,
    seed: Seed = 0,
    concurrency: Concurrency = 16,
    token_prices: TokenPrices = None,
    as_json: Json = False,
) -> None:
    """Make questions like XFinBench's: a model writes and verifies them. A second run goes on where the first stopped.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.construct import Maker
    from fin_tasks.benchmarks.xfinbench.prompts import load_templates
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.judging.judge import read_prices

    settings = Settings.from_environ()
    prompts = load_templates(upstream_prompts)
    known = {model: read_prices(token_prices)} if token_prices else {}
    with (
        Chat(model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as writer,
        Chat(verify_model or model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as other,
    ):
        models = {"writer": writer, "verifier": other}
        maker = Maker(models, prompts, settings, known, seed=seed, threads=concurrency)
        show(maker.build(table, out, validation=validation), as_json=as_json)


def label_math(
    model: AskedModel,
    out: Annotated[Path, typer.Option(metavar="CSV", help="Write id, math_types, reason here.")] = Path(
        "math_types.csv"
    ),
    split: Annotated[Literal["test", "validation"], typer.Option(help="Split of the questions.")] = "test",
    data_dir: DataDir = None,
    base_url: BaseUrl = OPENAI,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    upstream_prompts: UpstreamPrompts = None,
    concurrency: Concurrency = 16,
    as_json: Json = False,
) -> None:
    """Have a model name the mathematical types of XFinBench's calculations. A second run goes on.

    Example: fin-tasks label math --model gpt-4o-mini --split validation --out types.csv
    """
    import pandas as pd

    from fin_tasks.benchmarks.xfinbench.data import SPLITS, read_rows
    from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES, PUBLISHED, label_rows
    from fin_tasks.benchmarks.xfinbench.prompts import load_templates
    from fin_tasks.data.fetch import locate, write_file
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.stats.averages import average_or_none

    settings = Settings.from_environ()
    templates = load_templates(upstream_prompts, labels=True)
    files = locate("xfinbench", [SPLITS[split]], data_dir=data_dir, settings=settings)
    rows = [row for row in read_rows(files.files[SPLITS[split]]) if row["task"] == "calcu"]
    with Chat(model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as chat:
        labels = label_rows(rows, chat, templates, concurrency=concurrency)
    write_file(out, pd.DataFrame(labels, columns=["id", "math_types", "reason"]).to_csv(index=False).encode())
    named = [one["math_types"].split(";") for one in labels if one["math_types"]]
    found = {
        "n": len(labels),
        "labeled": len(named),
        "shares": {name: average_or_none(float(name in of) for of in named) for name in MATH_TYPES},
        "shares_in_paper": PUBLISHED,
        "not_labeled": Counter(one["reason"] for one in labels if one["reason"]),
    }
    show(found, as_json=as_json)

"""`fin-tasks build xfinbench` and `fin-tasks label math`: XFinBench's questions and labels by a model."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import (
    AskedModel,
    BaseUrl,
    DataDir,
    Json,
    NewFolder,
    Seed,
    TokenPrices,
    show,
)
from fin_tasks.settings import OPENAI, Settings


def build_xfinbench(
    table: Annotated[
        Path,
        typer.Option("--from", metavar="CSV", help="id, source, chapter, question, answer, kinds."),
    ],
    model: AskedModel,
    out: NewFolder,
    verify_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another model to verify.")
    ] = None,
    base_url: BaseUrl = OPENAI,
    upstream_prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The authors' construct_data/prompts, to ask in their words."
        ),
    ] = None,
    validation: Annotated[
        float, typer.Option(min=0, max=1, help="Share of sources in the validation split.")
    ] = 0.25,
    seed: Seed = 0,
    token_prices: TokenPrices = None,
    as_json: Json = False,
) -> None:
    """Make questions like XFinBench's: a model writes and verifies them. A second run goes on where the first stopped.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.construct import Maker
    from fin_tasks.benchmarks.xfinbench.prompts import load_templates
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.endpoints.prices import read_prices

    settings = Settings.from_environ()
    prompts = load_templates(upstream_prompts)
    known = read_prices(token_prices) if token_prices else None
    with (
        Chat(model, [base_url], settings) as writer,
        Chat(verify_model or model, [base_url], settings) as verifier,
    ):
        maker = Maker({"writer": writer, "verifier": verifier}, prompts, settings, known, seed=seed)
        show(maker.build(table, out, validation=validation), as_json=as_json)


def label_math(
    model: AskedModel,
    out: Annotated[Path, typer.Option(metavar="CSV", help="Write id, math_types, reason.")] = Path(
        "math_types.csv"
    ),
    split: Annotated[
        Literal["test", "validation"], typer.Option(help="Split of the questions.")
    ] = "test",
    data_dir: DataDir = None,
    base_url: BaseUrl = OPENAI,
    as_json: Json = False,
) -> None:
    """Have a model name the mathematical types of XFinBench's calculations. A second run goes on.

    Example: fin-tasks label math --model gpt-4o-mini --split validation --out types.csv
    """
    import pandas as pd

    from fin_tasks.benchmarks.xfinbench.data import SPLITS, read_rows
    from fin_tasks.benchmarks.xfinbench.labeling import label_rows
    from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES, PUBLISHED
    from fin_tasks.benchmarks.xfinbench.prompts import load_templates
    from fin_tasks.data.files import write_file
    from fin_tasks.data.locate import locate
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.stats.averages import average_or_none

    settings = Settings.from_environ()
    files = locate("xfinbench", [SPLITS[split]], data_dir=data_dir, settings=settings)
    rows = [row for row in read_rows(files.files[SPLITS[split]]) if row["task"] == "calcu"]
    with Chat(model, [base_url], settings) as chat:
        labels = label_rows(rows, chat, load_templates())
    write_file(
        out,
        pd.DataFrame(labels, columns=["id", "math_types", "reason"]).to_csv(index=False).encode(),
    )
    named = [one["math_types"].split(";") for one in labels if one["math_types"]]
    found = {
        "n": len(labels),
        "labeled": len(named),
        "shares": {name: average_or_none(float(name in of) for of in named) for name in MATH_TYPES},
        "shares_in_paper": PUBLISHED,
        "not_labeled": Counter(one["reason"] for one in labels if one["reason"]),
    }
    show(found, as_json=as_json)

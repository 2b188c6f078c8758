"""`fin-tasks label math`."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.build_xfinbench import BaseUrl, Concurrency, KeyVariable, PromptSet, UpstreamDir
from fin_tasks.cli.options import Json, print_table
from fin_tasks.settings import OPENAI

__all__ = ["label_math"]


def label_math(
    model: Annotated[str, typer.Option(metavar="M", help="The model that labels.")],
    out: Annotated[Path, typer.Option(metavar="CSV", help="Columns id, math_types, reason.")] = Path("math_types.csv"),
    split: Annotated[Literal["test", "validation"], typer.Option(help="Which questions.")] = "test",
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR|CSV", help="The questions, else FIN_TASKS_DATA, else downloaded.")
    ] = None,
    base_url: BaseUrl = OPENAI,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    prompts: PromptSet = "house",
    upstream_dir: UpstreamDir = None,
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
    from fin_tasks.sandbox import escape
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
    shown = [[name, *map(_percent, (share, PUBLISHED.get(name)))] for name, share in shares.items()]
    print_table(f"{len(named)} of {len(labels)} questions in {out}", ["", "share", "paper"], shown)
    for reason, count in reasons.items():
        print(f"not labeled, {count}: {escape(reason)}")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"

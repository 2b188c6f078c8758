"""`fin-tasks label math`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Json, print_table
from fin_tasks.settings import OPENAI

__all__ = ["label_math"]


def label_math(
    model: Annotated[str, typer.Option(metavar="M", help="The model that labels.")],
    out: Annotated[Path, typer.Option(metavar="CSV", help="Columns id, math_types, reason.")] = Path("math_types.csv"),
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR|CSV", help="The questions, else FIN_TASKS_DATA, else downloaded.")
    ] = None,
    base_url: Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible address.")] = OPENAI,
    key_variable: Annotated[str, typer.Option(help="Environment variable with the key.")] = "OPENAI_API_KEY",
    prompts: Annotated[str, typer.Option(help="house, or upstream: the authors' wording.")] = "house",
    upstream_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Their construct_data/prompts.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at the same time.")] = 16,
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
    from fin_tasks.errors import ConfigError
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    if split not in SPLITS:
        raise ConfigError(f"label math --split: expected {' or '.join(SPLITS)}, got {split!r}.")
    settings = Settings.from_environ()
    templates = load_prompts(prompts, upstream_dir, labels=True)
    files = locate("xfinbench", [SPLITS[split]], data_dir=data_dir, settings=settings)
    rows = [row for row in read_rows(files.files[SPLITS[split]]) if row["task"] == "calcu"]
    with Chat(model, [base_url.rstrip("/")], settings, key_variable=key_variable) as chat:
        labels = pd.DataFrame(label_rows(rows, chat, templates, concurrency=concurrency))
    write_file(out, labels.to_csv(index=False).encode())
    labeled = labels.loc[labels["math_types"] != "", "math_types"].str.split(";")
    shares = {name: float(labeled.map(lambda of, name=name: name in of).mean()) for name in MATH_TYPES}
    reasons = labels["reason"].value_counts().drop("", errors="ignore").to_dict()
    if as_json:
        print(json.dumps({"n": len(rows), "labeled": len(labeled), "shares": shares, "not_labeled": reasons}))
        return
    printed = {name: f"{PUBLISHED[name]:.1%}" if name in PUBLISHED else "" for name in MATH_TYPES}
    shown = [[name, f"{share:.1%}", printed[name]] for name, share in shares.items()]
    print_table(f"{len(labeled)} of {len(rows)} questions in {out}", ["", "share", "paper"], shown)
    for reason, count in reasons.items():
        print(f"not labeled, {count}: {escape(reason)}")

"""`fin-tasks build mme_finance`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Json, Out, print_table
from fin_tasks.errors import ConfigError

__all__ = ["build_mme_finance"]


def build_mme_finance(
    n: Annotated[int, typer.Option("--n", min=1, help="Questions in each language; half as many pictures.")] = 120,
    seed: Annotated[int, typer.Option(help="Another seed makes another set.")] = 1,
    language: Annotated[str, typer.Option(help="Languages, separated by commas.")] = "en,zh",
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE|DIR", help="Daily prices as CSV or Parquet.", show_default="the packaged sample"),
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Make a set of new questions with pictures in MME-Finance's own form, whose truths need no judge.

    The folder is mme_finance/seed-SEED in the cache, else --out.
    """
    from fin_tasks.settings import Settings

    try:
        from fin_tasks.benchmarks.mme_finance.fresh.build import build_set
    except ImportError as error:
        raise ConfigError(f"build mme_finance: {error}. Run pip install 'fin-tasks[pictures]'.") from error

    folder = out or Settings.from_environ().cache_dir / "mme_finance" / f"seed-{seed}"
    languages = [name.strip() for name in language.split(",")]
    counts = build_set(folder, n=n, seed=seed, languages=languages, prices=prices)["counts"]
    if as_json:
        print(json.dumps({"folder": str(folder), "n": n, "seed": seed, "counts": counts}))
        return
    for title, key in (("Categories", "task_category"), ("Image types", "image_type"), ("Image styles", "image_style")):
        names = sorted({name for count in counts.values() for name in count[key]})
        rows = [[name, *(str(count[key].get(name, 0)) for count in counts.values())] for name in names]
        print_table(title, ("", *counts), rows)
    print(f"{sum(count['pictures'] for count in counts.values())} pictures in {folder}")
    tasks = ",".join(f"mme_finance_{name}" for name in languages)
    print(f"""Use it: lm_eval --tasks {tasks} ... --metadata '{{"data_dir": "{folder}"}}'""")

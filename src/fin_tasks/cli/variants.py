"""`fin-tasks build variants`: published questions with other numbers."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import DataDir, Json, Seed, Source, show


def build_variants(
    benchmark: Annotated[
        str, typer.Argument(metavar="BENCHMARK", help="A benchmark with gold programs.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")],
    per_question: Annotated[
        int, typer.Option(min=1, max=20, help="Variants of each question, at most.")
    ] = 3,
    seed: Seed = 7,
    source: Source = "auto",
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Change numbers in published questions and in their gold programs, and run the programs for the new truths.

    A model that remembers the published answers fails on variants. Tasks ask them with the metadata
    variants: DIR.

    Example: fin-tasks build variants financemath --out variants
    """
    from fin_tasks.benchmarks import benchmark_named
    from fin_tasks.errors import ConfigError
    from fin_tasks.sandbox import open_runner
    from fin_tasks.settings import Settings
    from fin_tasks.variants import build
    from fin_tasks.variants.folder import write_variants

    data = import_module(f"{benchmark_named(benchmark).package}.data")
    if not hasattr(data, "variant_sources"):
        raise ConfigError(
            f"build variants: expected a benchmark with gold programs, such as financemath, got {benchmark}."
        )
    sources = data.variant_sources(source, data_dir)
    settings = Settings.from_environ()
    with open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner:
        variants, dropped = build.build_variants(
            sources, runner.run, per_question=per_question, seed=seed
        )
    counts = {
        "questions": len(sources),
        "with_variants": len({variant.source for variant in variants}),
        "variants": len(variants),
        "dropped": dict(dropped.most_common()),
    }
    facts = {"seed": seed, "per_question": per_question, **counts}
    write_variants(out, variants, benchmark, facts)
    show({"folder": str(out), **counts}, as_json=as_json)

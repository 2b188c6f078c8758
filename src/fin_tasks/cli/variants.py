"""`fin-tasks build variants`: published questions with other numbers."""

from importlib import import_module
from pathlib import Path

from fin_tasks.cli.options import Source, show


def build_variants(
    benchmark: str,
    out: Path,
    per_question: int = 3,
    seed: int = 7,
    source: Source = "auto",
    data_dir: Path | None = None,
    as_json: bool = False,
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

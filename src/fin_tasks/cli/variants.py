"""`fin-tasks build variants`: published questions with other numbers."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.errors import ConfigError

from .options import AsJson, DataDir, Seed, Source
from .output import exit_with, show

if TYPE_CHECKING:
    from fin_tasks.report.model import Report


def build_variants(
    benchmark: Annotated[
        str,
        typer.Argument(metavar="BENCHMARK", help="A benchmark with gold programs."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")],
    programs: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN",
            help="XFinBench: runs of two models or more whose programs take the place of "
            "gold programs; repeatable.",
        ),
    ] = None,
    data_dir: DataDir = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw 100 variants into sheets for people, .xlsx or .csv.",
        ),
    ] = None,
    as_json: AsJson = False,
    per_question: Annotated[
        int,
        typer.Option(
            min=1, max=20, help="The largest number of variants of a question."
        ),
    ] = 3,
    seed: Seed = 7,
    source: Source = "auto",
) -> None:
    """Change numbers in published questions and in their gold programs, and run the programs for the new truths.

    A model that remembers the published answers fails on variants. Tasks ask them with the metadata
    variants: DIR. XFinBench has no gold programs: --programs names runs of xfinbench_calc_pot, whose
    right programs take their place. Of each variant the programs of two models must agree. Of a benchmark
    of your own the questions count that have a program.

    Example: fin-tasks build variants financemath --out variants
    """
    from fin_tasks.benchmarks import benchmark_named
    from fin_tasks.benchmarks.own_variants import own_sources
    from fin_tasks.benchmarks.request import Request
    from fin_tasks.data.locate import sha256_of
    from fin_tasks.labels.draw import draw_variants
    from fin_tasks.labels.sheet import write_sheets
    from fin_tasks.report import read
    from fin_tasks.sandbox import shared_runner
    from fin_tasks.variants import build
    from fin_tasks.variants.folder import write_variants

    known = benchmark_named(benchmark)
    makes_sources = getattr(known.module("data"), "variant_sources", None)
    of_programs = known.module("variants")
    problems = []
    if of_programs and programs:
        report = read(programs)
        problems = [problem.message for problem in report.problems]
        files = [result.samples for _, result in report.results if result.samples]
        hashes = {f"{file.parent.name}/{file.name}": sha256_of(file) for file in files}
        sources = of_programs.sources_of(_solutions(report, of_programs.Solution))
    elif makes_sources and not programs:
        request = Request(
            benchmark=benchmark,
            split=known.usual_split,
            source=source,
            data_dir=data_dir,
        )
        located, sources = makes_sources(request)
        hashes = located.provenance()["files"]
    elif known.task_folder and not programs:
        sources, hashes = own_sources(known)
    else:
        raise ConfigError(
            "build variants: expected a benchmark with gold programs, such as financemath, or "
            f"xfinbench with --programs, got {benchmark}."
        )
    variants, dropped = build.build_variants(
        sources, shared_runner().run, per_question=per_question, seed=seed
    )
    counts = {
        "questions": len(sources),
        "with_variants": len({variant.source for variant in variants}),
        "variants": len(variants),
        "dropped": dict(dropped.most_common()),
    }
    facts = {"seed": seed, "per_question": per_question, "files": hashes, **counts}
    write_variants(out, variants, benchmark, facts)
    if review:
        for path in write_sheets(draw_variants(benchmark, variants, seed), review):
            print(path, file=sys.stderr)
    show({"folder": str(out), **counts}, as_json)
    exit_with(problems)


def _solutions(report: "Report", make: Any) -> Iterator[Any]:
    """Yield the responses of runs, and whether they are right."""
    from fin_tasks.report.samples import read_samples

    for run, result in report.results:
        for sample in read_samples(result.samples):
            if sample.scoring == "robust":
                response = str(next(iter(sample.responses), ""))
                is_right = sample.metrics.get("acc") == 1
                yield make(sample.where, run.model, sample.doc, response, is_right)

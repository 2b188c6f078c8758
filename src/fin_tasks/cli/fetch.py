"""`fin-tasks fetch`: download a benchmark's files."""

from typing import Annotated

import typer

from fin_tasks.cli.options import sub_commands

__all__ = ["app"]

app = sub_commands("Download a benchmark's files into the cache, resuming where an earlier download stopped.")

Verify = Annotated[bool, typer.Option("--verify", help="Only hash what is already here and compare.")]


@app.command("xfinbench")
def fetch_xfinbench(verify: Verify = False) -> None:
    """Download XFinBench's questions, figures and prompt templates."""
    _fetch("xfinbench", verify=verify)


@app.command("financemath")
def fetch_financemath(verify: Verify = False) -> None:
    """Download FinanceMath's questions."""
    _fetch("financemath", verify=verify)


def _fetch(benchmark: str, *, verify: bool) -> None:
    from fin_tasks import doctor as checks

    if verify:
        raise typer.Exit(0 if checks.verify_cache(benchmark) else 1)
    checks.fetch_all(benchmark)

"""`fin-tasks retrieval-report`: how often retrievers find XFinBench's gold terms."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Items, Json, report

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["retrieval_report"]


def retrieval_report(
    retriever: Annotated[
        list[str] | None,
        typer.Option(help="bm25, dense or hybrid; may be given more than once. All that work here otherwise."),
    ] = None,
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    source: Annotated[str, typer.Option(help="auto, upstream, data_dir or sample.")] = "auto",
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder with questions and knowledge bank; FIN_TASKS_DATA otherwise.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, help="Terms for a question.")] = 3,
    ties: Annotated[str, typer.Option(help="paper: all that score as the last of them; strict: no more.")] = "paper",
    tokeniser: Annotated[str, typer.Option(help="Of BM25: whitespace, as in the paper, or english.")] = "whitespace",
    encoder: Annotated[
        str | None,
        typer.Option(help="Of dense: minilm, sentence-transformers:NAME or endpoint:MODEL; minilm otherwise."),
    ] = None,
    as_json: Json = False,
    items: Items = None,
) -> None:
    """Search XFinBench's knowledge bank for every question and compare with the terms the annotators named.

    Accuracy is the share of questions with at least one gold term among those retrieved, with Wilson's 95 % interval.
    """
    from fin_tasks.benchmarks.xfinbench.augmentation import Options
    from fin_tasks.benchmarks.xfinbench.files import locate
    from fin_tasks.benchmarks.xfinbench.retrieval_report import report_retrieval
    from fin_tasks.sandbox import escape  # messages may quote a stranger's file
    from fin_tasks.settings import Settings

    settings = Settings.from_environ()
    options = Options(top_k=top_k, ties=ties, tokeniser=tokeniser, encoder=encoder)
    files = locate(source=source, data_dir=data_dir, settings=settings, split=split, notify=_notify)
    found = report_retrieval(files, retrievers=retriever or (), options=options, settings=settings)
    report(found, as_json=as_json, items=items, table=_table)
    for name, why in found.not_run.items():
        print(escape(f"fin-tasks: {name} not run: {why}"), file=sys.stderr)


def _notify(message: str) -> None:
    from fin_tasks.sandbox import escape

    print(escape(f"fin-tasks: {message}"), file=sys.stderr)


def _table(summary: Mapping[str, Any]) -> "Table":
    from rich.table import Table

    bank = summary["bank"]
    where = "the packaged sample" if summary["origin"] == "sample" else f"{summary['split']} ({summary['origin']})"
    table = Table(
        title=f"Gold terms found, {where}: top {summary['top_k']}, ties {summary['ties']}, {bank['n']} terms",
        title_justify="left",
        caption=_caption(summary),
        caption_justify="left",
    )
    table.add_column("Retriever", no_wrap=True)
    table.add_column("Part", no_wrap=True)
    for column in ("n", "Accuracy %", "Recall", "MRR", "nDCG", "Terms"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in summary["retrievers"]:
        parts = {"all": each, "text": each["without_figure"], **each["by_task"], **each["by_capability"]}
        for place, (name, part) in enumerate(parts.items()):
            table.add_row(
                "" if place else each["retriever"], name, *_cells(part), end_section=place in (1, 4, len(parts) - 1)
            )
    return table


def _cells(part: Mapping[str, Any]) -> list[str]:
    if not part["n"]:
        return ["0", *["-"] * 5]
    low, high = 100 * part["accuracy_low"], 100 * part["accuracy_high"]
    others = (f"{part[name]:.3f}" for name in ("recall_at_k", "mrr", "ndcg_at_k"))
    return [
        str(part["n"]),
        f"{100 * part['accuracy']:.1f} ({low:.1f}-{high:.1f})",
        *others,
        f"{part['mean_terms']:.2f}",
    ]


def _caption(summary: Mapping[str, Any]) -> str:
    left_out: dict[str, int] = next((each["left_out"] for each in summary["retrievers"]), {})
    rows = ", ".join(f"{reason} {count}" for reason, count in left_out.items() if count) or "none"
    terms = ", ".join(f"{kind} {len(ids)}" for kind, ids in summary["bank"].get("left_out", {}).items())
    return f"Questions left out: {rows}." + (f" Terms left out: {terms}." if terms else "")

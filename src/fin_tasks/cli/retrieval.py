"""`fin-tasks retrieval-report`: how often retrievers find XFinBench's gold terms."""

import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.compare import make_folder
from fin_tasks.cli.options import Items, Json, report

if TYPE_CHECKING:
    from rich.table import Table

    from fin_tasks.benchmarks.xfinbench.retrieval_report import RetrievalReport

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
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write report.csv, report.png and report.svg here.")
    ] = None,
) -> None:
    """Search XFinBench's knowledge bank for every question and compare with the terms the annotators named.

    Accuracy is the share of questions with at least one gold term among those retrieved, with Wilson's 95 % interval.
    """
    from fin_tasks.benchmarks.xfinbench.augmentation import Options
    from fin_tasks.benchmarks.xfinbench.files import locate
    from fin_tasks.benchmarks.xfinbench.retrieval_report import report_retrieval
    from fin_tasks.sandbox import escape  # messages may quote a stranger's file
    from fin_tasks.settings import Settings

    make_folder(out)
    settings = Settings.from_environ()
    options = Options(top_k=top_k, ties=ties, tokeniser=tokeniser, encoder=encoder)
    files = locate(source=source, data_dir=data_dir, settings=settings, split=split, notify=_notify)
    found = report_retrieval(files, retrievers=retriever or (), options=options, settings=settings)
    if out is not None:
        _write(found, out)
    report(found, as_json=as_json, items=items, table=_table)
    for name, why in found.not_run.items():
        print(escape(f"fin-tasks: {name} not run: {why}"), file=sys.stderr)


def _write(found: "RetrievalReport", out: Path) -> None:
    from fin_tasks.report.dots import Dot, draw_dots

    parts = list(found.parts())
    with (out / "report.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(parts[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(parts)
    panels = {"all": "By task", "without_figure": "By task", "task": "By task", "capability": "By capability"}
    names = {"all": "all", "without_figure": "text"}
    dots = [
        Dot(
            panel=panels[part["grouping"]],
            row=part["group"] or names[part["grouping"]],
            series=part["retriever"],
            value=part["accuracy"],
            low=part["accuracy_low"],
            high=part["accuracy_high"],
            n=part["n"],
        )
        for part in parts
        if part["n"]
    ]
    if dots:
        caption = f"{_title(found.summary())}. Wilson's 95 % intervals; a question counts in each capability it names."
        draw_dots(
            dots, out / "report", title="Gold terms found", caption=caption, axis="questions with a gold term found (%)"
        )


def _notify(message: str) -> None:
    from fin_tasks.sandbox import escape

    print(escape(f"fin-tasks: {message}"), file=sys.stderr)


def _table(summary: Mapping[str, Any]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title=f"Gold terms found, {_title(summary)}",
        title_justify="left",
        caption=_caption(summary),
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
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


def _title(summary: Mapping[str, Any]) -> str:
    where = "the packaged sample" if summary["origin"] == "sample" else f"{summary['split']} ({summary['origin']})"
    return f"{where}: top {summary['top_k']}, ties {summary['ties']}, {summary['bank']['n']} terms"


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

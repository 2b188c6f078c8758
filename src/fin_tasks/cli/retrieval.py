"""`fin-tasks retrieval-report`: how often a retriever finds XFinBench's gold terms."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fin_tasks.cli.options import Json

__all__ = ["retrieval_report"]


def retrieval_report(
    retriever: Annotated[list[str] | None, typer.Option(help="bm25 or dense; bm25 otherwise. May be repeated.")] = None,
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    source: Annotated[str, typer.Option(help="auto, upstream, data_dir or sample.")] = "auto",
    data_dir: Annotated[Path | None, typer.Option(help="Folder with the files; FIN_TASKS_DATA otherwise.")] = None,
    top_k: Annotated[int, typer.Option(min=1, help="Terms for a question.")] = 3,
    encoder: Annotated[
        str | None, typer.Option(help="Of dense: minilm, sentence-transformers:NAME or endpoint:MODEL.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the share of questions with a gold term among the terms found, over the questions without a figure."""
    from rich.console import Console
    from rich.table import Table

    from fin_tasks.benchmarks.xfinbench.data import load

    found: list[dict[str, Any]] = []
    for method in retriever or ["bm25"]:
        hits: dict[str, list[bool]] = {"all": []}
        for subset in ("bool", "mcq", "calc"):
            folder = str(data_dir) if data_dir else None
            options: dict[str, Any] = {
                "split": split,
                "source": source,
                "data_dir": folder,
                "top_k": top_k,
                "encoder": encoder,
            }
            (documents,) = load(subset=subset, knowledge=method, **options).values()
            gold = [(set(doc["gold_terms"]), {term["id"] for term in doc["terms"]}) for doc in documents.to_list()]
            hits[subset] = [bool(named & terms) for named, terms in gold if named]
            hits["all"] += hits[subset]
        rates = {part: sum(of) / len(of) if of else None for part, of in hits.items()}
        found.append({"retriever": method, "n": len(hits["all"]), "accuracy": rates})
    if as_json:
        print(json.dumps({"split": split, "top_k": top_k, "retrievers": found}))
        return
    table = Table("Retriever", "Questions", "All", "Statements", "Choices", "Calculation", title="Gold term found")
    for one in found:
        table.add_row(
            one["retriever"], str(one["n"]), *(f"{100 * (rate or 0):.1f}" for rate in one["accuracy"].values())
        )
    Console().print(table)

"""`fin-tasks build xfinbench`, which makes questions, and `fin-tasks xfinbench`, which measures retrievers."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fin_tasks.report import Json
from fin_tasks.settings import OPENAI, Settings

from .options import AsJson, AskedModel, BaseUrl, DataDir, OutDir, Seed, Source
from .output import exit_with, print_table, say, show

if TYPE_CHECKING:
    from fin_tasks.benchmarks.xfinbench.retrievers import GoldTerms, RetrieverResult

app = typer.Typer(
    no_args_is_help=True,
    help="Label XFinBench's calculations, and measure how well terms are found.",
)


def build_xfinbench(
    table: Annotated[
        Path,
        typer.Option(
            "--from",
            metavar="CSV",
            help="Exercises, with the columns id, source, chapter, question, answer, kinds.",
        ),
    ],
    model: AskedModel,
    out: OutDir,
    verify_model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model that verifies the questions. Default: --model.",
        ),
    ] = None,
    upstream_prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the authors' prompts (construct_data/prompts), to ask in their words.",
        ),
    ] = None,
    ask_again: Annotated[
        bool,
        typer.Option(
            "--ask-again", help="Ask again where an earlier reply could not be used."
        ),
    ] = False,
    as_json: AsJson = False,
    base_url: BaseUrl = OPENAI,
    rules: Annotated[
        Literal["house", "paper"],
        typer.Option(
            help="Rules by which questions are dropped: ours or the authors'."
        ),
    ] = "house",
    validation: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of sources in the validation split."),
    ] = 0.25,
    seed: Seed = 0,
) -> None:
    """Make questions like XFinBench's: a model writes and verifies them. A second run goes on where the first stopped.

    The status is 1 if every question was dropped.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from anyio.from_thread import start_blocking_portal

    from fin_tasks.benchmarks.xfinbench.construct.build import Maker
    from fin_tasks.benchmarks.xfinbench.construct.templates import load_templates
    from fin_tasks.endpoints.chat import Endpoint, open_chat

    settings = Settings.from_environ()
    templates = load_templates(upstream_prompts)
    asked_writer = Endpoint(model=model, base_url=(base_url,))
    asked_verifier = Endpoint(model=verify_model or model, base_url=(base_url,))

    async def build() -> dict[str, Any]:
        async with (
            open_chat(asked_writer, settings) as writer,
            open_chat(asked_verifier, settings) as verifier,
        ):
            maker = Maker(
                models={"writer": writer, "verifier": verifier},
                templates=templates,
                rules=rules,
                seed=seed,
                ask_again=ask_again,
            )
            return await maker.build(table, out, validation=validation)

    # Ctrl-C ends the loop in its thread, and with it all requests.
    with start_blocking_portal() as portal:
        report = portal.call(build)
    show(report, as_json)
    if report["kept"] == 0:
        exit_with(
            [
                f"build xfinbench: expected questions to keep, got {report['dropped']} that "
                f"were all dropped; {out / 'questions.jsonl'} says why. Take another model or "
                "other exercises, or --ask-again if replies could not be used."
            ]
        )


@app.command()
def retrieval(
    split: Annotated[
        Literal["test", "validation"],
        typer.Option(help="Split of the questions; the papers use the test set."),
    ] = "test",
    bank: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Terms to search: id, term_name, term_definition. Default: the authors'.",
        ),
    ] = None,
    top_k: Annotated[
        int,
        typer.Option(min=1, help="Number of terms for a question; ties may add more."),
    ] = 3,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure dense retrieval too, by minilm or endpoint:MODEL.",
        ),
    ] = None,
    source: Source = "auto",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show for how many questions BM25, and an encoder, find a gold term, beside the papers' values.

    Example: fin-tasks xfinbench retrieval --encoder minilm

    Example: fin-tasks xfinbench retrieval --split validation --bank my_terms.csv --data-dir data
    """
    from fin_tasks.benchmarks.xfinbench.retrievers import (
        measure_retriever,
        read_gold_terms,
    )

    questions = read_gold_terms(split, source=source, data_dir=data_dir, bank=bank)
    results = [measure_retriever(questions, "bm25", top_k=top_k)]
    if encoder:
        dense = measure_retriever(questions, "dense", top_k=top_k, encoder=encoder)
        results.append(dense)
    if as_json:
        facts: Json = asdict(questions)
        facts["questions"] = len(facts.pop("rows"))
        facts["bank"] = str(questions.bank)
        retrievers = [asdict(result) for result in results]
        show({**facts, "retrievers": retrievers}, as_json)
        return
    _print_retrievers(questions, results)


def _print_retrievers(questions: "GoldTerms", results: "list[RetrieverResult]") -> None:
    """Print how often each retriever finds a gold term, in percent."""
    (first, *_) = results
    say(
        f"{questions.split}: {len(questions.rows):,} questions with gold terms; {questions.bank} has "
        f"{first.provenance['bank']['n']:,} terms."
    )
    for result in results:
        say(f"{result.method} shows {result.terms_per_question:.2f} terms a question.")
    if questions.left_out:
        listed = ", ".join(f"{why} {n}" for why, n in questions.left_out.items())
        say(f"Rows of the file that are left out: {listed}.")
    if questions.n_without_bank:
        say(
            f"{questions.n_without_bank:,} questions name only terms that this bank lacks; "
            "they count as not found."
        )
    rows = []
    for place, accuracy in enumerate(first.accuracies):
        row: Json = {
            "Group": accuracy.column,
            "Name": accuracy.name,
            "Questions": accuracy.n,
        }
        for result in results:
            measured = result.accuracies[place]
            printed = measured.printed
            print_name = "BM25" if result.method == "bm25" else "Ada"
            row[f"{result.method} %"] = f"{measured.accuracy:.1f}"
            row[f"{print_name} in print"] = "–" if printed is None else f"{printed:.1f}"
        rows.append(row)
    print_table("Questions for which a gold term is found", rows, show_all=True)
    say(
        "In print: the test set, in Table 11 of the ACL version and Table 16 of the long one, without "
        "capabilities. All: questions without a figure, the only ones that the printed totals fit."
    )


@app.command()
def types(
    model: AskedModel,
    out: Annotated[
        Path,
        typer.Option(
            metavar="CSV", help="File for the types; its columns are id and math_types."
        ),
    ],
    split: Annotated[
        Literal["test", "validation"],
        typer.Option(help="Split whose calculations are labeled."),
    ] = "test",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Label only this many calculations.")
    ] = None,
    ask_again: Annotated[
        bool,
        typer.Option(
            "--ask-again", help="Ask again where an earlier reply could not be read."
        ),
    ] = False,
    base_url: BaseUrl = OPENAI,
    source: Source = "auto",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Have a model label calculations with mathematical types. A second run goes on where the first stopped.

    The file is for the metadata math_types. The status is 1 if some replies could not be read.

    Example: fin-tasks xfinbench types --model gpt-4o-mini --split validation --limit 20 --out types.csv
    """
    from anyio.from_thread import start_blocking_portal

    from fin_tasks.benchmarks.xfinbench.math_types import (
        PRINTED,
        Labels,
        label_types,
        read_calculations,
        write_types,
    )
    from fin_tasks.endpoints.chat import Endpoint, open_chat

    settings = Settings.from_environ()
    rows = read_calculations(split, source=source, data_dir=data_dir, limit=limit)
    endpoint = Endpoint(model=model, base_url=(base_url,))

    async def label() -> Labels:
        async with open_chat(endpoint, settings) as chat:
            return await label_types(rows, chat, ask_again=ask_again)

    with start_blocking_portal() as portal:
        labels = portal.call(label)
    write_types(labels, out)
    summary: Json = {
        **labels.facts,
        "asked": labels.n_asked,
        "labeled": len(labels.types_by_id),
        "file": str(out),
    }
    shares = []
    for name, share in labels.shares().items():
        printed = PRINTED.get(name)
        shares.append({"type": name, "percent": round(share, 1), "printed": printed})
    show({**summary, "shares": shares, "unread": labels.unread}, as_json)
    if labels.unread:
        exit_with(
            [
                "xfinbench types: expected one or two types in each reply, found none or more in "
                f"{len(labels.unread)} of {labels.n_asked}. {out} has the others; --ask-again asks "
                "for these once more."
            ]
        )

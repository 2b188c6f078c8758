"""`fin-tasks build xfinbench`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fin_tasks.cli.options import Json, print_table
from fin_tasks.settings import OPENAI

__all__ = ["build_xfinbench"]


def build_xfinbench(
    table: Annotated[
        Path, typer.Option("--from", metavar="CSV", help="Columns id, source, chapter, question, answer, kinds.")
    ],
    model: Annotated[str, typer.Option(metavar="M", help="The model that makes the questions.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the questions and the report.")],
    verify_model: Annotated[str | None, typer.Option(metavar="M", help="Verifies them.", show_default="M")] = None,
    base_url: Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible address.")] = OPENAI,
    verify_base_url: Annotated[str | None, typer.Option(metavar="URL", help="Of the verifying model.")] = None,
    key_variable: Annotated[str, typer.Option(help="Environment variable with the key.")] = "OPENAI_API_KEY",
    prompts: Annotated[str, typer.Option(help="house, or upstream: the authors' wording.")] = "house",
    upstream_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Their construct_data/prompts.")] = None,
    validation: Annotated[float, typer.Option(min=0, max=1, help="Share of sources in the validation split.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Mixes the choices and draws the splits.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens a reply may have.")] = 4096,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at the same time.")] = 16,
    prices: Annotated[Path | None, typer.Option(help="YAML file: date, prompt, completion (a million tokens).")] = None,
    verify_prices: Annotated[Path | None, typer.Option(help="The same for the verifying model.")] = None,
    as_json: Json = False,
) -> None:
    """Make questions of your own like XFinBench's: a model writes and verifies them. A second run goes on.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.asking import load_prompts
    from fin_tasks.benchmarks.xfinbench.construct import build_questions
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.judging.judge import read_prices
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    settings, templates = Settings.from_environ(), load_prompts(prompts, upstream_dir)
    files = {"writer": prices, "verifier": verify_prices or (prices if verify_model in (None, model) else None)}
    chats = [
        Chat(name, [url.strip().rstrip("/")], settings, key_variable=key_variable, concurrency=concurrency)
        for name, url in ((model, base_url), (verify_model or model, verify_base_url or base_url))
    ]
    with chats[0] as writer, chats[1] as verifier:
        report = build_questions(
            table,
            out,
            writer=writer,
            verifier=verifier,
            prompts=templates,
            prices={role: read_prices(path) for role, path in files.items() if path},
            settings=settings,
            validation=validation,
            seed=seed,
            max_tokens=max_tokens,
            concurrency=concurrency,
        )
    if as_json:
        print(json.dumps(report))
        return
    names = list(dict.fromkeys(["kept", *report["rules"]["all"]]))
    kinds = list(report["rules"])
    rows = [[name, *(str(report["rules"][kind].get(name, 0)) for kind in kinds)] for name in names]
    print_table(f"{report['sources']} source questions", ["", *kinds], rows)
    print(f"dropped: {report['dropped']:.1%} (paper: {report['dropped_in_paper']:.1%})")
    for role, one in report["models"].items():
        cost = f", cost {one['cost']:.2f} {one['currency']}" if "cost" in one else ""
        tokens = f"{one['prompt_tokens']} + {one['completion_tokens']} tokens{cost}"
        print(f"{role} {escape(one['model'])}: {one['replies']} replies ({one['asked_now']} asked now), {tokens}")
    print(f"""Use them: lm_eval --tasks xfinbench_bool ... --metadata '{{"data_dir": "{out}"}}'""")

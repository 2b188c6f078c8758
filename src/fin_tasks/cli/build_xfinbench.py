"""`fin-tasks build xfinbench`."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from fin_tasks.cli.options import Json, print_table
from fin_tasks.settings import OPENAI

__all__ = ["BaseUrl", "Concurrency", "KeyVariable", "PromptSet", "UpstreamDir", "build_xfinbench"]

BaseUrl = Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible address.")]
KeyVariable = Annotated[str, typer.Option(help="Environment variable with the key.")]
PromptSet = Annotated[Literal["house", "upstream"], typer.Option(help="Our wording, or the authors'.")]
UpstreamDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Their folder construct_data/prompts.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests at the same time.")]


def build_xfinbench(
    table: Annotated[
        Path, typer.Option("--from", metavar="CSV", help="Columns id, source, chapter, question, answer, kinds.")
    ],
    model: Annotated[str, typer.Option(metavar="M", help="The model that writes the questions.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the questions and the report.")],
    verify_model: Annotated[str | None, typer.Option(metavar="M", help="Verifies them.", show_default="M")] = None,
    base_url: BaseUrl = OPENAI,
    verify_base_url: Annotated[str | None, typer.Option(metavar="URL", help="Of the verifying model.")] = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    prompts: PromptSet = "house",
    upstream_dir: UpstreamDir = None,
    validation: Annotated[float, typer.Option(min=0, max=1, help="Share of sources in the validation split.")] = 0.25,
    seed: Annotated[int, typer.Option(help="Mixes the choices and draws the splits.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens a reply may have.")] = 4096,
    concurrency: Concurrency = 16,
    prices: Annotated[Path | None, typer.Option(help="YAML file: date, prompt, completion (a million tokens).")] = None,
    verify_prices: Annotated[Path | None, typer.Option(help="The same for another verifying model.")] = None,
    as_json: Json = False,
) -> None:
    """Make questions of your own like XFinBench's: a model writes and verifies them. A second run goes on.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.asking import load_prompts
    from fin_tasks.benchmarks.xfinbench.construct import Maker
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.judging.judge import read_prices
    from fin_tasks.sandbox import escape
    from fin_tasks.settings import Settings

    settings, templates = Settings.from_environ(), load_prompts(prompts, upstream_dir)
    other = verify_model or model
    files = {"writer": prices, "verifier": verify_prices or (prices if other == model else None)}
    known = {role: read_prices(path) for role, path in files.items() if path}
    with (
        Chat(model, [base_url], settings, key_variable=key_variable, concurrency=concurrency) as writer,
        Chat(other, [verify_base_url or base_url], settings, key_variable=key_variable, concurrency=concurrency) as two,
    ):
        models = {"writer": writer, "verifier": two}
        maker = Maker(models, templates, settings, known, seed=seed, max_tokens=max_tokens, threads=concurrency)
        report = maker.build(table, out, validation=validation)
    if as_json:
        print(json.dumps(report))
        return
    rules = report["rules"]
    rows = [[name, *(str(counts[name]) for counts in rules.values())] for name in {"kept": 0, **rules["all"]}]
    print_table(f"{report['sources']} source questions", ["", *rules], rows)
    print(f"dropped: {report['dropped']:.1%} (paper: {report['dropped_in_paper']:.1%})")
    for role, one in report["models"].items():
        cost = f", cost {one['cost']:.2f} {one['currency']}" if "cost" in one else ""
        tokens = f"{one['prompt_tokens']} + {one['completion_tokens']} tokens{cost}"
        print(f"{role} {escape(one['model'])}: {one['replies']} replies, {one['asked_now']} of them now, {tokens}")
    if rules["all"]["kept"]:
        print(f"""Use them: lm_eval --tasks xfinbench_bool ... --metadata '{{"data_dir": "{out}"}}'""")

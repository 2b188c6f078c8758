"""`fin-tasks build xfinbench`: questions like XFinBench's, made by a model."""

from pathlib import Path
from typing import Literal

from fin_tasks.settings import OPENAI, Settings

from .options import exit_with, show


def build_xfinbench(
    table: Path,
    model: str,
    out: Path,
    verify_model: str | None,
    upstream_prompts: Path | None,
    ask_again: bool,
    as_json: bool,
    base_url: str = OPENAI,
    rules: Literal["house", "paper"] = "house",
    validation: float = 0.25,
    seed: int = 0,
) -> None:
    """Make questions like XFinBench's: a model writes and verifies them. A second run goes on where the first stopped.

    The status is 1 if every question was dropped.

    Example: fin-tasks build xfinbench --from qa.csv --model gpt-4o --out own
    """
    from fin_tasks.benchmarks.xfinbench.construct.build import Maker
    from fin_tasks.benchmarks.xfinbench.construct.templates import load_templates
    from fin_tasks.endpoints.chat import Chat

    settings = Settings.from_environ()
    templates = load_templates(upstream_prompts)
    with (
        Chat(model, [base_url], settings) as writer,
        Chat(verify_model or model, [base_url], settings) as verifier,
    ):
        maker = Maker(
            models={"writer": writer, "verifier": verifier},
            templates=templates,
            rules=rules,
            seed=seed,
            ask_again=ask_again,
        )
        report = maker.build(table, out, validation=validation)
    show(report, as_json)
    if report["kept"] == 0:
        exit_with(
            [
                f"build xfinbench: expected questions to keep, got {report['dropped']} that "
                f"were all dropped; {out / 'questions.jsonl'} says why. Take another model or "
                "other exercises, or --ask-again if replies could not be used."
            ]
        )

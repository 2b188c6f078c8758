"""`fin-tasks build xfinbench` and `fin-tasks label math`: XFinBench's questions and labels by a model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from fin_tasks.cli.options import show, tell
from fin_tasks.settings import OPENAI, Settings


def build_xfinbench(
    table: Path,
    model: str,
    out: Path,
    verify_model: str | None = None,
    base_url: str = OPENAI,
    upstream_prompts: Path | None = None,
    rules: Literal["house", "paper"] = "house",
    ask_again: bool = False,
    validation: float = 0.25,
    seed: int = 0,
    as_json: bool = False,
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
    show(report, as_json=as_json)
    if report["kept"] == 0:
        tell(
            [
                f"build xfinbench: expected questions to keep, got {report['dropped']} that "
                f"were all dropped; {out / 'questions.jsonl'} says why. Take another model or "
                "other exercises, or --ask-again if replies could not be used."
            ]
        )


def label_math(
    model: str,
    out: Path = Path("math_types.csv"),
    split: Literal["test", "validation"] = "test",
    data_dir: Path | None = None,
    base_url: str = OPENAI,
    as_json: bool = False,
) -> None:
    """Have a model name the mathematical types of XFinBench's calculations. A second run goes on.

    Example: fin-tasks label math --model gpt-4o-mini --split validation --out types.csv
    """
    import pandas as pd

    from fin_tasks.benchmarks.xfinbench.construct.templates import load_templates
    from fin_tasks.benchmarks.xfinbench.labeling import label_rows
    from fin_tasks.benchmarks.xfinbench.rows import SPLITS, read_rows
    from fin_tasks.data.files import write_file
    from fin_tasks.data.formulas import quote_formulas
    from fin_tasks.data.locate import locate
    from fin_tasks.endpoints.chat import Chat

    settings = Settings.from_environ()
    files = locate("xfinbench", [SPLITS[split]], data_dir=data_dir, settings=settings)
    rows = read_rows(files.files[SPLITS[split]])
    calculations = [row for row in rows if row.task == "calcu"]
    with Chat(model, [base_url], settings) as chat:
        labels = label_rows(calculations, chat, load_templates())
    table = pd.DataFrame(labels, columns=["id", "math_types", "reason"])
    content = table.map(quote_formulas).to_csv(index=False)
    write_file(out, content.encode())
    show(_summary_of(labels), as_json=as_json)


def _summary_of(labels: Sequence[Mapping[str, str]]) -> Mapping[str, Any]:
    """Return how many calculations need each type, beside the paper's shares."""
    from fin_tasks.benchmarks.xfinbench.math_types import MATH_TYPES, PUBLISHED
    from fin_tasks.stats.averages import average_or_none

    types_of_labels = [
        label["math_types"].split(";") for label in labels if label["math_types"]
    ]
    shares = {}
    for name in MATH_TYPES:
        shares[name] = average_or_none(
            float(name in types) for types in types_of_labels
        )
    return {
        "n": len(labels),
        "labeled": len(types_of_labels),
        "shares": shares,
        "shares_in_paper": PUBLISHED,
        "not_labeled": Counter(label["reason"] for label in labels if label["reason"]),
    }

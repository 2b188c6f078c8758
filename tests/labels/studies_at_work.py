"""What tests of labels share: they run commands, fill in sheets, and write runs that a judge scored."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.cli import app

TASK = "mme_finance_en"
STAMP = "2026-01-01T00-00-00"
SAMPLE = ("--source", "sample")
Cells = dict[str, str]


def run(*arguments: object, status: int = 0) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done


def draw(out: Path, study: object, *options: object) -> list[Path]:
    """Draw a study from the benchmark's sample, and return its sheets."""
    run("label", "draw", *options, "--study", study, *SAMPLE, "--out", out)
    return sheets_of(out)


def sheets_of(out: Path) -> list[Path]:
    return sorted(out.parent.glob(f"{out.stem}_*{out.suffix}"))


def drawn_rows(out: Path) -> list[dict[str, Any]]:
    return list(json.loads(out.with_suffix(".draw.json").read_text())["rows"])


def read(sheet: Path) -> pd.DataFrame:
    if sheet.suffix == ".csv":
        return pd.read_csv(sheet, dtype=str, na_filter=False)
    return pd.read_excel(sheet, "Labels", dtype=str, na_filter=False)


def fill(
    sheet: Path, **labels: Sequence[object] | Callable[[Cells], object]
) -> pd.DataFrame:
    """Write a column of labels, or what a person answers when she sees the cells of a row."""
    table = read(sheet)
    for column, answers in labels.items():
        if callable(answers):
            answers = [answers(cells) for cells in table.to_dict("records")]
        table[column] = list(answers)
    if sheet.suffix == ".csv":
        table.to_csv(sheet, index=False)
    else:
        table.to_excel(sheet, sheet_name="Labels", index=False)
    return table


def fill_all(sheets: Sequence[Path], **labels: Sequence[object]) -> None:
    """Write the same labels into the sheets of all people."""
    for sheet in sheets:
        fill(sheet, **labels)


def fill_apart(sheets: Sequence[Path], **labels: Sequence[Sequence[object]]) -> None:
    """Write labels that differ by person."""
    for person, sheet in enumerate(sheets):
        fill(sheet, **{name: answers[person] for name, answers in labels.items()})


def merge(
    sheets: Sequence[Path], *options: object, status: int = 0
) -> dict[str, pd.DataFrame]:
    """Merge sheets into a folder beside them, and return its tables."""
    folder = sheets[0].parent / "merged"
    run("label", "merge", *sheets, "--out", folder, *options, status=status)
    tables = {}
    for file in folder.glob("*.csv"):
        if file.stat().st_size > 1:
            tables[file.stem] = pd.read_csv(file)
    return tables


def agree(sheets: Sequence[Path], *judged: Path, options: Sequence[object] = ()) -> Any:
    runs = [word for path in judged for word in ("--judge", path)]
    return json.loads(run("label", "agree", *sheets, *runs, *options, "--json").stdout)


def sample_docs(**options: Any) -> list[dict[str, Any]]:
    return list(load(**{"language": "en", **options}, source="sample")["test"])


def write_judged(
    folder: Path,
    docs: Mapping[str, Sequence[Mapping[str, Any]]],
    score: Callable[[int], float | None],
    *,
    model: str = "mine",
    judge: str = "judge",
    scorings: Sequence[str] = ("robust",),
    response: str = "said {place}",
) -> Path:
    """Write a run of some tasks whose responses a judge scored by their place; an empty response is missing."""
    folder.mkdir(parents=True)
    configs = {}
    for task, docs_of_task in docs.items():
        lines = []
        for place, doc in enumerate(docs_of_task):
            text = response.format(place=place, task=task)
            line = {"doc": doc, "filtered_resps": [["{}"]]}
            line["resps"] = [[text]] if text else []
            line |= {"metrics": ["score"], "score": score(place)}
            lines += [json.dumps({**line, "filter": name}) for name in scorings]
        samples = folder / f"samples_{task}_{STAMP}.jsonl"
        samples.write_text("\n".join(lines))
        facts = {"judge": {"model": judge, "rubric": "r@1"}}
        configs[task] = {"task": task, "metadata": facts}
    results = {
        "results": {task: {"score,robust": 50.0} for task in docs},
        "configs": configs,
        "model_name": model,
    }
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))
    return folder

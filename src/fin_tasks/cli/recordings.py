"""`fin-tasks recordings`: what real models answered, as the authors of benchmarks published it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.errors import FinTasksError
from fin_tasks.report import Json

from .options import AsJson, DataDir, Out, ShowAll
from .output import exit_with, print_table, say, warn

if TYPE_CHECKING:
    from fin_tasks.recordings.catalog import Recorded, Repository


def recordings(
    benchmark: Annotated[
        str | None,
        typer.Argument(
            metavar="BENCHMARK",
            help="financemath, financereasoning, dynostock or xfinbench.",
        ),
    ] = None,
    models: Annotated[
        str,
        typer.Option(
            metavar="PATTERNS",
            help="Only these models, such as 'gpt*,claude*'. Default: all.",
        ),
    ] = "",
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="cot or pot; for dynostock recency or authority. Default: both.",
        ),
    ] = "",
    out: Out = None,
    copy: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="A copy of the repository on disk. Default: download the files.",
        ),
    ] = None,
    data_dir: DataDir = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """List recorded models; with --out, download their responses and score them as ordinary runs.

    What is there already is not done again, so an interrupted command goes on where it stopped.

    Example: fin-tasks recordings financemath --models 'gpt*,claude*' --out results

    Example: fin-tasks recordings dynostock --mode recency --from vlm_behavioral_fin --out results
    """
    from fin_tasks.recordings.catalog import read_catalog, select

    catalog = read_catalog()
    if benchmark is None:
        _list(_rows_of_catalog(catalog), as_json, show_all)
        return
    patterns = models.replace(" ", "").split(",") if models else []
    chosen = select(catalog, benchmark, models=patterns, part=mode)
    if out is None:
        _list(_rows_of_models(chosen), as_json, show_all)
        return
    problems = _score(chosen, out, copy=copy, data_dir=data_dir)
    rows = _rows_of_scores(chosen, out)
    if as_json:
        print(json.dumps({"recordings": rows}))
    elif rows:
        print_table(f"{benchmark}, recorded models", rows, show_all=show_all)
        say(f"Make a page of them: fin-tasks report {out} --out report")
    exit_with(problems)


def _list(rows: list[Json], as_json: bool, show_all: bool) -> None:
    if as_json:
        print(json.dumps({"recordings": rows}))
        return
    print_table("Recorded models", rows, show_all=show_all)
    say("`fin-tasks recordings BENCHMARK --out results` scores them.")


def _rows_of_catalog(catalog: "Sequence[Repository]") -> list[Json]:
    rows = []
    for repository in catalog:
        for part in repository.parts:
            n_bytes = sum(file.size for file in part.files)
            rows.append(
                {
                    "Benchmark": repository.benchmark,
                    "Recorded": part.name,
                    "Models": len(part.models),
                    "Questions": part.questions,
                    "Date": repository.date,
                    "MB": round(n_bytes / 1e6, 1),
                    "License": repository.license,
                    "Repository": repository.repository,
                }
            )
    return rows


def _rows_of_models(chosen: "Sequence[Recorded]") -> list[Json]:
    names = defaultdict[str, list[str]](list)
    sizes = defaultdict[str, int](int)
    for recording in chosen:
        names[recording.model].append(recording.part.name)
        sizes[recording.model] += sum(file.size for file in recording.files)
    return [
        {
            "Model": model,
            "Recorded": ", ".join(parts),
            "MB": round(sizes[model] / 1e6, 1),
        }
        for model, parts in names.items()
    ]


def _score(
    chosen: "Sequence[Recorded]", out: Path, *, copy: Path | None, data_dir: Path | None
) -> list[str]:
    """Score what is not there yet, and return what went wrong."""
    from tqdm import tqdm

    from fin_tasks.recordings.files import in_copy, obtain
    from fin_tasks.recordings.score import Scorer, is_done, write
    from fin_tasks.settings import Settings

    todo = [recording for recording in chosen if not is_done(recording, out)]
    if len(todo) < len(chosen):
        warn(f"{len(chosen) - len(todo)} of {len(chosen)} are in {out} already.")
    if copy:
        n_all = len(todo)
        todo = in_copy(todo, copy)
        if len(todo) < n_all:
            warn(
                f"{n_all - len(todo)} of {n_all} have no file in {copy} and are left out."
            )
    if not todo:
        return []
    folder = obtain(todo, copy=copy, settings=Settings.from_environ())
    scorer = Scorer(folder, data_dir=data_dir or copy)
    problems = []
    for recording in tqdm(todo, desc="Scoring", unit="recording", disable=None):
        try:
            write(recording, scorer.score(recording), out)
        except FinTasksError as error:
            problems.append(f"{recording.name}: {error}")
    return problems


def _rows_of_scores(chosen: "Sequence[Recorded]", out: Path) -> list[Json]:
    """Return the scores of recordings that a folder of results has, the best first."""
    from fin_tasks.recordings.score import scores_of

    rows = []
    for recording in chosen:
        for task, scores in scores_of(recording, out):
            rows.append({"Model": recording.model, "Task": task, **scores})
    return sorted(rows, key=lambda row: (row["Task"], -(row["paper"] or 0)))

"""`fin-tasks report`: result files in, a leaderboard out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.compare import tell
from fin_tasks.cli.options import Json
from fin_tasks.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fin_tasks.report.collect import Collected

__all__ = ["report"]

_NOTES = 8  # shown; the rest are in the report
_ALONE = "all values of runs stand apart, so no figure has them; --mix draws them."


def report(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS...",
            help="Results of lm-eval or VLMEvalKit: files, or folders with such files anywhere below. Also, named as "
            "files, what fin-tasks judge (--items or --json) wrote.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the report; an earlier one in it is replaced.")],
    published: Annotated[bool, typer.Option(help="Show the papers' figures too, marked as such.")] = True,
    mix: Annotated[
        bool, typer.Option("--mix", help="Rank runs together that differ in data, prompts or judge; marks stay.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Show the others against this model; else against the best.")
    ] = None,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Leave out questions and responses: a page of numbers alone.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a leaderboard of result files: a page, tables, figures and data, with intervals, ranks and tests."""
    from fin_tasks.report.json_fields import check_unicode
    from fin_tasks.report.old_leaderboard import TITLE, document
    from fin_tasks.report.report_files import check_folder, write_report

    check_unicode("--title", title or "")
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: expected a file or folder of results, found nothing there.")
    check_folder(out, inputs=paths)
    collected = _collect(paths, published=published)
    _check_models(collected, baseline)
    made = document(collected, title=title or TITLE, baseline=baseline, mix=mix)
    files = write_report(made, collected, out, samples=not no_samples, tell=None if as_json else _saying())
    summary = _summary(made, out, files)
    if as_json:
        print(json.dumps(summary, allow_nan=False))
    else:
        _show(summary)
    tell(collected.problems)


def _collect(paths: list[Path], *, published: bool) -> "Collected":
    from tqdm import tqdm

    from fin_tasks.report.collect import collect
    from fin_tasks.settings import Settings

    with tqdm(desc="Reading runs", unit="run", disable=None) as bar:

        def advance(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        found = collect(paths, settings=Settings.from_environ(), published=published, on_done=advance)
    if all(run.source == "published" for run in found.runs):
        broken = "".join(f"\n{problem.message}" for problem in found.problems)
        raise DataError(
            f"{', '.join(map(str, paths))}: expected results of our tasks (results_*.json of lm-eval, or a run folder "
            f"of VLMEvalKit with our items files), found {'broken files only' if broken else 'none'}.{broken}"
        )
    return found


def _check_models(found: "Collected", baseline: str | None) -> None:
    models = sorted({run.model for run in found.runs})
    if baseline is not None and baseline not in models:
        raise ConfigError(f"--baseline: expected one of {', '.join(models)}, got {baseline!r}.")


def _saying() -> "Callable[[str], None]":
    """Say on stderr what is being written, where that is a terminal."""
    from tqdm import tqdm

    bar = tqdm(bar_format="Writing {desc}", leave=False, disable=None)
    return bar.set_description_str


def _summary(document: "Mapping[str, Any]", out: Path, files: list[str]) -> dict[str, Any]:
    runs = document["runs"]
    ours = [run for run in runs if run["source"] != "published"]
    models = {run["model"] for run in ours}
    ids = {run["id"] for run in ours}
    own = [entry for entry in document["entries"] if entry["run"] in ids]
    alone = not document["mixed"] and all(entry["marks"] for entry in own)
    return {
        "out": str(out),
        "files": files,
        "models": len(models),
        "runs": len(ours),
        "published_models": len({run["model"] for run in runs} - models),
        "tasks": len(document["tasks"]),
        "values": len(document["entries"]),
        "apart": len({entry["run"] for entry in own if entry["marks"]}),
        "pairs": sum(len(one["pairs"]) for one in document["comparisons"]),
        "different": sum(
            pair["p_holm"] < document["alpha"] for one in document["comparisons"] for pair in one["pairs"]
        ),
        "problems": document["problems"],
        "notes": [*([_ALONE] if alone else []), *document["notes"]],
    }


def _show(summary: "Mapping[str, Any]") -> None:
    from fin_tasks.sandbox import escape

    for line in _lines(summary):
        print(escape(line))


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _lines(summary: "Mapping[str, Any]") -> "Iterator[str]":
    runs, models, values, tasks = (_counted(summary[f"{one}s"], one) for one in ("run", "model", "value", "task"))
    yield f"{runs} of {models}: {values} of {tasks}."
    if summary["published_models"]:
        yield f"{_counted(summary['published_models'], 'more model')} as papers have them, marked."
    if summary["apart"]:
        yield f"{_counted(summary['apart'], 'run')} with values that stand apart; marked with the reason."
    yield f"{_counted(summary['pairs'], 'pair')} of models tested, {summary['different']:,} different (Holm, 5 %)."
    for note in summary["notes"][:_NOTES]:
        yield f"Note: {note}"
    if (more := len(summary["notes"]) - _NOTES) > 0:
        yield f"Note: {more} more in leaderboard.json."
    folders: dict[str, int] = {}
    for file in summary["files"]:
        folders[file.partition("/")[0]] = folders.get(file.partition("/")[0], 0) + 1
    shown = [name if name in summary["files"] else f"{name}/ ({count})" for name, count in folders.items()]
    yield f"Written to {summary['out']}: {', '.join(shown)}."
    if "index.html" in summary["files"]:
        yield f"Open {Path(summary['out']) / 'index.html'}"

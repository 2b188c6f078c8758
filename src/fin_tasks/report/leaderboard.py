"""A leaderboard of runs: every value with its interval, ranks and tests of pairs."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import fin_tasks
from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.endpoints.prices import Prices
from fin_tasks.stats.pairs import ALPHA

from .admissions import Admission
from .board_file import BoardFile
from .chart_reading import key_of, shares_read
from .compare import Options
from .conditions import conditions_of, setting_id, setting_note, varying
from .corrections import Corrections
from .cost import costs_of
from .decoding import decoding_text
from .entries import entries_of, scored_tasks
from .leaderboard_model import BoardRun, BoardTask, Entry, Leaderboard
from .memorization import gaps_of
from .model import KNOWN_BENCHMARKS, Report, Run, TaskResult, metric_of
from .published import figures
from .question_corrections import applied_corrections
from .ranks import rank_task

_TITLE = "Finance benchmarks"
_MAX_PARTS = 4  # of a label: the model and what differs


def board(
    report: Report,
    *,
    title: str = "",
    board_file: BoardFile | None = None,
    reference: str = "",
    papers: bool = True,
    prices: Prices | None = None,
    corrections: Corrections | None = None,
    out: Path | None = None,
) -> Leaderboard:
    """Return a leaderboard.

    `title` is by default that of the board file. `reference` is the `Run.id` whose settings are the reference, by
    default those of most models. `papers` adds the published figures of the benchmarks that the runs have, `prices`
    the cost of the runs. `out` is the folder of the report, to which the paths of results files are relative.
    """
    corrections = corrections or Corrections()
    board_file = board_file or BoardFile()
    any_decoding = board_file.any_decoding
    leaderboard = _without_values(report, title, board_file, prices)
    notes = leaderboard.notes
    tasks: dict[str, BoardTask] = {}
    if papers:
        tasks |= _add_published(leaderboard, report)
    shares = {scoring: shares_read(report, scoring) for scoring in SCORINGS}
    for name, members in scored_tasks(report, any_decoding=any_decoding).items():
        ranking = rank_task(members, reference, corrections)
        leaderboard.comparisons += ranking.comparisons
        notes += ranking.notes
        tasks[name] = members[0].task
        for member in members:
            leaderboard.entries += entries_of(
                member,
                reference=ranking.reference,
                why_not_ranked=ranking.why_not_ranked.get(member.result.id, ""),
                is_shown=member.result.id in ranking.shown,
                ignored=("decoding.",) if any_decoding else (),
                corrections=corrections,
                out=out,
                charts_read=shares.get(member.task.scoring, {}).get(
                    key_of(member.run, member.result)
                ),
            )
    for run in report.runs:
        leaderboard.costs += costs_of(run, prices)
    for scoring in SCORINGS:
        gaps, gap_notes = gaps_of(report, Options(scoring=scoring))
        leaderboard.gaps += gaps
        notes += gap_notes
    _sort_entries(leaderboard, tasks)
    return leaderboard


def _without_values(
    report: Report, title: str, board_file: BoardFile, prices: Prices | None
) -> Leaderboard:
    """Return the leaderboard of runs before its values, ranks and tests are added."""
    names = {run.model for run in report.runs}
    models = {name: model for name, model in board_file.models.items() if name in names}
    groups = {}
    for _, result in report.results:
        group = setting_id(result, any_decoding=board_file.any_decoding)
        groups[group] = dict(result.all_settings)
    return Leaderboard(
        fin_tasks=fin_tasks.__version__,
        title=title or board_file.title or _TITLE,
        models=models,
        admissions=_admissions(report),
        question_corrections=list(applied_corrections(report)),
        first_view=board_file.first_view,
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        alpha=ALPHA,
        runs=_board_runs(report),
        groups=groups,
        prices=prices,
        problems=list(report.problems),
    )


def _add_published(leaderboard: Leaderboard, report: Report) -> dict[str, BoardTask]:
    """Add the figures that papers print of the benchmarks of a report, and return their tasks by id."""
    tasks = {}
    printed_runs = {}
    benchmarks = {result.benchmark for _, result in report.results}
    for entry, task, paper in figures(benchmarks):
        tasks[task.id] = task
        printed_runs[paper.id] = paper
        leaderboard.entries.append(entry)
    leaderboard.runs += printed_runs.values()
    return tasks


def _sort_entries(leaderboard: Leaderboard, tasks: Mapping[str, BoardTask]) -> None:
    """Sort entries by task, model and metric, the headline first. Add their tasks and metrics."""
    benchmarks = list(KNOWN_BENCHMARKS)

    def place(entry: Entry) -> tuple[object, ...]:
        task = tasks[entry.task]
        return (
            benchmarks.index(task.benchmark),
            task.family,
            task.window or 0,
            task.id,
            entry.model.casefold(),
            entry.run,
            entry.metric != task.headline,
            entry.metric,
        )

    leaderboard.entries.sort(key=place)
    for entry in leaderboard.entries:
        task = tasks[entry.task]
        if not task.metrics:
            leaderboard.tasks.append(task)
        if entry.metric not in task.metrics:
            task.metrics.append(entry.metric)
        leaderboard.metrics[entry.metric] = metric_of(entry.metric)


def _board_runs(report: Report) -> list[BoardRun]:
    """Return the runs as a leaderboard has them: one for each result."""
    labels = _labels(report)
    return [
        BoardRun(
            id=result.id,
            label=labels[result.id],
            decoding=decoding_text(result.decoding),
            admission=_admission_key(run),
            source=run.harness,
            model=run.model,
            task=result.task,
            date=run.date,
            path=run.name,
            provenance={**run.settings, **result.all_settings},
        )
        for run, result in report.results
    ]


def _admissions(report: Report) -> dict[str, Admission]:
    admissions = {}
    for run in report.runs:
        if run.admission:
            admissions[_admission_key(run)] = run.admission
    return admissions


def _admission_key(run: Run) -> str:
    return f"{run.admission.submission}/{run.model}" if run.admission else ""


def _labels(report: Report) -> dict[str, str]:
    """Return a label for each result: its model, and what differs if that was asked the same several times."""
    repeats = defaultdict[object, list[tuple[Run, TaskResult]]](list)
    for run, result in report.results:
        repeats[run.model, conditions_of(result)].append((run, result))
    labels = {}
    for members in repeats.values():
        parts = [[run.model for run, _ in members]]
        for name, values in varying([result for _, result in members]).items():
            if not name.endswith("sha256"):
                parts.append([setting_note(name, value) for value in values])
        texts = [", ".join(words) for words in zip(*parts[:_MAX_PARTS], strict=True)]
        for (run, result), text in zip(members, texts, strict=True):
            if texts.count(text) > 1:
                text = f"{text}, {run.date[:19].replace('T', ' ') or run.name}"
            labels[result.id] = text
    return labels

"""Write a report of runs: page, tables, DynoStock's figures and `leaderboard.json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pandas import DataFrame

from fin_tasks.endpoints.prices import read_prices
from fin_tasks.errors import ConfigError

from . import AnyPath, Paths, read
from .board_file import read_board_file
from .changes import changes_since
from .corrections import read_corrections
from .effect_tables import write_effects
from .figures import draw_window_figures
from .folder import replacing
from .latex_tables import latex_of
from .leaderboard import board
from .leaderboard_model import Leaderboard, QuestionCorrection
from .markdown import markdown_of, write_corrections
from .model import Report
from .paper_tables import paper_tables
from .site.page import write_page
from .tables import values_table, write_csv

_BOARD = "leaderboard.json"


@dataclass(frozen=True, kw_only=True)
class WrittenReport:
    """What a report was made of, and what could not be used."""

    page: Path
    leaderboard: Leaderboard
    """What `leaderboard.json` holds."""
    n_runs: int
    n_models: int
    notes: Sequence[str]
    problems: Sequence[str]


def write_report(
    paths: Paths,
    out: AnyPath,
    *,
    title: str = "",
    published: bool = True,
    reference: AnyPath | None = None,
    token_prices: AnyPath | None = None,
    corrected: AnyPath | None = None,
    corrections: AnyPath | None = None,
    samples: bool = True,
) -> WrittenReport:
    """Write a report of runs into a folder; an older report there is replaced.

    `board.yaml` in a folder of runs says what the page calls models, which runs are hidden, and which tasks come first.

    Args:
        paths: Run folders, results files, or folders that hold some.
        out: The folder.
        title: Title of the page. By default that of the board, else `Finance benchmarks`.
        published: Whether the papers' figures are shown, too.
        reference: Results file whose settings the other runs must match to be ranked.
        token_prices: YAML file with the prices of models' tokens.
        corrected: File with judges' values that people's labels corrected.
        corrections: YAML file of questions that leave, or that have another truth.
        samples: Whether the page shows questions, right answers and responses.
    """
    listed = [paths] if isinstance(paths, AnyPath) else list(paths)
    board_file = read_board_file([Path(path) for path in listed])
    with replacing(Path(out)) as folder:
        page = folder / "page" if samples else None
        report = read(
            listed,
            page=page,
            hidden=board_file.hidden,
            corrections=corrections or board_file.corrections or None,
        )
        leaderboard = board(
            report,
            title=title,
            board_file=board_file,
            reference=_reference_run(report, reference),
            papers=published,
            prices=read_prices(Path(token_prices)) if token_prices else None,
            corrections=read_corrections(corrected),
            out=Path(out),
        )
        leaderboard.changes = changes_since(Path(out) / _BOARD, leaderboard)
        text = leaderboard.model_dump_json(indent=1) + "\n"
        (folder / _BOARD).write_text(text, "utf-8")
        values = values_table(leaderboard)
        write_csv(values, folder / "leaderboard.csv")
        for name in ("tables", "figures"):
            (folder / name).mkdir()
        write_tables(values, folder / "tables", leaderboard.question_corrections)
        draw_window_figures(report, folder / "figures")
        write_effects(report, folder / "tables", folder / "figures")
        write_page(report, leaderboard, folder, questions=samples)
    return WrittenReport(
        page=Path(out) / "index.html",
        leaderboard=leaderboard,
        n_runs=len(report.runs),
        n_models=len({run.model for run in report.runs}),
        notes=leaderboard.notes,
        problems=[problem.message for problem in leaderboard.problems],
    )


def write_tables(
    values: DataFrame,
    folder: Path,
    corrections: Sequence[QuestionCorrection] = (),
) -> None:
    """Write each table in the shape of the papers' as Markdown and LaTeX, and the corrections of questions."""
    if corrections:
        write_corrections(corrections, folder)
    for table in paper_tables(values):
        (folder / f"{table.stem}.md").write_text(markdown_of(table), "utf-8")
        (folder / f"{table.stem}.tex").write_text(latex_of(table), "utf-8")


def _reference_run(report: Report, reference: AnyPath | None) -> str:
    """Return the id of the run that a results file holds; empty without a file."""
    if reference is None:
        return ""
    path = Path(reference).resolve()
    for run in report.runs:
        if run.path.resolve() == path:
            return run.id
    raise ConfigError(
        f"--reference: expected a results file among PATHS, got {str(reference)!r}."
    )

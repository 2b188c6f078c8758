"""`fin-tasks agreement`: how well judges agree with people."""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.options import Items, Json
from fin_tasks.cli.tables import print_whole
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fin_tasks.judging.comparison import Comparison, JudgeAgreement
    from fin_tasks.judging.old_agreement import Agreement, Estimate
    from fin_tasks.judging.rankings import Rankings

__all__ = ["agreement"]

_HOW_TO_READ = """\
Spearman: rank correlation. Difference: mean absolute difference in points of the scale. Kappa: quadratic weights. \
Bias: judge less people. Bootstrap 95 % intervals over responses. Objective: categories with a right answer."""
_PAIRED_SUFFIXES = (".png", ".svg")


def agreement(
    human: Annotated[
        Path,
        typer.Argument(
            metavar="HUMAN",
            help="People's scores: .csv, .tsv, .xlsx or JSON lines with index and a column per annotator.",
        ),
    ],
    judges: Annotated[list[Path], typer.Argument(metavar="JUDGE...", help="Items files of `fin-tasks judge --items`.")],
    annotators: Annotated[
        str | None,
        typer.Option(
            help="Columns of the annotators, with commas between. Else those named like score_1 or rater_a; else all "
            "that are left, where they hold scores and nothing else."
        ),
    ] = None,
    leave_out_review: Annotated[
        bool, typer.Option("--leave-out-review", help="Do not count responses on which people are far apart.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Draws the resamples of the intervals.")] = 42,
    as_json: Json = False,
    items: Items = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="OUT.png", help="Draw judges' scores over people's; .svg is written beside it."),
    ] = None,
) -> None:
    """Compare judges with people: rank correlation, difference, kappa, with intervals, and how models rank."""
    from fin_tasks.judging.comparison import compare_judges, scale_of
    from fin_tasks.judging.score_files import read_judges, read_people
    from fin_tasks.sandbox import escape

    if plot is not None and (plot.suffix not in _PAIRED_SUFFIXES or not plot.parent.is_dir()):
        raise ConfigError(f"agreement --plot: expected a .png or .svg in a folder that exists, got {plot}.")
    columns = tuple(name.strip() for name in (annotators or "").split(",") if name.strip())
    given = read_judges(judges)
    people = read_people(human, annotators=columns, scale=scale_of(given))
    if people.assumed:
        told = f"{human}: no column is named like an annotator's; taken: {', '.join(people.annotators)} (--annotators)"
        print(escape(told), file=sys.stderr)
    found = compare_judges(people, given, kind_of=_kind_of, leave_out_review=leave_out_review, seed=seed)
    if items is not None:
        with items.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(item, allow_nan=False) + "\n" for item in found.items())
    if plot is not None:
        _plot(found, plot)
    if as_json:
        print(json.dumps(found.summary(), allow_nan=False))
    else:
        _show(found)


def _kind_of(category: str) -> str | None:
    """Know MME-Finance's categories, however a file calls them."""
    from fin_tasks.benchmarks.mme_finance.category_names import category_of
    from fin_tasks.benchmarks.mme_finance.row import CATEGORIES

    name = category_of(category)
    return CATEGORIES[name].kind if name else None


def _plot(found: "Comparison", path: Path) -> None:
    from fin_tasks.report.agreement_plot import draw_agreement

    out = set(found.left_out)
    pairs = {
        one.scores.label: [
            (row.combined.score, score)
            for key, row in found.people.rows.items()
            if key not in out and (score := one.scores.rows.get(key)) is not None
        ]
        for one in found.judges
    }
    every = [score for of in pairs.values() for pair in of for score in pair]
    notes = {
        one.scores.label: f"n={one.overall.n}, Spearman {_number(one.overall.spearman)}, "
        f"difference {_number(one.overall.mean_absolute_difference)}"
        for one in found.judges
    }
    scale = (min([0.0, *every]), max([5.0, *every]))
    draw_agreement(pairs, notes, path.with_suffix(""), scale=scale)


def _show(found: "Comparison") -> None:
    from rich.console import Console
    from rich.text import Text

    from fin_tasks.sandbox import escape

    console = Console(highlight=False)
    people = found.summary()["people"]
    console.print(
        f"{people['n']} responses scored by {len(people['annotators'])} "
        f"({escape(', '.join(people['annotators']))}): {people['mode']} by mode, {people['mean']} by mean"
    )
    if review := people["review"]:
        shown = escape(", ".join(review[:10])) + (f" and {len(review) - 10} more" if len(review) > 10 else "")
        counted = "they do not count" if found.left_out else "they count"
        console.print(Text(f"To be reviewed, variance above 2 ({counted}): {shown}", style="yellow"))
    print_whole(console, partial(_table, found))
    for one in found.judges:
        if one.missing or one.unscored:
            told = f"{one.scores.label}: {one.unscored} unscored, {one.missing} not in its files; neither counts"
            console.print(Text(escape(told), style="yellow"))
        if one.unknown_kind:
            told = f"{one.scores.label}: {one.unknown_kind} in neither part, as their category or its kind is not known"
            console.print(Text(escape(told), style="yellow"))
    for note in found.notes:
        console.print(Text(escape(note), style="yellow"))
    if found.between:
        print_whole(console, partial(_between, found))
    _show_rankings(console, found.rankings)
    console.print(_HOW_TO_READ, style="dim")


def _table(found: "Comparison", narrow: bool) -> "Table":
    table = _new_table("Judge", narrow)
    for one in found.judges:
        _add(table, one.scores.label, one.overall, narrow, style="bold")
        for name, part in _parts(one):
            _add(table, f"  {name}", part, narrow)
    return table


def _parts(one: "JudgeAgreement") -> "Sequence[tuple[str, Agreement]]":
    parts = (("objective", one.objective), ("subjective", one.subjective))
    return [(name, part) for name, part in parts if part is not None and part.n]


def _between(found: "Comparison", narrow: bool) -> "Table":
    table = _new_table("Between judges", narrow)
    for (first, second), numbers in found.between.items():
        _add(table, f"{first}\n{second}", numbers, narrow)
    return table


def _new_table(heading: str, narrow: bool) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=not narrow, pad_edge=False, padding=(0, 1, 0, 0))
    for name in (heading, "n", "Spearman", "Difference", "Kappa", "Bias"):
        table.add_column(name, justify="left" if name == heading else "right", no_wrap=True)
    return table


def _add(table: "Table", name: str, numbers: "Agreement", narrow: bool, *, style: str = "") -> None:
    from rich.text import Text

    from fin_tasks.sandbox import escape

    cells = [
        _with_interval(estimate, narrow)
        for estimate in (numbers.spearman, numbers.mean_absolute_difference, numbers.weighted_kappa, numbers.bias)
    ]
    shown = name.replace(", with", "\n  with").replace(" (", "\n  (") if narrow else name
    table.add_row(Text("\n".join(map(escape, shown.split("\n")))), str(numbers.n), *map(Text, cells), style=style)


def _show_rankings(console: "Console", found: "Rankings | None") -> None:
    from rich.text import Text

    from fin_tasks.sandbox import escape

    if found is None:
        console.print("Rankings: they take two models that all have scored; the files hold fewer.")
        return
    console.print(Text(f"Rankings over {found.n} rows that all have scored for every model", style="bold"))
    for ranking in found.rankings:
        order = ", ".join(f"{name} {mean:.2f}" for name, mean in ranking.means.items())
        console.print(Text(f"  {escape(ranking.grader)}: {escape(order)}"))
    for (first, second), tau in found.kendall.items():
        shown = "not defined" if tau is None else f"{tau:.2f}"
        console.print(Text(f"  Kendall's tau {shown}: {escape(first)} · {escape(second)}"))
    for swap in found.swaps:
        better, worse = map(escape, swap.models)
        orders = f"{escape(swap.first)}: {better} above {worse}; {escape(swap.second)}: below"
        console.print(Text(f"  {orders} ({100 * swap.kept:.0f} % of resamples agree)"))


def _with_interval(estimate: "Estimate", narrow: bool) -> str:
    if estimate.low is None or estimate.high is None:
        return _number(estimate)
    return f"{_number(estimate)}{chr(10) if narrow else ' '}[{estimate.low:.2f}…{estimate.high:.2f}]"


def _number(estimate: "Estimate") -> str:
    return "–" if estimate.value is None else f"{estimate.value:.2f}"

"""`fin-tasks compare`: the same questions under two conditions, row by row."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.arms import compare_windows
from fin_tasks.cli.options import Items, Json, counting
from fin_tasks.cli.tables import print_whole
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.report.compare import Comparison, Comparisons, Line
    from fin_tasks.report.estimates import Unit
    from fin_tasks.report.measure import Numbers
    from fin_tasks.report.runs import Problem

__all__ = ["VARIANTS", "compare", "make_folder", "p_value", "percent", "points", "tell"]

VARIANTS = ("paper", "robust")

_HOW_TO_READ = """\
Over the rows both runs have and scored (n): rates in per cent, differences in percentage points, scores in points of \
100, with the 95 % intervals of the tests. Gained and lost: rows whose score went up or down. p: McNemar's exact test, \
or a t-test where scores are not 0 or 1 or rows share a figure, exercise, picture, document or ticker. Holm: p \
corrected for all tests shown; intervals are not. Left out: rows only one run has + rows one run left unscored. A row \
counts in every group it names."""
_ANSWER = 32
"""Letters of an answer that are shown."""


def compare(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS...",
            help="One output folder of lm-eval: runs with finance terms against those without. "
            "Several folders (VLMEvalKit's and those of replay too) or samples files: each against the first.",
        ),
    ],
    variant: Annotated[str, typer.Option(help="Scores to compare: paper or robust.")] = "paper",
    metric: Annotated[
        str | None,
        typer.Option(help="A metric of the tasks; otherwise the headline: score for MME-Finance, acc for all others."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="capability, topic, part, category, image_type or image_style; otherwise the first of these that the "
            "benchmark has. arm, window: effects of DynoStock's statements, and its bias index by window size."
        ),
    ] = None,
    allow_different_data: Annotated[
        bool, typer.Option("--allow-different-data", help="Compare over different data, by the rows both have.")
    ] = False,
    rows: Annotated[int, typer.Option(min=0, help="Changed rows to list per task, the largest change first.")] = 10,
    as_json: Json = False,
    items: Items = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write compare.csv, compare.png and compare.svg here.")
    ] = None,
) -> None:
    """Compare runs on the same rows: differences with intervals and tests, by task and capability."""
    from fin_tasks.report import compare as comparing
    from fin_tasks.report.comparison_files import as_object, item_rows
    from fin_tasks.report.samples import DIMENSIONS

    for name, value, allowed in (("variant", variant, VARIANTS), ("by", by, (None, *DIMENSIONS, "arm"))):
        if value not in allowed:
            raise ConfigError(f"compare --{name}: expected one of {', '.join(filter(None, allowed))}, got {value!r}.")
    make_folder(out)
    if by in ("arm", "window"):
        compare_windows(paths, by=by, variant=variant, out=out, as_json=as_json)
        return
    with counting("Reading runs", "file") as advance:
        found = comparing.compare(
            paths, variant=variant, metric=metric, by=by, allow_different_data=allow_different_data, on_done=advance
        )
    if items is not None:
        with items.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, allow_nan=False) + "\n" for row in item_rows(found))
    if out is not None and found.comparisons:
        _write(found, out)
    if as_json:
        print(json.dumps(as_object(found), allow_nan=False))
    else:
        _show(found, rows=rows)
    tell(found.problems)


def tell(problems: Sequence["Problem"]) -> None:
    """Name on stderr what could not be used; with one such the command has failed, though the rest was used."""
    from fin_tasks.sandbox import escape

    for problem in problems:
        print(f"fin-tasks: error: {escape(problem.message)}", file=sys.stderr)
    if problems:
        raise typer.Exit(1)


def make_folder(folder: Path | None) -> None:
    """Find out before the work that a folder cannot be made."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--out {folder}: expected a folder to write to, got {error.strerror}.") from error


def _write(found: "Comparisons", out: Path) -> None:
    from fin_tasks.report.compare import lines_of
    from fin_tasks.report.comparison_files import write_csv
    from fin_tasks.report.forest import Effect, draw_forest

    write_csv(found, out / "compare.csv")
    effects = []
    for several in found.sets:
        for line in lines_of(several):
            numbers, most = line.numbers, 100 if line.numbers.unit == "points" else 1
            there = not math.isnan(numbers.interval.low)
            low, high = (numbers.interval.low / most, numbers.interval.high / most) if there else (None, None)
            value = None if math.isnan(numbers.difference) else numbers.difference / most
            look: Any = {"name": line.group or line.comparison.task, "n": numbers.n, "whole": line.whole}
            effects.append(Effect(heading=_heading(several), value=value, low=low, high=high, **look))
    caption = f"Same rows under both conditions, 95 % intervals of the tests. {_metrics(found)}, {found.variant}."
    draw_forest(effects, out / "compare", title="What changed", caption=caption, axis="change (percentage points)")


def _metrics(found: "Comparisons") -> str:
    from fin_tasks.sandbox import escape

    return escape(", ".join(dict.fromkeys(one.metric for one in found.comparisons)))


def _show(found: "Comparisons", *, rows: int) -> None:
    from rich.console import Console
    from rich.text import Text

    from fin_tasks.report.compare import lines_of
    from fin_tasks.sandbox import escape

    console = Console(highlight=False)
    shown = 0
    for several in found.sets:
        console.print(Text(_heading(several), style="bold"))
        console.print(Text(_circumstances(several[0]), style="dim"))
        if differs := _differs(several):
            console.print(Text(f"Differs in: {differs}", style="yellow"))
        lines = lines_of(several)
        shown += sum(line.numbers.tested for line in lines)
        print_whole(console, partial(_table, several[0], lines))
        for one in several:
            if rows and not one.pooled:
                _show_changed(console, one, found.variant, most=rows)
    if found.comparisons:
        console.print(_HOW_TO_READ, style="dim")
        console.print(
            f"Scores: {_metrics(found)}, {found.variant}. {shown} tests shown.",
            style="dim",
        )
    for note in found.notes:
        console.print(Text(f"Note: {escape(note)}"))


def _show_changed(console: "Console", one: "Comparison", variant: str, *, most: int) -> None:
    """List the rows whose score changed, as far as there is room for them."""
    from rich.text import Text

    from fin_tasks.report.comparison_files import changed_rows
    from fin_tasks.sandbox import escape

    changed = changed_rows(one, variant)
    if not changed:
        return
    shown = changed[:most]
    rest = f", of {len(changed)}; --rows {len(changed)} or --items for all" if len(shown) < len(changed) else ""
    console.print(Text(f"Changed in {escape(one.task)} ({len(shown)}{rest})"))
    console.print(_changed_table(one, shown))


def _changed_table(one: "Comparison", rows: "Sequence[Mapping[str, Any]]") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.sandbox import escape

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    before, after = _conditions(one)
    answers = any(row[name] is not None for row in rows for name in ("baseline_answer", "other_answer"))
    names = ("Row", "Score", *((f"Answer, {before}", f"Answer, {after}") if answers else ()), "Reference")
    for name in names:
        # what does not fit runs on below, so that an id can be copied whole
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        said = [_brief(row[name]) for name in ("baseline_answer", "other_answer")] if answers else []
        score = f"{row['baseline']:.3g} → {row['other']:.3g}"
        style = {"gained": "green", "lost": "red"}[row["change"]]
        table.add_row(Text(escape(row["id"])), Text(score, style=style), *said, _brief(row["truth"]))
    return table


def _brief(answer: "Any") -> "Text":
    from rich.text import Text

    from fin_tasks.sandbox import escape

    text = "–" if answer is None else answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    text = " ".join(text.split())
    return Text(escape(text if len(text) <= _ANSWER else f"{text[: _ANSWER - 1]}…"))


def _conditions(one: "Comparison") -> tuple[str, str]:
    a, b = one.baseline.condition, one.other.condition
    return (a, b) if a != b else ("first", "other")


def _heading(several: Sequence["Comparison"]) -> str:
    """Say what is compared with what, for all tasks of a set."""
    from fin_tasks.sandbox import escape

    a, b = several[0].baseline, several[0].other
    parts = [f"{y} against {x}" for x, y in ((a.model, b.model), (a.label, b.label)) if x != y]
    parts = parts or [f"{b.path.parent} against {a.path.parent}"]
    role = {True: " with role", False: " without role"}.get(b.provenance("style.role"), "")
    modes = {one.other.mode for one in several if not one.pooled}
    parts += [b.model if b.model == a.model else "", b.benchmark, f"{b.mode}{role}" if len(modes) == 1 else ""]
    parts += [f"{b.provenance('prompts.set')} prompts" if b.provenance("prompts.set") else ""]
    return escape(" · ".join(part for part in parts if part))


def _circumstances(one: "Comparison") -> str:
    from fin_tasks.report.settings import SAMPLE
    from fin_tasks.sandbox import escape

    run = one.other
    limit = run.fact("limit")
    data = f"{run.provenance('data.origin') or ''} data, {run.split} split" if run.split else "data not known"
    data = "packaged sample" if run.split == SAMPLE else data
    return escape(data.strip() + (f", limit {limit:g}" if isinstance(limit, (int, float)) else ""))


def _differs(several: Sequence["Comparison"]) -> str:
    from fin_tasks.report.pairing import say
    from fin_tasks.sandbox import escape

    shown = [one for comparison in several for one in comparison.differences if one.fact != "model name"]
    return escape(say(tuple(dict.fromkeys(shown))))


def _table(first: "Comparison", lines: "Sequence[Line]", narrow: bool) -> "Table":
    """Lay the lines out; in a narrow table intervals and counts of one kind stand below each other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.sandbox import escape

    before, after = _conditions(first)
    table = Table(box=SIMPLE_HEAD, show_edge=not narrow, pad_edge=False, padding=(0, 1, 0, 0))
    last = ("p\nHolm", "Gained\nLost", "Left\nout") if narrow else ("p", "Holm", "Gained", "Lost", "Left out")
    for name in ("Rows", "n", escape(before), escape(after), "Difference", *last):
        table.add_column(name, justify="left" if name == "Rows" else "right", no_wrap=True)
    prefix = f"{first.other.benchmark}_" if narrow else ""  # which the heading says
    between = "\n" if narrow else " "
    for line in lines:
        numbers = line.numbers
        name = line.comparison.task.removeprefix(prefix) if line.group is None else f"  {line.group}"
        unpaired = numbers.unpaired_baseline + numbers.unpaired_other
        changed = (str(numbers.gained), str(numbers.lost))
        tested = (p_value(numbers.p if numbers.tested else None), p_value(numbers.p_holm))
        table.add_row(
            Text(escape(name)),
            *(str(numbers.n), *(_amount(rate, numbers.unit) for rate in (numbers.baseline_rate, numbers.other_rate))),
            points(numbers, narrow=narrow),
            *(["\n".join(tested), "\n".join(changed)] if narrow else [*tested, *changed]),
            between.join([f"{unpaired} +", str(numbers.unscored)]),
            style="bold" if line.whole else "",
        )
    return table


def percent(rate: float | None) -> str:
    """Show a fraction in per cent."""
    return _amount(rate, "fraction")


def _amount(value: float | None, unit: "Unit", *, sign: str = "") -> str:
    """Show a value: fractions in per cent, scores in points, other numbers as they are."""
    if value is None:
        return "–"
    return f"{value:{sign}.3f}" if unit == "number" else f"{value * (100 if unit == 'fraction' else 1):{sign}.1f}"


def p_value(p: float | None) -> str:
    """Show a p-value."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def points(numbers: "Numbers", *, narrow: bool) -> "Text":
    """Show a difference in points, with its interval where there is one; below it in a narrow table."""
    from rich.text import Text

    if math.isnan(numbers.difference):
        return Text("–")
    there = not math.isnan(numbers.interval.low)
    values = (numbers.difference, numbers.interval.low, numbers.interval.high)
    mean, low, high = (_amount(value, numbers.unit, sign="+") for value in values)
    return Text(("\n" if narrow else " ").join([mean, *([f"[{low}…{high}]"] if there else [])]))

"""`fin-tasks report-bias`: what the biased statement did to the answers."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fin_tasks.cli.options import Json
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from fin_tasks.benchmarks.dynostock.effects import ArmSummary, BiasReport, Effect, Group
    from fin_tasks.benchmarks.dynostock.experiment import Experiment
    from fin_tasks.stats.paired import PairedDifference

__all__ = ["report_bias"]

_HOW_TO_READ = """\
Arms, in per cent: accuracy, answers that say up, mean stated probability of up, answers equal to the signal (shown or \
not) and to the statement that was shown, responses without an answer, bias index.
Effects, in percentage points: means over the windows both arms have, positive towards what the biased statement says; \
in brackets 95 % intervals, from resampling tickers. p is McNemar's, of the answers; it takes windows for independent: \
trust the interval where the two disagree. Left out: windows only one arm has + pairs without a stated probability."""


def report_bias(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS...", help="lm-eval's output folders or samples files.")],
    parser: Annotated[
        str,
        typer.Option(
            "--parser",
            "--variant",
            help="robust or paper. robust is the default here, as there are no published effects to compare with; "
            "replay and plot take paper, as the published numbers were read that way.",
        ),
    ] = "robust",
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write arms.csv, effects.csv, effects.png and effects.svg here.")
    ] = None,
) -> None:
    """Pair the arms of a DynoStock experiment and give the effect of the biased statement."""
    from fin_tasks.benchmarks.dynostock.effects import compare_arms
    from fin_tasks.benchmarks.dynostock.experiment import read_experiment
    from fin_tasks.benchmarks.dynostock.score import PARSERS

    if parser not in PARSERS:
        raise ConfigError(f"report-bias --parser: expected {' or '.join(PARSERS)}, got {parser!r}.")
    _make(out)
    experiment = read_experiment(paths, parser=parser)
    found = compare_arms(experiment, parser=parser)
    if out is not None:
        _write(found, out)
    if as_json:
        print(json.dumps(_as_object(found, experiment), allow_nan=False))
    else:
        _show(found)
    _tell(experiment)


def _make(folder: Path | None) -> None:
    """Find out before the work that a folder cannot be made."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--out {folder}: expected a folder to write to, got {error.strerror}.") from error


def _write(found: "BiasReport", out: Path) -> None:
    from fin_tasks.benchmarks.dynostock.forest import arm_rows, draw_effects, effect_rows, write_rows
    from fin_tasks.benchmarks.dynostock.plots import drawing, save

    if found.arms:
        write_rows(arm_rows(found), out / "arms.csv")
    if found.effects:
        write_rows(effect_rows(found), out / "effects.csv")
        with drawing():
            save(draw_effects(found), out / "effects")


def _as_object(found: "BiasReport", experiment: "Experiment") -> dict[str, object]:
    from fin_tasks.benchmarks.dynostock.forest import arm_rows, effect_rows

    return {
        "parser": found.parser,
        "arms": arm_rows(found),
        "effects": effect_rows(found),
        "settings": found.settings,
        "notes": found.notes,
        "problems": [{"path": str(problem.path), "message": problem.message} for problem in experiment.problems],
    }


def _tell(experiment: "Experiment") -> None:
    """Name the broken files; with one of them the command has failed, though the others were used."""
    from fin_tasks.sandbox import escape

    for problem in experiment.problems:
        print(f"fin-tasks: error: {escape(problem.message)}", file=sys.stderr)
    if experiment.problems:
        raise typer.Exit(1)


def _show(found: "BiasReport") -> None:
    from rich.console import Console
    from rich.text import Text

    from fin_tasks.benchmarks.dynostock.forest import group_name
    from fin_tasks.sandbox import escape

    console = Console(highlight=False)
    for group in dict.fromkeys([*found.groups, *(effect.group for effect in found.effects)]):
        console.print(Text(group_name(group), style="bold"))
        console.print(Text(f"setting {group.setting}", style="dim"))
        _show_group(console, group, found)
        console.print()
    if found.effects:
        console.print(_HOW_TO_READ, style="dim")
    for note in found.notes:
        console.print(Text(f"Note: {escape(note)}"))


def _show_group(console: "Console", group: "Group", found: "BiasReport") -> None:
    effects = [effect for effect in found.effects if effect.group == group]
    arms = [summary for summary in found.arms if summary.group == group]
    for sentence in _meaning(effects):
        console.print(sentence)
    if arms:
        console.print(_arm_table(arms))
    if effects:
        console.print(_effect_table(effects))


def _meaning(effects: Iterable["Effect"]) -> list[str]:
    """Say in words what the statement did, over all sizes where there are several."""
    words = {
        "probability": "Shown the biased statement, the stated probability moved {} points towards what it says",
        "answer": "Answers that agree with it changed by {} points",
    }
    shown = {e.measure: e for e in effects if (e.first, e.second) == ("signal", "none")}  # the last is over all sizes
    sentences = []
    for measure, template in words.items():
        if measure not in shown or not shown[measure].difference.n:
            continue
        d = shown[measure].difference
        sentence = template.format(f"{100 * d.mean:+.1f}") + f" ({d.n} windows of {d.clusters} tickers"
        if d.interval.low == d.interval.low:
            sentence += f"; 95 % interval {100 * d.interval.low:+.1f} to {100 * d.interval.high:+.1f}"
            sentence += ", which holds zero)." if d.interval.low <= 0 <= d.interval.high else ")."
        else:
            sentence += "; too few for an interval)."
        sentences.append(sentence)
    return sentences


def _arm_table(arms: Sequence["ArmSummary"]) -> "Table":
    table = _table("Arm", "Size", "n", "Accuracy", "Up", "P(up)", "=signal", "=shown", "No answer", "Index")
    for s in arms:
        shares = (s.accuracy, s.up, s.probability, s.follows_signal, s.follows_statement, s.no_answer, s.bias_index)
        cells = ["–" if share is None else f"{100 * share:.1f}" for share in shares]
        table.add_row(s.arm, _size(s.window), str(s.n), *cells, style="bold" if s.window is None else "")
    return table


def _effect_table(effects: Sequence["Effect"]) -> "Table":
    from fin_tasks.benchmarks.dynostock.forest import contrast_name

    by_row: dict[tuple[str, int | None], dict[str, Effect]] = {}
    for effect in effects:
        by_row.setdefault((contrast_name(effect), effect.window), {})[effect.measure] = effect
    table = _table("Effect", "Size", "Probability", "Answers", "p", "Pairs", "Left out")
    for (name, window), row in by_row.items():
        answer, stated = row["answer"], row["probability"]
        table.add_row(
            *(name, _size(window), _points(stated.difference), _points(answer.difference)),
            *(_p_value(answer.difference.p), str(answer.difference.n)),
            f"{answer.unpaired} + {stated.without_value}",
            style="bold" if window is None else "",
        )
    return table


def _table(*columns: str) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        first = name in ("Arm", "Effect")
        table.add_column(name, justify="left" if first else "right", no_wrap=first, overflow="fold")
    return table


def _p_value(p: float | None) -> str:
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _size(window: int | None) -> str:
    return "all" if window is None else str(window)


def _points(difference: "PairedDifference") -> "Text":
    from rich.text import Text

    if not difference.n:
        return Text("–")
    low, high = difference.interval.low, difference.interval.high
    # without a space inside, a narrow column breaks before the interval
    bounds = f" [{100 * low:.1f}…{100 * high:.1f}]" if low == low else ""
    return Text(f"{100 * difference.mean:+.1f}{bounds}")

"""Files that are named one by one and are not lm-eval's: VLMEvalKit's, and what `judge` wrote."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.entry import RunRead
from fin_tasks.report.found_files import legible
from fin_tasks.report.incremental import encode
from fin_tasks.report.judge_entries import is_item, is_summary, read_judge_items, read_judge_summary
from fin_tasks.report.kit_files import kit_run, read_object
from fin_tasks.report.lm_eval_entries import UnitRead
from fin_tasks.report.runs import Problem
from fin_tasks.report.samples import lines_of, sample_of
from fin_tasks.report.vlmeval_entries import read_kit_run

__all__ = ["read_files"]

_EXPECTED = (
    "results_*.json or samples_*.jsonl of lm-eval and fin-tasks replay, ..._score.json of VLMEvalKit's runs, or what "
    "fin-tasks judge (--items, --json) wrote"
)


def read_files(paths: Sequence[Path]) -> UnitRead:
    """Read files that have no name of lm-eval's.

    A summary of a judging whose items are there too adds nothing to them, and is left out.

    Args:
        paths: Files.

    Returns:
        Their runs; a file that is none of ours is a problem.
    """
    units: list[UnitRead] = []
    problems: list[Problem] = []
    for path in paths:
        if not legible(path, problems):
            continue
        try:
            unit = _read(path)
            encode(unit)  # what cannot be written down cannot be reported
            units.append(unit)
        except DataError as error:
            problems.append(Problem(str(path), str(error)))
        except (OSError, ValueError, OverflowError, RecursionError) as error:
            problems.append(Problem(str(path), f"{path}: expected {error}."))
    runs = [run for unit in units for run in unit.runs]
    judged = {_judging(run) for run in runs if run.facts.source == "judge" and run.scores}
    kept = tuple(run for run in runs if run.facts.source != "judge" or run.scores or _judging(run) not in judged)
    return UnitRead(runs=kept, problems=(*problems, *(problem for unit in units for problem in unit.problems)))


def _read(path: Path) -> UnitRead:
    if (found := kit_run(path)) is not None:
        return read_kit_run(found)
    first = next(islice(lines_of(path), 1), None)
    if first is not None and path.suffix != ".json":
        line = sample_of(f"{path}, line {first[0]}", first[1])
        if is_item(line):
            return UnitRead(runs=(read_judge_items(path),))
    if first is not None and first[1].lstrip().startswith(b"{") and path.suffix != ".jsonl":
        value = read_object(path)
        if is_summary(value):
            return UnitRead(runs=(read_judge_summary(path, value),))
    raise DataError(f"{path}: expected {_EXPECTED}, got a file of another name and kind.")


def _judging(run: RunRead) -> tuple[str, ...]:
    """Name what is judged and by whom, and what came of it."""
    score = next((f"{one.value:.6f}" for one in run.entries if one.metric == "score" and one.value is not None), "")
    return (run.facts.model, *map(str, sorted(run.facts.provenance.items())), score)

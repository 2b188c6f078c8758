"""The arms of DynoStock's experiment, which are statements in the prompt, compared on the same windows."""

from dataclasses import replace

from pandas import DataFrame, concat, to_numeric

from fin_tasks.errors import DataError

from . import experiment
from .chart_reading import shares_read
from .compare import Comparisons, Line
from .conditions import WORDS, conditions_of, differences, setting_id
from .entries import task_of
from .model import Report, TaskResult

_MAX_WINDOW = 1000  # earnings reports


def compare_arms(report: Report, scoring: str, *, effects: bool) -> Comparisons:
    """Return measures by arm and window size, and with `effects` first the differences between arms.

    Lines have the window size as group; `mean` is the mean over sizes.
    """
    rows, notes = arm_rows(report, scoring)
    for (model, mode, is_anonymized), share in shares_read(report, scoring).items():
        shown = WORDS["mode"][mode] + (", anonymized" if is_anonymized else "")
        notes.append(f"{model}, {shown}: {share.text()}.")
    names = [name for name in experiment.GROUP if name != "bias"]
    tables = []
    if effects:
        contrasts, more_notes = experiment.compare_arms(rows)
        notes += more_notes
        if not contrasts.empty:
            contrasts = contrasts.rename(columns={"contrast": "run"})
            tables.append(contrasts.assign(n=contrasts["pairs"], test="McNemar"))
    values = experiment.by_window(rows)
    notes += experiment.notes_on_indices(values)
    values[["against", "test"]] = ""
    values[["pairs", "left_out"]] = 0
    for measure in experiment.MEASURES:
        columns = {
            "arm": "run",
            measure: "value",
            f"{measure}_std": "deviation",
            f"{measure}_low": "low",
            f"{measure}_high": "high",
        }
        tables.append(values.rename(columns=columns).assign(metric=measure))
    for table in tables:
        table["heading"] = table["bias"] + ", " + experiment.names_of(table, names)
    lines = concat(tables, ignore_index=True)
    lines = lines.assign(
        task="",
        model="",
        scoring=scoring,
        unit=1.0,
        group=lines["window"].astype(str),
    )
    return Comparisons(lines.reindex(columns=list(Line._fields)), notes)


def arm_rows(report: Report, scoring: str) -> tuple[DataFrame, list[str]]:
    """Return rows with the columns of the experiment, those of the most complete and newest run last, and notes.

    Raise DataError if there are no rows.
    """
    tables = []
    first_by_key: dict[tuple[str, ...], TaskResult] = {}
    notes: dict[str, None] = {}
    for run, result in sorted(report.results, key=lambda pair: pair[1].n):
        conditions = conditions_of(result)
        family = task_of(result.benchmark, conditions, scoring, "").family
        is_task = result.benchmark == "dynostock" and not result.members
        if not is_task or not family or run.is_refused:
            continue
        rows = report.rows_of(result, scoring).reindex(columns=list(experiment.COLUMNS))
        # A stranger's file may hold anything.
        window = to_numeric(rows["window"].astype(object), errors="coerce")
        is_size = window.between(1, _MAX_WINDOW) & (window % 1 == 0)
        # A size as a number, because the texts of the rows left out would stay categories.
        rows = rows.assign(window=window)[is_size & rows["arm"].notna()]
        if rows.empty:
            continue
        mode = conditions.prices_as
        without_arm = _without_arm(result)
        key = (run.model, family, mode)
        first = first_by_key.setdefault(key, without_arm)
        differing = "; ".join(differences(without_arm, first))
        if differing:
            note = f"{', '.join(key)}: runs that differ are not compared; {differing}."
            notes[note] = None
        rows = rows.assign(
            model=run.model,
            bias=family,
            mode=mode,
            setting=setting_id(without_arm)[:6],
            anonymized=result.settings.get("anonymize") is True,
        )
        tables.append(rows)
    if not tables:
        raise DataError(
            f"compare: expected rows of DynoStock's arms under {scoring}, found none."
        )
    types = {"arm": str, "doc_id": str, "ticker": str, "window": int}
    return concat(tables).astype(types), list(notes)


def _without_arm(result: TaskResult) -> TaskResult:
    """Return a result without the settings that other columns hold, or that may differ between arms."""
    settings = dict(result.settings)
    for name in experiment.SETTINGS_OF_ARMS:
        settings.pop(name, None)
    return replace(result, task="", settings=settings)

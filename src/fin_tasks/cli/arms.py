"""`fin-tasks compare --by arm` and `--by window`: effects of DynoStock's statements, and bias by window size."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.cli.options import print_table

if TYPE_CHECKING:
    import pandas as pd

    from fin_tasks.report.model import Report

__all__ = ["compare_windows"]

_HOW_TO_READ = """\
Arms: percent; ± is the population deviation over window sizes; =signal: answers equal to the signal, shown or not;
P(signal): the probability they give it. Effects: percentage points over the windows that both have, with 95 % intervals
from resampling tickers. p: McNemar's test of the answers equal to the signal, corrected by Holm's method for all
contrasts and sizes of a model. Left out: windows that only one arm has + pairs without a stated probability."""


def compare_windows(report: "Report", *, by: str, variant: str, out: Path | None, as_json: bool) -> None:
    """Print, draw and write what `fin-tasks compare --by arm` or `--by window` finds."""
    from fin_tasks.benchmarks.dynostock import figures
    from fin_tasks.benchmarks.dynostock.experiment import by_window, compare_arms
    from fin_tasks.report.windows import window_rows
    from fin_tasks.sandbox import escape

    rows, notes = window_rows(report, variant=variant)
    tables: dict[str, Any] = {}
    if by == "window":
        tables["arms"] = by_window(rows)
    else:
        found = compare_arms(rows)
        tables, notes = {"arms": found.arms, "effects": found.effects}, [*notes, *found.notes]
    if out is not None:
        for name, table in tables.items():
            table.map(lambda cell: escape(cell) if isinstance(cell, str) else cell).to_csv(
                out / f"{name}.csv", index=False
            )
        for bias, of_bias in tables["arms"].groupby("bias") if by == "window" else ():
            figures.draw_windows(of_bias, out / f"{bias}", title=f"{bias.capitalize()} bias")
        if len(tables.get("effects", ())):
            figures.draw_effects(tables["effects"], out / "effects")
    if as_json:
        records = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
        print(json.dumps({"variant": variant, **records, "notes": notes}))
    else:
        _show_arms(tables["arms"], variant)
        if len(tables.get("effects", ())):
            _show_effects(tables["effects"])
            print(_HOW_TO_READ)
        for note in notes:
            print(escape(f"Note: {note}"))


def _show_arms(arms: "pd.DataFrame", variant: str) -> None:
    from fin_tasks.benchmarks.dynostock.experiment import GROUP
    from fin_tasks.benchmarks.dynostock.figures import names_of

    rows = []
    for name, one in zip(names_of(arms, list(GROUP)), arms.to_dict("records"), strict=True):
        shares = (
            _share(one["acc"], one["acc_low"], one["acc_high"], one.get("acc_std")),
            _share(one["bias_index"], one["bias_index_low"], one["bias_index_high"], one.get("bias_index_std")),
        )
        rest = [_share(one[name]) for name in ("follows_signal", "signal_probability", "no_answer")]
        rows.append([name, one["arm"], str(one["window"]), str(one["n"]), *shares, *rest])
    columns = ("Model", "Arm", "Size", "n", "Accuracy", "Bias index", "=signal", "P(signal)", "None")
    print_table(f"Arms by window size, {variant} readings, percent (95 % interval)", columns, rows)


def _show_effects(effects: "pd.DataFrame") -> None:
    from fin_tasks.benchmarks.dynostock.experiment import GROUP, MEASURES
    from fin_tasks.benchmarks.dynostock.figures import contrast_name, names_of

    rows = []
    keys = [*GROUP, "arm", "first", "second", "window"]
    effects = effects.assign(name=names_of(effects, list(GROUP)), window=effects["window"].astype(str))
    for _, of in effects.groupby(keys, dropna=False, sort=False):
        by_measure = {one["measure"]: one for one in of.to_dict("records")}
        answers, stated = by_measure["follows_signal"], by_measure["signal_probability"]
        shown = [
            _share(one["difference"], one["low"], one["high"], sign="+")
            for one in map(by_measure.__getitem__, MEASURES)
        ]
        p = "–" if answers["p_holm"] != answers["p_holm"] else f"{answers['p_holm']:.3f}"
        pairs = [str(answers["pairs"]), f"{answers['unpaired']} + {stated['without_value']}"]
        rows.append([answers["name"], contrast_name(answers), answers["window"], *shown, p, *pairs])
    columns = ("Model", "Effect", "Size", "Accuracy", "Bias index", "=signal", "P(signal)", "p", "Pairs", "Left out")
    print_table("Effects, percentage points", columns, rows)


def _share(value: float, low: float = float("nan"), high: float = float("nan"), std: Any = None, sign: str = "") -> str:
    if value != value:
        return "–"
    deviation = f" ± {100 * std:.1f}" if std is not None and std == std else ""
    return f"{100 * value:{sign}.1f}{deviation}" + (f" ({100 * low:.0f}…{100 * high:.0f})" if low == low else "")

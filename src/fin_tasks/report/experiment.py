"""DynoStock's accuracy and bias index by window size, and what a statement does to forecasts of the same windows.

The functions take the rows of one scoring, with `COLUMNS`. If several runs have a row of the same group, arm and
window, the last one counts.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.windows import WINDOWS
from fin_tasks.errors import escape
from fin_tasks.stats.means import bias_index_interval, wilson
from fin_tasks.stats.pairs import holm, mcnemar

GROUP = ("model", "bias", "mode", "setting", "anonymized")
"""Runs are compared if they agree in these columns; `setting` stands for everything else that must be the same."""
_GROUP_AND_ARM = [*GROUP, "arm"]
_MEAN_METRICS = ["follows_signal", "signal_probability", "no_answer"]
COLUMNS = (
    *_GROUP_AND_ARM,
    "window",
    "doc_id",
    "ticker",
    "acc",
    "bias_percentage",
    *_MEAN_METRICS,
)
"""`doc_id` names the window; metrics are NaN if unscored."""
MEASURES = ("acc", "bias_index", "follows_signal", "signal_probability")
MEAN = "mean"
"""Stands for the window size in lines that average the sizes of the paper's Table 1."""

SETTINGS_OF_ARMS = (
    "anonymize",
    "arm",
    "bias",
    "mode",
    "scorer",
    "statement.sha256",
    "window",
)
"""Settings that the column `setting` leaves out: other columns hold them, or they may differ."""

_CONTRASTS = (
    ("arm", "signal", "none"),
    ("arm", "flipped", "none"),
    ("arm", "aligned", "none"),
    ("arm", "signal", "flipped"),
    ("anonymized", False, True),
)
"""A column, and the two values of it that are compared."""
_MIN_TICKERS = 20
"""With fewer tickers the intervals are markedly too narrow."""
_N_RESAMPLES = 10_000

Line = dict[str, object]
_Floats = npt.NDArray[np.float64]


def by_window(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, bias index and other means of each group and arm, a line for each window size.

    A line with the size "mean" averages the sizes of Table 1. Other sizes come after it. There is no bias index if
    `n_wrong`, the number of wrong forecasts, is 0; a mean over sizes counts it as 0.
    """
    lines = []
    for key, arm_rows in _without_repeats(rows).groupby(_GROUP_AND_ARM):
        group = dict(zip(_GROUP_AND_ARM, key, strict=True))
        line_by_size = {}
        for size, size_rows in arm_rows.groupby("window"):
            line_by_size[size] = _size_line(size, size_rows)
        for label, sizes in _sizes_by_label(line_by_size).items():
            lines_of_sizes = [line_by_size[size] for size in sizes]
            line = line_by_size.get(label) or _mean_of(pd.DataFrame(lines_of_sizes))
            lines.append({**line, **group})
    table = pd.DataFrame(lines)
    table.loc[table["n_wrong"] == 0, table.columns.str.startswith("bias_index")] = (
        math.nan
    )
    return table


def notes_on_indices(table: pd.DataFrame) -> list[str]:
    """Say where a table of `by_window` has no bias index because no forecast is wrong."""
    notes = []
    undefined = table[(table["n_wrong"] == 0) & table["acc"].notna()]
    for key, lines in undefined.groupby(["model", "bias", "mode", "arm"]):
        notes.append(
            f"{', '.join(map(str, key))}: no forecast is wrong at {_sizes_of(lines)}, so there is no bias index; "
            "a mean over sizes counts it as 0."
        )
    return notes


def _sizes_of(lines: pd.DataFrame) -> str:
    return f"window sizes {', '.join(map(str, lines['window']))}"


def _without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    keys = [*_GROUP_AND_ARM, "window", "doc_id"]
    return rows.reindex(columns=list(COLUMNS)).drop_duplicates(keys, keep="last")


def _sizes_by_label(sizes: Iterable[int]) -> dict[object, list[int]]:
    """Return the window sizes that each line covers, by the line's label: a size or `MEAN`."""
    averaged = [size for size in sizes if size in WINDOWS]
    sizes_by_label: dict[object, list[int]] = {size: [size] for size in averaged}
    if len(averaged) > 1:
        sizes_by_label[MEAN] = averaged
    for size in sizes:
        sizes_by_label.setdefault(size, [size])
    return sizes_by_label


def _size_line(size: object, rows: pd.DataFrame) -> Line:
    """Return the measures of the rows of one window size."""
    acc = rows["acc"].dropna()
    n_correct = round(acc.sum())
    n_wrong = round(len(acc) - acc.sum(), 9)
    n_biased = rows.loc[acc.index, "bias_percentage"].sum()
    share = wilson(n_correct, len(acc))
    index = bias_index_interval(
        correct=n_correct, led=round(n_biased), other=round(n_wrong - n_biased)
    )
    return {
        "window": size,
        "n": len(rows),
        "n_wrong": n_wrong,
        **rows[_MEAN_METRICS].mean(),
        "acc": acc.mean(),
        "acc_low": share.low,
        "acc_high": share.high,
        "bias_index": n_biased / n_wrong if n_wrong else 0 * acc.mean(),
        "bias_index_low": index.low,
        "bias_index_high": index.high,
    }


def _mean_of(sizes: pd.DataFrame) -> Line:
    """Return a line of means and population deviations over sizes, as in Table 1; the intervals are those of MOVER.

    Reference: Zou, Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
    """
    line = {**sizes.mean(), "window": MEAN}
    for name in ("n", "n_wrong"):
        line[name] = sizes[name].sum()
    for name in ("acc", "bias_index"):
        line[f"{name}_std"] = sizes[name].std(ddof=0)
        for side, sign in (("low", -1), ("high", 1)):
            distances = sizes[f"{name}_{side}"] - sizes[name]
            reach = np.linalg.norm(distances) / len(sizes)
            line[f"{name}_{side}"] = line[name] + sign * reach
    return line


def compare_arms(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Compare the arms of each group, and in each arm windows with and without names and dates; also return notes.

    The table has a line for each group, `contrast`, `metric` and window size: the `difference` over `pairs`, with its
    95 % interval (bootstrap over tickers). If each window has one answer, McNemar's `p` is given, and `p_holm`, which
    corrects it for all contrasts and sizes of the group and metric. The size "mean" averages the sizes of Table 1.
    """
    lines = []
    notes = []
    rows = _without_repeats(rows).assign(bias_index=rows["bias_percentage"])
    for condition, first_value, second_value in _CONTRASTS:
        columns = [name for name in _GROUP_AND_ARM if name != condition]
        for key, group_rows in rows.groupby(columns):
            first = group_rows[group_rows[condition] == first_value]
            second = group_rows[group_rows[condition] == second_value]
            if first.empty or second.empty:
                continue
            group: Line = {"arm": "", "anonymized": None}
            group |= dict(zip(columns, key, strict=True))
            if condition == "anonymized":
                group["contrast"] = f"named − anonymized ({group['arm']})"
                group["against"] = condition
            else:
                group["contrast"] = f"{first_value} − {second_value}"
                group["against"] = second_value
            pairs = first.merge(
                second, on=["window", "doc_id"], suffixes=("_first", "_second")
            )
            n_tickers = pairs["ticker_first"].nunique()
            if n_tickers:
                asked = pd.concat([first["window"], second["window"]])
                lines += [{**group, **effect} for effect in _effects(pairs, asked)]
            if n_tickers < _MIN_TICKERS:
                notes.append(
                    f"{group['model']}, {group['bias']}, {group['mode']}, {group['contrast']}: "
                    f"{n_tickers} tickers in common are too few for honest intervals."
                )
    if not lines:
        notes.append("Only one arm of each setting, so there is no effect to show.")
        return pd.DataFrame(), notes
    effects = pd.DataFrame(lines)
    families = effects.groupby([*_GROUP_AND_ARM, "metric"], dropna=False)["p"]
    effects["p_holm"] = families.transform(lambda p: holm(p.tolist()))
    return effects, [*notes, *_notes_on_differences(effects)]


def _notes_on_differences(effects: pd.DataFrame) -> Iterator[str]:
    """Say where the bias index has no difference."""
    is_index = (effects["metric"] == "bias_index") & (effects["pairs"] > 0)
    undefined = effects[is_index & effects["difference"].isna()]
    for key, lines in undefined.groupby(["model", "bias", "mode", "contrast"]):
        yield (
            f"{', '.join(map(str, key))}: the bias index has no difference at {_sizes_of(lines)}, "
            "as no forecast of the pairs is wrong on one side."
        )


def _effects(pairs: pd.DataFrame, asked: "pd.Series[int]") -> Iterator[Line]:
    """Yield the difference of each measure for each window size, and for their mean.

    Every measure is a ratio of sums over windows. `asked` holds the window sizes of all rows of both conditions,
    with those of windows that only one of them has.
    """
    tickers, names = pairs["ticker_first"].factorize()
    sizes, size_codes = np.unique(pairs["window"], return_inverse=True)
    generator = np.random.default_rng(42)
    shares = [1 / len(names)] * len(names)
    draws = generator.multinomial(len(names), shares, size=_N_RESAMPLES)
    for measure in MEASURES:
        ratios = _ratios_of(pairs, measure)
        is_known = ~np.isnan(ratios).any(axis=1)
        sums = np.zeros((len(names), len(sizes), 4))
        np.add.at(sums, (tickers[is_known], size_codes[is_known]), ratios[is_known])
        differences = _differences(sums.sum(axis=0), math.nan)
        counted = differences
        if measure == "bias_index":
            # A mean over sizes counts an index that is not defined as 0.
            counted = _differences(sums.sum(axis=0), 0.0)
        resampled = _differences(np.tensordot(draws, sums, axes=1), math.nan)
        for label, label_sizes in _sizes_by_label(sizes.tolist()).items():
            is_size_covered = np.isin(sizes, label_sizes)
            is_pair_covered = is_size_covered[size_codes]
            is_used = is_pair_covered & is_known
            n_asked = asked.isin(label_sizes).sum() - is_pair_covered.sum()
            n_tickers = len(np.unique(tickers[is_used]))
            difference = differences[is_size_covered].mean()
            if label == MEAN and not np.isnan(differences[is_size_covered]).all():
                difference = counted[is_size_covered].mean()
            low = high = math.nan
            if n_tickers > 1:
                means = pd.Series(resampled[:, is_size_covered].mean(axis=1))
                low, high = means.quantile([0.025, 0.975]).tolist()
            p = math.nan
            if label != MEAN and measure in ("acc", "follows_signal"):
                numerators = ratios[is_used, :2]
                p = _p_value(numerators)
            yield {
                "metric": measure,
                "window": label,
                "difference": difference,
                "difference_low": low,
                "difference_high": high,
                "pairs": is_used.sum(),
                "tickers": n_tickers,
                "left_out": n_asked - is_used.sum(),
                "p": p,
            }


def _ratios_of(pairs: pd.DataFrame, measure: str) -> _Floats:
    """Return a row for each pair of windows: the numerators of a measure on both sides, then the denominators."""
    numerators = pairs[[f"{measure}_first", f"{measure}_second"]].to_numpy(float)
    denominators = np.ones_like(numerators)
    if measure == "bias_index":
        denominators = 1 - pairs[["acc_first", "acc_second"]].to_numpy(float)
    return np.hstack([numerators, denominators])


def _differences(sums: _Floats, empty: float) -> _Floats:
    """Return the difference of the two ratios of each size; a ratio with the denominator 0 is `empty`."""
    denominators = sums[..., 2:]
    ratios = np.full_like(denominators, empty)
    np.divide(sums[..., :2], denominators, ratios, where=denominators != 0)
    return np.asarray(ratios[..., 0] - ratios[..., 1])


def _p_value(answers: _Floats) -> float:
    """Return McNemar's p of the pairs of one window size; NaN if a window has several answers."""
    if not len(answers) or not np.isin(answers, (0, 1)).all():
        return math.nan
    first, second = answers.T
    return float(mcnemar((first > second).sum(), (first < second).sum()))


def names_of(table: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Name each row by its model and by those of the columns in which the rows of the table differ."""
    anonymity = table["anonymized"].map({True: "anonymized", False: "named"})
    table = table.assign(anonymized=anonymity)
    differs = table[list(columns)].nunique(dropna=False) > 1
    names = table[["model", *differs.index[differs].drop("model", errors="ignore")]]
    return names.apply(lambda row: escape(", ".join(row.dropna())), axis=1)

"""Accuracy and bias index by window size, and what a statement does to forecasts of the same windows.

The functions take the rows of one variant, with `COLUMNS`. Of rows that differ only in the run the last one counts.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.sandbox import escape
from fin_tasks.stats.means import bias_index_interval, wilson
from fin_tasks.stats.pairs import holm, mcnemar

from .windows import WINDOWS

GROUP = ("model", "bias", "mode", "setting", "anonymized")
"""Runs are compared if they agree in these columns; `setting` stands for everything else that must be the same."""
_GROUP_AND_ARM = [*GROUP, "arm"]
_PLAIN_MEANS = ["follows_signal", "signal_probability", "no_answer"]
COLUMNS = (
    *_GROUP_AND_ARM,
    "window",
    "doc_id",
    "ticker",
    "acc",
    "bias_percentage",
    *_PLAIN_MEANS,
)
"""`doc_id` names the window; metrics are NaN if unscored."""
MEASURES = ("acc", "bias_index", "follows_signal", "signal_probability")
MEAN = "mean"
"""The window size of lines that average the sizes of the paper's Table 1."""

SETTINGS_OF_ARMS = ("anonymize", "arm", "bias", "mode", "scorer", "window")
"""Settings in which arms differ on purpose."""

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
    """Return accuracy, bias index and other shares of each group and arm by window size.

    The size "mean" averages the sizes of Table 1. Other sizes stand behind it.
    """
    lines = []
    for key, arm_rows in _without_repeats(rows).groupby(_GROUP_AND_ARM):
        group = dict(zip(_GROUP_AND_ARM, key, strict=True))
        line_by_size = {}
        for size, size_rows in arm_rows.groupby("window"):
            line_by_size[size] = _size_line(size, size_rows)
        for label, covered in _coverage(line_by_size).items():
            line = line_by_size.get(label)
            if line is None:
                line = _mean_of(pd.DataFrame([line_by_size[size] for size in covered]))
            lines.append({**line, **group})
    return pd.DataFrame(lines)


def _without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop_duplicates([*_GROUP_AND_ARM, "window", "doc_id"], keep="last")


def _coverage(sizes: Iterable[int]) -> dict[object, list[int]]:
    """Return the window sizes that each line covers, by the line's name."""
    averaged = [size for size in sizes if size in WINDOWS]
    coverage: dict[object, list[int]] = {size: [size] for size in averaged}
    if len(averaged) > 1:
        coverage[MEAN] = averaged
    for size in sizes:
        coverage.setdefault(size, [size])
    return coverage


def _size_line(size: object, rows: pd.DataFrame) -> Line:
    acc = rows["acc"].dropna()
    n_correct = round(acc.sum())
    n_wrong = len(acc) - acc.sum()
    n_biased = rows.loc[acc.index, "bias_percentage"].sum()
    share = wilson(n_correct, len(acc))
    index = bias_index_interval(
        correct=n_correct, led=round(n_biased), other=round(n_wrong - n_biased)
    )
    return {
        "window": size,
        "n": len(rows),
        **rows[_PLAIN_MEANS].mean(),
        "acc": acc.mean(),
        "acc_low": share.low,
        "acc_high": share.high,
        "bias_index": n_biased / n_wrong if n_wrong else 0 * acc.mean(),
        "bias_index_low": index.low,
        "bias_index_high": index.high,
    }


def _mean_of(sizes: pd.DataFrame) -> Line:
    """Return a line of means and population deviations over sizes, as in Table 1; intervals by MOVER.

    Reference: Zou, Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
    """
    line = {**sizes.mean(), "window": MEAN, "n": sizes["n"].sum()}
    for name in ("acc", "bias_index"):
        line[f"{name}_std"] = sizes[name].std(ddof=0)
        for side, sign in (("low", -1), ("high", 1)):
            distances = sizes[f"{name}_{side}"] - sizes[name]
            reach = np.linalg.norm(distances) / len(sizes)
            line[f"{name}_{side}"] = line[name] + sign * reach
    return line


def compare_arms(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Compare the arms of each group, and windows with and without names and dates in each arm; also return notes.

    The table has for each group, `contrast`, `metric` and window size the `difference` over `pairs` with its
    95 % interval (bootstrap over tickers). If answers are single there is McNemar's `p`, and `p_holm`, corrected for
    all contrasts and sizes of the group and measure. The size "mean" is the mean over the sizes of Table 1.
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
            group["contrast"] = f"{first_value} − {second_value}"
            group["against"] = second_value
            if condition == "anonymized":
                group["contrast"] = f"named − anonymized ({group['arm']})"
                group["against"] = condition
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
    return effects, notes


def _effects(pairs: pd.DataFrame, asked: "pd.Series[int]") -> Iterator[Line]:
    """Yield the difference of each measure for each window size, and for their mean.

    Every measure is a ratio of sums over windows. `asked` holds the window sizes of all rows of both conditions.
    """
    tickers, names = pairs["ticker_first"].factorize()
    sizes, size_codes = np.unique(pairs["window"], return_inverse=True)
    generator = np.random.default_rng(42)
    shares = [1 / len(names)] * len(names)
    draws = generator.multinomial(len(names), shares, size=_N_RESAMPLES)
    wrong = 1 - pairs[["acc_first", "acc_second"]].to_numpy(float)
    for measure in MEASURES:
        numerators = pairs[[f"{measure}_first", f"{measure}_second"]].to_numpy(float)
        denominators = wrong if measure == "bias_index" else np.ones_like(wrong)
        ratios = np.hstack([numerators, denominators])
        is_known = ~np.isnan(ratios).any(axis=1)
        sums = np.zeros((len(names), len(sizes), 4))
        np.add.at(sums, (tickers[is_known], size_codes[is_known]), ratios[is_known])
        empty = 0.0 if measure == "bias_index" else math.nan
        differences = _differences(sums.sum(axis=0), empty)
        resampled = _differences(np.tensordot(draws, sums, axes=1), math.nan)
        for label, covered in _coverage(sizes.tolist()).items():
            places = np.isin(sizes, covered)
            is_covered = places[size_codes]
            is_used = is_covered & is_known
            n_asked = asked.isin(covered).sum() - is_covered.sum()
            n_tickers = len(np.unique(tickers[is_used]))
            interval = [math.nan, math.nan]
            if n_tickers > 1:
                means = pd.Series(resampled[:, places].mean(axis=1))
                interval = means.quantile([0.025, 0.975]).tolist()
            p = math.nan
            if label != MEAN and measure in ("acc", "follows_signal"):
                p = _p_value(numerators[is_used])
            yield {
                "metric": measure,
                "window": label,
                "difference": differences[places].mean(),
                "difference_low": interval[0],
                "difference_high": interval[1],
                "pairs": is_used.sum(),
                "tickers": n_tickers,
                "left_out": n_asked - is_used.sum(),
                "p": p,
            }


def _differences(sums: _Floats, empty: float) -> _Floats:
    """Return the difference of both ratios for each size; a ratio with denominator 0 is `empty`."""
    denominators = sums[..., 2:]
    ratios = np.full_like(denominators, empty)
    np.divide(sums[..., :2], denominators, ratios, where=denominators != 0)
    return np.asarray(ratios[..., 0] - ratios[..., 1])


def _p_value(answers: _Floats) -> float:
    """Test the answers of one window size; NaN if they are means of several."""
    if not len(answers) or not np.isin(answers, (0, 1)).all():
        return math.nan
    first, second = answers.T
    return float(mcnemar((first > second).sum(), (first < second).sum()))


def names_of(table: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Name each row by its model and by the other columns in which the rows of the table differ."""
    anonymity = table["anonymized"].map({True: "anonymized", False: "named"})
    table = table.assign(anonymized=anonymity)
    differs = table[list(columns)].nunique(dropna=False) > 1
    names = table[["model", *differs.index[differs].drop("model", errors="ignore")]]
    return names.apply(lambda row: escape(", ".join(row.dropna())), axis=1)

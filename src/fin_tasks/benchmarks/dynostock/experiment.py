"""Accuracy and bias index by window size, and what a statement does to forecasts of the same windows.

The functions take the rows of one variant, with `COLUMNS`. Of rows that differ only in the run the last one counts.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.score import bias_index, intervals_of
from fin_tasks.benchmarks.dynostock.windows import WINDOWS
from fin_tasks.sandbox import escape
from fin_tasks.stats.pairs import holm, mcnemar

GROUP = ("model", "bias", "mode", "setting", "anonymized")
"""Runs are compared if they agree in these columns; `setting` stands for everything else that must be the same."""
COLUMNS = (
    *GROUP,
    "arm",
    "window",
    "doc_id",
    "ticker",
    "acc",
    "bias_percentage",
    "follows_signal",
    "signal_probability",
    "no_answer",
)
"""`doc_id` names the window; from `acc` on the columns are metrics, NaN if unscored."""
MEASURES = ("acc", "bias_index", "follows_signal", "signal_probability")
MEAN = "mean"
"""The window size of lines that average the sizes of the paper's Table 1."""

SETTINGS_OF_ARMS = ("anonymize", "arm", "bias", "mode", "scorer", "window")
"""Settings in which arms differ on purpose."""

_PLAIN_MEANS = ["follows_signal", "signal_probability", "no_answer"]
_CONTRASTS = (
    ("signal", "none"),
    ("flipped", "none"),
    ("aligned", "none"),
    ("signal", "flipped"),
)
_KEY = [*GROUP, "arm", "window", "doc_id"]
_MIN_TICKERS = 20
"""With fewer tickers the intervals are markedly too narrow."""
_N_RESAMPLES = 10_000

Line = dict[str, object]
_Floats = npt.NDArray[np.float64]


def by_window(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, bias index and other shares of each group and arm by window size.

    The size "mean" averages the sizes of Table 1. Other sizes stand behind it.
    """
    columns = [*GROUP, "arm"]
    tables = []
    for key, arm_rows in _without_repeats(rows).groupby(columns):
        group = dict(zip(columns, key, strict=True))
        tables.append(_size_table(arm_rows).assign(**group))
    return pd.concat(tables, ignore_index=True)


def _without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.drop_duplicates(_KEY, keep="last")


def _size_table(rows: pd.DataFrame) -> pd.DataFrame:
    lines = [_size_line(size, size_rows) for size, size_rows in rows.groupby("window")]
    sizes = pd.DataFrame(lines)
    is_averaged = sizes["window"].isin(WINDOWS)
    if is_averaged.sum() < 2:
        return sizes
    averaged = sizes[is_averaged]
    mean = pd.DataFrame([_mean_line(averaged)])
    return pd.concat([averaged, mean, sizes[~is_averaged]])


def _size_line(size: object, rows: pd.DataFrame) -> Line:
    scored = rows.dropna(subset="acc")
    acc = scored["acc"]
    biased = scored["bias_percentage"].fillna(0.0)
    other = (1 - acc - biased).clip(0)
    shares = np.column_stack([acc, biased, other]).tolist()
    values = {"acc": acc.mean(), "bias_index": bias_index(shares)}
    line = {"window": size, "n": len(rows), **rows[_PLAIN_MEANS].mean()}
    for name, (low, high) in intervals_of(shares).items():
        line |= {
            name: values[name],
            f"{name}_std": math.nan,
            f"{name}_low": low,
            f"{name}_high": high,
        }
    return line


def _mean_line(sizes: pd.DataFrame) -> Line:
    """Return means and population deviations over sizes, as in Table 1; intervals by MOVER.

    Reference: Zou, Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
    """
    line = {"window": MEAN, "n": sizes["n"].sum(), **sizes[_PLAIN_MEANS].mean()}
    for name in ("acc", "bias_index"):
        values = sizes[name]
        mean = values.mean()
        below = np.linalg.norm(values - sizes[f"{name}_low"]) / len(sizes)
        above = np.linalg.norm(sizes[f"{name}_high"] - values) / len(sizes)
        line |= {
            name: mean,
            f"{name}_std": values.std(ddof=0),
            f"{name}_low": mean - below,
            f"{name}_high": mean + above,
        }
    return line


def compare_arms(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Compare the arms of each group, and windows with and without names and dates in each arm; also return notes.

    The table has for each group, `contrast`, `metric` and window size the `difference` over `pairs` with its
    95 % interval (bootstrap over tickers). If answers are single there is McNemar's `p`, and `p_holm`, corrected for
    all contrasts and sizes of the group and measure. The size "mean" is the mean over the sizes of Table 1.
    """
    lines: list[Line] = []
    notes = []
    for group, first, second in _contrasts(_without_repeats(rows)):
        pairs = first.merge(second, on=["window", "doc_id"], suffixes=("_first", "_second"))
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
    families = effects.groupby([*GROUP, "arm", "metric"], dropna=False)["p"]
    effects["p_holm"] = families.transform(lambda p: holm(p.tolist()))
    return effects, notes


def _contrasts(rows: pd.DataFrame) -> Iterator[tuple[Line, pd.DataFrame, pd.DataFrame]]:
    """Yield what is compared, and its rows under the first and the second condition."""
    for group, by_arm in _parts(rows, GROUP, "arm"):
        for first, second in _CONTRASTS:
            if first in by_arm and second in by_arm:
                name = f"{first} − {second}"
                facts = {**group, "arm": "", "contrast": name, "against": second}
                yield facts, by_arm[first], by_arm[second]
    for group, by_anonymity in _parts(rows, (*GROUP[:-1], "arm"), "anonymized"):
        if len(by_anonymity) == 2:
            name = f"named − anonymized ({group['arm']})"
            facts = {**group, "anonymized": None, "contrast": name, "against": "anonymized"}
            yield facts, by_anonymity[False], by_anonymity[True]


def _parts(
    rows: pd.DataFrame, columns: Sequence[str], condition: str
) -> Iterator[tuple[Line, dict[object, pd.DataFrame]]]:
    """Yield each group, and its rows by a condition."""
    for key, group_rows in rows.groupby(list(columns)):
        group = dict(zip(columns, key, strict=True))
        yield group, dict(list(group_rows.groupby(condition)))


def _effects(pairs: pd.DataFrame, asked: "pd.Series[int]") -> Iterator[Line]:
    """Yield the difference of each measure for each window size, and for their mean.

    `asked` holds the window sizes of all rows of both conditions.
    """
    tickers = pairs["ticker_first"].factorize()[0]
    n_tickers = tickers.max() + 1
    generator = np.random.default_rng(42)
    draws = generator.multinomial(n_tickers, [1 / n_tickers] * n_tickers, size=_N_RESAMPLES)
    sizes = np.unique(pairs["window"])
    size_codes = np.searchsorted(sizes, pairs["window"])
    for measure in MEASURES:
        ratios = _ratios(pairs, measure)
        is_known = ~np.isnan(ratios).any(axis=1)
        sums = np.zeros((n_tickers, len(sizes), 4))
        np.add.at(sums, (tickers[is_known], size_codes[is_known]), ratios[is_known])
        nothing_wrong = 0.0 if measure == "bias_index" else math.nan
        differences = _differences(sums.sum(axis=0), nothing_wrong)
        resampled = _differences(np.tensordot(draws.astype(float), sums, axes=1), math.nan)
        for label, covered in _coverage(sizes.tolist()).items():
            places = np.flatnonzero(np.isin(sizes, covered))
            is_covered = np.isin(size_codes, places)
            is_used = is_covered & is_known
            n_used_tickers = len(np.unique(tickers[is_used]))
            low, high = _percentiles(resampled[:, places].mean(axis=1), n_used_tickers)
            n_asked = asked.isin(covered).sum() - is_covered.sum()
            yield {
                "metric": measure,
                "window": label,
                "difference": differences[places].mean(),
                "difference_low": low,
                "difference_high": high,
                "pairs": is_used.sum(),
                "tickers": n_used_tickers,
                "left_out": n_asked - is_used.sum(),
                "p": _p_value(ratios[is_used], measure, label),
            }


def _coverage(sizes: list[int]) -> dict[object, Sequence[int]]:
    """Return the window sizes that each line covers, by the line's name."""
    coverage: dict[object, Sequence[int]] = {size: [size] for size in sizes if size in WINDOWS}
    if len(coverage) > 1:
        coverage[MEAN] = WINDOWS
    for size in sizes:
        coverage.setdefault(size, [size])
    return coverage


def _ratios(pairs: pd.DataFrame, measure: str) -> _Floats:
    """Return numerator and denominator under both conditions: every measure is a ratio of sums over windows."""
    columns = []
    for condition in ("first", "second"):
        if measure == "bias_index":
            columns.append(pairs[f"bias_percentage_{condition}"])
            columns.append(1 - pairs[f"acc_{condition}"])
        else:
            columns.append(pairs[f"{measure}_{condition}"])
            columns.append(pd.Series(1.0, pairs.index))
    return np.column_stack(columns).astype(float)


def _differences(sums: _Floats, empty: float) -> _Floats:
    """Return the difference of both ratios for each size; a ratio with denominator 0 is `empty`."""
    numerators = sums[..., 0::2]
    denominators = sums[..., 1::2]
    ratios = np.full_like(numerators, empty)
    np.divide(
        numerators,
        denominators,
        out=ratios,
        where=denominators > 0,
    )
    return np.asarray(ratios[..., 0] - ratios[..., 1])


def _percentiles(resampled: _Floats, n_tickers: int) -> tuple[float, float]:
    finite = resampled[np.isfinite(resampled)]
    if n_tickers < 2 or not len(finite):
        return math.nan, math.nan
    low, high = np.quantile(finite, [0.025, 0.975])
    return float(low), float(high)


def _p_value(ratios: _Floats, measure: str, label: object) -> float:
    """Test single answers of one window size; NaN for everything else."""
    is_share = measure in ("acc", "follows_signal")
    if not len(ratios) or not is_share or label == MEAN or not np.isin(ratios, (0, 1)).all():
        return math.nan
    first = ratios[:, 0]
    second = ratios[:, 2]
    return mcnemar(int((first > second).sum()), int((first < second).sum()))


def names_of(table: pd.DataFrame, columns: Sequence[str]) -> "pd.Series[str]":
    """Name each row by its model and by the other columns in which the rows of the table differ."""
    anonymity = table["anonymized"].map({True: "anonymized", False: "named"})
    table = table.assign(anonymized=anonymity)
    differing = []
    for column in columns:
        if column == "model" or table[column].nunique(dropna=False) > 1:
            differing.append(column)
    return table[differing].apply(_joined, axis=1)


def _joined(names: "pd.Series[str]") -> str:
    return escape(", ".join(name for name in names if isinstance(name, str)))

"""What a statement does to forecasts: the same windows under two conditions, compared pair by pair.

The functions take the rows of one variant, with `COLUMNS`. Of rows that differ only in the run the last one counts.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fin_tasks.benchmarks.dynostock.score import bias_index, intervals_of
from fin_tasks.charts.figures import COLORS, MARKERS, drawing, save
from fin_tasks.sandbox import escape
from fin_tasks.stats.pairs import holm, mcnemar

GROUP = ("model", "bias", "mode", "setting", "anonymized")
"""Runs are compared if they agree in these columns; `setting` stands for everything else that must be the same."""
_REST = ["follows_signal", "signal_probability", "no_answer"]
COLUMNS = (*GROUP, "arm", "window", "doc_id", "ticker", "acc", "bias_percentage", *_REST)
"""`doc_id` names the window; from `acc` on the metrics of `score.metric_values`, NaN if unscored."""

MEASURES = ("acc", "bias_index", "follows_signal", "signal_probability")
_CONTRASTS = (("signal", "none"), ("flipped", "none"), ("aligned", "none"), ("signal", "flipped"))
_SAME = [*GROUP, "arm", "window", "doc_id"]
_FEW_TICKERS = 20  # with fewer the intervals are markedly too narrow

_Floats = npt.NDArray[np.float64]


def by_window(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, bias index and other shares of each group, arm and window size, and "mean" for all sizes."""
    found: list[pd.DataFrame] = []
    columns = [*GROUP, "arm"]
    for key, of_arm in rows.drop_duplicates(_SAME, keep="last").groupby(columns):
        sizes = pd.DataFrame(
            [_of_size(window, of_size) for window, of_size in of_arm.groupby("window")]
        )
        table = pd.concat([sizes, pd.DataFrame([_over_sizes(sizes)])]) if len(sizes) > 1 else sizes
        found.append(table.assign(**dict(zip(columns, key, strict=True))))
    return pd.concat(found, ignore_index=True)


def _of_size(window: int, rows: pd.DataFrame) -> dict[str, Any]:
    known = rows.dropna(subset="acc")
    biased = known["bias_percentage"].fillna(0.0)
    shares = np.column_stack([known["acc"], biased, (1 - known["acc"] - biased).clip(0)]).tolist()
    values, intervals = (
        {"acc": known["acc"].mean(), "bias_index": bias_index(shares)},
        intervals_of(shares),
    )
    found = {"window": window, "n": len(rows), **rows[_REST].mean().to_dict()}
    for name, value in values.items():
        low, high = intervals[name].low, intervals[name].high
        found |= {name: value, f"{name}_std": np.nan, f"{name}_low": low, f"{name}_high": high}
    return found


def _over_sizes(sizes: pd.DataFrame) -> dict[str, Any]:
    """Return means and population deviations over sizes, as in Table 1; intervals by MOVER.

    Reference: Zou, Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.
    """
    found = {"window": "mean", "n": sizes["n"].sum(), **sizes[_REST].mean().to_dict()}
    for name in ("acc", "bias_index"):
        value, mean = sizes[name], sizes[name].mean()
        below = np.linalg.norm(value - sizes[f"{name}_low"]) / len(sizes)
        above = np.linalg.norm(sizes[f"{name}_high"] - value) / len(sizes)
        found |= {name: mean, f"{name}_std": value.std(ddof=0)}
        found |= {f"{name}_low": mean - below, f"{name}_high": mean + above}
    return found


def compare_arms(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Compare the arms of each group, and windows with and without names and dates in each arm; also return notes.

    The table has for each group, `contrast`, `metric` and window size the `difference` over `pairs` with its
    95 % interval (bootstrap over tickers). If answers are single there is McNemar's `p`, and `p_holm`, corrected for
    all contrasts and sizes of the group and measure. The size "mean" is the mean over sizes.
    """
    rows = rows.drop_duplicates(_SAME, keep="last")
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    for columns, condition, contrasts in (
        (list(GROUP), "arm", _CONTRASTS),
        ([*GROUP[:-1], "arm"], "anonymized", ((False, True),)),
    ):
        for key, of_group in rows.groupby(columns):
            group, parts = (
                dict(zip(columns, key, strict=True)),
                dict(list(of_group.groupby(condition))),
            )
            for first, second in [pair for pair in contrasts if parts.keys() >= set(pair)]:
                arm = group.get("arm", "")
                name = f"named − anonymized ({arm})" if arm else f"{first} − {second}"
                against = "anonymized" if arm else second
                facts = {
                    "anonymized": None,
                    "arm": arm,
                    **group,
                    "contrast": name,
                    "against": against,
                }
                effects = list(_effects(parts[first], parts[second]))
                found += [{**facts, **effect} for effect in effects]
                if (tickers := max((one["tickers"] for one in effects), default=0)) < _FEW_TICKERS:
                    of = ", ".join(str(group[column]) for column in ("model", "bias", "mode"))
                    notes.append(
                        f"{of}, {name}: {tickers} tickers in common are too few for honest intervals."
                    )
    effects = pd.DataFrame(found)
    if found:
        families = effects.groupby([*GROUP, "arm", "metric"], dropna=False)["p"]
        effects["p_holm"] = families.transform(lambda p: holm(p.tolist()))
    else:
        notes.append("Only one arm of each setting, so there is no effect to show.")
    return effects, notes


def _effects(a: pd.DataFrame, b: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the difference of each measure between two conditions for each window size, and for their mean."""
    pairs = a.merge(b, on=["window", "doc_id"], suffixes=("", "_b"))
    if pairs.empty:
        return
    asked = pd.concat([a["window"], b["window"]])
    tickers, sizes = pairs["ticker"].factorize()[0], sorted(set(pairs["window"]))
    places, count = np.searchsorted(sizes, pairs["window"]), max(tickers) + 1
    draws = np.random.default_rng(42).multinomial(count, [1 / count] * count, size=10_000)
    for measure in MEASURES:
        ratios = _ratios_of(pairs, measure)
        known = ~np.isnan(ratios).any(axis=1)
        sums = np.zeros((count, len(sizes), 4))
        np.add.at(sums, (tickers[known], places[known]), ratios[known])
        values = _differences(sums.sum(axis=0), nothing=0.0 if measure == "bias_index" else np.nan)
        resampled = _differences(np.tensordot(draws.astype(float), sums, axes=1), nothing=np.nan)
        for place, window in enumerate([*sizes, "mean"] if len(sizes) > 1 else sizes):
            is_here = np.full(len(pairs), fill_value=True) if window == "mean" else places == place
            both, held = ratios[known & is_here], len(set(tickers[known & is_here]))
            drawn = resampled[np.isfinite(resampled[:, place]), place]
            low, high = (
                np.quantile(drawn, [0.025, 0.975]) if held > 1 and len(drawn) else (np.nan, np.nan)
            )
            has_test = (
                measure in ("acc", "follows_signal")
                and window != "mean"
                and np.isin(both, (0, 1)).all()
            )
            p = mcnemar(int((both[:, 0] > both[:, 2]).sum()), int((both[:, 0] < both[:, 2]).sum()))
            yield {
                "metric": measure,
                "window": window,
                "difference": values[place],
                "difference_low": low,
                "difference_high": high,
                "pairs": len(both),
                "tickers": held,
                "left_out": len(asked if window == "mean" else asked[asked == window])
                - is_here.sum()
                - len(both),
                "p": p if has_test and len(both) else np.nan,
            }


def _ratios_of(pairs: pd.DataFrame, measure: str) -> _Floats:
    """Return numerator and denominator under both conditions: every measure is a ratio of sums over windows."""
    columns: list[Any] = []
    for end in ("", "_b"):
        if measure == "bias_index":  # answers wrong by bias, and wrong answers
            columns += [pairs[f"bias_percentage{end}"], 1 - pairs[f"acc{end}"]]
        else:
            columns += [pairs[f"{measure}{end}"], np.ones(len(pairs))]
    return np.column_stack(columns).astype(float)


def _differences(sums: _Floats, *, nothing: float) -> _Floats:
    """Return the difference of both ratios for each size, and then the mean over sizes."""
    over, under = sums[..., 0::2], sums[..., 1::2]
    ratios = np.divide(over, under, out=np.full_like(over, nothing), where=under > 0)
    by_size = ratios[..., 0] - ratios[..., 1]
    return np.concatenate([by_size, by_size.mean(axis=-1, keepdims=True)], axis=-1)


def names_of(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Name each row by its model and by the other columns in which the rows of the table differ."""
    table = table.assign(anonymized=table["anonymized"].map({True: "anonymized", False: "named"}))
    differ = [name for name in columns if name == "model" or table[name].nunique(dropna=False) > 1]
    return table[differ].apply(
        lambda row: escape(", ".join(one for one in row if isinstance(one, str))), axis=1
    )


def draw_windows(arms: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw bias index and accuracy of `by_window` against window size, one line per model, and save PNG and SVG."""
    from matplotlib.figure import Figure

    sizes = arms[arms["window"] != "mean"]
    lines = list(sizes.groupby(names_of(sizes, [*GROUP, "arm"]), sort=False))
    ticks = sorted(set(sizes["window"]))
    step = 0.6 * min((b - a for a, b in pairwise(ticks)), default=4) / len(lines)
    with drawing({}):
        figure = Figure(figsize=(7.2, 3.4 + 0.17 * ((len(lines) - 1) // 2)), layout="constrained")
        panels = figure.subplots(1, 2)
        for axes, metric, what in zip(
            panels, ("bias_index", "acc"), ("Bias index (%)", "Accuracy (%)"), strict=True
        ):
            for place, (name, line) in enumerate(lines):
                at = line["window"].astype(float) + (place - (len(lines) - 1) / 2) * min(step, 0.5)
                look: dict[str, Any] = {"color": COLORS[place % 7], "zorder": 3}
                low, high = (100 * line[f"{metric}_{end}"] for end in ("low", "high"))
                axes.vlines(at, low, high, alpha=0.3, linewidth=3, **look)
                axes.plot(
                    at,
                    100 * line[metric],
                    marker=MARKERS[place % 8],
                    markersize=5,
                    label=name,
                    **look,
                )
            axes.set(title=what, xlabel="Window size (earnings reports)", xticks=ticks)
            axes.grid(axis="y")
        panels[0].set_ylim(bottom=-2)
        figure.suptitle(
            f"{title}, with 95 % intervals", x=0.012, ha="left", fontsize=11, fontweight="bold"
        )
        figure.legend(
            *panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2, frameon=False
        )
        return save(figure, stem)

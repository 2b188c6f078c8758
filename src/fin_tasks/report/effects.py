"""What statements do to forecasts of the same windows, and what mitigations take off it."""

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pandas import DataFrame, concat, factorize

from fin_tasks.errors import DataError
from fin_tasks.stats.means import Floats, estimate, mean_difference

from .chart_reading import Share, shares_read
from .conditions import conditions_of, differences, setting_id
from .entries import task_of
from .experiment import SETTINGS_OF_ARMS
from .model import Report, TaskResult

_COLUMNS = [
    "doc_id",
    "ticker",
    "arm",
    "mean_probability",
    "signal_probability",
    "acc",
    "bias_percentage",
]
_GROUP = ["model", "windows", "mode", "anonymized", "setting"]
"""Rows are paired if they agree in these columns; `setting` stands for everything else that must be the same."""
_OWN_SETTINGS = (*SETTINGS_OF_ARMS, "windows")
_OWN_STARTS = ("statement.", "mitigation.", "sample.")
"""Statement and mitigation have columns of their own; a sample decides which windows there are, and pairs share one."""
NO_MITIGATION = ""

_Flags = npt.NDArray[np.bool_]


class Effect(NamedTuple):
    """What a statement does to a model's forecasts, over the windows that were asked with and without it."""

    model: str
    windows: str
    """The kind of windows: `recency` or `authority`."""
    mode: str
    """`text` or `image`."""
    anonymized: bool
    setting: str
    """A hash of everything else that was the same."""
    statement: str
    arm: str
    mitigation: str
    direction: str
    """Where the statement's direction comes from, as in `statements.yaml`."""
    change: float
    """Mean change of the probability of what the statement predicts; of a rise if it predicts nothing."""
    low: float
    high: float
    n_windows: int
    n_stocks: int
    left_out: int
    """Windows of the statement that have no forecast in both arms."""
    flipped: float
    """Share of windows in which the forecast changes sides."""
    flipped_low: float
    flipped_high: float
    flipped_toward: float
    """Share of windows in which it changes to the side of the statement."""
    bias_index: float
    """The paper's index of these windows with the statement; NaN if it does not apply or no answer is wrong."""
    off: float = nan
    """What a mitigation takes off the change, on the same windows."""
    off_low: float = nan
    off_high: float = nan
    off_windows: int = 0
    read: Share | None = None
    """The share of its charts, or tables, that the model reads; None if it was not asked about them."""


def effects_of(report: Report, scoring: str) -> list[Effect]:
    """Return the effect of each statement, arm and mitigation on each model; raise DataError if there is none."""
    rows = effect_rows(report, scoring)
    shares = shares_read(report, scoring)
    effects: list[Effect] = []
    for key, group in rows.groupby(_GROUP):
        share = shares.get((key[0], key[2], key[3]))
        for effect in _effects_of_group(group):
            effects.append(effect._replace(read=share))
    if not effects:
        raise DataError(
            "compare: expected windows of DynoStock that were asked with a statement and, under the arm "
            f"none, without one, found none under {scoring}.{_why_unpaired(report)}"
        )
    return effects


def _why_unpaired(report: Report) -> str:
    """Say what is missing, or how runs with and without a statement differ."""
    found: dict[tuple[str, str], dict[str, TaskResult]] = {}
    for run, result in report.results:
        if result.benchmark == "dynostock" and "arm" in result.settings:
            kind = "without" if result.settings["arm"] == "none" else "with"
            mode = "tables" if conditions_of(result).mode == "text" else "charts"
            found.setdefault((run.model, mode), {})[kind] = _without_own(result)
    for (model, mode), results in found.items():
        if len(results) == 2:
            differing = differences(results["with"], results["without"])
            if differing:
                return (
                    f" {model}, {mode}: the run with a statement (here) differs from that without one (the "
                    f"reference) in {'; '.join(differing)}."
                )
    for (model, mode), results in found.items():
        if len(results) == 1:
            (kind,) = results
            missing = "without one" if kind == "with" else "with one"
            return f" {model}, {mode}: there is only a run {kind} a statement, and none {missing}."
    for model, mode in found:
        return f" {model}, {mode}: no window has a forecast in both runs."
    return ""


def _without_own(result: TaskResult) -> TaskResult:
    """Return a result without the settings in which runs with and without a statement may differ."""
    settings = {}
    for name, value in result.settings.items():
        if name not in _OWN_SETTINGS and not name.startswith(_OWN_STARTS):
            settings[name] = value
    return replace(result, task="", settings=settings)


def effect_rows(report: Report, scoring: str) -> DataFrame:
    """Return the rows of DynoStock's forecasts with statement, direction, mitigation and group.

    Of several rows of a window under the same conditions the last one counts, which is of the most complete and
    newest run.
    """
    tables = []
    for run, result in sorted(report.results, key=lambda pair: pair[1].n):
        if result.benchmark != "dynostock" or result.members or run.is_refused:
            continue
        conditions = conditions_of(result)
        family = task_of(result.benchmark, conditions, scoring, "").family
        windows = family or result.settings.get("windows")
        rows = report.rows_of(result, scoring).reindex(columns=_COLUMNS)
        rows = rows[rows["arm"].notna()]
        if not isinstance(windows, str) or rows.empty:
            continue
        tables.append(
            rows.assign(
                model=run.model,
                windows=windows,
                mode=conditions.prices_as,
                anonymized=result.settings.get("anonymize") is True,
                setting=setting_id(_without_own(result))[:6],
                statement=str(result.settings.get("statement.name") or family),
                direction=str(
                    result.settings.get("statement.direction") or "against_past"
                ),
                mitigation=str(result.settings.get("mitigation.name") or NO_MITIGATION),
            )
        )
    if not tables:
        return DataFrame(columns=[*_COLUMNS, *_GROUP])
    rows = concat(tables).astype({"arm": str, "doc_id": str, "ticker": str})
    rows.loc[rows["arm"] == "none", "statement"] = ""
    keys = [*_GROUP, "statement", "mitigation", "arm", "doc_id"]
    return rows.drop_duplicates(keys, keep="last")


def _effects_of_group(rows: DataFrame) -> Iterator[Effect]:
    """Yield the effects of rows that may be paired, those without a mitigation first."""
    is_none = rows["arm"] == "none"
    changes: dict[tuple[str, str], DataFrame] = {}
    statements = rows[~is_none].groupby(["mitigation", "statement", "arm"])
    for (mitigation, statement, arm), with_statement in statements:
        without = rows[is_none & (rows["mitigation"] == mitigation)]
        pairs = _pairs(with_statement, without)
        if pairs.empty:
            continue
        effect = _effect(with_statement, pairs)
        base = changes.get((statement, arm))
        if mitigation == NO_MITIGATION:
            changes[statement, arm] = pairs
        elif base is not None:
            shared = base.merge(pairs, on="doc_id", suffixes=("_base", ""))
            off = mean_difference(
                (shared["change_base"] - shared["change"]).to_numpy(),
                factorize(shared["ticker"])[0],
            )
            effect = effect._replace(
                off=off.mean,
                off_low=off.low,
                off_high=off.high,
                off_windows=off.n,
            )
        yield effect


def _pairs(with_statement: DataFrame, without: DataFrame) -> DataFrame:
    """Return the windows with a forecast in both arms, and how each changes."""
    names = ["doc_id", "mean_probability", "signal_probability"]
    pairs = with_statement.merge(without[names], on="doc_id", suffixes=("", "_without"))
    after = pairs["mean_probability"]
    before = pairs["mean_probability_without"]
    is_reversed = pairs["arm"].isin(["flipped", "aligned"]).to_numpy()
    sign = np.where(_says_rise(pairs) != is_reversed, 1.0, -1.0)
    sides = (after >= 0.5).astype(float) - (before >= 0.5).astype(float)
    pairs = pairs.assign(change=sign * (after - before), turned=sign * sides)
    return pairs.dropna(subset="change")


def _says_rise(pairs: DataFrame) -> _Flags:
    """Return for each window whether the statement, if it is not reversed, says that the price rises."""
    direction = pairs["direction"].iloc[0] if len(pairs) else "none"
    if direction in ("up", "none"):
        return np.ones(len(pairs), dtype=bool)
    if direction == "down":
        return np.zeros(len(pairs), dtype=bool)
    # The signal is a rise where its probability is that of a rise; one half says nothing of it.
    after = pairs["mean_probability"]
    before = pairs["mean_probability_without"]
    says_rise: _Flags = np.where(
        after != 0.5,
        np.isclose(pairs["signal_probability"], after),
        np.isclose(pairs["signal_probability_without"], before),
    )
    return says_rise


def _effect(with_statement: DataFrame, pairs: DataFrame) -> Effect:
    """Return the effect of one statement in one arm over its pairs of windows."""
    first = pairs.iloc[0]
    tickers = factorize(pairs["ticker"])[0]
    change = mean_difference(pairs["change"].to_numpy(), tickers)
    has_flipped: Floats = pairs["turned"].abs().to_numpy()
    flipped = estimate(has_flipped, clusters=tickers)
    n_wrong = (1 - pairs["acc"]).sum()
    index = nan
    if n_wrong and first["arm"] == "signal" and first["direction"] != "none":
        index = pairs["bias_percentage"].sum() / n_wrong
    return Effect(
        **{name: first[name] for name in _GROUP},
        statement=first["statement"],
        arm=first["arm"],
        mitigation=first["mitigation"],
        direction=first["direction"],
        change=change.mean,
        low=change.low,
        high=change.high,
        n_windows=change.n,
        n_stocks=change.clusters,
        left_out=len(with_statement) - len(pairs),
        flipped=flipped.mean,
        flipped_low=flipped.low,
        flipped_high=flipped.high,
        flipped_toward=float((pairs["turned"] > 0).mean()),
        bias_index=index,
    )


def sentence_of(effect: Effect) -> str:
    """Say in one sentence what a statement did."""
    interval = ""
    if not isnan(effect.low):
        interval = f" [{points(effect.low)}, {points(effect.high)}]"
    subject = "the forecast of a rise" if effect.direction == "none" else "the forecast"
    side = "" if effect.direction == "none" else " toward what it says"
    name = effect.statement.replace("_", " ")
    if effect.arm != "signal":
        name += f" ({effect.arm})"
    if effect.mitigation:
        name += f" (mitigation: {effect.mitigation.replace('_', ' ')})"
    text = (
        f"{effect.model}: the statement {name} moved {subject} by {points(effect.change)} points{interval}"
        f"{side}, in {effect.n_windows:,} windows of {effect.n_stocks:,} stocks; "
        f"{effect.flipped:.0%} of decisions flipped."
    )
    if effect.read is None:
        return text
    reading = effect.read.text()
    return f"{text} {reading[0].upper()}{reading[1:]}."


def points(share: float) -> str:
    """Return a difference of shares in points, without a minus before zero."""
    return f"{100 * share:z.1f}"

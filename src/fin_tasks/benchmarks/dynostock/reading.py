"""Questions about what a window's chart shows, with exact answers from the data: does a model read its charts?"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fin_tasks.charts.chart import RENDERERS, Chart
from fin_tasks.data.documents import IMAGE_MARK, hash_of
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

from .anonymous import anonymous
from .chart_answers import FORMS
from .chart_files import add_charts, chart_of
from .market import Excerpt
from .options import Options
from .prompts import history_of
from .score import CHARTS
from .window_set import WindowSet
from .windows import HOUSE, Window

Document = dict[str, Any]

_TEXTS: Mapping[str, str] = HOUSE["reading"]
_WEEKLY_DAYS = 500
"""A longer chart has candles of weeks; what it asks for has to be the same by day and by week."""
_AVERAGE_DAYS = 7
_CLEAR_MOVE = 0.05
"""Share of the range of prices by which two closes differ that are compared."""
_CLEAR_DISTANCE = 0.01
"""Share of that range by which a close lies off its average."""
_CLEAR_LEAD = 0.02
"""Share by which the largest value exceeds the others."""


class Question(NamedTuple):
    """A question about a chart."""

    kind: str
    truth: str
    words: Mapping[str, str] = {}
    """What fills the slots of its text."""


def questions_of(excerpt: Excerpt, window: Window) -> list[Question]:
    """Return the questions about a window whose answers are clear on its chart.

    Whether a question says higher or lower, above or below, is up to a hash, so that a fixed answer is right half of
    the time.
    """
    closes = excerpt.prices["close"].dropna()
    is_weekly = (excerpt.end - excerpt.start).days > _WEEKLY_DAYS
    surprises = excerpt.reports["surprise"].dropna()
    report_days = excerpt.reports["reported"][surprises.index]
    report_days = report_days[report_days.isin(closes.index)]
    n_met = int((surprises >= 0).sum())
    return [
        Question("last close", f"{closes.iloc[-1]:.2f}"),
        *_highest(closes, is_weekly=is_weekly),
        *_direction(closes, report_days, window),
        Question("reports that met", str(n_met)),
        *_largest_volume(excerpt.prices["volume"], is_weekly=is_weekly),
        *_average(closes, report_days, window),
    ]


def _highest(closes: "pd.Series[float]", *, is_weekly: bool) -> list[Question]:
    days = pd.DatetimeIndex(closes.index)
    highest = closes.max()
    if is_weekly:
        weeks = closes.groupby(days.to_period("W-FRI")).last()
        if weeks.max() < highest * (1 - _CLEAR_LEAD):
            return []
    question = Question("highest close", f"{highest:.2f}")
    months = closes.groupby(days.to_period("M")).max().sort_values()
    if len(months) < 2 or months.iloc[-2] > highest * (1 - _CLEAR_LEAD):
        return [question]
    return [question, Question("month of the highest close", str(months.index[-1]))]


def _direction(
    closes: "pd.Series[float]", report_days: "pd.Series[pd.Timestamp]", window: Window
) -> list[Question]:
    """Return a question about the closes on the days of two reports that are clearly apart."""
    least = _CLEAR_MOVE * float(np.ptp(closes))
    pairs = []
    for (first, before), (second, after) in combinations(
        closes[report_days].items(), 2
    ):
        if abs(after - before) >= least > 0:
            pairs.append((first, second))
    if not pairs:
        return []
    first, second = pairs[_lot(window, "pair") % len(pairs)]
    says_higher = bool(_lot(window, "direction") % 2)
    is_higher = bool(closes[second] > closes[first])
    words = {
        "first": f"{first:%Y-%m-%d}",
        "second": f"{second:%Y-%m-%d}",
        "side": "higher" if says_higher else "lower",
    }
    return [Question("direction", _verdict(says_higher == is_higher), words)]


def _largest_volume(volume: "pd.Series[float]", *, is_weekly: bool) -> list[Question]:
    if volume.isna().any() or not volume.max():
        return []
    largest = volume.idxmax()
    distance = abs(pd.DatetimeIndex(volume.index) - largest)
    others = volume[distance > pd.Timedelta(days=7)]
    if others.max() > volume.max() * (1 - _CLEAR_LEAD):
        return []
    if is_weekly:
        weeks = volume.groupby(pd.DatetimeIndex(volume.index).to_period("W-FRI")).sum()
        week = weeks.idxmax()
        if not week.start_time <= largest <= week.end_time:
            return []
    return [Question("largest volume", f"{largest:%Y-%m-%d}")]


def _average(
    closes: "pd.Series[float]", report_days: "pd.Series[pd.Timestamp]", window: Window
) -> list[Question]:
    """Return a question about the report on whose day the close is furthest from its moving average."""
    average = closes.rolling(_AVERAGE_DAYS).mean()
    distances = (closes - average).reindex(report_days).dropna()
    if distances.empty:
        return []
    day = distances.abs().idxmax()
    if abs(distances[day]) < _CLEAR_DISTANCE * float(np.ptp(closes)):
        return []
    says_above = bool(_lot(window, "average") % 2)
    is_above = bool(distances[day] > 0)
    words = {"day": f"{day:%Y-%m-%d}", "side": "above" if says_above else "below"}
    return [Question("above the average", _verdict(says_above == is_above), words)]


def _verdict(is_true: bool) -> str:
    return "yes" if is_true else "no"


def _lot(window: Window, purpose: str) -> int:
    digest = hashlib.sha256(f"{purpose} {window.id}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def reading_documents(
    window_set: WindowSet,
    windows: Sequence[Window],
    options: Options,
    settings: Settings,
    draw: Callable[..., list[Document]],
) -> tuple[list[Document], dict[str, Any]]:
    """Return the questions about the charts of windows as documents, and what the provenance says of them.

    `draw` draws the random sample. Windows of the same ticker and period share a chart.
    """
    if options.mode == "text" and options.frequency != "daily":
        raise ConfigError(
            "metadata frequency: questions about days expect daily prices, "
            f"got {options.frequency}."
        )
    by_period = {(item.ticker, item.start, item.end): item for item in windows}
    asked = {}
    for window in by_period.values():
        excerpt = window_set.market.excerpt(window.ticker, window.start, window.end)
        shown_window = window
        if options.anonymize:
            excerpt, shown_window = anonymous(excerpt, window)
        for doc in _documents_of(excerpt, window, shown_window, options):
            asked[doc["id"]] = (doc, excerpt)
    drawn = draw([doc for doc, _ in asked.values()], id_of=itemgetter("id"))
    if options.mode == "image":
        charts: dict[Excerpt, Chart] = {}
        charts_of_docs = []
        for doc in drawn:
            _, excerpt = asked[doc["id"]]
            if excerpt not in charts:
                charts[excerpt] = chart_of(excerpt, options.pixels, options.chart)
            charts_of_docs.append(charts[excerpt])
        add_charts(drawn, charts_of_docs, window_set.charts, settings.cache_dir)
        facts: dict[str, Any] = {"renderer": RENDERERS[options.chart]}
        facts |= options.model_dump(include={"pixels", "chart"})
    else:
        facts = options.model_dump(include={"text", "frequency"})
    names = ("id", "prompt", "cue")
    facts["asked"] = hash_of(*[[doc[name] for name in names] for doc in drawn])
    return drawn, facts


def _documents_of(
    excerpt: Excerpt, window: Window, shown_window: Window, options: Options
) -> list[Document]:
    """Return a document for each question about a window, still without its chart."""
    if options.mode == "image":
        shown = _TEXTS["image"].format(legend=HOUSE["prompt"]["legend"])
    else:
        shown = history_of(excerpt, shown_window, options.text, options.frequency)
    mark = IMAGE_MARK if options.mode == "image" else ""
    docs = []
    for question in questions_of(excerpt, window):
        prompt = _TEXTS["frame"].format(
            shown=shown,
            question=_TEXTS[question.kind].format(**question.words),
            form=HOUSE["forms"][FORMS[question.kind]],
        )
        kind = question.kind.replace(" ", "-")
        docs.append(
            {
                "id": f"{CHARTS}-{kind}-{window.ticker}-{window.start}-{window.end}",
                "title": f"{window.ticker}, {window.start} to {window.end}: {question.kind}",
                "bias_type": CHARTS,
                "category": question.kind,
                "ticker": window.ticker,
                "anonymized": options.anonymize,
                "mode": options.mode,
                "truth": question.truth,
                "chart": "",
                "system": "",
                "prompt": mark + excerpt.in_currency(prompt),
                "cue": "Final answer:",
                "target": f"Final answer: {question.truth}",
            }
        )
    return docs

"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast."""

from collections.abc import Mapping
from datetime import timedelta
from operator import itemgetter
from typing import Literal, NamedTuple, get_args

import pandas as pd

from fin_tasks.charts.chart import CANDLE_AGGREGATION, CANDLE_COLUMNS
from fin_tasks.errors import ConfigError

from .market import FIGURES, Excerpt
from .own_window import past_movements
from .windows import AUTHORITIES, HOUSE, Window

Arm = Literal["signal", "none", "aligned", "flipped"]
ARMS = get_args(Arm)
"""Statements that docs/dynostock.md explains."""

_TEXTS: Mapping[str, str] = {
    **HOUSE["prompt"],
    **HOUSE["statements"],
    **HOUSE["prices and reports"],
}
_PERIODS = {"daily": "D", "weekly": "W-FRI", "monthly": "M"}
_MOVEMENTS = ("a fall", "a rise")
_PRICE_COLUMNS = ["last", *CANDLE_COLUMNS, "volume"]
_DAY = "%Y-%m-%d"

TextRow = dict[str, str]
"""The values of a price or a report as the prompt writes them, by column."""


class Prompt(NamedTuple):
    """A finished prompt."""

    system: str
    user: str
    cue: str
    """Makes a base model start answering; it is left out with a chat template."""
    statement: str
    """The sentence of the arm that the prompt holds; empty without one."""
    direction: int | None
    """The movement that the statement predicts, 1 (up) or 0 (down); None without a statement."""


def house_prompt(
    excerpt: Excerpt,
    window: Window,
    *,
    arm: str,
    text: str | None = None,
    frequency: str = "daily",
    style: str = "structured",
) -> Prompt:
    """Return our prompt about a window.

    Args:
        excerpt: What was known on the last day of the window.
        window: The window.
        arm: Which statement is made.
        text: `table` or `narrative`; None if a chart shows the window.
        frequency: That of the prices in a text.
        style: `structured` or `naive`.
    """
    reports = _report_rows(excerpt, window)
    direction = None
    if arm != "none":
        if window.signal is None:
            raise ConfigError(
                f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}."
            )
        direction = window.signal if arm == "signal" else 1 - window.signal
    statistics, statement = _statements(excerpt, window, arm, direction)
    blocks = [_TEXTS["see_chart"]]
    facts = [_TEXTS["legend"]]
    if text is not None:
        blocks = [_history(excerpt, reports, text, frequency)]
        facts = []
    # The statement comes last and alone on its line, so that the arms differ in this line only.
    facts += [statistics, statement]
    if style == "structured":
        lines = [f"- {fact}" for fact in facts if fact]
        blocks.append("\n".join([_TEXTS["facts"], *lines]))
    blocks.append(_TEXTS["latest"].format(**reports[-1]))
    slots = {
        "ticker": window.ticker,
        "start": window.start,
        "end": window.end,
        "before_first": window.end - timedelta(days=7),
        "after_first": window.end + timedelta(days=1),
        "after_last": window.end + timedelta(days=8),
        "background": _TEXTS["background"],
        "retrieved": "\n\n".join(blocks),
        "sources": _TEXTS["sources_image" if text is None else "sources_text"],
    }
    question = "question"
    if window.bias_type == "plain" or reports[-1]["reported"] != f"{window.end}":
        # A window of one's own may end later than its latest report.
        question = "question_plain"
    slots["question"] = _TEXTS[question].format(**slots)
    slots["resolution"] = _TEXTS["resolution"].format(**slots)
    return Prompt(
        system=_TEXTS["system"] if style == "structured" else "",
        user=_TEXTS[style].format(**slots),
        cue=_TEXTS["cue"],
        statement=statement,
        direction=direction,
    )


def _statements(
    excerpt: Excerpt, window: Window, arm: str, direction: int | None
) -> tuple[str, str]:
    """Return the sentence of the window's statistics, and an arm's statement, which is empty without one.

    The statistics count the movements contrary to the signal; in plain windows, those up. If the only similar report
    moved with the signal, the sentence says so.
    """
    contrary = 0 if window.signal else 1
    if window.n_same == 1 and window.n_contrary == 0:
        contrary = 1 - contrary
    count = {0: "statistics_none", 1: "statistics_one"}.get(window.n_same, "statistics")
    statistics = _TEXTS[count].format(
        n=window.n_contrary, of=window.n_same, movement=_MOVEMENTS[contrary]
    )
    if direction is None:
        return statistics, ""
    name: str = window.bias_type
    slots = {
        "ticker": window.ticker,
        "movement": _MOVEMENTS[direction],
        "direction": "up" if direction else "down",
        "name": window.authority,
        **AUTHORITIES.get(window.authority, {}),
    }
    if arm == "aligned":
        name = f"{name}_aligned"
        moves = past_movements(excerpt)
        slots["day"] = moves[moves == direction].index.max()
    return statistics, _TEXTS[name].format(**slots)


def _history(
    excerpt: Excerpt,
    reports: list[TextRow],
    text: str,
    frequency: str,
) -> str:
    """Write prices and reports as two tables, or as a sentence for each event, oldest first.

    Prices are those of days, weeks (Saturday to Friday) or months.
    """
    prices = excerpt.prices
    days = prices.assign(first=prices.index, last=prices.index)
    groups = days.groupby(prices.index.to_period(_PERIODS[frequency]))
    periods = groups.agg({"first": "first", "last": "last", **CANDLE_AGGREGATION})
    volume = groups["volume"].sum(min_count=1) / 1e6
    texts = pd.DataFrame()
    for name in ("first", "last"):
        texts[name] = periods[name].dt.strftime(_DAY)
    for name in CANDLE_COLUMNS:
        cents = periods[name].map("{:.2f}".format, na_action="ignore")
        fractions = periods[name].map("{:.4f}".format, na_action="ignore")
        texts[name] = cents.where(periods[name].abs() >= 1, fractions)
    texts["volume"] = volume.map("{:.2f}".format, na_action="ignore")
    price_rows: list[TextRow] = texts.fillna("not known").to_dict("records")
    if text == "table":
        lines = [_TEXTS[f"prices_{frequency}"], _TEXTS["columns"]]
        lines += [",".join(row[name] for name in _PRICE_COLUMNS) for row in price_rows]
        lines += ["", _TEXTS["reports"], _TEXTS["report_columns"]]
        lines += [",".join(row.values()) for row in reports]
        return "\n".join(lines)
    template = _TEXTS["day" if frequency == "daily" else "period"]
    events = [(row["last"], template.format(**row)) for row in price_rows]
    # A report stands after the prices of its own day, and before those of a week or month that ends later.
    events += [(row["reported"], _TEXTS["report"].format(**row)) for row in reports]
    events.sort(key=itemgetter(0))
    return "\n".join([_TEXTS["intro"], *[sentence for _, sentence in events]])


def _report_rows(excerpt: Excerpt, window: Window) -> list[TextRow]:
    """Write the figures of a window's reports, oldest first, in the order of the table's columns."""
    reports = excerpt.reports.tail(window.window)
    texts = pd.DataFrame()
    for name in ("reported", "fiscal_end"):
        texts[name] = reports[name].dt.strftime(_DAY)
    for name in FIGURES:
        # Two decimals, or up to four if the figure has them. A z turns -0.0000 into 0.0000.
        figures = reports[name].map("{:z.4f}".format, na_action="ignore")
        texts[name] = figures.astype("string").str.replace("0{1,2}$", "", regex=True)
    # Adding zero turns -0.0 into 0.0.
    percent = reports["surprise_percentage"].round(1) + 0.0
    texts["percent"] = percent.map("{:.1f}%".format, na_action="ignore")
    outcomes = (reports["surprise"] >= 0).map({True: "Meet", False: "Miss"})
    texts["outcome"] = outcomes.where(reports["surprise"].notna())
    rows: list[TextRow] = texts.fillna("not known").to_dict("records")
    return rows

"""The house prompts: our own wording of the paper's structure, and the paper's naive question for contrast."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from operator import itemgetter
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd

from fin_tasks.charts.chart import CANDLE_AGGREGATION, CANDLE_COLUMNS
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError

from .market import FIGURES, Excerpt
from .own_window import past_movements
from .windows import AUTHORITIES, HOUSE, HOUSE_FILE, Window

Arm = Literal["signal", "none", "aligned", "flipped"]
ARMS = get_args(Arm)
"""Statements that docs/dynostock.md explains."""

_TEXTS: Mapping[str, str] = {
    **HOUSE["prompt"],
    **HOUSE["statements"],
    **HOUSE["prices and reports"],
}
_PERIODS = {"daily": "D", "weekly": "W-FRI", "monthly": "M"}
_DAY = "{:%Y-%m-%d}".format
_MOVEMENTS = ("a fall", "a rise")

TextRow = dict[str, str]
"""The values of a price or a report as the prompt writes them, by column."""


class Prompt(NamedTuple):
    """A finished prompt. `cue` makes a base model start answering; it is left out with a chat template."""

    system: str
    user: str
    cue: str


@dataclass(frozen=True, kw_only=True)
class HousePrompts:
    """Our own wording, `structured` or `naive`."""

    style: str = "structured"

    @property
    def facts(self) -> dict[str, str]:
        """Name and hash of the wording, for the provenance."""
        sha256 = sha256_of(HOUSE_FILE)
        return {"set": "house", "style": self.style, "sha256": sha256}

    def ask(
        self,
        excerpt: Excerpt,
        window: Window,
        *,
        arm: str,
        text: str | None = None,
        frequency: str = "daily",
    ) -> Prompt:
        """Return the prompt about a window; `text` is `table` or `narrative`, None if a chart shows the window."""
        reports = _report_rows(excerpt, window)
        blocks = [_TEXTS["see_chart"]]
        facts = [_TEXTS["legend"]]
        if text is not None:
            write = _tables if text == "table" else _narrative
            blocks = [write(_price_rows(excerpt, frequency), reports, frequency)]
            facts = []
        # The statement comes last and alone on its line, so that the arms differ in this line only.
        facts += [_statistics(window), statement_of(excerpt, window, arm)]
        if self.style == "structured":
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
        system = _TEXTS["system"] if self.style == "structured" else ""
        return Prompt(system, _TEXTS[self.style].format(**slots), _TEXTS["cue"])


def statement_direction(window: Window, arm: str) -> int | None:
    """Return the movement that an arm's statement predicts, 1 (up) or 0 (down); None without a statement."""
    if arm == "none":
        return None
    if window.signal is None:
        raise ConfigError(
            f"arm of {window.id}: it has no biased statement, so expected none, got {arm!r}."
        )
    return window.signal if arm == "signal" else 1 - window.signal


def statement_of(
    excerpt: Excerpt,
    window: Window,
    arm: str,
) -> str:
    """Return an arm's statement; empty without one."""
    direction = statement_direction(window, arm)
    if direction is None:
        return ""
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
    return _TEXTS[name].format(**slots)


def _statistics(window: Window) -> str:
    """Return the sentence that counts the movements contrary to the signal; in plain windows, those up.

    If the only similar report moved with the signal, the sentence says so.
    """
    if window.n_same == 0:
        return _TEXTS["statistics_none"]
    contrary = 0 if window.signal else 1
    if window.n_same == 1 and window.n_contrary == 0:
        contrary = 1 - contrary
    template = _TEXTS["statistics" if window.n_same > 1 else "statistics_one"]
    movement = _MOVEMENTS[contrary]
    return template.format(n=window.n_contrary, of=window.n_same, movement=movement)


def _tables(
    prices: list[TextRow],
    reports: list[TextRow],
    frequency: str,
) -> str:
    columns = ["last", *CANDLE_COLUMNS, "volume"]
    lines = [_TEXTS[f"prices_{frequency}"], _TEXTS["columns"]]
    lines += [",".join(row[name] for name in columns) for row in prices]
    lines += ["", _TEXTS["reports"], _TEXTS["report_columns"]]
    lines += [",".join(row.values()) for row in reports]
    return "\n".join(lines)


def _narrative(
    prices: list[TextRow],
    reports: list[TextRow],
    frequency: str,
) -> str:
    """Write a sentence for each event, oldest first."""
    template = _TEXTS["day" if frequency == "daily" else "period"]
    events = [(row["last"], template.format(**row)) for row in prices]
    # A report stands after the prices of its own day, and before those of a week or month that ends later.
    events += [(row["reported"], _TEXTS["report"].format(**row)) for row in reports]
    events.sort(key=itemgetter(0))
    return "\n".join([_TEXTS["intro"], *[sentence for _, sentence in events]])


def _price_rows(excerpt: Excerpt, frequency: str) -> list[TextRow]:
    """Write the prices of days, weeks (Saturday to Friday) or months, with their `first` and `last` trading day."""
    prices = excerpt.prices
    days = prices.assign(first=prices.index, last=prices.index)
    groups = days.groupby(prices.index.to_period(_PERIODS[frequency]))
    periods = groups.agg({"first": "first", "last": "last", **CANDLE_AGGREGATION})
    periods["volume"] = groups["volume"].sum(min_count=1) / 1e6
    return _text_rows(
        periods,
        first=_DAY,
        last=_DAY,
        **dict.fromkeys(CANDLE_COLUMNS, _price),
        volume="{:.2f}".format,
    )


def _report_rows(excerpt: Excerpt, window: Window) -> list[TextRow]:
    """Write the figures of a window's reports, oldest first, in the order of the table's columns."""
    reports = excerpt.reports.tail(window.window)
    reports = reports.assign(
        # Adding zero turns -0.0 into 0.0.
        percent=reports["surprise_percentage"].round(1) + 0.0,
        outcome=reports["surprise"],
    )
    return _text_rows(
        reports,
        reported=_DAY,
        fiscal_end=_DAY,
        **dict.fromkeys(FIGURES, _figure),
        percent="{:.1f}%".format,
        outcome=_outcome,
    )


def _text_rows(
    table: pd.DataFrame,
    **writers: Callable[[Any], str],
) -> list[TextRow]:
    """Write the columns that have a writer, in the order of the writers; for missing values write `not known`."""
    texts = pd.DataFrame()
    for name, write in writers.items():
        texts[name] = table[name].map(write, na_action="ignore")
    rows: list[TextRow] = texts.fillna("not known").to_dict("records")
    return rows


def _outcome(surprise: float) -> str:
    return "Meet" if surprise >= 0 else "Miss"


def _price(price: float) -> str:
    """Write two decimals, or four for prices below 1."""
    return f"{price:.2f}" if abs(price) >= 1 else f"{price:.4f}"


def _figure(dollars: float) -> str:
    """Write two decimals, or up to four if the figure has them."""
    exact = round(dollars, 4) + 0.0
    return f"{exact:.2f}" if exact == round(exact, 2) else f"{exact:.4f}".rstrip("0")

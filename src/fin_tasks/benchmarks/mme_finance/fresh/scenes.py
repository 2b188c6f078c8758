"""What a fresh picture shows: real prices, or figures and a report of an invented company."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.resources import stock_prices_file

from .company import Facts, evaluate, make_company, read_texts

KINDS = {
    image_type: kinds.split()
    for image_type, kinds in read_texts("pictures", "en")["kinds"].items()
}
"""What pictures may show, by their type: a kind of panel, or two kinds joined by `+`."""

_WARM_UP = 120
"""Days that averages need before the first day shown."""
_MAX_DAYS = 60
"""Days that a chart shows at most."""
_COLUMNS = ["open", "high", "low", "close", "volume"]
_MAX_STEP = 1.4
"""A larger ratio of two days' closes counts as a split, which would look like a crash."""


@dataclass(frozen=True)
class Panel:
    """A chart, a table or a report."""

    kind: str
    facts: Facts
    """What formulas and texts of questions may use."""
    table: pd.DataFrame
    """What is drawn: days with prices and lines, headings with their texts, or a row for each label."""
    colors: Mapping[str, str]
    """Color of each line, series or slice."""
    printed: Mapping[str, float | str]
    """Labels and values above a chart, or in the box of a report."""


def make_scene(
    image_type: str,
    language: str,
    random: Random,
) -> list[Panel]:
    """Make the panels of a picture; the same random numbers make the same scene in both languages."""
    kinds = random.choice(KINDS[image_type]).split("+")
    words = read_texts("wording", language)
    if kinds[0] in words["indicators"]:
        return [_stock_panel(kinds[0], words, random)]
    company = make_company(words, random)
    make_panel = _report_panel if kinds == ["report"] else _company_panel
    return [make_panel(kind, company, words, random) for kind in kinds]


def _panel(
    kind: str,
    facts: Facts,
    table: pd.DataFrame,
    words: Any,
    random: Random,
    *,
    colored: Iterable[str] = (),
    printed: Mapping[str, float | str] = {},
) -> Panel:
    """Make a panel: choose its colors and what questions ask about, and work out the facts of its kind."""
    names = list(colored)
    drawn_colors = random.sample(list(words["colors"]), len(names))
    colors = dict(zip(names, drawn_colors, strict=True))
    position = random.randrange(len(table) - 1)
    facts |= {
        "table": table,
        "title": words["titles"][kind].format(**facts),
        "label": table.index[position],
        "next_label": table.index[position + 1],
        "series": random.choice(table.columns),
    }
    if colors:
        facts["colored"] = random.choice(names)
        facts["color"] = words["colors"][colors[facts["colored"]]]
    if printed:
        facts["printed_label"] = random.choice(list(printed))
        facts["printed"] = printed[facts["printed_label"]]
    for name, formula in words["facts"].get(kind, {}).items():
        facts[name] = evaluate(formula, facts)
    return Panel(kind, facts, table, colors, printed)


def _stock_panel(
    kind: str,
    words: Any,
    random: Random,
) -> Panel:
    """Make a chart of candles with moving averages, or of closes with an indicator."""
    symbol, all_days = random.choice(read_prices())
    n_days = random.randrange(32, _MAX_DAYS + 1, 4)
    end = random.randint(_WARM_UP + n_days, len(all_days))
    days = all_days.iloc[end - _WARM_UP - n_days : end]
    labels = dict(zip(days, words["prints"], strict=True))
    days = days.eval(words["indicators"][kind], engine="python").round(2).iloc[-n_days:]
    lines = list(days)[len(labels) :]
    unknown_day = days.index[0] - timedelta(random.randint(60, 2000))
    facts = {
        **days.iloc[-1],
        "symbol": symbol,
        "name": words["stocks"][symbol],
        "unknown_day": f"{unknown_day:%Y-%m-%d}",
        "options": ", ".join(lines),
    }
    printed = days.iloc[-1].rename(labels).to_dict()
    return _panel(kind, facts, days, words, random, colored=lines, printed=printed)


def _company_panel(
    kind: str,
    company: Facts,
    words: Any,
    random: Random,
) -> Panel:
    """Make bars of two years, a pie of the last year's shares in percent, lines, or a statement."""
    years = company["years"]
    segments = company["segments"]
    colored = ()
    if kind == "bar":
        table = segments.iloc[:, -2:]
        colored = table.columns
    elif kind == "pie":
        shares = segments.iloc[:, -1] / company["revenue"] * 100
        table = shares.round(1).to_frame(words["share"])
        colored = table.index
    elif kind == "line":
        names = random.sample(words["lines"], 3)
        table = years[names].rename(columns=words["accounts"])
        colored = table.columns
    else:
        table = years[words["statements"][kind]].T.rename(index=words["accounts"])
    # The lines of a statement that add up, without totals.
    parts = [words["accounts"][name] for name in words["parts"].get(kind, ())]
    rows = table.loc[parts] if parts else table
    options = table.columns if kind == "line" else rows.index
    facts = {**company, "rows": rows, "options": ", ".join(options)}
    return _panel(kind, facts, table, words, random, colored=colored)


def _report_panel(
    kind: str,
    facts: Facts,
    words: Any,
    random: Random,
) -> Panel:
    for name, bounds in words["report"]["drawn"].items():
        facts[name] = random.uniform(*bounds)
    for name, formula in words["report"]["formulas"].items():
        facts[name] = round(evaluate(formula, facts), 2)
    day = date(facts["last_year"] + 1, 2, 1) + timedelta(random.randint(0, 50))
    risk, risk_after = random.sample(words["risks"], 2)
    facts |= {
        "publisher": words["publisher"].format(name=random.choice(words["names"])),
        "analyst": random.choice(words["analysts"]),
        "day": day.isoformat(),
        "number": f"{day:%y}-{random.randint(1000, 9999)}",
        "rating": words["ratings"][np.digitize(facts["upside_shown"], words["bounds"])],
        "risk": risk,
        "risk_after": risk_after,
    }
    texts = {}
    for section in random.sample(words["sections"], len(words["sections"])):
        texts[section["heading"]] = random.choice(section["texts"]).format(**facts)
    printed = {label: facts[name] for name, label in words["box"].items()}
    table = pd.DataFrame({"text": texts})
    return _panel(kind, facts, table, words, random, printed=printed)


@cache
def read_prices() -> list[tuple[str, pd.DataFrame]]:
    """Return tickers and their packaged days, with open, high, low, close and volume in millions.

    A ticker is cut at jumps, which may be splits; pieces too short for a chart are left out.
    """
    days = pd.read_csv(stock_prices_file()).rename(columns=str.lower).round(2)
    days["volume"] /= 1e6
    days.index = pd.to_datetime(days["date"])
    pieces = []
    for ticker, rows in days.groupby("ticker"):
        steps = rows["close"] / rows["close"].shift()
        jumps = (steps > _MAX_STEP) | (steps < 1 / _MAX_STEP)
        for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()):
            if len(piece) >= _WARM_UP + _MAX_DAYS:
                pieces.append((str(ticker), piece))
    return pieces

"""What a fresh picture shows: real prices, or figures and a report of an invented company."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.mme_finance.fresh.company import (
    Company,
    evaluate,
    make_company,
    read_words,
)
from fin_tasks.benchmarks.mme_finance.fresh.prices import COLUMNS, LONGEST, WARM_UP, Prices

KINDS: Mapping[str, Sequence[str]] = {
    "candlestick chart": ("candles",),
    "technical indicator chart": ("macd", "rsi"),
    "statistical chart": ("bar", "line", "pie"),
    "table": ("income", "balance", "cash_flow"),
    "document": ("report",),
    "mixed chart": ("bar+income", "pie+balance", "line+cash_flow", "bar+balance"),
}
"""Types of pictures, and the panels that a picture of the type shows."""


@dataclass(frozen=True)
class Panel:
    """A chart, a table or a report."""

    kind: str
    title: str
    facts: Mapping[str, Any]
    """Numbers and words, by the names that questions use."""
    table: pd.DataFrame
    """Days with prices and lines; else labels down and series across."""
    colors: Mapping[str, str] = field(default_factory=dict)
    """Color of each line, series or slice."""
    printed: Mapping[str, float | str] = field(default_factory=dict)
    """Labels and values above a chart, or in the box of a report."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """Headings and paragraphs of a report."""
    years: pd.DataFrame = field(default_factory=pd.DataFrame)
    """A company's accounts by year."""


def make_scene(
    image_type: str,
    language: str,
    random: Random,
    prices: Prices,
) -> list[Panel]:
    """Make the panels of a picture; the same random numbers make the same scene in both languages."""
    kinds = random.choice(KINDS[image_type]).split("+")
    words = read_words(language)
    if kinds[0] in ("candles", "macd", "rsi"):
        return [_stock_panel(kinds[0], words, random, prices)]
    company = make_company(words, random)
    return [_company_panel(kind, company, words, random) for kind in kinds]


# --- Stocks ---


def _stock_panel(
    kind: str,
    words: Any,
    random: Random,
    prices: Prices,
) -> Panel:
    """Make a chart of candles with moving averages, or of closes with an indicator; volume in millions."""
    symbol, days = random.choices(
        prices,
        weights=[len(days) for _, days in prices],
    )[0]
    n_days = random.randint(30, LONGEST)
    end = random.randint(WARM_UP + n_days, len(days))
    days = days.iloc[end - WARM_UP - n_days : end]
    lines = _lines_of(kind, days["close"])
    days = days.assign(volume=days["volume"] / 1e6, **lines)
    days = days.round(2).iloc[-n_days:]
    facts = _stock_facts(kind, days, random)
    name = words["stocks"].get(symbol, symbol)
    printed = {}
    for column in COLUMNS:
        printed[words["prints"][column]] = facts[column]
    for line in lines:
        printed[line] = float(days[line].iloc[-1])
    return Panel(
        kind=kind,
        title=words["stock"].format(name=name, symbol=symbol),
        facts={"symbol": symbol, **facts},
        table=days,
        colors=_draw_colors(list(lines), words, random),
        printed=printed,
    )


def _lines_of(
    kind: str,
    close: pd.Series,
) -> dict[str, pd.Series]:
    if kind == "candles":
        return {f"MA{size}": close.rolling(size).mean() for size in (5, 10, 20, 60)}
    if kind == "macd":
        fast = close.ewm(span=12, adjust=False).mean()
        slow = close.ewm(span=26, adjust=False).mean()
        dif = fast - slow
        return {
            "DIF": dif,
            "DEA": dif.ewm(span=9, adjust=False).mean(),
        }
    lines = {}
    change = close.diff()
    moves = pd.DataFrame({"gain": change.clip(lower=0), "size": change.abs()})
    for n_days in (6, 12, 24):
        smooth = moves.ewm(alpha=1 / n_days, adjust=False).mean()
        lines[f"RSI{n_days}"] = 100 * smooth["gain"] / smooth["size"]
    return lines


def _stock_facts(
    kind: str,
    days: pd.DataFrame,
    random: Random,
) -> dict[str, Any]:
    last = days.iloc[-1]
    top = days["high" if kind == "candles" else "close"]
    bottom = days["low" if kind == "candles" else "close"]
    quarters = np.array_split(top.to_numpy(), 4)
    peaks = [quarter.max() for quarter in quarters]
    height = float(top.max() - bottom.min())
    months = top.groupby(days.index.strftime("%Y-%m")).max().nlargest(2)
    unknown = days.index[0] - timedelta(random.randint(60, 2000))
    return {
        **{name: float(value) for name, value in last.items()},
        "start": str(days.index[0].date()),
        "end": str(days.index[-1].date()),
        "unknown_day": str(unknown.date()),
        "body_top": float(max(last["open"], last["close"])),
        "first_close": float(days["close"].iloc[0]),
        "highest": float(top.max()),
        "lowest": float(bottom.min()),
        "peak_quarter": int(np.argmax(peaks)) + 1,
        "lead_of_peak": float(np.diff(np.sort(peaks))[-1]) / height,
        "peak_month": months.index[0],
        "lead_of_month": float(months.iloc[0] - months.iloc[1]) / height,
    }


# --- Companies ---


def _company_panel(
    kind: str,
    company: Company,
    words: Any,
    random: Random,
) -> Panel:
    """Make bars of two years, a pie of the last year's shares in percent, lines, or a statement."""
    accounts = company.accounts
    colored: Sequence[str] = ()
    if kind == "report":
        return _report_panel(company, words, random)
    if kind == "bar":
        table = company.segments.iloc[:, -2:]
        colored = list(table)
    elif kind == "pie":
        last = company.segments.iloc[:, -1]
        table = (last / last.sum() * 100).round(1).to_frame(words["units"]["share"])
        colored = list(table.index)
    elif kind == "line":
        names = random.sample(words["lines"], 3)
        table = accounts[names].rename(columns=words["accounts"])
        colored = list(table)
    else:
        table = accounts[words["statements"][kind]].T.rename(index=words["accounts"])
    title = words["titles"][kind].format(**company.facts)
    return Panel(
        kind=kind,
        title=title,
        facts={**company.facts, "title": title},
        table=table,
        colors=_draw_colors(colored, words, random),
        years=accounts,
    )


def _draw_colors(
    names: Sequence[str],
    words: Any,
    random: Random,
) -> dict[str, str]:
    colors = random.sample(list(words["colors"]), len(names))
    return dict(zip(names, colors, strict=True))


def _report_panel(company: Company, words: Any, random: Random) -> Panel:
    facts = dict(company.facts)
    for name, bounds in words["report"]["drawn"].items():
        facts[name] = random.uniform(*bounds)
    for name, formula in words["report"]["formulas"].items():
        facts[name] = round(evaluate(formula, facts), 2)
    day = date(company.last_year + 1, 2, 1)
    day += timedelta(random.randint(0, 50))
    rating = np.digitize(facts["upside_shown"], words["bounds"])
    risk, risk_after = random.sample(words["risks"], 2)
    facts |= {
        "publisher": words["publisher"].format(name=random.choice(words["names"])),
        "analyst": random.choice(words["analysts"]),
        "day": day.isoformat(),
        "number": f"{random.choice('ABCDEFGH')}{day:%y}-{random.randint(1000, 9999)}",
        "rating": words["ratings"][rating],
        "risk": risk,
        "risk_after": risk_after,
    }
    keys = random.sample(
        list(words["headings"]),
        len(words["headings"]),
    )
    sections = {}
    for key in keys:
        text = random.choice(words["paragraphs"][key]).format(**facts)
        sections[words["headings"][key]] = text[:1].upper() + text[1:]
    return Panel(
        kind="report",
        title=words["titles"]["report"].format(**facts),
        facts=facts,
        table=pd.DataFrame(index=list(sections)),
        printed={label: facts[key] for key, label in words["box"].items()},
        sections=sections,
    )

"""What a fresh picture shows: real prices, or figures and a report of an invented company."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.mme_finance.fresh.company import Company, make_company, read_words
from fin_tasks.benchmarks.mme_finance.fresh.prices import COLUMNS, LONGEST, WARM_UP, Prices

COLORS = ("blue", "orange", "purple", "brown", "teal", "gray")
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
    """Accounts by year, for tables."""


def make_scene(image_type: str, language: str, random: Random, prices: Prices) -> list[Panel]:
    """Make the panels of a picture; the same random numbers make the same scene in both languages."""
    kinds = random.choice(KINDS[image_type]).split("+")
    words = read_words(language)
    if kinds[0] in ("candles", "macd", "rsi"):
        return [_stock_panel(kinds[0], words, random, prices)]
    company = make_company(words, random)
    return [_MAKERS[kind](company, words, random) for kind in kinds]


# --- Stocks ---


def _stock_panel(kind: str, words: Any, random: Random, prices: Prices) -> Panel:
    """Make a chart of candles with moving averages, or of closes with an indicator; volume in millions."""
    symbol, days = random.choices(prices, weights=[len(days) for _, days in prices])[0]
    n_days = random.randint(30, LONGEST)
    end = random.randint(WARM_UP + n_days, len(days))
    days = days.iloc[end - WARM_UP - n_days : end]
    lines = _lines_of(kind, days["close"])
    days = days.assign(volume=days["volume"] / 1e6, **lines).round(2).iloc[-n_days:]
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
        colors=dict(zip(lines, random.sample(COLORS[:4], len(lines)), strict=True)),
        printed=printed,
    )


def _lines_of(kind: str, close: pd.Series) -> dict[str, pd.Series]:
    if kind == "candles":
        return {f"MA{size}": close.rolling(size).mean() for size in (5, 10, 20, 60)}
    if kind == "macd":
        fast = close.ewm(span=12, adjust=False).mean()
        slow = close.ewm(span=26, adjust=False).mean()
        dif = fast - slow
        return {"DIF": dif, "DEA": dif.ewm(span=9, adjust=False).mean()}
    lines = {}
    change = close.diff()
    for size in (6, 12, 24):
        gain = change.clip(lower=0).ewm(alpha=1 / size, adjust=False).mean()
        size_of_change = change.abs().ewm(alpha=1 / size, adjust=False).mean()
        lines[f"RSI{size}"] = 100 * gain / size_of_change
    return lines


def _stock_facts(kind: str, days: pd.DataFrame, random: Random) -> dict[str, Any]:
    last = days.iloc[-1]
    top = days["high" if kind == "candles" else "close"]
    bottom = days["low" if kind == "candles" else "close"]
    quarters = np.array_split(top.to_numpy(), 4)
    peaks = [quarter.max() for quarter in quarters]
    height = float(top.max() - bottom.min())
    months = top.groupby(days.index.strftime("%Y-%m")).max().nlargest(2)
    unknown = days.index[0] - timedelta(days=random.randint(60, 2000))
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


def _segments_panel(kind: str, company: Company, words: Any, random: Random) -> Panel:
    """Make bars of two years, or a pie of the last year's shares in percent."""
    table = company.segments.iloc[:, -2:]
    colored = table.columns
    if kind == "pie":
        table = company.segments.iloc[:, -1:]
        table = (table / table.sum() * 100).round(1)
        table.columns = [words["units"]["share"]]
        colored = table.index
    colors = random.sample(COLORS, len(colored))
    return _company_panel(kind, company, words, table, dict(zip(colored, colors, strict=True)))


def _line_panel(company: Company, words: Any, random: Random) -> Panel:
    names = random.sample(words["lines"], 3)
    table = company.accounts[names].rename(columns=words["accounts"])
    colors = random.sample(COLORS, len(names))
    return _company_panel("line", company, words, table, dict(zip(table, colors, strict=True)))


def _statement_panel(kind: str, company: Company, words: Any, random: Random) -> Panel:
    del random
    years = company.accounts[words["statements"][kind]]
    table = years.T.rename(index=words["accounts"])
    return _company_panel(kind, company, words, table, {}, years)


def _company_panel(
    kind: str,
    company: Company,
    words: Any,
    table: pd.DataFrame,
    colors: Mapping[str, str],
    years: pd.DataFrame | None = None,
) -> Panel:
    title = words["titles"][kind].format(**company.facts)
    return Panel(
        kind=kind,
        title=title,
        facts={**company.facts, "title": title},
        table=table,
        colors=colors,
        years=pd.DataFrame() if years is None else years,
    )


def _report_panel(company: Company, words: Any, random: Random) -> Panel:
    day = date(int("".join(filter(str.isdecimal, company.facts["year"]))) + 1, 2, 1)
    day += timedelta(random.randint(0, 50))
    shares = company.facts["net_profit"] / random.uniform(1.5, 9)
    eps = round(company.facts["net_profit"] / shares, 2)
    price = round(eps * random.uniform(9, 26), 2)
    upside = random.uniform(-20, 35)
    target = round(price * (1 + upside / 100), 0)
    rating = int(np.digitize((target / price - 1) * 100, words["bounds"]))
    risks = random.sample(words["risks"], 2)
    facts = {
        **company.facts,
        "publisher": words["publisher"].format(name=random.choice(words["names"])),
        "analyst": random.choice(words["analysts"]),
        "day": day.isoformat(),
        "number": f"{random.choice('ABCDEFGH')}{day:%y}-{random.randint(1000, 9999)}",
        "price": price,
        "target": target,
        "rating": words["ratings"][rating],
        "eps": eps,
        "value": round(price * shares, 1),
        "risk": risks[0],
        "risk_after": risks[1],
    }
    keys = random.sample(list(words["headings"]), len(words["headings"]))
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


_MAKERS: Mapping[str, Callable[[Company, Any, Random], Panel]] = {
    "bar": partial(_segments_panel, "bar"),
    "pie": partial(_segments_panel, "pie"),
    "line": _line_panel,
    "income": partial(_statement_panel, "income"),
    "balance": partial(_statement_panel, "balance"),
    "cash_flow": partial(_statement_panel, "cash_flow"),
    "report": _report_panel,
}

"""The data behind a fresh picture: real prices, or invented companies, figures and reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import yaml

from fin_tasks.errors import DataError
from fin_tasks.resources import stock_prices_file

Prices = list[tuple[str, pd.DataFrame]]

COLORS = ("blue", "orange", "purple", "brown", "teal", "gray")
IMAGE_TYPES = (
    "candlestick chart",
    "technical indicator chart",
    "statistical chart",
    "table",
    "document",
    "mixed chart",
)
_COLUMNS = ["open", "high", "low", "close", "volume"]
_LARGEST_STEP = 1.4  # larger steps from day to day count as splits, which would look like a crash
_WARM_UP, _LONGEST = 120, 60  # days that averages need before the first day shown, and days shown


@dataclass(frozen=True)
class Part:
    """A stock's chart (candles or indicator), a bar or line chart, a table, or a report."""

    kind: str
    title: str
    facts: Mapping[str, Any]  # fill the questions
    table: pd.DataFrame | None = (
        None  # days with prices and lines; or labels down the index and series across
    )
    colors: Mapping[str, str] = field(default_factory=dict)  # of lines or series
    printed: Mapping[str, float | str] = field(
        default_factory=dict
    )  # label and value, above the chart or text
    sections: Mapping[str, str] = field(default_factory=dict)  # of a report


@cache
def words(language: str) -> Any:
    """Return the wording in a language; lists have the same order in both languages."""

    def of(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: of(value) for key, value in node.items()}
        if len(node) == 2 and all(isinstance(text, str) for text in node):
            return node[("en", "zh").index(language)]
        return [of(value) for value in node]

    return of(yaml.safe_load(Path(__file__).with_name("wording.yaml").read_text(encoding="utf-8")))


def read_prices(place: Path | None) -> Prices:
    """Read daily prices from CSV or Parquet, a file or a folder of files; by default the packaged sample.

    A table has the columns date, open, high, low, close and volume, and ticker unless the file is named after it.
    A ticker is cut at jumps, which may be splits; days below a dollar and pieces too short for a chart are left out.
    """
    root, pieces = place or stock_prices_file(), Prices()
    for path in [root] if root.is_file() else sorted(root.rglob("*")):
        if not path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
            continue
        try:
            table = (
                pd.read_parquet(path).reset_index()
                if path.suffix == ".parquet"
                else pd.read_csv(path)
            )
            table = table.rename(columns=lambda name: str(name).strip().lower()).rename(
                columns={"symbol": "ticker"}
            )
            if not {"date", *_COLUMNS} <= {*table}:
                continue  # such as reports of earnings
            days = table[_COLUMNS].astype(float).round(2)
            days["date"] = pd.to_datetime(table["date"].astype(str).str.slice(0, 10))
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: expected a table of daily prices, got: {error}.") from error
        days["ticker"] = (
            table["ticker"]
            if "ticker" in table
            else path.name.split(".")[0].removeprefix("data-").upper()
        )
        days = days[(days[_COLUMNS] >= 1).all(axis=1)].sort_values("date").set_index("date")
        for symbol, rows in days.groupby("ticker", sort=True):
            steps = rows["close"] / rows["close"].shift()
            jumps = (steps > _LARGEST_STEP) | (steps < 1 / _LARGEST_STEP)
            pieces += ((str(symbol), piece) for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()))
    pieces = [(symbol, piece) for symbol, piece in pieces if len(piece) >= _WARM_UP + _LONGEST]
    if not pieces:
        needed = (
            f"the columns date, {', '.join(_COLUMNS)} and {_WARM_UP + _LONGEST} days of a ticker"
        )
        raise DataError(f"{root}: expected CSV or Parquet files with {needed}, found none.")
    return pieces


def make_scene(image_type: str, language: str, random: Random, prices: Prices) -> list[Part]:
    """Make the parts of a picture; the same random numbers make the same scene in both languages."""
    kinds = {
        "candlestick chart": ["candles"],
        "technical indicator chart": ["indicator"],
        "statistical chart": [random.choice(("bar", "line"))],
        "table": ["table"],
        "document": ["report"],
        "mixed chart": ["candles", random.choice(("bar", "line", "table"))],
    }[image_type]
    parts = []
    for kind in kinds:
        if kind in ("candles", "indicator"):
            parts.append(_stock(kind, words(language), random, prices))
        elif kind == "report":
            parts.append(_report(words(language), random))
        else:
            parts.append(_figures(kind, words(language), random))
    return parts


def _stock(kind: str, word: Any, random: Random, prices: Prices) -> Part:
    """Make a chart of candles with moving averages, or of closes with MACD; volume in millions."""
    symbol, days = random.choices(prices, weights=[len(days) for _, days in prices])[0]
    shown = random.randint(30, _LONGEST)
    end = random.randint(_WARM_UP + shown, len(days))
    days = days.iloc[end - _WARM_UP - shown : end]
    close = days["close"]
    lines = {f"MA{size}": close.rolling(size).mean() for size in (5, 10, 20)}
    if kind == "indicator":
        difference = (
            close.ewm(span=12, adjust=False).mean() - close.ewm(span=26, adjust=False).mean()
        )
        lines = {"DIF": difference, "DEA": difference.ewm(span=9, adjust=False).mean()}
    days = days.assign(volume=days["volume"] / 1e6, **lines).round(2).iloc[-shown:]
    first, last = (str(day.date()) for day in days.index[[0, -1]])
    name = word["stocks"].get(symbol, symbol)
    return Part(
        kind=kind,
        title=f"{word['stock'].format(name=name, symbol=symbol)}  {last}",
        facts={"symbol": symbol, "start": first, "end": last},
        table=days,
        colors=dict(zip(lines, random.sample(COLORS, len(lines)), strict=True)),
        printed={
            word["prints"].get(key, key): float(days[key].iloc[-1])
            for key in (*_COLUMNS[:4], *lines)
        },
    )


def _companies(word: Any, random: Random, count: int) -> list[str]:
    names = random.sample(word["names"], count)
    return [
        word["company"].format(name=name, industry=random.choice(word["industries"]))
        for name in names
    ]


def _figures(kind: str, word: Any, random: Random) -> Part:
    """Make figures of several companies or of one company's segments or accounts; no value comes twice."""
    company, *others = _companies(word, random, 9)
    topic = random.choice(
        {
            "bar": ["companies", "segments"],
            "line": ["companies"],
            "table": ["companies", "accounts"],
        }[kind]
    )
    pool = {"companies": others, "segments": word["segments"], "accounts": word["accounts"]}[topic]
    fewest, most, years = {"bar": (4, 6, 2), "line": (2, 3, 6), "table": (4, 7, 3)}[kind]
    labels, first = random.sample(pool, random.randint(fewest, most)), random.randint(2005, 2019)
    tenths = 10 ** random.randint(2, 4)
    values = random.sample(range(5 * tenths, 17 * tenths), len(labels) * years)
    rows = [
        [value / 10 for value in values[at * years : (at + 1) * years]] for at in range(len(labels))
    ]
    table = pd.DataFrame(rows, index=labels, columns=[str(first + year) for year in range(years)])
    if kind == "line":
        table = table.T  # years along the axis, one line for each company
    colors = (
        {}
        if kind == "table"
        else dict(zip(table.columns, random.sample(COLORS, table.shape[1]), strict=True))
    )
    title = word["titles"][topic].format(company=company, account=random.choice(word["accounts"]))
    return Part(kind, title, {"title": title}, table, colors)


def _report(word: Any, random: Random) -> Part:
    day = date(2012, 1, 1) + timedelta(random.randint(0, 4500))
    past, revenue, price = (
        day - timedelta(days=60),
        random.uniform(80, 9000),
        random.uniform(4, 400),
    )
    values = {
        "revenue": revenue,
        "revenue_before": revenue / random.uniform(0.75, 1.4),
        "profit": revenue * random.uniform(0.03, 0.3),
        "value": revenue * random.uniform(3, 20),
        "price": price,
        "target": price * random.uniform(0.75, 1.5),
    }
    best, worst = random.sample(word["segments"], 2)
    facts = {
        **{key: round(value, 2) for key, value in values.items()},
        "company": _companies(word, random, 1)[0],
        "quarter": word["quarter"].format(year=past.year, part=(past.month + 2) // 3),
        "publisher": word["publisher"].format(name=random.choice(word["names"])),
        "day": day.isoformat(),
        "rating": random.choice(word["ratings"]),
        "number": f"{random.choice('ABCDEFGH')}{day:%y}-{random.randint(1000, 9999)}",
        "best": best,
        "worst": worst,
    }
    keys = random.sample(list(word["headings"]), len(word["headings"]))
    return Part(
        kind="report",
        title=word["titles"]["report"].format(**facts),
        facts=facts,
        printed={
            word["box"][key]: facts[key]
            for key in random.sample(list(word["box"]), len(word["box"]))
        },
        sections={
            word["headings"][key]: random.choice(word["paragraphs"][key]).format(**facts)
            for key in keys
        },
    )

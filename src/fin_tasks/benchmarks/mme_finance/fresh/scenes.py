"""The data behind a fresh picture: real prices, or invented companies, figures and reports."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import stockstats
import yaml

from fin_tasks.errors import DataError
from fin_tasks.resources import stock_prices_file

Prices = list[tuple[str, pd.DataFrame]]

_COLUMNS = ["open", "high", "low", "close", "volume"]
_LARGEST_STEP = 1.4  # larger steps from day to day count as splits, which would look like a crash
_WARM_UP, _LONGEST = 120, 60  # days that indicators need before the first day shown, and days shown
_LINES = {  # indicator to its lines with their names in stockstats; without an indicator, moving averages
    "": {"MA5": "close_5_sma", "MA10": "close_10_sma", "MA20": "close_20_sma"},
    "MACD": {"DIF": "macd", "DEA": "macds"},
    "RSI": {"RSI6": "rsi_6", "RSI14": "rsi_14"},
    "KDJ": {"K": "kdjk", "D": "kdjd", "J": "kdjj"},
}
_SIZES = {"bar": (4, 6, 1, 2), "line": (2, 3, 5, 8), "table": (4, 9, 2, 4)}  # entries and years: fewest, most
COLORS = ("blue", "orange", "purple", "brown", "teal", "gray")


@dataclass(frozen=True)
class Stock:
    """Daily prices in USD and volume in millions; `days` also has a column for each of `lines` (name to color)."""

    kind: str  # candles or indicator
    symbol: str
    name: str
    days: pd.DataFrame
    indicator: str  # empty for candles with moving averages
    lines: Mapping[str, str]
    printed: Mapping[str, float]  # of the last day, above the chart


@dataclass(frozen=True)
class Figures:
    """A chart or table: labels down the index, series across the columns."""

    kind: str  # bar, line or table
    title: str
    table: pd.DataFrame
    colors: Mapping[str, str]  # of series; empty for a table
    decimals: int
    printed: bool
    company: str  # empty if the figures are about several companies


@dataclass(frozen=True)
class Report:
    """A page about a company: `facts` as printed, `values` the numbers among them."""

    facts: Mapping[str, str]
    values: Mapping[str, float]
    box: Mapping[str, str]
    sections: Mapping[str, str]
    kind: str = "report"


Part = Stock | Figures | Report


@dataclass(frozen=True)
class Scene:
    """A picture's parts: one, or two on a mixed page."""

    language: str
    title: str
    parts: tuple[Part, ...]


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

    Raises:
        DataError: A file cannot be read, or no ticker has enough days.
    """
    root, pieces = place or stock_prices_file(), Prices()
    for path in [root] if root.is_file() else sorted(root.rglob("*")):
        if not path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
            continue
        try:
            table = pd.read_parquet(path).reset_index() if path.suffix == ".parquet" else pd.read_csv(path)
            table = table.rename(columns=lambda name: str(name).strip().lower()).rename(columns={"symbol": "ticker"})
            if not {"date", *_COLUMNS} <= {*table}:
                continue  # such as reports of earnings
            days = table[_COLUMNS].astype(float).round(2)
            days["date"] = pd.to_datetime(table["date"].astype(str).str.slice(0, 10))
        except (OSError, ValueError) as error:
            raise DataError(
                f"{path}: expected a table of daily prices, got one that is unreadable: {error}."
            ) from error
        days["ticker"] = table["ticker"] if "ticker" in table else path.name.split(".")[0].removeprefix("data-").upper()
        days = days[(days[_COLUMNS] >= 1).all(axis=1)].sort_values("date").set_index("date")
        for symbol, rows in days.groupby("ticker", sort=True):
            jumps = rows["close"].pct_change().add(1).map(math.log).abs() > math.log(_LARGEST_STEP)
            pieces += ((str(symbol), piece) for _, piece in rows[_COLUMNS].groupby(jumps.cumsum()))
    pieces = [(symbol, piece) for symbol, piece in pieces if len(piece) >= _WARM_UP + _LONGEST]
    if not pieces:
        needed = f"the columns date, {', '.join(_COLUMNS)} and {_WARM_UP + _LONGEST} days of a ticker"
        raise DataError(f"{root}: expected CSV or Parquet files with {needed}, found none.")
    return pieces


def _stock(language: str, random: Random, prices: Prices, indicators: Sequence[str]) -> Stock:
    symbol, days = random.choices(prices, weights=[len(days) for _, days in prices])[0]
    shown, indicator = random.randint(30, _LONGEST), random.choice(indicators)
    end = random.randint(_WARM_UP + shown, len(days))
    days = days.iloc[end - _WARM_UP - shown : end].assign(volume=lambda days: (days["volume"] / 1e6).round(4))
    lines = _LINES[indicator]
    computed = stockstats.wrap(days.copy())
    days = days.assign(**{line: computed[name].round(2) for line, name in lines.items()}).iloc[-shown:]
    colors = dict(zip(lines, random.sample(COLORS[1:] if indicator else COLORS[:4], len(lines)), strict=True))
    printed = {key: float(days[key].iloc[-1]) for key in (*_COLUMNS[:4], *lines)}
    kind, name = "indicator" if indicator else "candles", words(language)["stocks"].get(symbol, symbol)
    return Stock(kind, symbol, name, days, indicator, colors, printed)


def _companies(language: str, random: Random, count: int) -> list[str]:
    word = words(language)
    names = random.sample(word["names"], count)
    return [word["company"].format(name=name, industry=random.choice(word["industries"])) for name in names]


def _figures(language: str, random: Random, kind: str, most: int) -> Figures:
    word = words(language)
    company, *others = _companies(language, random, most + 1)
    topics = {"line": ("companies",), "bar": ("companies", "segments"), "table": ("companies", "segments", "accounts")}
    topic = random.choice(topics[kind])
    title = word["titles"][topic].format(company=company, account=random.choice(word["accounts"]))
    pool = {"companies": others, "segments": word["segments"], "accounts": word["accounts"]}[topic]
    fewest, largest, *years = _SIZES[kind]
    entries, count = random.sample(pool, random.randint(fewest, min(most, largest))), random.randint(*years)
    first, size, decimals = random.randint(2005, 2021), 10 ** random.uniform(2, 4), random.choice((0, 1, 2))
    rows = {}
    for entry in entries:
        level, growth = size * random.uniform(0.35, 1.65), [random.uniform(0.8, 1.35) for _ in range(count)]
        rows[entry] = [round(level * math.prod(growth[:year]), decimals) for year in range(count)]
    table = pd.DataFrame.from_dict(rows, "index", columns=[str(first + year) for year in range(count)])
    table = table.T if kind == "line" else table  # years along the axis, one line for each company
    printed = kind == "table" or (kind == "bar" and random.random() < 0.5)
    colors = {} if kind == "table" else dict(zip(table.columns, random.sample(COLORS, 6), strict=False))
    return Figures(kind, title, table, colors, decimals, printed, "" if topic == "companies" else company)


def _report(language: str, random: Random) -> Report:
    word, day = words(language), date(2012, 1, 1) + timedelta(random.randint(0, 4500))
    revenue, price = random.uniform(80, 9000), random.uniform(4, 400)
    values = {"revenue": revenue, "revenue_before": revenue / random.uniform(0.75, 1.4), "price": price}
    values |= {"profit": revenue * random.uniform(0.03, 0.3), "value": revenue * random.uniform(3, 20)}
    values = {key: round(value, 2) for key, value in (values | {"target": price * random.uniform(0.75, 1.5)}).items()}
    past, (best, worst) = day - timedelta(days=60), random.sample(word["segments"], 2)
    facts = {
        **{key: f"{value:,.2f}" for key, value in values.items()},
        **{"company": _companies(language, random, 1)[0], "day": day.isoformat(), "best": best, "worst": worst},
        "quarter": word["quarter"].format(year=past.year, part=(past.month + 2) // 3),
        "publisher": word["publisher"].format(name=random.choice(word["names"])),
        "analyst": word["person"].format(given=random.choice(word["given"]), family=random.choice(word["family"])),
        "rating": random.choice(word["ratings"]),
        "number": f"{random.choice('ABCDEFGH')}{day:%y}-{random.randint(1000, 9999)}",
    }
    box = {word["box"][key]: facts[key] for key in random.sample(list(word["box"]), len(word["box"]))}
    keys = random.sample(list(word["headings"]), len(word["headings"]))
    texts = {word["headings"][key]: random.choice(word["paragraphs"][key]).format(**facts) for key in keys}
    return Report(facts, values, box, texts)


def make_scene(image_type: str, language: str, random: Random, prices: Prices) -> Scene:
    """Make a scene of one of `IMAGE_TYPES`; the same random numbers make the same scene in both languages."""
    word, indicators, parts = words(language), list(_LINES), list[Part]()
    is_mixed = image_type == "mixed chart"
    if image_type == "document":
        parts.append(_report(language, random))
    if is_mixed or image_type in ("candlestick chart", "technical indicator chart"):
        chosen = {"candlestick chart": indicators[:1], "technical indicator chart": indicators[1:]}
        parts.append(_stock(language, random, prices, chosen.get(image_type, indicators)))
    if is_mixed or image_type in ("statistical chart", "table"):
        kinds = {"table": ["table"], "mixed chart": ["bar", "bar", "line", "table"]}
        kind = random.choice(kinds.get(image_type, ["bar", "bar", "line"]))
        parts.append(_figures(language, random, kind, most=5 if is_mixed else 9))
    title = random.choice(word["titles"]["pages"])
    if isinstance(parts[0], Stock) and not is_mixed:
        title = word["titles"]["stock"].format(name=parts[0].name, symbol=parts[0].symbol)
    return Scene(language, title, tuple(parts))

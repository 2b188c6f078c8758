"""Fresh sets: even spread, no duplicates, right truths, and files that the tasks read."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.benchmarks.mme_finance.exact import is_exact, parse_truth
from fin_tasks.benchmarks.mme_finance.fresh.build import Picture, build_set, plan
from fin_tasks.benchmarks.mme_finance.fresh.questions import CATEGORIES
from fin_tasks.benchmarks.mme_finance.fresh.scenes import Part, read_prices
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.resources import stock_prices_file

pytest.importorskip("zhplot")


@pytest.fixture(scope="module")
def plans() -> dict[str, list[Picture]]:
    prices = read_prices(None)
    return {language: plan(language, n=500, seed=5, prices=prices) for language in ("en", "zh")}


def rows_of(pictures: list[Picture]) -> list[dict[str, str]]:
    return [row for one in pictures for row in one.rows]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_five_hundred_questions_are_different_and_evenly_spread(
    plans: dict[str, list[Picture]], language: str
) -> None:
    rows = rows_of(plans[language])
    assert [row["index"] for row in rows] == [str(at) for at in range(500)]
    assert len({row["question"] for row in rows}) == 500
    for column, count in (("task_category", 6), ("image_type", 6), ("image_style", 4)):
        counts = Counter(row[column] for row in rows).values()
        assert len(counts) == count
        assert max(counts) - min(counts) <= 6
    assert len({(row["image_type"], row["image_style"]) for row in rows}) == 24
    assert len({(row["image_type"], row["task_category"]) for row in rows}) == 36
    for row in rows:
        truth = parse_truth(row["truth"])
        assert truth and is_exact(truth, row["answer"]), row


def test_both_languages_ask_the_same(plans: dict[str, list[Picture]]) -> None:
    """Kinds, numbers and sides are equal, so truths that are right in English are right in Chinese."""
    sides = {"left": "左", "right": "右", "above": "上方", "below": "下方"}
    for english, chinese in zip(rows_of(plans["en"]), rows_of(plans["zh"]), strict=True):
        assert english["task_category"] == chinese["task_category"]
        assert "Answer: " in english["question"] and "答案" in chinese["question"]
        one, other = json.loads(english["truth"]), json.loads(chinese["truth"])
        assert one["kind"] == other["kind"]
        assert one["kind"] != "number" or one == other
        assert sides.get(one["value"], other["value"]) == other["value"]


def test_seeds_share_no_question_and_larger_sets_start_with_smaller_ones(
    plans: dict[str, list[Picture]],
) -> None:
    prices = read_prices(None)
    other = rows_of(plan("en", n=120, seed=6, prices=prices))
    shared = {row["question"] for row in other} & {row["question"] for row in rows_of(plans["en"])}
    assert len(shared) <= 1  # two sets may meet at the same day of the same stock
    assert rows_of(plan("zh", n=41, seed=5, prices=prices)) == rows_of(plans["zh"])[:41]


# --- Truths, computed again from the questions' words: prices from the file, figures from what is printed ---


@cache
def market_of(symbol: str) -> dict[str, dict[str, float]]:
    table = pd.read_csv(stock_prices_file()).query("Ticker == @symbol").set_index("Date")
    return table[["Open", "High", "Low", "Close"]].rename(columns=str.lower).to_dict("index")


def smoothed(values: list[float], share: float) -> list[float]:
    result = values[:1]
    for value in values[1:]:
        result.append(result[-1] + share * (value - result[-1]))
    return result


def line_of(name: str, closes: list[float]) -> float:
    """The last value of a moving average or of MACD's lines, with loops instead of a library."""
    if name.startswith("MA"):
        return mean(closes[-int(name[2:]) :])
    fast, slow = smoothed(closes, 2 / 13), smoothed(closes, 2 / 27)
    difference = [one - two for one, two in zip(fast, slow, strict=True)]
    return (difference if name == "DIF" else smoothed(difference, 0.2))[-1]


def solve_stock(stock: Part, question: str) -> Any:
    days: Any = stock.table
    market = market_of(stock.facts["symbol"])
    shown = [market[str(day.date())] for day in days.index]
    before = [day["close"] for date, day in market.items() if date <= str(days.index[-1].date())]
    value = {name.capitalize(): round(value, 2) for name, value in shown[-1].items()}
    value |= {name: round(line_of(name, before[-len(shown) - 120 :]), 2) for name in stock.colors}
    highs, lows = (
        [day[side if stock.kind == "candles" else "close"] for day in shown]
        for side in ("high", "low")
    )
    if found := re.search(r'value is printed for "(\w+)"', question):
        return value[found[1]]
    if "printed close above" in question:
        return (value["Close"] / value["Open"] - 1) * 100
    if "by how many dollars" in question:
        return max(highs) - min(lows)
    if "is the highest price in" in question:
        return "left" if highs.index(max(highs)) < len(highs) / 2 else "right"
    if found := re.search(r"drawn in (\w+):", question):
        return next(name for name, color in stock.colors.items() if color == found[1])
    day = re.findall(r"closing price of \w+ on ([-\d]+)\?", question)[0]
    assert day < str(days.index[0].date())
    return None


def solve_figures(figures: Part, question: str) -> Any:
    table: Any = figures.table
    cells = {
        (label, series): float(row[series]) for label, row in table.iterrows() for series in table
    }
    labels = [str(label) for label in table.index]
    names = re.findall(r'"([^"]+)"', question.partition(" End with")[0])
    if "What is the title" in question:
        return figures.title
    names.remove(figures.title)
    if " together under " in question:
        return cells[names[0], names[2]] + cells[names[1], names[2]]
    if "about how many times" in question:
        return cells[names[1], names[2]] / cells[names[0], names[2]]
    if "has the highest value" in question:
        return max(labels, key=lambda label: cells[label, names[0]])
    if found := re.search(r", at (\w+), is the line", question):
        return "above" if cells[found[1], names[0]] > cells[found[1], names[1]] else "below"
    if found := re.search(r"drawn in (\w+):", question):
        return next(name for name, color in figures.colors.items() if color == found[1])
    if "directly below" in question:
        return labels[labels.index(names[0]) + 1]
    if found := re.search(r"Estimate the value .* at (\w+) in", question):
        return cells[found[1], names[0]]
    assert "What is the value for" in question
    return cells.get((names[0], names[1]))


def solve_report(report: Part, question: str) -> Any:
    text = " ".join(report.sections.values())
    said = [r"(?:revenue of|Revenue reached)", r"(?:against|year it was)"]
    amounts = [re.findall(f"{words} USD ([0-9,.]+[0-9]) million", text)[0] for words in said]
    sales, old = (float(amount.replace(",", "")) for amount in amounts)
    if found := re.search(r'printed beside "([^"]+)"', question):
        return report.printed[found[1]]
    if "did the revenue" in question:
        return (sales / old - 1) * 100
    if "About how many times" in question:
        return float(report.printed["Market value (USD million)"]) / sales
    if "Which firm" in question:
        return report.facts["publisher"]
    if found := re.search(r'section "(\w+)" above or below the section "(\w+)"', question):
        return (
            "above"
            if list(report.sections).index(found[1]) < list(report.sections).index(found[2])
            else "below"
        )
    assert "According to the report" in question
    return None


def test_truths_are_right(plans: dict[str, list[Picture]]) -> None:
    kinds = Counter[str]()
    for one in plans["en"]:
        for row in one.rows:
            is_first = len(one.parts) == 1 or row["question"].startswith("In the candlestick chart")
            part = one.parts[0 if is_first else 1]
            stocks = dict.fromkeys(("candles", "indicator"), solve_stock)
            solve: Any = {**stocks, "report": solve_report}.get(part.kind, solve_figures)
            truth = json.loads(row["truth"])
            kinds[truth["kind"]] += 1
            value = {"na": None}.get(truth["kind"], truth["value"])
            if truth["kind"] == "number":
                value = pytest.approx(value, abs=0.0101)  # both are rounded to cents
            assert solve(part, row["question"]) == value, row
    assert min(kinds[kind] for kind in ("number", "text", "na")) > 40


# --- Building ---


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "set"
    build_set(folder, n=12, seed=5)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tasks_read_a_set(built: Path, language: Any) -> None:
    documents = load(language=language, data_dir=str(built))["test"]
    assert json.loads(documents.info.description)["split"] == "own"
    assert len(documents) == 12
    assert {document["category"] for document in documents} == set(CATEGORIES)
    for document in documents:
        with Image.open(document["image_path"]) as picture:
            assert min(picture.size) >= 700
            assert (picture.height > picture.width) == document["image_style"].startswith(
                "vertical"
            )
            assert len(picture.convert("RGB").getcolors(2**24)) > 20


def test_a_set_depends_on_its_seed_only(built: Path, tmp_path: Path) -> None:
    build_set(tmp_path / "again", n=12, seed=5)
    assert files_of(tmp_path / "again") == files_of(built)
    with pytest.raises(ConfigError, match="new or empty folder"):
        build_set(built, n=12, seed=6)


def test_prices_come_from_folders_and_are_cut_at_splits(tmp_path: Path) -> None:
    days = pd.bdate_range("2018-01-01", periods=500)
    close = [100 + at % 17 for at in range(300)] + [50 + at % 13 for at in range(200)]
    table = pd.DataFrame(
        {"Date": days, "Open": close, "High": close, "Low": close, "Close": close, "Volume": 5e6}
    )
    table.assign(High=table["High"] + 1, Low=table["Low"] - 1).to_csv(
        tmp_path / "data-NVDA.csv", index=False
    )
    table.iloc[:200].assign(Ticker="AMD").set_index("Date").to_parquet(tmp_path / "more.parquet")
    pieces = read_prices(tmp_path)
    assert [(symbol, len(part)) for symbol, part in pieces] == [
        ("NVDA", 300),
        ("NVDA", 200),
        ("AMD", 200),
    ]
    assert "NVDA" in str(rows_of(plan("en", n=30, seed=1, prices=pieces[:2])))
    with pytest.raises(DataError, match="expected CSV or Parquet"):
        read_prices(tmp_path / "nothing")


def test_the_command(tmp_path: Path) -> None:
    options = [
        "build",
        "mme_finance",
        "--n",
        "3",
        "--language",
        "zh",
        "--out",
        str(tmp_path / "set"),
        "--json",
    ]
    summary = json.loads(CliRunner().invoke(app, options).stdout)
    assert summary["counts"]["zh"]["rows"] == 3

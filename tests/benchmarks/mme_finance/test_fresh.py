"""Fresh sets: even spread, no duplicates, right truths, and files that the tasks read."""

# ruff: noqa: RUF001
import json
import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.benchmarks.mme_finance.exact import is_exact, parse_truth
from fin_tasks.benchmarks.mme_finance.fresh.build import Picture, build_set, plan
from fin_tasks.benchmarks.mme_finance.fresh.company import (
    Facts,
    make_company,
    read_texts,
)
from fin_tasks.benchmarks.mme_finance.fresh.questions import questions
from fin_tasks.benchmarks.mme_finance.fresh.scenes import (
    KINDS,
    Panel,
    make_scene,
    read_prices,
)
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.resources import stock_prices_file

pytestmark = pytest.mark.slow

pytest.importorskip("zhplot")
STOCKS = ("candles", "macd", "rsi")


@pytest.fixture(scope="module")
def plans() -> dict[str, list[Picture]]:
    return {language: plan(language, n=500, seed=5) for language in ("en", "zh")}


def rows_of(pictures: list[Picture]) -> list[dict[str, str]]:
    return [row for one in pictures for row in one.rows]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_five_hundred_questions_are_different_and_evenly_spread(
    plans: dict[str, list[Picture]], language: str
) -> None:
    rows = rows_of(plans[language])
    assert [row["index"] for row in rows] == [str(at) for at in range(500)]
    assert len({row["question"] for row in rows}) == 500
    for column, count in (("task_category", 11), ("image_type", 6), ("image_style", 4)):
        counts = Counter(row[column] for row in rows).values()
        assert len(counts) == count
        assert max(counts) - min(counts) <= 6
    assert len({(row["image_type"], row["image_style"]) for row in rows}) == 24
    assert len({(row["image_type"], row["task_category"]) for row in rows}) == 66
    for row in rows:
        truth = parse_truth(row["truth"])
        assert truth and is_exact(truth, row["answer"]), row


def test_no_single_answer_is_right_often(plans: dict[str, list[Picture]]) -> None:
    """Who always says the most frequent answer of a category is right in less than a third, "Not Applicable" apart."""
    rows = rows_of(plans["en"])
    for category in set(CATEGORIES) - {"Not Applicable"}:
        values = Counter(
            str(json.loads(row["truth"])["value"])
            for row in rows
            if row["task_category"] == category
        )
        assert values.most_common(1)[0][1] < 0.34 * values.total()


def test_both_languages_ask_the_same(plans: dict[str, list[Picture]]) -> None:
    """Kinds and numbers are equal, so truths that are right in English are right in Chinese."""
    for english, chinese in zip(
        rows_of(plans["en"]), rows_of(plans["zh"]), strict=True
    ):
        assert english["task_category"] == chinese["task_category"]
        assert "Answer: " in english["question"] and "答案" in chinese["question"]
        one, other = json.loads(english["truth"]), json.loads(chinese["truth"])
        assert one["kind"] == other["kind"]
        assert one["kind"] == "text" or one == other


def test_there_is_a_template_for_every_category_and_panel() -> None:
    by_category = read_texts("questions", "en")["questions"]
    assert sum(map(len, by_category.values())) >= 40
    assert set(by_category) == set(CATEGORIES)
    cells = Counter(
        (category, kind)
        for category, templates in by_category.items()
        for template in templates
        for kind in template["shows"].split()
    )
    for kinds in KINDS.values():
        for category in CATEGORIES:
            assert any(
                cells[category, kind] for name in kinds for kind in name.split("+")
            )


def test_seeds_share_no_question_and_larger_sets_start_with_smaller_ones(
    plans: dict[str, list[Picture]],
) -> None:
    other = rows_of(plan("en", n=120, seed=6))
    shared = {row["question"] for row in other} & {
        row["question"] for row in rows_of(plans["en"])
    }
    assert len(shared) <= 1  # two sets may meet at the same day of the same stock
    assert rows_of(plan("zh", n=41, seed=5)) == rows_of(plans["zh"])[:41]


# --- Companies ---


@pytest.mark.parametrize("seed", range(0, 1000, 25))
def test_the_three_statements_tie(seed: int) -> None:
    for number in range(seed, seed + 5):
        check_statements(make_company(read_texts("wording", "en"), Random(number)))  # noqa: S311


def check_statements(company: Facts) -> None:
    year = company["years"]
    before = year.shift()
    zeros = {
        "income": year.revenue - year.cost_of_sales - year.gross_profit,
        "profit": year.gross_profit
        - (year.selling_expense + year.research_expense + year.interest_expense)
        - year.profit_before_tax,
        "net": year.profit_before_tax - year.income_tax - year.net_profit,
        "balance": year.total_assets - year.payables - year.debt - year.equity,
        "equity": year.equity - before.equity - (year.net_profit - year.dividends),
        "debt": year.debt - before.debt - year.new_debt,
        "cash": year.cash - before.cash - year.net_change_in_cash,
        "assets": year.fixed_assets
        - before.fixed_assets
        - (year.capital_spending - year.depreciation),
        "capital": year.change_in_working_capital
        + (year.receivables + year.inventories - year.payables)
        - (before.receivables + before.inventories - before.payables),
        "segments": company["segments"].sum()[year.index] - year.revenue,
    }
    for name, zero in zeros.items():
        assert zero.abs().max() < 1e-6, name
    for account in (
        "cash",
        "net_profit",
        "equity",
        "debt",
        "fixed_assets",
        "operating_cash_flow",
    ):
        assert (year[account] > 0).all(), account
    assert (year.capital_spending < 0.5 * year.total_assets).all()
    assert (company["segments"] > 0).all(axis=None)


@pytest.mark.parametrize("seed", range(20))
def test_a_rating_follows_from_the_target_price(seed: int) -> None:
    (report,) = make_scene("document", "en", Random(seed))  # noqa: S311
    upside = (report.facts["target"] / report.facts["price"] - 1) * 100
    places = ["Sell", "Reduce", "Hold", "Outperform", "Buy"]
    assert (
        report.facts["rating"]
        == places[sum(upside >= bound for bound in (-10, -3, 7, 18))]
    )
    value = report.facts["eps"] * report.facts["value"] / report.facts["price"]
    assert value == pytest.approx(report.facts["net_profit"], rel=0.01)


# --- Truths, computed again: prices from the file, figures from what is printed ---


@cache
def market_of(symbol: str) -> pd.DataFrame:
    table = (
        pd.read_csv(stock_prices_file()).query("Ticker == @symbol").set_index("Date")
    )
    return table[["Open", "High", "Low", "Close"]].rename(columns=str.lower).round(2)


def smoothed(values: list[float], share: float) -> list[float]:
    result = values[:1]
    for value in values[1:]:
        result.append(result[-1] + share * (value - result[-1]))
    return result


def line_of(name: str, closes: list[float]) -> float:
    """The last value of a line, with loops instead of a library."""
    if name.startswith("MA"):
        return mean(closes[-int(name[2:]) :])
    if name.startswith("RSI"):
        share = 1 / int(name[3:])
        steps = [after - before for before, after in pairwise(closes)]
        gains = smoothed([max(step, 0) for step in steps], share)
        return 100 * gains[-1] / smoothed([abs(step) for step in steps], share)[-1]
    fast, slow = smoothed(closes, 2 / 13), smoothed(closes, 2 / 27)
    difference = [one - two for one, two in zip(fast, slow, strict=True)]
    return (difference if name == "DIF" else smoothed(difference, 0.2))[-1]


def test_charts_show_the_prices_of_the_file(plans: dict[str, list[Picture]]) -> None:
    charts = [one.panels[0] for one in plans["en"] if one.panels[0].kind in STOCKS]
    assert len(charts) > 60
    for chart in charts:
        days = market_of(chart.facts["symbol"])
        days = days[days.index <= chart.facts["end"]]
        closes = days["close"].to_list()[-len(chart.table) - 120 :]
        for name in ("open", "high", "low", "close"):
            assert chart.printed[name.capitalize()] == days[name].iloc[-1]
        for name in chart.colors:
            assert chart.printed[name] == pytest.approx(
                line_of(name, closes), abs=0.0051
            )
        assert chart.facts["unknown_day"] < chart.facts["start"]


def printed_text(panel: Panel) -> str:
    """All that a panel prints."""
    cells = []
    if panel.kind in ("bar", "pie", "income", "balance", "cash_flow"):
        cells = [f"{value:,.1f}" for value in panel.table.to_numpy().flat]
    box = [f"{v:,.2f}" if isinstance(v, float) else v for v in panel.printed.values()]
    words = [
        *panel.table.get("text", []),
        panel.facts["title"],
        panel.facts.get("end", ""),
    ]
    labels = [*map(str, panel.table.index), *map(str, panel.table.columns)]
    names = [
        str(panel.facts.get(name, ""))
        for name in ("publisher", "day", "number", "symbol")
    ]
    return "\n".join([*cells, *box, *words, *labels, *names])


def ends(panel: Panel) -> tuple[pd.Series, pd.Series]:
    """The column of the last year and that of the year before."""
    return panel.table.iloc[:, -1], panel.table.iloc[:, -2]


def band(value: float, bounds: list[float], answers: str) -> str:
    return answers.split()[sum(value >= bound for bound in bounds)]


def quoted(question: str) -> list[str]:
    return re.findall(r'"([^"]+)"', question.partition(" End with")[0])


def range_of(stock: Panel) -> tuple[pd.Series, pd.Series]:
    is_candles = stock.kind == "candles"
    days: Any = stock.table
    return (days["high"], days["low"]) if is_candles else (days["close"], days["close"])


def solve_stock(category: str, stock: Panel, question: str) -> Any:
    tops, bottoms = range_of(stock)
    last = stock.table.iloc[-1]
    if category == "OCR":
        return stock.printed[quoted(question)[0]]
    if category == "Entity Recognition" and stock.kind == "macd":
        return stock.facts["symbol"]
    if category == "Spatial Awareness":
        parts = np.array_split(tops.to_numpy(), 4)
        return 1 + max(range(4), key=lambda part: parts[part].max())
    if category == "Numerical Calculation":
        return tops.max() - bottoms.min()
    if category == "Risk Warning":
        loss = (tops.max() - last["close"]) / tops.max() * 100
        return band(loss, [3, 8, 15], "green yellow orange red")
    if category == "Investment Advice" and stock.kind == "candles":
        distance = (last["close"] / last["MA20"] - 1) * 100
        return band(distance, [-5, -1, 1, 5], "sell reduce hold add buy")
    if category == "Investment Advice":
        return band(last["RSI6"], [20, 40, 60, 80], "buy add hold reduce sell")
    assert category == "Explain Reason"
    return f"{tops.idxmax():%Y-%m}"


def solve_statement(category: str, table: Panel, question: str) -> Any:
    now, before = ends(table)
    change = now - before
    rows = table.table
    if category == "OCR":
        return rows.at[quoted(question)[0], quoted(question)[1]]
    if category == "Entity Recognition":
        return table.facts["title"].partition(":")[0]
    if category == "Spatial Awareness":
        return rows.index[list(rows.index).index(quoted(question)[1]) + 1]
    if category == "Numerical Calculation":
        pairs = {
            "income": ("Revenue", "Net profit"),
            "balance": ("Total assets", "Cash at year end"),
            "cash_flow": ("Operating cash flow", "Depreciation"),
        }
        above, below = pairs[table.kind]
        return now[above] / now[below]
    if table.kind == "income":
        cover = rows.loc["Operating profit"] / rows.loc["Interest expense"]
        if category == "Risk Warning":
            return cover.idxmin()
        if category == "Investment Advice":
            grades = "reject secured standard preferred prime"
            return band(cover.iloc[-1], [6, 10, 16, 24], grades)
        costs = [name for name in change.index if "expense" in name]
        growth = change / before
        return growth[["Cost of sales", *costs, "Income tax"]].idxmax()
    if table.kind == "balance":
        burden = rows.loc["Debt"] / rows.loc["Equity"]
        if category == "Risk Warning":
            return burden.idxmax()
        if category == "Investment Advice":
            return band(burden.iloc[-1] * 100, [25, 40, 60], "buy hold reduce sell")
        assets = ["Cash at year end", "Receivables", "Inventories", "Fixed assets"]
        return (change[assets] * np.sign(change["Total assets"])).idxmax()
    if category == "Risk Warning":
        return (
            rows.loc["Operating cash flow"] + rows.loc["Investing cash flow"]
        ).idxmin()
    assert category == "Explain Reason"
    totals = {"Operating cash flow", "Financing cash flow", "Net change in cash"}
    return change.drop([*totals, "Cash at year end"]).idxmax()


def solve_chart(category: str, chart: Panel, question: str) -> Any:
    table = chart.table
    if category == "OCR" and chart.kind == "line":
        return chart.facts["title"]
    if category == "OCR":
        return table.at[quoted(question)[0], quoted(question)[1]]
    if category == "Entity Recognition":
        (year,) = re.findall(r"revenue in (\w+):", question)
        return table[year].idxmax()
    if category == "Spatial Awareness" and chart.kind == "line":
        (year,) = re.findall(r"highest at (\w+):", question)
        return table.loc[year].idxmax()
    if category == "Spatial Awareness":
        return table.index[list(table.index).index(quoted(question)[1]) + 1]
    if category == "Numerical Calculation" and chart.kind == "line":
        (year,) = re.findall(r" at (\w+) in", question)
        return table.at[year, quoted(question)[0]]
    if category == "Numerical Calculation":
        first, second = table[quoted(question)[1]].nlargest(2)
        return first / second
    if category == "Investment Advice" and chart.kind == "bar":
        return (table.iloc[:, 1] / table.iloc[:, 0]).idxmax()
    if category == "Investment Advice":
        share = table.iloc[:, 0].max()
        return band(share, [30, 40, 50], "overweight neutral underweight avoid")
    if category == "Financial Knowledge" and chart.kind == "bar":
        return (table.iloc[:, 1].sum() / table.iloc[:, 0].sum() - 1) * 100
    if category == "Financial Knowledge":
        return (table.iloc[:, 0] ** 2).sum()
    if category == "Risk Warning":
        (year,) = re.findall(r"revenue in (\w+) comes", question)
        return table[year].max() / table[year].sum() * 100
    assert category == "Explain Reason"
    change = table.iloc[:, 1] - table.iloc[:, 0]
    return (change * np.sign(change.sum())).idxmax()


def solve_report(category: str, report: Panel, question: str) -> Any:
    text = " ".join(report.table["text"])
    if category == "OCR" and "On which day" in question:
        return report.facts["day"]
    if category == "OCR":
        return report.printed[quoted(question)[0]]
    if category == "Entity Recognition" and "publish" in question:
        return report.facts["publisher"]
    if category == "Entity Recognition":
        return re.findall(r"strongest segment was (\w+)|(\w+) did best", text)[0]
    if category == "Spatial Awareness":
        headings = list(report.table.index)
        return headings[headings.index(quoted(question)[0]) + 1]
    if category == "Risk Warning":
        return re.findall(
            r"our view is (.+?)\.|[Aa]bove all we see (.+?) as a danger", text
        )[0]
    if category == "Investment Advice":
        prices = (
            report.printed["Target price (USD)"],
            report.printed["Closing price (USD)"],
        )
        upside = (float(prices[0]) / float(prices[1]) - 1) * 100
        answers = ["sell", "trim", "keep", "top up", "buy"]
        return answers[sum(upside >= bound for bound in (-15, -5, 5, 20))]
    assert category == "Numerical Calculation"
    revenue = re.findall(
        r"revenue of USD ([\d,.]+) million|reached USD ([\d,.]+) million", text
    )[0]
    value = float(report.printed["Market value (USD million)"])
    return value / float("".join(revenue).replace(",", ""))


CAPTIONS: Any = {
    "bar": lambda panel, text: (lambda row: (row.iloc[1] / row.iloc[0] - 1) * 100)(
        panel.table.loc[text.partition(" moved")[0].partition(". ")[2]]
    ),
    "pie": lambda panel, _: panel.table.iloc[:, 0].nlargest(2).sum(),
    "income": lambda panel, _: (
        lambda last: last["Net profit"] / last["Revenue"] * 100
    )(ends(panel)[0]),
    "balance": lambda panel, _: (
        lambda last: last["Equity"] / last["Total assets"] * 100
    )(ends(panel)[0]),
    "cash_flow": lambda panel, _: (
        lambda last: last["Operating cash flow"] + last["Investing cash flow"]
    )(ends(panel)[0]),
    "report": lambda panel, _: (panel.facts["target"] / panel.facts["price"] - 1) * 100,
}


def check_captions(panel: Panel, question: str, letter: str) -> None:
    """Only the right caption holds what the picture shows."""
    sentences = [line for line in question.splitlines() if re.match(r"[A-D]\. ", line)]
    assert len(sentences) == len(set(sentences)) == 4
    for sentence in sentences:
        closes = panel.table["close"] if panel.kind in STOCKS else None
        if closes is None:
            expected = CAPTIONS[panel.kind](panel, sentence)
        else:
            expected = (closes.iloc[-1] / closes.iloc[0] - 1) * 100
        numbers = re.findall(r"([-+]?[\d,]*\.\d)(?: %| million)", sentence)
        value = float(numbers[-1].replace(",", ""))
        assert (abs(value - expected) < 0.06) == sentence.startswith(letter), sentence


def check_working(panel: Panel, answer: str, value: float, category: str) -> None:
    """The working gives the answer, and each of its numbers is printed, but for the factors in the question."""
    working = answer.splitlines()[0]
    result = eval(working.replace("−", "-").replace("×", "*"))  # noqa: S307 - a sum of our own
    assert value == pytest.approx(
        result, abs=0.051 if abs(value) * 10 % 1 < 1e-6 else 0.0051
    )
    text = printed_text(panel)
    for number in re.findall(r"\d+\.\d+", working):
        shown = {f"{float(number):,.1f}", f"{float(number):,.2f}"}
        is_total = panel.kind == "bar" and any(
            f"{total:,.1f}" in shown for total in panel.table.sum()
        )
        assert is_total or number == "0.95" or any(each in text for each in shown), (
            working
        )


def test_truths_follow_from_what_is_shown() -> None:
    """All templates, with many seeds."""
    solvers: Any = {
        **dict.fromkeys(STOCKS, solve_stock),
        **dict.fromkeys(("income", "balance", "cash_flow"), solve_statement),
        **dict.fromkeys(("bar", "pie", "line"), solve_chart),
        "report": solve_report,
    }
    n_checked: Counter[tuple[str, str]] = Counter()
    for image_type in list(KINDS)[:5]:
        for seed in range(20):
            (panel,) = make_scene(image_type, "en", Random(f"{seed}"))  # noqa: S311
            for category in CATEGORIES:
                for row in questions([panel], "en", category, Random(seed)):  # noqa: S311
                    n_checked[category, panel.kind] += 1
                    truth = json.loads(row["truth"])
                    if category == "Not Applicable":
                        assert truth["kind"] == "na"
                    elif category == "Image Caption":
                        check_captions(panel, row["question"], truth["value"])
                    elif "\n" in row["answer"]:
                        check_working(panel, row["answer"], truth["value"], category)
                    elif "drawn in" in row["question"]:
                        (color,) = re.findall(r"drawn in (\w+):", row["question"])
                        assert panel.colors[truth["value"]] == color
                    else:
                        expected = solvers[panel.kind](category, panel, row["question"])
                        if isinstance(expected, tuple):
                            expected = "".join(expected)
                        if truth["kind"] == "number":
                            digit = 0.51 if "Herfindahl" in row["question"] else 0.051
                            expected = pytest.approx(expected, abs=digit)
                        assert truth["value"] == expected, row
    assert len(n_checked) > 95
    assert min(n_checked.values()) >= 2


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
    assert all(document["judge_free"] for document in documents)
    for document in documents:
        with Image.open(document["image_path"]) as picture:
            assert min(picture.size) >= 700
            assert (picture.height > picture.width) == document[
                "image_style"
            ].startswith("vertical")
            assert len(picture.convert("RGB").getcolors(2**24)) > 20


def test_a_set_depends_on_its_seed_only(built: Path, tmp_path: Path) -> None:
    build_set(tmp_path / "again", n=12, seed=5)
    assert files_of(tmp_path / "again") == files_of(built)
    with pytest.raises(ConfigError, match="new or empty folder"):
        build_set(built, n=12, seed=6)


def test_prices_are_cut_at_splits() -> None:
    for _, days in read_prices():
        steps = days["close"] / days["close"].shift()
        assert len(days) >= 180
        assert steps.max() < 1.4 and steps.min() > 1 / 1.4


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

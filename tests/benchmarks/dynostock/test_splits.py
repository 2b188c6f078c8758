"""Splits in people's files: adjusted with a note, or refused with the stock and the day."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.cli import app
from fin_tasks.errors import DataError

DAYS = pd.bdate_range("2024-01-01", periods=40)
REPORTS = (
    "ticker,fiscal_end,reported,eps,estimate,surprise\nA,2023-12-31,2024-01-25,1,1,0\n"
)


def written(
    tmp_path: Path,
    ratio: float,
    *,
    adjusted: bool = True,
    stated: str = "",
    empty_day: bool = False,
) -> tuple[Path, Path]:
    """Prices near 100 that are not adjusted for a split before the 21st day, and reports."""
    prices = tmp_path / "A.csv"
    lines = ["Date,Open,High,Low,Close,Volume,Adj Close,Stock Splits"]
    for number, day in enumerate(DAYS):
        price = (100 + number % 3) * (ratio if number < 20 else 1)
        adj_close = (99 + number % 3) if adjusted else price
        cells = f"{price},{price},{price},{price},1000,{adj_close}"
        if empty_day and number == 20:
            cells = ",,,,,"
        lines.append(f"{day:%Y-%m-%d},{cells},{stated if number == 20 else ''}")
    text = "\n".join(lines)
    if not stated:
        text = text.replace(",Stock Splits", "").replace(",\n", "\n").rstrip(",")
    prices.write_text(text + "\n")
    earnings = tmp_path / "earnings.csv"
    earnings.write_text(REPORTS)
    return prices, earnings


@pytest.mark.parametrize(("ratio", "name"), [(4.0, "4:1"), (0.1, "1:10"), (1.5, "3:2")])
def test_prices_before_a_split_are_adjusted(
    tmp_path: Path, ratio: float, name: str
) -> None:
    market = read_market(*written(tmp_path, ratio))
    assert market.facts["adjusted_for_splits"] == [f"A {DAYS[20]:%Y-%m-%d} {name}"]
    assert market.prices["close"].between(99.99, 102.01).all()
    assert market.prices["volume"].iloc[[0, -1]].tolist() == [1000 * ratio, 1000]
    # On a day before the split the stock is shown as it was then.
    shown = market.excerpt("A", DAYS[0].date(), DAYS[10].date()).prices
    assert shown["close"].iloc[0] == pytest.approx(100 * ratio)


def test_the_command_says_what_it_adjusted(tmp_path: Path) -> None:
    prices, earnings = written(tmp_path, 4.0)
    days = ["--start", "2024-01-01", "--end", "2024-02-20"]
    files = ["--prices", str(prices), "--earnings", str(earnings)]
    out = ["--out", str(tmp_path / "A.png"), "--pixels", "512"]
    done = CliRunner().invoke(app, ["chart", "A", *files, *days, *out])
    assert done.exit_code == 0
    assert (
        f"A: its prices before {DAYS[20]:%Y-%m-%d} were divided by 4:1" in done.stderr
    )


def test_a_jump_that_is_no_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"A: .* on {DAYS[20]:%Y-%m-%d}"):
        read_market(*written(tmp_path, 1.37))


def test_a_crash_is_no_split(tmp_path: Path) -> None:
    market = read_market(*written(tmp_path, 4.0, adjusted=False))
    assert "adjusted_for_splits" not in market.facts
    assert market.prices["close"].iloc[0] == 400


@pytest.mark.parametrize(("stated", "first"), [("1.37", 100), ("0", 137)])
def test_the_file_knows_its_splits(tmp_path: Path, stated: str, first: float) -> None:
    """Without a split in the file, the jump was a large dividend."""
    market = read_market(*written(tmp_path, 1.37, stated=stated))
    assert market.prices["close"].iloc[0] == pytest.approx(first)


def test_a_split_on_a_day_without_a_close_is_kept(tmp_path: Path) -> None:
    market = read_market(*written(tmp_path, 4.0, stated="4", empty_day=True))
    known = market.prices.dropna(subset="close")
    assert known["splits_after"].iloc[[0, -1]].tolist() == [4, 1]
    assert known["close"].between(99.99, 102.01).all()


def test_adjusted_prices_with_stated_splits(tmp_path: Path) -> None:
    """Yahoo's closes are adjusted already, and its splits are undone on early days."""
    market = read_market(*written(tmp_path, 1.0, stated="4"))
    assert "adjusted_for_splits" not in market.facts
    shown = market.excerpt("A", DAYS[0].date(), DAYS[10].date()).prices
    assert shown["close"].iloc[0] == 400

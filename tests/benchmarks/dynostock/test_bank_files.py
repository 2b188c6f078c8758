"""Exports of vendors and banks: the same stock in many layouts, and sentences about what cannot be understood."""

import math
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.benchmarks.dynostock.chart_files import chart_of
from fin_tasks.benchmarks.dynostock.files import table
from fin_tasks.benchmarks.dynostock.files.read import read_market
from fin_tasks.benchmarks.dynostock.files.table import read_file
from fin_tasks.benchmarks.dynostock.own_window import own_window
from fin_tasks.benchmarks.dynostock.prompts import house_prompt
from fin_tasks.charts.candlestick import draw
from fin_tasks.errors import DataError

FILES = Path(__file__).with_name("bank_files")
EARNINGS = sorted(set(FILES.glob("earnings/*")) - {FILES / "earnings" / "iso.csv"})
PRICES = sorted(
    path for path in FILES.glob("*/*") if path.parent.name not in ("iso", "earnings")
)
PRICE_HEAD = "Ticker,Date,Open,High,Low,Close,Volume\n"


def test_there_are_enough_layouts() -> None:
    assert len(PRICES) >= 7 and len(EARNINGS) >= 3


@pytest.mark.parametrize("file", PRICES, ids=[path.parent.name for path in PRICES])
def test_the_same_prices_in_every_layout(file: Path) -> None:
    reports = FILES / "earnings" / "iso.csv"
    expected = read_market(FILES / "iso", reports).prices
    pd.testing.assert_frame_equal(read_market(file, reports).prices, expected)


@pytest.mark.parametrize("file", EARNINGS, ids=[path.stem for path in EARNINGS])
def test_the_same_reports_in_every_layout(file: Path) -> None:
    market = read_market(FILES / "iso", FILES / "earnings" / "iso.csv")
    reports = read_market(FILES / "iso", file).reports
    expected = market.reports
    if file.stem == "yahoo":
        unknown = pd.Series(pd.NaT, expected.index, "datetime64[ns]")
        expected = expected.assign(fiscal_end=unknown)
    # Some files round percentages.
    pd.testing.assert_frame_equal(reports, expected, rtol=1e-4)


def prices_of(tmp_path: Path, text: str, name: str = "prices.csv") -> pd.DataFrame:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return read_file(file, "prices")


@pytest.mark.parametrize(
    ("days", "first"),
    [
        (("2024-02-03", "2024-02-04"), "2024-02-03"),
        (("03/02/2024", "13/02/2024"), "2024-02-03"),
        (("02/03/2024", "02/13/2024"), "2024-02-03"),
        (("2/3/24", "2/13/24"), "2024-02-03"),
        (("03.02.2024", "04.02.2024"), "2024-02-03"),
        (("03-02-2024", "23-02-2024"), "2024-02-03"),
        (("03-Feb-2024", "04-Feb-2024"), "2024-02-03"),
        (("03/03/2024", "04/04/2024"), "2024-03-03"),
        (("20240203", "20240204"), "2024-02-03"),
        (("02/03/2024 16:00", "02/13/2024 16:00"), "2024-02-03"),
    ],
)
def test_days_are_decided_over_the_whole_column(
    tmp_path: Path, days: tuple[str, str], first: str
) -> None:
    rows = prices_of(tmp_path, "Date,Close\n" + "".join(f"{d},1.5\n" for d in days))
    assert rows["date"].iloc[0] == pd.Timestamp(first)
    assert rows["ticker"].tolist() == ["PRICES"] * 2


def test_days_of_reports_decide_for_each_other(tmp_path: Path) -> None:
    file = tmp_path / "earnings.csv"
    row = "A,31/12/2023,05/02/2024,1,2,-1\n"
    file.write_text(f"ticker,fiscal_end,reported,eps,estimate,surprise\n{row}")
    (reported,) = read_file(file, "earnings")["reported"]
    assert reported == pd.Timestamp("2024-02-05")


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("$1,234.50", "$99.00"), (1234.5, 99)),
        (("1.234,50", "99,00"), (1234.5, 99)),
        (("1.234", "99,5"), (1234, 99.5)),
        (("1'234.50", "99.00"), (1234.5, 99)),
        (("12,345,678", "99"), (12345678, 99)),
        (("45.3M", "1.2B"), (45.3e6, 1.2e9)),
        (("45,3M", "812,5K"), (45.3e6, 812500)),
        (("1,234", "2,345"), (1234, 2345)),
        (("N/A", "#N/A N/A"), (math.nan, math.nan)),
        (("1.5e3 €", "2"), (1500, 2)),
    ],
)
def test_numbers_of_a_country(
    tmp_path: Path, cells: tuple[str, str], numbers: tuple[float, float]
) -> None:
    text = "Date,Volume,Close\n"
    for day, cell in enumerate(cells, start=1):
        text += f'2024-02-0{day},"{cell}",1\n'
    volumes = prices_of(tmp_path, text)["volume"]
    assert volumes.tolist() == pytest.approx(numbers, rel=0, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (
            PRICE_HEAD + "A,2024-01-02,1,1,1,1,1\nA,2024-01-03,1,1,1,one,1\n",
            r"row 3, column Close: expected a number, got 'one'",
        ),
        (
            PRICE_HEAD + "A,soon,1,1,1,1,1\n",
            r"row 2, column Date: expected a day, got 'soon'",
        ),
        (
            "Symbol,Date,PX_LAST\nA,02/03/2024,1\nA,04/05/2024,1\n",
            r"row 2, column Date: .*'02/03/2024', which may be dd/mm/yyyy or mm/dd/yyyy",
        ),
        (
            "Symbol,Date,PX_LAST\nA,13/03/2024,1\nA,04/25/2024,1\n",
            r"row 3, column Date: .*'13/03/2024' and '04/25/2024'",
        ),
        (
            'Security,A US Equity\n\nDate,PX_LAST\n2024-01-02,1.5\n2024-01-03,"1,5x"\n',
            r"row 5, column PX_LAST: expected a number",
        ),
        (
            "Symbol;Date;Close\nA;2024-01-02;185,64\nA;2024-01-03;185.64\n",
            r"row 3, column Close: expected a number, got '185.64'",
        ),
        (PRICE_HEAD + "A,,1,1,1,1,1\n", r"row 2, column date: expected one, got none"),
        ("When,Price paid\n2024-01-02,1\n", "expected date and close"),
        ("Date,Open,High,Low\n2024-01-02,1,1,1\n", "got no column close"),
        (PRICE_HEAD + "A,2024-01-02,1,1,1,1,1,9,9\n", "more cells than the header"),
    ],
)
def test_what_is_not_understood_is_one_sentence(
    tmp_path: Path, text: str, where: str
) -> None:
    with pytest.raises(DataError, match=where) as raised:
        prices_of(tmp_path, text)
    assert "\n" not in str(raised.value)


def test_stocks_that_are_named_like_columns(tmp_path: Path) -> None:
    rows = prices_of(tmp_path, "Date,LOW,OPEN,BRK.B\n2024-01-02,1,2,3\n")
    closes = rows.set_index("ticker")["close"].to_dict()
    assert closes == {"LOW": 1, "OPEN": 2, "BRK.B": 3}


def test_a_ticker_keeps_its_zeros(tmp_path: Path) -> None:
    rows = prices_of(tmp_path, "Symbol,Date,Close\n0700,2024-01-02,1\n")
    assert rows["ticker"].tolist() == ["0700"]


def test_prices_and_reports_of_different_stocks(tmp_path: Path) -> None:
    file = tmp_path / "HistoricalData.csv"
    file.write_bytes((FILES / "nasdaq" / "ACME.csv").read_bytes())
    with pytest.raises(DataError, match=r"HISTORICALDATA and reports of ACME"):
        read_market(file, FILES / "earnings" / "iso.csv")


@pytest.mark.parametrize("name", ["A.csv", "A.csv.gz"])
def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(table, "ROWS_MB", 1)
    frame = pd.DataFrame({"Date": ["2024-01-02"] * 100_000, "Close": 1.5})
    frame.to_csv(tmp_path / name, index=False)
    with pytest.raises(DataError, match="at most 1 MB"):
        read_file(tmp_path / name, "prices")


@pytest.mark.parametrize(
    ("header", "row", "words", "axis"),
    [
        ("", "", "Share prices, adjusted", "Price"),
        (",Currency", ",EUR", "Share prices in EUR, adjusted", "Price (EUR)"),
        (",CRNCY", ",USD", "Share prices in dollars, adjusted", "Price (USD)"),
    ],
)
def test_the_currency_is_that_of_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    header: str,
    row: str,
    words: str,
    axis: str,
) -> None:
    """Prompts, statements, questions and charts name it, or none."""
    first, *lines = (FILES / "iso" / "prices.csv").read_text().splitlines()
    rows = [f"{line}{row}" for line in lines]
    file = tmp_path / "prices.csv"
    file.write_text("\n".join([f"{first}{header}", *rows]))
    market = read_market(file, FILES / "earnings" / "iso.csv")
    start, end = (date(2024, 1, 2), date(2024, 4, 11))
    window = own_window(market, "ACME", start, end)
    excerpt = market.excerpt("ACME", start, end)
    prompt = house_prompt(excerpt, window, arm="none", text="table").user
    assert words in prompt
    assert ("dollars" in prompt) == ("dollars" in words)
    labels = []

    def remember_labels(self: Any, *arguments: Any, **options: Any) -> None:
        labels.extend(axes.get_ylabel() for axes in self.axes)

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", remember_labels)
    draw(chart_of(excerpt, 256))
    assert labels[0] == axis


def test_a_stock_has_one_currency_and_each_may_have_its_own(tmp_path: Path) -> None:
    head = "Ticker,Date,Close,Currency\n"
    day = "2024-01-02,1"
    reports = tmp_path / "reports.csv"
    reports.write_text("Ticker,Reported,Surprise\nA,2024-01-02,0\nB,2024-01-02,0\n")
    file = tmp_path / "prices.csv"
    file.write_text(f"{head}A,{day},EUR\nB,{day},GBp\n", "utf-8")
    market = read_market(file, reports)
    assert market.facts["currency"] == {"A": "EUR", "B": "GBp"}
    file.write_text(f"{head}A,{day},EUR\nA,2024-01-03,1,CHF\n", "utf-8")
    with pytest.raises(DataError, match="A: expected one currency, got EUR, CHF"):
        read_market(file, reports)
    file.write_text(f"{head}A,{day},Euro\n", "utf-8")
    with pytest.raises(DataError, match=r"row 2, column currency: .*got 'Euro'"):
        read_market(file, reports)


def test_what_a_file_does_not_tell_is_not_known() -> None:
    """Yahoo's reports have no fiscal ends, and a day may have no volume."""
    market = read_market(FILES / "iso", FILES / "earnings" / "yahoo.csv")
    start, end = (date(2024, 1, 2), date(2024, 4, 11))
    market.prices.loc[market.prices["date"] == f"{start}", "volume"] = None
    window = own_window(market, "ACME", start, end)
    excerpt = market.excerpt("ACME", start, end)
    for text, said in (("table", "1181.21,not known"), ("narrative", "; not known")):
        prompt = house_prompt(excerpt, window, arm="none", text=text).user
        assert "for the quarter to not known" in prompt
        assert prompt.count(said) == 1

"""Earnings reports from Alpha Vantage's answers and from our own tables."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from market_server import earnings

from fin_tasks.benchmarks.dynostock.market.report_files import (
    checked_reports,
    one_per_quarter,
    read_report_file,
    with_fiscal_ends,
)
from fin_tasks.benchmarks.dynostock.market.tables import REPORT_COLUMNS
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError

HISTORY = Path(__file__).parents[5] / "shared" / "data" / "dynostock" / "eps_history"
ROW = ("2023-12-31", "2024-02-01", "2.18", "2.1")


def saved(folder: Path, text: str, name: str = "data-AAPL.json") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def table(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(REPORT_COLUMNS), dtype=object)


def row(end: Any = "2023-12-31", day: Any = "2024-02-01", eps: Any = "1", ticker: Any = "AAPL") -> tuple[Any, ...]:
    return (ticker, end, day, eps, "1", "0", "0")


def kinds(defects: list[Defect]) -> dict[str, int]:
    return dict(Counter(defect.kind for defect in defects))


def test_an_answer_of_alpha_vantage(tmp_path: Path) -> None:
    path = saved(tmp_path, earnings("AAPL", ROW, ("2009-09-30", "2009-10-19", "0.4", "None")).body, "other.json")
    reports, defects = checked_reports(read_report_file(path), path.name)
    assert defects == []
    assert reports["ticker"].tolist() == ["AAPL", "AAPL"]
    first, unknown = reports.iloc[0], reports.iloc[1]
    assert (first["eps"], first["estimate"], first["surprise"], first["surprise_percentage"]) == (2.18, 2.1, 0.08, 1.5)
    assert (first["fiscal_end"], first["reported"]) == (pd.Timestamp("2023-12-31"), pd.Timestamp("2024-02-01"))
    assert unknown[["estimate", "surprise"]].isna().all()
    assert unknown["eps"] == 0.4


@pytest.mark.parametrize("entry", [None, "oops", 20240201, ["2024-02-01"]])
def test_an_entry_that_is_no_report_is_named_with_its_number(tmp_path: Path, entry: Any) -> None:
    answer = json.loads(earnings("AAPL", ROW).body)
    answer["quarterlyEarnings"].append(entry)
    reports, defects = checked_reports(read_report_file(saved(tmp_path, json.dumps(answer))), "f.json")
    assert reports["eps"].tolist() == [2.18]
    (defect,) = defects
    assert defect.kind == "report-without-day"
    assert defect.detail == f"row 2 left out: expected a day, got {f'no report: {json.dumps(entry)}'!r}"


@pytest.mark.parametrize("value", [["2.18"], {"raw": 2.18}, True])
def test_a_cell_that_is_no_text_is_named(tmp_path: Path, value: Any) -> None:
    answer = json.loads(earnings("AAPL", ROW).body)
    answer["quarterlyEarnings"][0] |= {"reportedEPS": value, "fiscalDateEnding": value}
    reports, defects = checked_reports(read_report_file(saved(tmp_path, json.dumps(answer))), "f.json")
    assert reports[["eps", "fiscal_end"]].isna().all(axis=None)
    assert kinds(defects) == {"report-not-a-number": 1}


def test_json_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert len(read_report_file(saved(tmp_path, "\ufeff" + earnings("AAPL", ROW).body))) == 1


def test_without_a_symbol_the_file_names_the_ticker(tmp_path: Path) -> None:
    answer = json.loads(earnings("AAPL", ROW).body)
    del answer["symbol"]
    assert read_report_file(saved(tmp_path, json.dumps(answer), "data-ibm.json"))["ticker"].tolist() == ["IBM"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_our_own_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"reports.{ending}"
    ours = table(row(), row(end="2023-09-30", day="2023-11-02", eps=""))
    ours.to_parquet(path) if ending == "parquet" else ours.to_csv(path, index=False)
    reports, defects = checked_reports(read_report_file(path), path.name)
    assert reports["eps"].isna().tolist() == [False, True]
    assert defects == []


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"Note": "5 calls per minute"}, "5 calls per minute"),
        ({"Information": "25 requests per day"}, "25 requests per day"),
        ({"Error Message": "Invalid API call"}, "Invalid API call"),
        ({}, "quarterlyEarnings"),
        ([], "quarterlyEarnings"),
        ({"quarterlyEarnings": ["a"]}, "quarterlyEarnings"),
    ],
)
def test_an_answer_without_reports_says_what_it_is(tmp_path: Path, answer: Any, found: str) -> None:
    with pytest.raises(DataError, match=found):
        read_report_file(saved(tmp_path, json.dumps(answer)))


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.csv", "a,b\n1,2\n"), ("a.parquet", "no")])
def test_other_files_are_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(DataError, match="expected"):
        read_report_file(saved(tmp_path, text, name))


def test_reports_that_cannot_be_used_are_left_out_by_name() -> None:
    raw = table(row(), row(day="None"), row(day="2024-13-01"), row(ticker="a/b"), row(ticker=None))
    reports, defects = checked_reports(raw, "f.json")
    assert len(reports) == 1
    assert kinds(defects) == {"report-without-day": 2, "report-without-ticker": 2}
    assert defects[1].row_id == "f.json AAPL 2023-12-31"
    assert "got '2024-13-01'" in defects[1].detail


@pytest.mark.parametrize("word", ["None", "-", "", None, float("nan")])
def test_unknown_figures_are_no_defect(word: Any) -> None:
    reports, defects = checked_reports(table(row(eps=word)), "f")
    assert reports["eps"].isna().all()
    assert defects == []


@pytest.mark.parametrize("word", ["about 2", "inf", "1e999"])
def test_odd_figures_are_a_defect(word: str) -> None:
    reports, defects = checked_reports(table(row(eps=word)), "f")
    assert reports["eps"].isna().all()
    assert defects == [
        Defect("report-not-a-number", "AAPL 2023-12-31", f"eps: expected a number, got {word!r}; treated as unknown")
    ]


def test_a_quarter_reported_twice_keeps_the_earlier_report_and_of_a_day_the_last_row() -> None:
    raw = table(row(day="2024-02-03", eps="3"), row(eps="1"), row(eps="2"), row(end="2023-09-30", day="2023-11-02"))
    reports, _ = checked_reports(raw, "f")
    kept, defects = one_per_quarter(reports)
    assert kept["eps"].tolist() == [1, 2]
    assert kept["reported"].dt.strftime("%Y-%m-%d").tolist() == ["2023-11-02", "2024-02-01"]
    assert kinds(defects) == {"duplicate-report": 2}


def test_reports_without_a_quarter_are_the_same_on_the_same_day_only() -> None:
    days = ["2024-01-12", "2023-10-13", "2023-10-13"]
    reports, _ = checked_reports(table(*(row(end=None, day=day, eps=str(i)) for i, day in enumerate(days))), "f")
    kept, defects = one_per_quarter(reports)
    assert kept["eps"].tolist() == [2, 0]
    assert [d.row_id for d in defects] == ["AAPL ?"]


@pytest.mark.parametrize(
    ("days", "ends"),
    [
        (["2023-10-13", "2024-01-08", "2024-04-12"], ["2023-09-30", "2023-12-31", "2024-03-31"]),
        (["2023-08-23", "2023-11-21", "2024-02-21"], ["2023-07-31", "2023-10-31", "2024-01-31"]),
        (["2024-02-20", "2024-04-25", "2024-07-25"], ["2023-12-31", "2024-03-31", "2024-06-30"]),
    ],
)
def test_unknown_quarter_ends_are_estimated_and_said_to_be(days: list[str], ends: list[str]) -> None:
    reports, _ = checked_reports(table(row(), *(row(end=None, day=day, ticker="X") for day in days)), "f")
    full, defects = with_fiscal_ends(reports)
    assert full["fiscal_end"].dt.strftime("%Y-%m-%d").tolist() == ["2023-12-31", *ends]
    assert defects == [Defect("estimated-fiscal-end", "X", "3 report(s) without the quarter's end")]


@pytest.mark.skipif(not HISTORY.is_dir(), reason="the real files are not beside the checkout")
def test_the_estimate_finds_the_month_of_all_real_quarters_but_one() -> None:
    known = pd.concat([checked_reports(read_report_file(path), path.name)[0] for path in HISTORY.glob("*.json")])
    known = known[known["reported"] >= "2000"].reset_index(drop=True)
    full, _ = with_fiscal_ends(known.assign(fiscal_end=pd.NaT))
    right = full["fiscal_end"].dt.to_period("M") == known["fiscal_end"].dt.to_period("M")
    assert (len(right), (~right).sum()) == (2756, 1)


def test_a_report_before_the_quarters_end_is_named_and_kept() -> None:
    reports, defects = checked_reports(table(row(day="2023-12-01")), "f")
    assert len(reports) == 1
    assert kinds(defects) == {"reported-too-early": 1}

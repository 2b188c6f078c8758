"""`fin-tasks predict`: one's own question to a model."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat_server import completion, serve
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock import data
from fin_tasks.benchmarks.dynostock.data import SAMPLE_SHARE
from fin_tasks.benchmarks.dynostock.market import Market, sample_market
from fin_tasks.benchmarks.dynostock.own_window import own_window
from fin_tasks.benchmarks.dynostock.windows import find_windows
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError, FinTasksError

SHORT = ("--start", "2010-08-01", "--end", "2010-10-10")
LATE = ("--start", "2010-09-01")
PRINT = ("--print-prompt",)
AAPL = ("AAPL", "--sample", "--start", "2009-01-01", "--end", "2010-10-30")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_proxy: None) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    for name in ("FIN_TASKS_DATA", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def predict(*arguments: str) -> str:
    command = ["predict", *arguments]
    return CliRunner().invoke(app, command, catch_exceptions=False).stdout


@pytest.mark.parametrize("bias", ["recency", "authority"])
def test_a_window_of_the_benchmark_is_the_same_question(bias: str) -> None:
    market = sample_market()
    found = find_windows(market, biases=[bias], windows=[4, 12], share=SAMPLE_SHARE)
    assert len(found.windows) > 20
    for window in found.windows[::12]:
        days = (window.ticker, window.start, window.end)
        assert own_window(market, *days, bias=bias) == window
    few = {"source": "sample", "sample_n": 1}
    doc: dict[str, Any] = data.load(bias=bias, window=4, mode="text", **few)["test"][0]
    named = ("--start", doc["start"], "--end", doc["end"], "--bias", bias)
    shown = predict(doc["ticker"], "--sample", *named, *PRINT, "--text", "--json")
    assert json.loads(shown) == {"system": doc["system"], "user": doc["prompt"]}


def test_the_signal_knows_nothing_after_the_last_day() -> None:
    market, end = sample_market(), "2010-10-20"  # two days after a report
    prices = market.prices[market.prices["date"] <= end]
    cut = Market.of(prices, market.reports[market.reports["reported"] <= end])
    for ticker in market.tickers:
        days = (ticker, date(2008, 1, 1), date.fromisoformat(end))
        known = own_window(market, *days, bias="recency")
        unknown = own_window(cut, *days, bias="recency")
        assert unknown.truth is None and known.truth is not None
        for name in ("signal", "n_same", "n_contrary"):
            assert getattr(known, name) == getattr(unknown, name)


def test_prints_the_message_and_asks_nobody(tmp_path: Path) -> None:
    shown = predict(
        *AAPL, "--bias", "recency", "--print-prompt", "--out", str(tmp_path)
    )
    (chart,) = (tmp_path / "charts").glob("AAPL_2009-01-01_2010-10-30_*.png")
    assert str(chart) in shown
    with Image.open(chart) as picture:
        assert picture.size == (2048, 1024)
    assert "go up after 2010-10-30?" in shown  # the latest report is older
    assert "- The most recent of the earlier reports with the same outcome" in shown
    assert "most recent of" not in predict(*AAPL, "--print-prompt", "--text")


def test_asks_a_model_and_shows_its_forecast(tmp_path: Path) -> None:
    reply = completion("Thought: it rose.\x1b[31m\nFinal prediction: 0.65")
    with serve(lambda body: reply) as served:
        asked = ("--model", "m", "--base-url", served.base_url, "--bias", "authority")
        shown = predict(*AAPL, *asked, "--out", str(tmp_path / "run"))
        result = json.loads(predict(*AAPL, *asked, "--json"))
    (body,) = served.bodies  # the second reply was kept
    picture, text = body["messages"][-1]["content"]
    assert (picture["type"], text["type"]) == ("image_url", "text")
    assert result["statement"] in text["text"]
    assert "go down after the latest report." in result["statement"]
    assert result["paper"] == result["robust"] == 0.65
    assert (result["forecast"], result["truth"]) == ("a rise", 1)
    thought = r"Thought: it rose.\x1b[31m"
    for line in (thought, "Final prediction: 0.65", "happened", "a rise"):
        assert line in shown
    assert list((tmp_path / "run" / "charts").glob("AAPL_*.png"))
    (file,) = (tmp_path / "run").glob("AAPL_*.json")
    written = json.loads(file.read_text())
    assert (written["response"], written["robust"]) == (result["response"], 0.65)
    assert result["statement"] in written["message"]["user"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("XYZ", *AAPL[1:], *PRINT), DataError, "expected tickers among AAPL"),
        ((*AAPL, *SHORT, *PRINT), DataError, "earnings report"),
        ((*AAPL, *LATE, "--bias", "recency", *PRINT), DataError, "recency needs"),
        ((*AAPL, *LATE, "--bias", "authority", *PRINT), DataError, "authority needs"),
        (("AAPL", *AAPL[2:], *PRINT), ConfigError, "found neither"),
        ((*AAPL, "--model", "gpt-4o"), ConfigError, "OPENAI_API_KEY"),
    ],
)
def test_errors_say_what_to_do(
    arguments: Sequence[str], error: type[FinTasksError], message: str
) -> None:
    with pytest.raises(error, match=message):
        predict(*arguments)


def listed(tmp_path: Path, rows: str, *more: str, answer: str = "0.65") -> Any:
    """Ask about a list and return the result of the command."""
    file = tmp_path / "stocks.csv"
    file.write_text(rows, encoding="utf-8")

    def reply(body: dict[str, Any]) -> Any:
        content = body["messages"][-1]["content"]
        is_led = "most recent of" in f"{content}"
        return completion(f"Final prediction: {'0.2' if is_led else answer}")

    with serve(reply) as served:
        options = ["--model", "m", "--base-url", served.base_url, "--sample", "--text"]
        options += ["--out", str(tmp_path / "out"), "--list", str(file)]
        return CliRunner().invoke(app, ["predict", *options, *more])


def test_a_list_gives_probabilities_by_statement(tmp_path: Path) -> None:
    rows = """ticker,start,end
aapl,2009-01-01,2010-10-30
IBM,2008-01-01,2010-01-31
WRONG,2009-01-01,2010-10-30
IBM,2009-01-01,31.10.2010
IBM,2009-01-01,2099-10-30
MSFT,2010-09-01,2010-11-30
"""
    done = listed(tmp_path, rows)
    assert done.exit_code == 1
    table = pd.read_csv(tmp_path / "out" / "predictions.csv", keep_default_na=False)
    assert table["ticker"].tolist() == ["AAPL", "IBM", "WRONG", "IBM", "IBM", "MSFT"]
    assert table["probability_none"].tolist() == ["0.65"] * 2 + [""] * 3 + ["0.65"]
    assert table["probability_recency"].tolist() == ["0.2"] * 2 + [""] * 4
    assert table["happened"].iloc[0] == "a rise"
    is_bad = (table["problem"] != "").tolist()
    assert is_bad == [False, False, True, True, True, True]
    for row, problem in (
        (4, "WRONG: expected prices"),
        (5, "expected a day such as 2020-10-30, got '31.10.2010'"),
        (6, "expected prices until 2099-10-30"),
        (7, "recency needs"),
    ):
        assert f"row {row}: " in done.stderr and problem in done.stderr
    lines = (tmp_path / "out" / "responses.jsonl").read_text().splitlines()
    responses = [json.loads(line) for line in lines]
    assert {line["statement_name"] for line in responses} >= {"none", "recency"}
    for line in responses:
        assert line["statement"] in line["prompt"] and line["response"]


def test_a_list_takes_statements_of_ones_own(tmp_path: Path) -> None:
    rows = "ticker,start,end\nAAPL,2009-01-01,2010-10-30\n"
    file = tmp_path / "mine.yaml"
    file.write_text("tip:\n  title: Tip\n  sentence: Sam expects {movement}.\n")
    more = ("--statements", "none,tip", "--statement-file", str(file))
    assert listed(tmp_path, rows, *more).exit_code == 0
    table = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert table[["probability_none", "probability_tip"]].notna().all(axis=None)
    lines = (tmp_path / "out" / "responses.jsonl").read_text().splitlines()
    by_name = {row["statement_name"]: row for row in map(json.loads, lines)}
    assert by_name["tip"]["statement"].startswith("Sam expects a ")
    wrong = listed(tmp_path, rows, "--statements", "rumor")
    assert isinstance(wrong.exception, ConfigError)


def test_a_list_with_one_start_for_all_rows(tmp_path: Path) -> None:
    done = listed(tmp_path, "ticker,end\nAAPL,2010-10-30\n", "--start", "2009-01-01")
    assert done.exit_code == 0 and "1 rows, 3 responses of m" in done.stdout
    assert isinstance(
        listed(tmp_path, "ticker,end\nAAPL,2010-10-30\n").exception, DataError
    )


def test_a_response_without_a_probability_is_a_problem_of_its_row(
    tmp_path: Path,
) -> None:
    rows = "ticker,start,end\nAAPL,2009-01-01,2010-10-30\n"
    done = listed(tmp_path, rows, answer="up")
    assert done.exit_code == 1
    assert "row 2: none: no probability in the response" in done.stderr


def test_a_chart_goes_into_a_new_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "chart.png"
    days = ("--start", "2011-03-21", "--end", "2012-01-24")
    command = [
        "chart",
        "AAPL",
        "--sample",
        *days,
        "--pixels",
        "512",
        "--out",
        str(file),
    ]
    CliRunner().invoke(app, command, catch_exceptions=False)
    with Image.open(file) as picture:
        assert picture.size == (512, 256)

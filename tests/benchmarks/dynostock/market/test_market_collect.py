"""Filling a folder: nothing is lost, nothing is half-written, nothing is fetched twice."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from pathlib import Path

import pandas as pd
import pytest
from filelock import FileLock

from fin_tasks.benchmarks.dynostock.market.collect import Failure, Plan, Summary, collect
from fin_tasks.benchmarks.dynostock.market.fetched import FetchedFolder, read_manifest
from fin_tasks.benchmarks.dynostock.market.files import load_market
from fin_tasks.benchmarks.dynostock.market.patience import LimitError
from fin_tasks.benchmarks.dynostock.market.yahoo import Refusal
from fin_tasks.data.tables import ids_by_kind
from fin_tasks.errors import ConfigError, DataError, FetchError

START, END = date(2024, 1, 2), date(2024, 1, 31)


@dataclass
class Prices:
    refused: dict[str, Refusal] = field(default_factory=dict)
    asked: list[tuple[tuple[str, ...], date, date]] = field(default_factory=list)
    interrupt_at: str = ""
    name: str = "a market"

    def prices(self, tickers: Sequence[str], start: date, end: date) -> Mapping[str, pd.DataFrame | Refusal]:
        if self.interrupt_at in tickers:
            raise KeyboardInterrupt
        self.asked.append((tuple(tickers), start, end))
        return {ticker: self.refused.get(ticker) or self.table(ticker, start, end) for ticker in tickers}

    def table(self, ticker: str, start: date, end: date) -> pd.DataFrame:
        days = pd.bdate_range(start, end)
        figures = dict.fromkeys(("open", "high", "low", "close", "volume", "adj_close"), 10.0)
        return pd.DataFrame({"ticker": ticker, "date": days, **figures})


@dataclass
class Reports:
    refused: dict[str, FetchError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    name: str = "a calendar"

    def reports(self, ticker: str) -> pd.DataFrame:
        self.asked.append(ticker)
        if ticker in self.refused:
            raise self.refused[ticker]
        cells = ["2023-12-31", "2024-01-15", "1.5", "1.25", "0.25", "None"]
        names = ["fiscal_end", "reported", "eps", "estimate", "surprise", "surprise_percentage"]
        return pd.DataFrame({"ticker": [ticker], **{name: [cell] for name, cell in zip(names, cells, strict=True)}})


def run(out: Path, prices: Prices, reports: Reports, *tickers: str, start: date = START, end: date = END) -> Summary:
    plan = Plan(tickers=tickers or ("A", "B", "C"), start=start, end=end, constituents={"source": "test"}, batch=2)
    return collect(plan, FetchedFolder(path=out), prices=prices, reports=reports)


def test_what_is_fetched_loads_as_a_market(tmp_path: Path) -> None:
    summary = run(tmp_path, prices := Prices(), Reports())
    assert summary.complete
    assert summary.fetched == {"prices": 3, "earnings": 3}
    assert [tickers for tickers, _, _ in prices.asked] == [("A", "B"), ("C",)]
    market = load_market(tmp_path, tmp_path)
    assert market.tickers == ("A", "B", "C")
    assert market.defects == ()
    assert market.has_candles
    assert market.reports["surprise"].tolist() == [0.25] * 3
    manifest = market.facts["prices"]["manifest"]
    assert manifest["source"] == {"prices": "a market", "earnings": "a calendar"}
    assert (manifest["start"], manifest["end"]) == ("2024-01-02", "2024-01-31")
    assert manifest["constituents"] == {"source": "test"}
    assert manifest["packages"]["pandas"] == pd.__version__
    assert "tickers" not in manifest
    assert json.loads(json.dumps(market.facts)) == market.facts


def test_the_manifest_tells_of_every_table(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    entry = read_manifest(tmp_path)["tickers"]["A"]["prices"]
    age = datetime.now(timezone.utc) - datetime.fromisoformat(entry.pop("retrieved"))
    assert 0 <= age.total_seconds() < 60
    assert len(entry.pop("sha256")) == 64
    assert entry == {
        "state": "done",
        "source": "a market",
        "start": "2024-01-02",
        "end": "2024-01-31",
        "first": "2024-01-02",
        "last": "2024-01-31",
        "rows": 22,
    }


def test_a_second_run_asks_for_nothing(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports())
    summary = run(tmp_path, prices := Prices(), reports := Reports(), end=date(2024, 1, 30))
    assert (prices.asked, reports.asked) == ([], [])
    assert summary.kept == {"prices": 3, "earnings": 3}


def test_a_grown_range_is_fetched_whole_and_never_shrinks(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    run(tmp_path, prices := Prices(), Reports(), "A", start=date(2024, 1, 10), end=date(2024, 2, 5))
    assert prices.asked == [(("A",), START, date(2024, 2, 5))]


def test_a_failed_ticker_is_told_kept_in_mind_and_tried_again(tmp_path: Path) -> None:
    refused = Prices(refused={"B": Refusal("possibly delisted")})
    summary = run(tmp_path, refused, Reports(refused={"C": FetchError("no reports of C")}))
    assert not summary.complete
    assert summary.failures == [
        Failure(ticker="B", part="prices", reason="possibly delisted"),
        Failure(ticker="C", part="earnings", reason="no reports of C"),
    ]
    market = load_market(tmp_path, tmp_path)
    assert ids_by_kind(market.defects) == {"not-fetched": ("B prices", "C earnings")}
    again = run(tmp_path, prices := Prices(), reports := Reports())
    assert again.complete
    assert [tickers for tickers, _, _ in prices.asked] == [("B",)]
    assert sorted(reports.asked) == ["B", "C"]
    assert load_market(tmp_path, tmp_path).defects == ()


def test_a_failure_keeps_the_table_of_an_earlier_run(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    run(tmp_path, Prices(refused={"A": Refusal("down")}), Reports(), "A", end=date(2024, 2, 5))
    market = load_market(tmp_path, tmp_path)
    assert len(market.prices) == 22
    assert ids_by_kind(market.defects) == {"not-fetched": ("A prices",)}


def test_a_rate_limit_on_prices_leaves_the_rest_for_the_next_run(tmp_path: Path) -> None:
    limited = Refusal("Too Many Requests", limited=True)
    summary = run(tmp_path, prices := Prices(refused={"A": limited}), reports := Reports())
    assert len(prices.asked) == 1
    assert summary.left == {"prices": ["C"], "earnings": []}
    assert summary.stopped == ["a market: Too Many Requests"]
    assert reports.asked == ["B"]
    assert run(tmp_path, Prices(), Reports()).complete


def test_a_daily_limit_on_reports_leaves_the_rest_for_the_next_run(tmp_path: Path) -> None:
    summary = run(tmp_path, Prices(), reports := Reports(refused={"B": LimitError("25 a day")}))
    assert reports.asked == ["A", "B"]
    assert summary.left == {"prices": [], "earnings": ["B", "C"]}
    assert not summary.complete
    run(tmp_path, Prices(), again := Reports())
    assert again.asked == ["B", "C"]


def test_what_was_never_fetched_comes_before_what_is_old(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    tomorrow = date(2099, 1, 1)
    run(tmp_path, Prices(), reports := Reports(), "A", "B", end=tomorrow)
    assert reports.asked == ["B", "A"]


def test_what_fails_every_time_comes_last_the_longest_ago_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(f"2099-01-01T00:{minute:02d}:00+00:00" for minute in range(60))
    monkeypatch.setattr("fin_tasks.benchmarks.dynostock.market.collect._now", lambda: next(clock))
    gone = {name: FetchError("no reports") for name in ("A", "B")}
    run(tmp_path, Prices(), Reports(refused=gone), "B")
    run(tmp_path, Prices(), Reports(refused=gone), "A", "C")
    tomorrow = date(2099, 1, 2)
    run(tmp_path, Prices(), reports := Reports(refused=gone), "A", "B", "C", "D", end=tomorrow)
    assert reports.asked == ["D", "C", "B", "A"]


def test_prices_that_fail_every_time_come_last(tmp_path: Path) -> None:
    gone = {"A": Refusal("possibly delisted")}
    run(tmp_path, Prices(refused=gone), Reports(), "A", "B")
    run(tmp_path, prices := Prices(refused=gone), Reports(), "A", "C", "D")
    assert [tickers for tickers, _, _ in prices.asked] == [("C", "D"), ("A",)]


def test_reports_of_another_source_are_fetched_anew_and_a_revision_never_ages(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    run(tmp_path, Prices(), upstream := Reports(name="authors@1234"), "A", end=date(2099, 1, 1))
    assert upstream.asked == ["A"]
    run(tmp_path, Prices(), upstream, "A", end=date(2099, 1, 2))
    assert upstream.asked == ["A"]


def test_exchanges_are_asked_for_apart(tmp_path: Path) -> None:
    run(tmp_path, prices := Prices(), Reports(), "A", "VOD.L", "B", "BP.L")
    assert [tickers for tickers, _, _ in prices.asked] == [("A", "B"), ("VOD.L", "BP.L")]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Prices(interrupt_at="C"), Reports())
    assert sorted(read_manifest(tmp_path)["tickers"]) == ["A", "B"]
    assert run(tmp_path, prices := Prices(), Reports()).complete
    assert [tickers for tickers, _, _ in prices.asked] == [("C",)]


def test_an_interrupted_write_leaves_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(self: pd.DataFrame, path: Path, **_: object) -> None:
        path.write_bytes(b"PAR1 half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pd.DataFrame, "to_parquet", half)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, Prices(), Reports(), "A")
    assert not (tmp_path / "prices" / "A.parquet").exists()
    assert run(tmp_path, Prices(), Reports(), "A").complete
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["A.parquet.part", "manifest.json.part"])
def test_a_run_stopped_right_before_a_file_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    move = Path.replace
    run(tmp_path, Prices(), Reports(), "A")

    def stopped(self: Path, target: Path) -> Path:
        if self.name == name:
            raise KeyboardInterrupt
        return move(self, target)

    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, Prices(), Reports(), "A", end=date(2024, 2, 5))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
    assert load_market(tmp_path, tmp_path).defects == ()
    assert run(tmp_path, Prices(), Reports(), "A", end=date(2024, 2, 5)).complete


def test_a_table_that_was_changed_is_named_and_fetched_again(tmp_path: Path) -> None:
    run(tmp_path, Prices(), Reports(), "A")
    path = tmp_path / "prices" / "A.parquet"
    pd.read_parquet(path).assign(close=11.0).to_parquet(path)
    market = load_market(tmp_path, tmp_path)
    assert ids_by_kind(market.defects) == {"changed-since-fetch": ("prices/A.parquet",)}
    run(tmp_path, prices := Prices(), Reports(), "A")
    assert len(prices.asked) == 1
    assert load_market(tmp_path, tmp_path).defects == ()


def test_two_runs_do_not_fill_one_folder(tmp_path: Path) -> None:
    with FileLock(tmp_path / ".lock"), pytest.raises(FetchError, match="another `fin-tasks fetch dynostock`"):
        run(tmp_path, Prices(), Reports())


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2, "tickers": {}}', '{"format": 1}'])
def test_a_broken_manifest_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json: expected"):
        run(tmp_path, Prices(), Reports())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="give another --out"):
        run(tmp_path / "file", Prices(), Reports())


def test_plans_that_mean_nothing() -> None:
    with pytest.raises(ConfigError, match="--start before --end"):
        Plan(tickers=("A",), start=END, end=START)
    with pytest.raises(ConfigError, match="at least one ticker"):
        Plan(tickers=(), start=START, end=END)
